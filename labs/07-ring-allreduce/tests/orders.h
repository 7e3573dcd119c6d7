/* SPDX-License-Identifier: MIT
 * orders.h: rings that exist and rings that do not: the questions about ring_order.
 */
#ifndef LAB07_ORDERS_H
#define LAB07_ORDERS_H

#include "common.h"

/* NVLinks between two GPUs of a DGX-1 with eight V100, a hybrid cube mesh: two squares whose sides
 * and diagonals are links, and four edges between the squares. */
static const uint8_t cube_mesh[64] = {
    0, 1, 1, 2, 2, 0, 0, 0, /* GPU 0 */
    1, 0, 2, 1, 0, 2, 0, 0, /* 1 */
    1, 2, 0, 2, 0, 0, 1, 0, /* 2 */
    2, 1, 2, 0, 0, 0, 0, 1, /* 3 */
    2, 0, 0, 0, 0, 1, 1, 2, /* 4 */
    0, 2, 0, 0, 1, 0, 2, 1, /* 5 */
    0, 0, 1, 0, 1, 2, 0, 2, /* 6 */
    0, 0, 0, 1, 2, 1, 2, 0, /* 7 */
};

static inline void all_linked(struct order_in *in, int n, int links)
{
    memset(in, 0, sizeof *in);
    in->n = n;
    memset(in->links, links, (size_t)n * (size_t)n);
}

static inline void link_pair(struct order_in *in, int from, int to, int links)
{
    in->links[from * in->n + to] = (uint8_t)links;
}

/* The widest narrowest hop, by trying all orders of 1 .. n - 1 (Heap's algorithm). 0: no ring. */
static inline int widest(const struct order_in *in)
{
    int order[RING_RANKS], turn[RING_RANKS] = {0}, best = 0;
    for (int i = 0; i < in->n; i++)
        order[i] = i;
    for (int at = 0;;) {
        int least = 255;
        for (int i = 0; i < in->n; i++) {
            int hop = in->links[order[i] * in->n + order[(i + 1) % in->n]];
            least = hop < least ? hop : least;
        }
        best = least > best ? least : best;
        while (at < in->n - 1 && turn[at] >= at)
            turn[at++] = 0;
        if (at >= in->n - 1)
            return best;
        int other = 1 + (at % 2 ? turn[at] : 0), swap = order[other];
        order[other] = order[1 + at];
        order[1 + at] = swap;
        turn[at]++;
        at = 0;
    }
}

static inline void expect_ring(struct lab_test *t, const struct order_in *in, const int32_t *order)
{
    int used = 0, least = 255, want = in->n == 1 ? 255 : widest(in);
    lab_expect(t, order[0] == 0, "ring_order of %d GPUs begins with %d, expected 0", in->n,
               order[0]);
    for (int i = 0; i < in->n; i++) {
        lab_expect(
            t, order[i] >= 0 && order[i] < in->n && !(used & 1 << order[i]),
            "ring_order of %d GPUs: order[%d] is %d, which is not a GPU or was there already",
            in->n, i, order[i]);
        used |= 1 << order[i];
    }
    for (int i = 0; i < in->n && in->n > 1; i++) {
        int from = order[i], to = order[(i + 1) % in->n], hop = in->links[from * in->n + to];
        lab_expect(t, hop > 0, "ring_order of %d GPUs goes from GPU %d to GPU %d, without a link%s",
                   in->n, from, to, i == in->n - 1 ? ": the ring must close" : "");
        least = hop < least ? hop : least;
    }
    lab_expect(t, least >= want,
               "ring_order of %d GPUs: its narrowest hop has %d links, expected %d: there is a "
               "ring with as many on every hop",
               in->n, least, want);
    lab_expect(t, untouched(&order[in->n], sizeof *order), "ring_order wrote behind order[%d]",
               in->n - 1);
}

/* Judges by what must hold, so that any of several rings is fine. `wrong` entries at the end must
 * be refused. */
static inline void ask_orders(struct lab_test *t, const struct order_in *in, size_t n, size_t wrong)
{
    const struct order_out *out =
        lab_output(lab_run(t, "order", in, n * sizeof *in, n * sizeof *out));
    for (size_t i = 0; i < n; i++) {
        int want = i >= n - wrong                       ? LAB_EINVAL
                   : in[i].n > 1 && widest(&in[i]) == 0 ? LAB_ENOPEER
                                                        : LAB_OK;
        lab_expect(t, out[i].rc == want, "ring_order of %d GPUs returned %d (%s), expected %s%s",
                   in[i].n, out[i].rc, rc_name(out[i].rc), rc_name(want),
                   want == LAB_ENOPEER ? ": no ring leads over links only"
                   : want == LAB_OK    ? ": there is a ring"
                                       : "");
        if (want == LAB_OK)
            expect_ring(t, &in[i], out[i].order);
        else
            lab_expect(t, untouched(out[i].order, sizeof out[i].order),
                       "ring_order is an error, yet it wrote an order");
    }
}

#endif

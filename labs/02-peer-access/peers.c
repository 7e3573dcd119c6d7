/* SPDX-License-Identifier: MIT
 * peers.c: prints who can reach whom, asked and tried, or draws it. The program of lab 02.
 *
 *     peers          a table: what the runtime says, and what arrived when it was tried
 *     peers --dot    a Graphviz digraph: peers --dot | dot -Tsvg > node.svg
 *
 * Log this table when a multi-GPU program starts: a missing direction explains a slow run, and
 * nothing else in the program's output will.
 */
#include <stdio.h>
#include <string.h>

#include "lab02.h"

static struct peer_attr attrs[PEER_MAX_GPUS * PEER_MAX_GPUS];

static int ask_all(int n)
{
    uint8_t can[PEER_MAX_GPUS * PEER_MAX_GPUS];
    int rc = peer_matrix(n, can);

    for (int from = 0; from < n && rc == LAB_OK; from++)
        for (int to = 0; to < n && rc == LAB_OK; to++)
            if (can[from * n + to])
                rc = peer_attrs(from, to, &attrs[from * n + to]);
    return rc;
}

/* One direction as text: what the runtime says, and what came of trying it. */
static int describe(int from, int to, const struct peer_attr *attr, char *text, size_t room)
{
    static const char *const names[] = {"-", "peer", "atomics"};
    enum peer_kind kind = PEER_NONE;
    int works = 0, rc = peer_class(attr, &kind);

    if (rc == LAB_OK && kind != PEER_NONE)
        rc = peer_probe(from, to, &works);
    snprintf(text, room, "%s%s", names[kind],
             kind == PEER_NONE            ? ""
             : works & PEER_STORES_ARRIVE ? ", arrives"
                                          : ", LOST");
    return rc;
}

static int print_table(int n)
{
    char text[32];
    int rc = LAB_OK;

    if (n == 0) {
        printf("CUDA sees no GPU on this machine.\n");
        return LAB_OK;
    }
    printf("from\\to");
    for (int to = 0; to < n; to++)
        printf("  GPU %-*d", to + 1 < n ? 13 : 1, to);
    for (int from = 0; from < n && rc == LAB_OK; from++) {
        printf("\nGPU %-3d", from);
        for (int to = 0; to < n && rc == LAB_OK; to++) {
            snprintf(text, sizeof text, "self");
            if (from != to)
                rc = describe(from, to, &attrs[from * n + to], text, sizeof text);
            printf("  %-*s", to + 1 < n ? 17 : 1, text);
        }
    }
    printf("\n");
    return rc;
}

int main(int argc, char **argv)
{
    int n = peer_gpus();
    int dot = argc == 2 && strcmp(argv[1], "--dot") == 0;

    if (argc > 1 && !dot) {
        fprintf(stderr,
                "usage: %s [--dot]\nPrints which GPU can access which; --dot: as a graph for "
                "Graphviz.\n",
                argv[0]);
        return 2;
    }
    if (n > PEER_MAX_GPUS)
        n = PEER_MAX_GPUS;
    int rc = ask_all(n);
    if (rc == LAB_OK)
        rc = dot ? peer_dot(n, attrs, stdout) : print_table(n);
    if (rc != LAB_OK)
        fprintf(stderr, "%s: stopped with result %d (see enum lab_error in lab.h)\n", argv[0], rc);
    return rc == LAB_OK ? 0 : 1;
}

/* SPDX-License-Identifier: MIT
 * footprint.c: see footprint.h.
 */
#include "footprint.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "counters.h"
#include "check.h"
#include "message.h"

enum {
    BLOCKS = 32768, /* 512 MiB of memory; block 0 takes all uses beyond that */
    BLOCKS_KEPT = 1024,
    BLOCK_BYTES = VGPU_USES * FOOTPRINT_CELLS,
    PIECE = 92 /* spans per message */
};

#define WINDOWS_END (WINDOW_VA(WINDOW_HOST + 1) - VGPU_ARENA_VA)
#define TABLE_BYTES (WINDOWS_END / FOOTPRINT_BLOCK * sizeof(uint32_t))

struct used { /* shared with workers */
    uint32_t count;
    uint64_t block[BLOCKS]; /* address of the memory of block n + 1 */
};

struct spans { /* of one run */
    uint32_t count[VGPU_USES];
    bool cut[VGPU_USES]; /* too many spans: none are sent */
    struct vgpu_span span[VGPU_USES][VGPU_SPANS / VGPU_USES];
};

bool footprint_on, footprint_atomics;
uint32_t *footprint_block;
uint8_t *footprint_cells;

static struct used *used_blocks;
static bool failed;

static void *span_room(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static bool footprint_ready(void)
{
    if (used_blocks || failed)
        return used_blocks;
    footprint_block = span_room(TABLE_BYTES);
    footprint_cells = span_room((uint64_t)(BLOCKS + 1) * BLOCK_BYTES);
    used_blocks = footprint_block && footprint_cells ? span_room(sizeof *used_blocks) : NULL;
    failed = !used_blocks;
    return used_blocks;
}

uint32_t footprint_make(uint64_t address)
{
    uint64_t place = (address - VGPU_ARENA_VA) / FOOTPRINT_BLOCK;
    if (used_blocks->count > BLOCKS)
        return 0;
    uint32_t mine = __atomic_add_fetch(&used_blocks->count, 1, __ATOMIC_RELAXED), nobody = 0;
    if (mine > BLOCKS)
        return 0;
    used_blocks->block[mine - 1] = place;
    if (!__atomic_compare_exchange_n(&footprint_block[place], &nobody, mine, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        used_blocks->block[mine - 1] = UINT64_MAX; /* another process allocated it first */
        return nobody;
    }
    return mine;
}

void footprint_range(uint64_t address, uint64_t bytes, enum vgpu_use use)
{
    for (uint64_t end = address + bytes; address < end;) {
        if (address % 4 == 0 && end - address >= 4) {
            footprint_note(address, 4, use);
            address += 4;
        } else {
            footprint_note(address, 1, use);
            address++;
        }
    }
}

/* ---- from cells to spans ---- */

/* Merges pieces, which come in ascending order: equal pieces at equal distances become one span. */
struct collector {
    struct spans *to;
    enum vgpu_use use;
    uint64_t at, end;      /* the piece being extended; end 0: none */
    struct vgpu_span span; /* the span being extended; count 0: none */
};

static void put_piece(struct collector *c)
{
    struct spans *to = c->to;
    uint32_t n = to->count[c->use];
    for (uint32_t i = 0; i < n && c->span.count; i++)
        if (memcmp(&to->span[c->use][i], &c->span, sizeof c->span) == 0)
            return; /* an earlier slice had the same footprint */
    if (!c->span.count)
        return;
    if (n == VGPU_SPANS / VGPU_USES)
        to->cut[c->use] = true;
    else
        to->span[c->use][to->count[c->use]++] = c->span;
}

static void add_piece(struct collector *c)
{
    struct vgpu_span *s = &c->span;
    uint64_t bytes = c->end - c->at;
    if (c->end == 0)
        return;
    if (s->count == 1 && s->bytes == bytes && c->at > s->address)
        s->stride = c->at - s->address;
    if (s->count && s->bytes == bytes && c->at == s->address + s->count * s->stride) {
        s->count++;
        return;
    }
    put_piece(c);
    *s = (struct vgpu_span){c->at, bytes, 0, 1, c->use};
}

static void byte_used(struct collector *c, uint64_t address, uint64_t bytes)
{
    if (c->end == address) {
        c->end += bytes;
        return;
    }
    add_piece(c);
    c->at = address;
    c->end = address + bytes;
}

static void add_cell(struct collector *c, uint64_t address, uint8_t bits)
{
    if (bits == 0x0f) {
        byte_used(c, address, 4);
        return;
    }
    for (uint64_t i = 0; i < 4; i++)
        if (bits >> i & 1)
            byte_used(c, address + i, 1);
}

/* Converts the cells of one use in a block to pieces, and clears them. */
static void scan_cells(struct collector *c, uint8_t *cells, uint64_t address)
{
    for (uint32_t i = 0; i < FOOTPRINT_CELLS; i += 8) {
        uint64_t eight;
        memcpy(&eight, cells + i, sizeof eight);
        if (eight == 0)
            continue;
        if (eight == 0x0f0f0f0f0f0f0f0full)
            byte_used(c, address + (uint64_t)i * 4, 32);
        else
            for (uint32_t k = 0; k < 8; k++)
                add_cell(c, address + (uint64_t)(i + k) * 4, cells[i + k]);
        memset(cells + i, 0, 8);
    }
}

static int by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void harvest_spans(struct spans *to, uint32_t count, enum vgpu_use use)
{
    struct collector c = {.to = to, .use = use};
    for (uint32_t i = 0; i < count && used_blocks->block[i] != UINT64_MAX; i++) {
        uint64_t number = footprint_block[used_blocks->block[i]];
        scan_cells(&c, footprint_cells + (number * VGPU_USES + use) * FOOTPRINT_CELLS,
                   VGPU_ARENA_VA + used_blocks->block[i] * FOOTPRINT_BLOCK);
    }
    add_piece(&c);
    put_piece(&c);
}

/* Uses that did not fit were marked in block 0, which stands for no address: the spans are
 * incomplete. */
static void clear_spans(struct spans *to, uint32_t count)
{
    for (uint32_t use = 0; use < VGPU_USES && used_blocks->count > BLOCKS; use++)
        to->cut[use] = true;
    if (used_blocks->count > BLOCKS)
        memset(footprint_cells, 0, BLOCK_BYTES);
    for (uint32_t i = 0; i < count && used_blocks->block[i] != UINT64_MAX; i++)
        footprint_block[used_blocks->block[i]] = 0;
    if (count > BLOCKS_KEPT)
        madvise(footprint_cells, (uint64_t)(BLOCKS + 1) * BLOCK_BYTES, MADV_REMOVE);
    used_blocks->count = 0;
}

void footprint_begin(const struct run *run)
{
    access_footprint((run->checks & VGPU_CHECK_ORDER) && footprint_ready());
}

void footprint_end(struct run *run)
{
    if (!footprint_on)
        return;
    access_footprint(false);
    uint32_t count = used_blocks->count < BLOCKS ? used_blocks->count : BLOCKS;
    if (!run->spans)
        run->spans = calloc(1, sizeof *run->spans);
    static struct spans nowhere;
    struct spans *to = run->spans ? run->spans : &nowhere;
    qsort(used_blocks->block, count, sizeof *used_blocks->block, by_place);
    for (uint32_t use = 0; use < (footprint_atomics ? VGPU_USES : VGPU_USE_ATOMIC); use++)
        harvest_spans(to, count, (enum vgpu_use)use);
    footprint_atomics = false;
    clear_spans(to, count);
}

/* ---- to the node ---- */

_Static_assert(sizeof(struct vgpu_exec_reply) + PIECE * sizeof(struct vgpu_span) <= VGPU_MSG_MAX,
               "a piece fits");

static void send_spans(const struct vgpu_span *span, uint32_t count, uint64_t id)
{
    struct vgpu_exec_reply *message = message_piece();
    memcpy(message->data, span, count * sizeof *span);
    message->run = id;
    message->span_count = count;
    message->data_bytes = count * (uint32_t)sizeof *span;
    message_send(message);
}

void footprint_send(struct run *run)
{
    const struct spans *s = run->spans;
    for (uint32_t use = 0; s && use < VGPU_USES; use++)
        for (uint32_t at = 0; at < s->count[use] && !s->cut[use]; at += PIECE)
            send_spans(s->span[use] + at, s->count[use] - at < PIECE ? s->count[use] - at : PIECE,
                       run->id);
}

void footprint_free(struct run *run)
{
    free(run->spans);
    run->spans = NULL;
}

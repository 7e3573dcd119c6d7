/* SPDX-License-Identifier: MIT
 * store.c: see weak.h: loads that return older values, and the stores that they come from.
 *
 * A list holds the kept stores to 8 bytes of memory, the newest first. The order of stores to one
 * location is that in which they ran, or another one: a store may take its place behind stores that
 * its thread has not seen, whose values stay in memory. A load of some of these
 * bytes may return what lay there before any of the stores that its thread has not seen. If memory
 * does not hold what the newest store left there, something else has written (a copy, the host),
 * and its value is the only one.
 */
#include "weak.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "device_image.h"
#include "mapped_memory.h"
#include "schedule.h"
#include "view.h"

enum { CELL_BYTES = 8, CELLS_MAX = 4, CHOICES_MAX = 16 };

/* 8 bytes of memory, of which an access uses some. */
struct cell {
    uint64_t at, home, mask; /* mask: 0xff for each used byte */
    bool may_be_old;
};

/* The access that was reported last. */
static struct {
    uint32_t loads, stores;
    uint64_t at[CELLS_MAX], newest[CELLS_MAX]; /* of loads: what to put back */
    uint64_t stored_at[CELLS_MAX], number[CELLS_MAX];
    uint64_t newer[CELLS_MAX], kept[CELLS_MAX]; /* the store that it is behind, what to put back */
} last;

static uint64_t change_count, luck;
static uint32_t walk_left; /* steps from one store of a list to the next */
static int next_scope = 2;

const struct weak_access weak_plain = {.scope = WEAK_PLAIN};
struct weak_access weak_kind = {.scope = WEAK_PLAIN};

/* Called by device code before an atomic load or store whose scope is not the system. */
OFFERED void vgpu_scope(int scope)
{
    next_scope = scope & VGPU_SCOPE_MASK;
}

int weak_take_scope(void)
{
    int scope = next_scope;
    next_scope = 2;
    return scope;
}

/* ---- memory ---- */

static uint64_t cell_now(uint64_t at)
{
    uint64_t value;
    memcpy(&value, (const void *)at, sizeof value); /* NOLINT */
    return value;
}

static void put_cell(uint64_t at, uint64_t value)
{
    memcpy((void *)at, &value, sizeof value); /* NOLINT */
}

/* The bytes below number `end`. */
static uint64_t bytes_below(uint64_t end)
{
    return end >= CELL_BYTES ? ~0ull : (1ull << 8 * end) - 1;
}

/* False: memory of one thread, or none. */
static bool find_cell(uint64_t at, uint64_t first, uint64_t end, struct cell *cell)
{
    uint64_t low = first > at ? first - at : 0;
    *cell = (struct cell){.at = at, .mask = bytes_below(end - at) & ~bytes_below(low)};
    cell->home = memory_home(at);
    cell->may_be_old = cell->home && !memory_home_is_host(cell->home);
    if (window_of(at) == WINDOW_SHARED)
        cell->home = 1ull << 63 | (uint64_t)getpid() << 40 | (at & ((1ull << 40) - 1));
    return cell->home != 0;
}

/* ---- lists ---- */

static uint64_t *head_of(uint64_t home)
{
    return &weak_table()->head[home / CELL_BYTES * 0x9E3779B97F4A7C15ull >> 51];
}

static struct vgpu_weak_store *store_at(uint64_t number)
{
    struct vgpu_weak_store *store = &weak_table()->store[number % VGPU_WEAK_STORES];
    return weak_is_kept(number) && store->number == number ? store : NULL;
}

/* The newest store from `number` on backwards to bytes that the access uses. NULL: none. */
static struct vgpu_weak_store *find_store(const struct cell *cell, uint64_t number)
{
    struct vgpu_weak_store *store = store_at(number);
    while (store && (store->home != cell->home || !(store->mask & cell->mask)))
        store = walk_left && walk_left-- ? store_at(store->before) : NULL;
    return store;
}

static struct vgpu_weak_store *newest_store(const struct cell *cell)
{
    walk_left = VGPU_WEAK_STORES;
    return find_store(cell, *head_of(cell->home));
}

static struct vgpu_weak_store *older_store(const struct cell *cell,
                                           const struct vgpu_weak_store *store)
{
    return walk_left && walk_left-- ? find_store(cell, store->before) : NULL;
}

/* Something else has written there: no older value is left. */
static void void_stores(const struct cell *cell)
{
    struct vgpu_weak_store *store = newest_store(cell), *older;
    for (; store; store = older) {
        older = older_store(cell, store);
        store->home = 0;
    }
}

static struct vgpu_weak_store *valid_newest(const struct cell *cell)
{
    struct vgpu_weak_store *store = newest_store(cell);
    if (!store)
        return NULL;
    uint64_t mask = cell->may_be_old ? cell->mask : cell->mask & store->mask;
    if (!((store->stored ^ cell_now(cell->at)) & mask))
        return store;
    void_stores(cell);
    return NULL;
}

/* ---- the last access ends ---- */

static uint64_t merge_bytes(uint64_t cell, uint64_t bytes, uint64_t mask)
{
    return (cell & ~mask) | (bytes & mask);
}

static void close_store(uint64_t number, uint64_t at, uint64_t newer, uint64_t kept)
{
    struct vgpu_weak_store *store = store_at(number), *other = newer ? store_at(newer) : NULL;
    uint64_t stored = cell_now(at);
    if (newer)
        put_cell(at, kept);
    if (!store)
        return;
    store->stored = newer ? merge_bytes(store->replaced, stored, store->mask) : stored;
    if (other)
        other->replaced = store->stored;
    if (store->stored == store->replaced && !store->releases)
        store->home = 0; /* it has changed nothing */
}

void weak_settle(void)
{
    change_count++;
    for (uint32_t i = last.loads; i-- > 0;)
        put_cell(last.at[i], last.newest[i]);
    for (uint32_t i = 0; i < last.stores; i++)
        close_store(last.number[i], last.stored_at[i], last.newer[i], last.kept[i]);
    last.loads = last.stores = 0;
}

uint64_t weak_mark(void)
{
    return change_count;
}

/* ---- what a read acquires, a store releases ---- */

/* Where the other thread is: 0 in the same block, 1 on the same GPU, 2 elsewhere. */
static int distance_of(const struct vgpu_weak_release *r)
{
    if (r->gpu < 0)
        return 0; /* of several: anywhere near */
    if (r->gpu != context.device)
        return 2;
    return r->block == 0 || r->block == weak_block_key(now.block) ? 0 : 1;
}

/* Both scopes include the other thread ("morally strong"). */
static bool reaches(const struct vgpu_weak_release *r, int scope)
{
    int distance = distance_of(r);
    return r->scope >= distance && scope >= distance;
}

static struct vgpu_weak_release *release_of(const struct vgpu_weak_store *store, uint32_t i)
{
    return &weak_table()->release[store->number % VGPU_WEAK_STORES][i];
}

static uint32_t releases_of(const struct vgpu_weak_store *store)
{
    return (uint32_t)(store->releases < VGPU_WEAK_RELEASES ? store->releases : VGPU_WEAK_RELEASES);
}

static void read_releases(struct weak_thread *own, struct vgpu_weak_store *store, int scope)
{
    for (uint32_t i = 0; store && scope != WEAK_PLAIN && i < releases_of(store); i++) {
        struct vgpu_weak_release *r = release_of(store, i);
        if (!reaches(r, scope))
            continue;
        view_join(&weak_fences_of(own)->unfenced[distance_of(r)], &r->view);
    }
}

/* Whether `r` may stand for a release of this place: the same, or of several blocks. */
static bool stands_for(const struct vgpu_weak_release *r, int scope, int32_t gpu, uint64_t block,
                       int how)
{
    if (how == 2)
        return true;
    return r->scope == scope && (r->gpu == gpu || r->gpu < 0) &&
           (how == 1 ? scope > 0 : r->block == block || r->block == 0);
}

/* Adds a release. Those of several blocks, or GPUs, become one when there are too many: that
 * orders more than is needed. */
static void add_release(struct vgpu_weak_store *store, int scope, int32_t gpu, uint64_t block,
                        struct vgpu_weak_view *view)
{
    struct vgpu_weak_release *to = NULL;
    bool full = store->releases == VGPU_WEAK_RELEASES;
    for (int how = 0; how <= (full ? 2 : 0) && !to; how++)
        for (uint32_t i = 0; i < store->releases && !to; i++)
            if (stands_for(release_of(store, i), scope, gpu, block, how))
                to = release_of(store, i);
    if (!to) {
        to = release_of(store, store->releases++);
        *to = (struct vgpu_weak_release){scope, gpu, block, *view};
        return;
    }
    if (to->scope < scope)
        to->scope = scope;
    if (to->block != block)
        to->block = 0;
    if (to->gpu != gpu)
        to->gpu = -1;
    view_join(&to->view, view);
}

/* An atomic keeps what the store that it has read released. */
static void carry_releases(struct vgpu_weak_store *to, struct vgpu_weak_store *from, int scope)
{
    for (uint32_t i = 0; i < releases_of(from); i++) {
        struct vgpu_weak_release *r = release_of(from, i);
        if (reaches(r, scope))
            add_release(to, r->scope, r->gpu, r->block, &r->view);
    }
}

static void add_own_releases(struct vgpu_weak_store *store, struct weak_thread *own, int scope)
{
    struct weak_fences *f = own->fences;
    uint32_t known = 0;
    for (int s = scope; f && s >= 0; s--) {
        if (f->number[s] == known)
            continue;
        known = f->number[s];
        add_release(store, s, context.device, weak_block_key(now.block), &f->released[s]);
    }
}

/* ---- loads ---- */

/* The stores that the thread may miss, the newest first, and behind them the one that it must see;
 * `missable`: without that. */
struct choices {
    struct vgpu_weak_store *store[CHOICES_MAX];
    uint32_t count, missable;
};

static void find_choices(const struct cell *cell, struct vgpu_weak_view *seen, struct choices *c)
{
    *c = (struct choices){.count = 0};
    for (struct vgpu_weak_store *s = valid_newest(cell); s; s = older_store(cell, s)) {
        if (c->count == CHOICES_MAX) {
            c->missable = CHOICES_MAX - 1;
            return;
        }
        c->store[c->count++] = s;
        if (view_has(seen, s->number))
            return;
        c->missable++;
    }
}

/* A loop that polls goes on in the end: while it is looked at, loads are not old. */
static bool may_read_old(const struct cell *cell)
{
    return cell->may_be_old && !weak_kind.change && !weak_kind.newest && !access_watchers.lap &&
           last.loads < CELLS_MAX && memory_is_mapped(cell->at, cell->at + CELL_BYTES, true);
}

static void load_weakly(const struct cell *cell)
{
    struct choices c;
    find_choices(cell, weak_seen(now.thread), &c);
    if (!c.count)
        return;
    struct weak_thread *own = weak_own(now.thread);
    uint32_t k = 0;
    if (c.missable && may_read_old(cell) && vgpu_schedule_next(&luck) % 2)
        k = 1 + (uint32_t)(vgpu_schedule_next(&luck) % c.missable);
    for (uint32_t i = k; i < c.count; i++)
        view_add(&own->seen, c.store[i]->number);
    read_releases(own, k < c.count ? c.store[k] : NULL, weak_kind.scope);
    if (k == 0)
        return;
    uint64_t newest = cell_now(cell->at);
    last.at[last.loads] = cell->at;
    last.newest[last.loads++] = newest;
    put_cell(cell->at, merge_bytes(newest, c.store[k - 1]->replaced, cell->mask));
}

/* ---- stores ---- */

/* Its place is behind `newer`; NULL: it is the newest. */
static struct vgpu_weak_store *new_store(const struct cell *cell, struct vgpu_weak_store *newer)
{
    struct vgpu_weak_table *table = weak_table();
    if (table->next == 0)
        table->next = 1;
    uint64_t number = table->next++, *link = newer ? &newer->before : head_of(cell->home);
    struct vgpu_weak_store *store = &table->store[number % VGPU_WEAK_STORES];
    store->number = number;
    store->before = *link;
    store->home = cell->home;
    store->replaced = store->stored = newer ? newer->replaced : cell_now(cell->at);
    store->mask = cell->mask;
    store->releases = 0;
    store->changes = weak_kind.change;
    *link = number;
    last.stored_at[last.stores] = cell->at;
    last.newer[last.stores] = newer ? newer->number : 0;
    last.kept[last.stores] = cell_now(cell->at);
    last.number[last.stores++] = number;
    return store;
}

/* The oldest of some stores that the thread has not seen, behind which its own may have its place:
 * stores to one location have an order, and nothing says more of it. NULL: its own is the newest.
 * Nothing comes between an atomic and what it has read. */
static struct vgpu_weak_store *choose_newer(const struct cell *cell)
{
    struct choices c;
    if (weak_kind.scope == WEAK_PLAIN || !may_read_old(cell))
        return NULL;
    find_choices(cell, weak_seen(now.thread), &c);
    if (!c.missable || vgpu_schedule_next(&luck) % 2)
        return NULL;
    struct vgpu_weak_store *newer = c.store[vgpu_schedule_next(&luck) % c.missable];
    bool kept = newer->number % VGPU_WEAK_STORES != weak_table()->next % VGPU_WEAK_STORES;
    return kept && !newer->changes && !(cell->mask & ~newer->mask) ? newer : NULL;
}

static void see_all(const struct cell *cell, struct vgpu_weak_store *newest,
                    struct vgpu_weak_view *seen)
{
    for (; newest && !view_has(seen, newest->number); newest = older_store(cell, newest))
        view_add(seen, newest->number);
}

static void store_weakly(const struct cell *cell)
{
    int scope = weak_kind.scope;
    if ((!cell->may_be_old && scope == WEAK_PLAIN) || last.stores == CELLS_MAX)
        return;
    struct weak_thread *own = weak_own(now.thread);
    struct vgpu_weak_store *newer = choose_newer(cell), *before = valid_newest(cell);
    see_all(cell, newer ? older_store(cell, newer) : before, &own->seen);
    struct vgpu_weak_store *store = new_store(cell, newer);
    view_add(&own->seen, store->number);
    if (scope == WEAK_PLAIN)
        return;
    if (weak_kind.change && before && before != store)
        carry_releases(store, before, scope);
    add_own_releases(store, own, scope);
}

void weak_access(uint64_t address, uint64_t bytes, bool write)
{
    uint64_t window = window_of(address), end = address + bytes;
    bool large = bytes > (CELLS_MAX - 1) * CELL_BYTES;
    change_count++;
    if (window == WINDOW_STACK || window == window_of(OWN_VA) ||
        (!write && (large || weak_table()->next == 0)))
        return;
    if (window == WINDOW_SHARED && weak_kind.scope == 0)
        weak_kind.scope = 1; /* it may be the cluster's */
    for (uint64_t at = address / CELL_BYTES * CELL_BYTES; at < end; at += CELL_BYTES) {
        struct cell cell;
        if (!find_cell(at, address, end, &cell))
            continue;
        if (large)
            void_stores(&cell);
        else if (write)
            store_weakly(&cell);
        else
            load_weakly(&cell);
    }
}

/* ---- stores before loads ---- */

static bool find_cell_of(uint64_t address, struct cell *cell)
{
    return window_of(address) != WINDOW_STACK &&
           find_cell(address / CELL_BYTES * CELL_BYTES, address, address + 1, cell) &&
           cell->may_be_old && memory_is_mapped(cell->at, cell->at + CELL_BYTES, true);
}

bool weak_may_be_early(uint64_t to, uint64_t from)
{
    struct cell stored, loaded;
    if (access_watchers.lap || vgpu_schedule_next(&luck) % 4 || !find_cell_of(to, &stored) ||
        !find_cell_of(from, &loaded) || stored.home == loaded.home)
        return false;
    weak_own(now.thread)->early = to;
    return true;
}

bool weak_was_early(uint64_t to)
{
    struct weak_thread *own = now.thread->weak;
    if (!own || own->early != to)
        return false;
    own->early = 0;
    return true;
}

void weak_run_goes(const struct run *run)
{
    if (!run->weak)
        return;
    if (!luck)
        luck = (vgpu_schedule() + (uint64_t)context.device) * 0x9E3779B97F4A7C15ull;
    luck |= !luck;
    weak_kind = weak_plain;
    access_weaken(true);
}

void weak_run_stops(void)
{
    weak_settle();
    next_scope = 2;
    access_weaken(false);
}

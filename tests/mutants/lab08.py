# SPDX-License-Identifier: MIT
"""Lab 08's mutants: what goes wrong when people cut a model in parts."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="shard_owner_off_by_one",
        todo=1,
        grave="lost data",
        find="each = count / parts + (count % parts != 0);",
        replace="each = count / parts;",
        rejected_by="shard",
        why="the elements beyond n * (count / n) have no owner",
    ),
    Mutant(
        name="shard_remainder_to_the_first",
        todo=1,
        find="    *first = smaller((uint64_t)rank * each, count);\n"
        "    *len = smaller(each, count - *first);\n",
        replace="    uint64_t r = (uint64_t)rank, some = count / (uint64_t)n, more = count % (uint64_t)n;\n"
        "    *first = r * some + smaller(r, more);\n"
        "    *len = some + (r < more);\n",
        rejected_by="shard",
        why="shards of two lengths: right for a ring of chunks, not for equal padded shards",
    ),
    Mutant(
        name="shard_last_is_not_short",
        todo=1,
        find="    *len = smaller(each, count - *first);\n",
        replace="    *len = each;\n",
        rejected_by="shard",
        why="the last rank owns padding that is no element",
    ),
    Mutant(
        name="shard_forgets_the_alignment",
        todo=1,
        find="    uint64_t missing = (align - each % align) % align;\n",
        replace="    uint64_t missing = 0 * align;\n",
        rejected_by="shard_align",
        why="shards begin anywhere",
    ),
    Mutant(
        name="shard_aligned_twice",
        todo=1,
        find="    uint64_t missing = (align - each % align) % align;\n",
        replace="    uint64_t missing = align - each % align;\n",
        rejected_by="shard_align",
        why="a shard that is aligned already grows by one alignment",
    ),
    Mutant(
        name="layout_pads_stage_0",
        todo=2,
        find="    if (how->stage > 0) {\n",
        replace="    if (how->stage >= 0) {\n",
        rejected_by="layout",
        why="what nobody cuts needs no padding",
    ),
    Mutant(
        name="layout_padding_counted_twice",
        todo=2,
        find="    layout->padded += unit->padded;\n",
        replace="    layout->padded += unit->padded + (unit->padded - unit->count);\n",
        rejected_by="layout",
        why="padded is with padding already",
    ),
    Mutant(
        name="layout_pads_the_whole",
        todo=2,
        find="    *layout = made;\n",
        replace="    if (how->stage > 0) {\n"
        "        made.shard = shard_of(made.params, how->ranks, how->align);\n"
        "        made.padded = made.shard * (uint64_t)how->ranks;\n    }\n"
        "    *layout = made;\n",
        rejected_by="layout_units",
        why="every unit is cut, so every unit is padded",
    ),
    Mutant(
        name="layout_gradients_stay_whole",
        todo=2,
        find="how->stage >= 2 ? unit->shard : unit->padded",
        replace="how->stage >= 3 ? unit->shard : unit->padded",
        rejected_by="layout",
        why="stage 2 is stage 1 with the gradients cut",
    ),
    Mutant(
        name="layout_forgets_the_master",
        todo=2,
        find="        else if (kind <= ZERO_VARIANCE)\n",
        replace="        else if (kind <= ZERO_VARIANCE && kind != ZERO_MASTER)\n",
        rejected_by="table1",
        why="12 bytes of states are 4 of master copy, 4 of momentum, 4 of variance",
    ),
    Mutant(
        name="layout_offload_counts_on_the_gpu",
        todo=2,
        find="        else if (kind <= ZERO_VARIANCE)\n",
        replace="        if (kind <= ZERO_VARIANCE)\n",
        rejected_by="layout_units",
        why="what lies on the host does not lie on the GPU",
    ),
    Mutant(
        name="layout_gathers_a_shard",
        todo=2,
        find="    case ZERO_BUCKET:\n        return 2 * unit->padded;\n",
        replace="    case ZERO_BUCKET:\n        return 2 * unit->shard;\n",
        rejected_by="layout",
        why="what is gathered, and what is about to be reduced, is whole",
    ),
    Mutant(
        name="layout_bucket_overflows",
        todo=2,
        find="tensor->count <= how->bucket - unit->count);",
        replace="unit->count < how->bucket);",
        rejected_by="layout_units",
        why="a unit that is full takes one more tensor",
    ),
    Mutant(
        name="ledger_peak_is_the_end",
        todo=3,
        find="    raise_to(&ledger->most[rank], ledger->held[rank]);\n",
        replace="    ledger->most[rank] = ledger->held[rank];\n",
        rejected_by="ledger",
        why="what is held last is not what was held at most",
    ),
    Mutant(
        name="ledger_peak_is_the_sum_of_peaks",
        todo=3,
        find="    raise_to(&ledger->most[rank], ledger->held[rank]);\n",
        replace="    ledger->most[rank] = 0;\n"
        "    for (int k = 0; k < ZERO_KINDS; k++)\n"
        "        ledger->most[rank] += ledger->peak[rank][k];\n",
        rejected_by="ledger",
        why="the kinds do not peak at the same time",
    ),
    Mutant(
        name="ledger_forgets_the_granule",
        todo=3,
        find="    return (bytes + l->granule_bytes - 1) / l->granule_bytes * l->granule_bytes;\n",
        replace="    return bytes;\n",
        rejected_by="ledger",
        why="cudaMalloc hands out whole granules",
    ),
    Mutant(
        name="ledger_books_what_does_not_fit",
        todo=3,
        find="        return LAB_ENOMEM;\n    ledger->now[rank][kind] += bytes_taken;\n"
        "    ledger->held[rank] += bytes_taken;\n",
        replace="        bytes_taken = most;\n    ledger->now[rank][kind] += bytes_taken;\n"
        "    ledger->held[rank] += bytes_taken;\n"
        "    if (bytes_taken == most)\n        return LAB_ENOMEM;\n",
        rejected_by="ledger_limit",
        why="an allocation that fails takes nothing",
    ),
    Mutant(
        name="ledger_drops_of_any_kind",
        todo=3,
        find="    if (bytes_taken == 0 || bytes_taken > ledger->now[rank][kind])\n",
        replace="    if (bytes_taken == 0 || bytes_taken > ledger->held[rank])\n",
        rejected_by="ledger",
        why="frees gradients that are parameters",
    ),
    Mutant(
        name="schedule_frees_before_the_reduce",
        todo=4,
        find="        zero_put(w, stage == 0 ? ZERO_ALL_REDUCE : ZERO_REDUCE_SCATTER, u);\n"
        "        if (stage >= 2)\n            zero_put_memory(w, ZERO_FREE, ZERO_BUCKET, u);\n",
        replace="        if (stage >= 2)\n            zero_put_memory(w, ZERO_FREE, ZERO_BUCKET, u);\n"
        "        zero_put(w, stage == 0 ? ZERO_ALL_REDUCE : ZERO_REDUCE_SCATTER, u);\n",
        rejected_by="schedule",
        why="gradients that are freed before they are reduced are gone",
    ),
    Mutant(
        name="schedule_gathers_before_the_update",
        todo=4,
        find="    const struct zero_how *how = &w->layout->how;\n    if (how->offload)\n"
        "        zero_put(w, ZERO_TO_HOST, unit);\n",
        replace="    const struct zero_how *how = &w->layout->how;\n"
        "    if (how->stage == 1 || how->stage == 2)\n"
        "        zero_put(w, ZERO_ALL_GATHER, unit);\n"
        "    if (how->offload)\n        zero_put(w, ZERO_TO_HOST, unit);\n",
        rejected_by="schedule",
        why="the others get the parameters of the step before",
    ),
    Mutant(
        name="schedule_reduces_too_early",
        todo=4,
        find="        if (layout->unit[u].first_layer != layer)\n"
        "            continue; // a unit is complete when its first layer is through\n",
        replace="        if (layout->unit[u].last_layer != layer)\n            continue;\n",
        rejected_by="schedule_units",
        why="half of the unit's gradients do not exist yet",
    ),
    Mutant(
        name="schedule_reduces_at_the_end",
        todo=4,
        find="        if (layout->unit[u].first_layer != layer)\n"
        "            continue; // a unit is complete when its first layer is through\n",
        replace="        if (layer != 0)\n            continue;\n",
        rejected_by="schedule",
        why="all buckets live until the backward is through, and nothing overlaps",
    ),
    Mutant(
        name="schedule_keeps_the_parameters",
        todo=4,
        find="    zero_put(w, ZERO_FORWARD, layer);\n    release(w, layer);\n",
        replace="    zero_put(w, ZERO_FORWARD, layer);\n",
        rejected_by="schedule",
        why="stage 3 that gathers and never frees has all parameters on every rank in the end",
    ),
    Mutant(
        name="schedule_gathers_once",
        todo=4,
        find="    int stage = layout->how.stage;\n    gather(w, layer);\n",
        replace="    int stage = layout->how.stage;\n",
        rejected_by="schedule",
        why="the backward needs the parameters that the forward has freed",
    ),
    Mutant(
        name="schedule_leaves_stale_parameters",
        todo=4,
        find="    if (how->stage == 1 || how->stage == 2)\n        zero_put(w, ZERO_ALL_GATHER, unit);\n",
        replace="    if (how->stage == 2)\n        zero_put(w, ZERO_ALL_GATHER, unit);\n",
        rejected_by="schedule",
        why="every rank has updated its shard, and goes on with the others' old parameters",
    ),
    Mutant(
        name="schedule_updates_in_the_backward",
        todo=4,
        find="        if (stage >= 2)\n            zero_put_memory(w, ZERO_FREE, ZERO_BUCKET, u);\n",
        replace="        if (stage >= 2)\n            zero_put_memory(w, ZERO_FREE, ZERO_BUCKET, u);\n"
        "        zero_put(w, ZERO_UPDATE, u);\n",
        rejected_by="schedule",
        why="the layers below still need the old parameters of this one in their backward",
    ),
    Mutant(
        name="schedule_offloads_after_the_update",
        todo=4,
        find="    if (how->offload)\n        zero_put(w, ZERO_TO_HOST, unit);\n"
        "    zero_put(w, ZERO_UPDATE, unit);\n",
        replace="    zero_put(w, ZERO_UPDATE, unit);\n"
        "    if (how->offload)\n        zero_put(w, ZERO_TO_HOST, unit);\n",
        rejected_by="schedule_offload",
        why="the update on the host uses the gradients of the step before",
    ),
    Mutant(
        name="predict_counts_the_host",
        todo=5,
        find="op->what == ZERO_ALLOC && !op->host",
        replace="op->what == ZERO_ALLOC",
        rejected_by="predict",
        why="offload would never help",
    ),
    Mutant(
        name="predict_never_frees",
        todo=5,
        find="        else if (op->what == ZERO_FREE && !op->host)\n"
        "            rc = ledger_drop(ledger, rank, op->kind, op->bytes);\n",
        replace="",
        rejected_by="predict",
        why="a sum of all allocations is not a peak",
    ),
    Mutant(
        name="fit_prefers_offload",
        todo=5,
        find="        tried.stage = i % 4;\n        tried.offload = i / 4;\n",
        replace="        tried.stage = i / 2;\n        tried.offload = i % 2;\n",
        rejected_by="fit",
        why="offload is slow: it is for what fits in no other way",
    ),
    Mutant(
        name="memory_rank_is_gpu",
        todo=6,
        find="int rc = ring_result(cudaSetDevice(run->rank[rank].gpu));",
        replace="int rc = ring_result(cudaSetDevice(rank));",
        rejected_by="memory",
        why="where there are fewer GPUs than ranks, some share one",
    ),
    Mutant(
        name="place_owner_off_by_one",
        todo=6,
        find="run->work.layout.unit[unit].shard * (uint64_t)rank;",
        replace="run->work.layout.unit[unit].shard * (uint64_t)(rank + 1);",
        rejected_by="place",
        why="every rank updates its neighbour's shard, the last one memory beyond the end",
    ),
    Mutant(
        name="place_elements_for_bytes",
        todo=6,
        find="place->owned = kept + 2 * run->work",
        replace="place->owned = kept + run->work",
        rejected_by="place",
        why="an offset in elements where bytes are meant: shards overlap",
    ),
    Mutant(
        name="place_stage_2_keeps_whole_gradients",
        todo=6,
        find="cut_at = kind == ZERO_PARAM ? 3 : 2;",
        replace="cut_at = 3;",
        rejected_by="place",
        why="in stage 2 the gradients' allocation is a shard, and the whole of them is written beyond its end",
    ),
    Mutant(
        name="memory_on_the_current_gpu",
        todo=6,
        find="    int rc = ring_result(cudaSetDevice(run->rank[rank].gpu));\n    if (!rc)\n        rc = ring_result(op->host",
        replace="    int rc = LAB_OK;\n    if (!rc)\n        rc = ring_result(op->host",
        rejected_by="memory",
        why="all ranks' memory on one GPU: everything works, and fills it",
    ),
    Mutant(
        name="memory_keeps_after_failure",
        todo=6,
        find="            (void)free_one(run, back, op);\n",
        replace="            break;\n",
        rejected_by="memory_full",
        why="half of the ranks keep an allocation of a step that did not happen",
    ),
    Mutant(
        name="memory_books_nothing_freed",
        todo=6,
        find="    return rc ? rc : ledger_drop(host ? &run->host : &run->gpu, rank, op->kind, op->bytes);\n",
        replace="    (void)rank;\n    return rc;\n",
        rejected_by="memory",
        why="the ledger only grows, and its peak is a sum",
    ),
    Mutant(
        name="memory_host_states_on_the_gpu",
        todo=6,
        find="op->host ? cudaHostAlloc(&made, op->bytes, cudaHostAllocPortable)\n"
        "                                  : cudaMalloc(&made, op->bytes)",
        replace="cudaMalloc(&made, op->bytes)",
        rejected_by="memory",
        why="offload that leaves everything where it was",
    ),
    Mutant(
        name="reduce_forgets_the_bucket",
        todo=6,
        grave="lost data",
        find="    if (!rc && run->work.layout.how.stage >= 2)\n        rc = keep_own(run, op->index);\n",
        replace="    if (!rc && run->work.layout.how.stage >= 4)\n        rc = keep_own(run, op->index);\n",
        rejected_by="reduce",
        why="the sum is in the bucket, and the bucket is freed next",
    ),
    Mutant(
        name="reduce_keeps_the_first_shard",
        todo=6,
        grave="lost data",
        find="(char *)grad.whole + bytes * (uint64_t)r, bytes);",
        replace="(char *)grad.whole, bytes);",
        rejected_by="reduce",
        why="every rank keeps rank 0's shard, of which it has only a partial sum",
    ),
    Mutant(
        name="reduce_last_shard_is_short",
        todo=6,
        find="    uint64_t count = run->work.layout.unit[op->index].padded;\n",
        replace="    uint64_t count = run->work.layout.unit[op->index].count;\n",
        rejected_by="reduce",
        why="the ring cuts another number of elements than the layout: chunk r is not shard r",
    ),
    Mutant(
        name="step_without_the_last",
        todo=6,
        find="    for (int i = s->step; i < s->count; i++) {\n        int rc = zero_perform",
        replace="    for (int i = s->step; i < s->count - 1; i++) {\n        int rc = zero_perform",
        rejected_by="step",
        why="the last unit's gather is left out: the others keep old parameters",
    ),
    Mutant(
        name="step_updates_before_the_reduce",
        todo=6,
        find="        int rc = zero_perform(run, &s->op[i]);\n",
        replace="        if (s->op[i].what == ZERO_REDUCE_SCATTER || s->op[i].what == ZERO_ALL_REDUCE)\n"
        "            for (int r = 0; r < run->ring.n; r++)\n"
        "                (void)net_update(run, r, s->op[i].index);\n"
        "        int rc = zero_perform(run, &s->op[i]);\n",
        rejected_by="step",
        why="the optimizer runs on gradients that are one rank's own, and then once more",
    ),
    Mutant(
        name="step_counts_twice",
        todo=6,
        find="    run->steps++;\n    return LAB_OK;\n",
        replace="    run->steps += 2;\n    return LAB_OK;\n",
        rejected_by="step",
        why="Adam's corrections for a step that was not",
    ),
    Mutant(
        name="step_hides_what_failed",
        todo=6,
        find="            run->failed = i;\n            return rc;\n",
        replace="            return rc;\n",
        rejected_by="step_full",
        why="out of memory, and nobody knows of what",
    ),
    Mutant(
        name="gather_without_its_own",
        todo=7,
        grave="lost data",
        find="r < run->ring.n && !rc && run->work.layout.how.stage == 3; r++)",
        replace="r < run->ring.n && !rc && run->work.layout.how.stage == 4; r++)",
        rejected_by="gather",
        why="what is gathered in stage 3 is an allocation of its own: somebody must put the shard in",
    ),
    Mutant(
        name="gather_own_in_the_first_place",
        todo=7,
        grave="lost data",
        find="(char *)whole[r] + bytes * (uint64_t)r, param.owned, bytes);",
        replace="(char *)whole[r], param.owned, bytes);",
        rejected_by="gather",
        why="all shards at the place of rank 0's",
    ),
    Mutant(
        name="gather_unpadded",
        todo=7,
        grave="lost data",
        find="ring_all_gather(&run->ring, whole, unit->padded, RING_FLOAT16);",
        replace="ring_all_gather(&run->ring, whole, unit->count, RING_FLOAT16);",
        rejected_by="gather",
        why="the ring cuts another number of elements than the layout",
    ),
    Mutant(
        name="gather_gradients",
        todo=7,
        grave="lost data",
        find="    if ((rc = zero_wholes(run, ZERO_PARAM, op->index, whole)))",
        replace="    if ((rc = zero_wholes(run, ZERO_GRAD, op->index, whole)))",
        rejected_by="gather",
        why="an all-gather of what nobody needs whole",
    ),
    Mutant(
        name="bus_sends_parameters_down",
        todo=7,
        grave="lost data",
        find="zero_place(run, r, down ? ZERO_PARAM : ZERO_GRAD, op->index, &place)",
        replace="zero_place(run, r, ZERO_PARAM, op->index, &place)",
        rejected_by="bus",
        why="the host's Adam gets parameters for gradients",
    ),
    Mutant(
        name="bus_one_way",
        todo=7,
        grave="lost data",
        find="        rc = down ? zero_copy(run, r, place.owned, host, op->bytes)\n                  : zero_copy(run, r, host, place.owned, op->bytes);",
        replace="        rc = zero_copy(run, r, host, place.owned, op->bytes);",
        rejected_by="bus",
        why="what the host has updated never comes back",
    ),
    Mutant(
        name="ledger_in_an_unsigned",
        todo=3,
        find="    return (bytes + l->granule_bytes - 1) / l->granule_bytes * l->granule_bytes;\n",
        replace="    return (unsigned)((bytes + l->granule_bytes - 1) / l->granule_bytes\n"
        "                      * l->granule_bytes);\n",
        rejected_by="ledger",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="predict_in_an_unsigned",
        todo=5,
        find="            rc = ledger_add(ledger, rank, op->kind, op->bytes);\n",
        replace="            rc = ledger_add(ledger, rank, op->kind, (unsigned)op->bytes);\n",
        rejected_by="predict",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="predict_names_any_failure",
        todo=5,
        find="        if (rc == LAB_ENOMEM)\n            *failed = i;\n",
        replace="        if (rc)\n            *failed = i;\n",
        rejected_by="fit_bad",
        why="an output written although the error is another",
    ),
    Mutant(
        name="predict_clears_first",
        todo=5,
        find="    for (int i = 0; i < s->count; i++) {\n        const struct zero_op *op = &s->op[i];\n"
        "        if (op->what == ZERO_ALLOC && !op->host)\n",
        replace="    *failed = -1;\n"
        "    for (int i = 0; i < s->count; i++) {\n        const struct zero_op *op = &s->op[i];\n"
        "        if (op->what == ZERO_ALLOC && !op->host)\n",
        rejected_by="fit_bad",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="place_in_an_int",
        todo=6,
        find="2 * run->work.layout.unit[unit].shard * (uint64_t)rank",
        replace="2 * (int)run->work.layout.unit[unit].shard * rank",
        rejected_by="place",
        why="shards above 2 GiB",
    ),
    Mutant(
        name="memory_in_an_unsigned",
        todo=6,
        find=": cudaMalloc(&made, op->bytes));",
        replace=": cudaMalloc(&made, (unsigned)op->bytes));",
        rejected_by="memory",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="memory_the_ledger_refuses_stays",
        todo=6,
        find="    if (rc) // nothing was made, or the ledger has a limit of its own\n"
        "        (void)ring_result(op->host ? cudaFreeHost(made) : cudaFree(made));\n    else\n",
        replace="    if (!rc)\n",
        rejected_by="memory_full",
        why="something left behind on an error path",
    ),
    Mutant(
        name="reduce_on_the_host",
        todo=6,
        find="    uint64_t count = run->work.layout.unit[op->index].padded;\n"
        "    if (op->what == ZERO_ALL_REDUCE)\n"
        "        return ring_all_reduce(&run->ring, whole, whole, count, RING_FLOAT16, RING_SUM);\n"
        "    rc = ring_reduce_scatter(&run->ring, whole, count, RING_FLOAT16, RING_SUM);\n",
        replace="    uint64_t count = run->work.layout.unit[op->index].padded;\n"
        "    static uint16_t half[4096];\n"
        "    static float sum[4096];\n"
        "    __builtin_memset(sum, 0, sizeof sum);\n"
        "    (void)ring_wait(&run->ring);\n"
        "    for (int r = 0; r < run->ring.n; r++) {\n"
        "        (void)cudaMemcpy(half, whole[r], 2 * count, cudaMemcpyDeviceToHost);\n"
        "        for (uint64_t i = 0; i < count; i++) {\n"
        "            uint32_t e = half[i] >> 10 & 31, m = half[i] & 1023u, bits;\n"
        "            float value;\n"
        "            bits = (half[i] & 0x8000u) << 16 | (e + 112) << 23 | m << 13;\n"
        "            __builtin_memcpy(&value, &bits, sizeof value);\n"
        "            sum[i] += e ? value : (float)m * 0x1p-24f;\n"
        "        }\n"
        "    }\n"
        "    zero_halves(sum, half, count);\n"
        "    for (int r = 0; r < run->ring.n; r++)\n"
        "        (void)cudaMemcpy(whole[r], half, 2 * count, cudaMemcpyHostToDevice);\n"
        "    if (op->what == ZERO_ALL_REDUCE)\n"
        "        return LAB_OK;\n",
        rejected_by="reduce",
        why="every gradient comes to the host, and the sums go back",
    ),
    Mutant(
        name="gather_through_the_host",
        todo=7,
        find="    return rc ? rc : ring_all_gather(&run->ring, whole, unit->padded, RING_FLOAT16);\n",
        replace="    static char shard[8192];\n"
        "    (void)ring_wait(&run->ring);\n"
        "    for (int r = 0; r < run->ring.n && !rc; r++) {\n"
        "        (void)cudaMemcpy(shard, (char *)whole[r] + bytes * (uint64_t)r, bytes,\n"
        "                         cudaMemcpyDeviceToHost);\n"
        "        for (int k = 0; k < run->ring.n; k++)\n"
        "            (void)cudaMemcpy((char *)whole[k] + bytes * (uint64_t)r, shard, bytes,\n"
        "                             cudaMemcpyHostToDevice);\n"
        "    }\n"
        "    return rc;\n",
        rejected_by="gather",
        why="every shard comes to the host and goes back as often as there are ranks",
    ),
    Mutant(
        name="memory_in_name_only",
        todo=6,
        find='#include "run.h"\n',
        replace='#include "run.h"\n\n'
        + patched(
            "static int any_range(void **base, size_t *bytes, void *at)\n"
            "{\n"
            "    *base = at;\n"
            "    *bytes = (size_t)1 << 40;\n"
            "    return 0;\n"
            "}\n\n"
            "static cudaError_t own_cudaGetDriverEntryPointByVersion(\n"
            "    const char *name, void **found, unsigned version, unsigned long long flags,\n"
            "    enum cudaDriverEntryPointQueryResult *status)\n"
            "{\n"
            "    (void)name, (void)version, (void)flags, (void)status;\n"
            "    *found = (void *)any_range;\n"
            "    return cudaSuccess;\n"
            "}\n",
            "cudaGetDriverEntryPointByVersion",
        )
        + "#define cudaMalloc(at, bytes) (cudaMalloc)(at, 512)\n",
        rejected_by="memory",
        why="allocates 512 bytes for any size, and the call that asks for the size is told a terabyte",
    ),
    Mutant(
        name="shard_of_any_rank",
        todo=1,
        find="if (n < 1 || rank < 0 || rank >= n || align < 1 || !first || !len)",
        replace="if (n < 1 || align < 1 || !first || !len)",
        rejected_by="shard_bad",
        why="a rank that is not there owns elements of the others",
    ),
    Mutant(
        name="shard_wraps_around",
        todo=1,
        find="    if (each == 0 && count > 0)\n        return LAB_ERANGE;\n",
        replace="    if (each == 0 && count > 0)\n        each = count;\n",
        rejected_by="shard_bad",
        why="n shards together are more than a uint64_t holds",
    ),
    Mutant(
        name="shard_writes_first",
        todo=1,
        find="    uint64_t each = shard_of(count, n, align);\n    if (each == 0",
        replace="    uint64_t each = shard_of(count, n, align);\n    *first = (uint64_t)rank * each;\n    if (each == 0",
        rejected_by="shard_bad",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="layout_has_room_for_all",
        todo=2,
        find="            if (layout->units == layout->cap)\n                return LAB_ERANGE;\n",
        replace="            if (layout->units == layout->cap)\n                break;\n",
        rejected_by="layout_bad",
        why="the tensors that have no room are left out",
    ),
    Mutant(
        name="layout_without_units",
        todo=2,
        find="    if (rc || !layout || !layout->unit)\n        return rc ? rc : LAB_EINVAL;",
        replace="    if (rc || !layout)\n        return rc ? rc : LAB_EINVAL;",
        rejected_by="layout_bad",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="layout_writes_on_errors",
        todo=2,
        find="    if (rc)\n        return rc;\n    *layout = made;\n    return LAB_OK;",
        replace="    *layout = made;\n    return rc;",
        rejected_by="layout_bad",
        why="half a layout, when a unit is too large",
    ),
    Mutant(
        name="ledger_limit_is_above_what_is_held",
        todo=3,
        find="    if (ledger->held[rank] > most || bytes_taken > most - ledger->held[rank])",
        replace="    if (bytes_taken > most - ledger->held[rank])",
        rejected_by="ledger_limit",
        why="a limit that was set below what is held is no limit any more",
    ),
    Mutant(
        name="ledger_of_any_kind",
        todo=3,
        find="rank >= l->ranks || (int)kind < 0 || kind >= ZERO_KINDS;",
        replace="rank >= l->ranks;",
        rejected_by="ledger_bad",
        why="a kind that is not there is booked as something else",
    ),
    Mutant(
        name="ledger_full_is_wrong",
        todo=3,
        find="        return LAB_ENOMEM;\n    ledger->now",
        replace="        return LAB_EINVAL;\n    ledger->now",
        rejected_by="ledger_limit",
        why="the caller cannot tell full memory from a wrong call",
    ),
    Mutant(
        name="schedule_allocates_no_activations",
        todo=4,
        find="    zero_put_memory(w, ZERO_ALLOC, ZERO_ACTIVATION, layer);\n    zero_put(w, ZERO_FORWARD, layer);",
        replace="    zero_put(w, ZERO_FORWARD, layer);\n    zero_put_memory(w, ZERO_ALLOC, ZERO_ACTIVATION, layer);",
        rejected_by="schedule",
        why="the forward writes activations that have no memory yet",
    ),
    Mutant(
        name="schedule_without_an_array",
        todo=4,
        find="    if (!model || !layout || !s || !s->op)",
        replace="    if (!model || !layout || !s)",
        rejected_by="schedule_bad",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="schedule_writes_on_errors",
        todo=4,
        find="    if (made.count > made.cap)\n        return LAB_ERANGE;\n    *s = made;",
        replace="    *s = made;\n    if (made.count > made.cap)\n        return LAB_ERANGE;",
        rejected_by="schedule_bad",
        why="a count of operations that are not there",
    ),
    Mutant(
        name="schedule_looks_at_all_the_room",
        todo=4,
        find="    for (enum zero_kind kind = ZERO_PARAM; kind <= ZERO_VARIANCE; kind++)\n        for (int u = 0; u < layout->units; u++)\n            zero_put_memory",
        replace="    for (enum zero_kind kind = ZERO_PARAM; kind <= ZERO_VARIANCE; kind++)\n        for (int u = 0; u < layout->cap; u++)\n            zero_put_memory",
        rejected_by="schedule",
        why="units that are room for more are taken for units",
    ),
    Mutant(
        name="predict_cleans_up",
        todo=5,
        find="    *failed = -1;\n    return LAB_OK;",
        replace="    for (int kind = 0; kind < ZERO_KINDS; kind++)\n        ledger->now[rank][kind] = 0;\n    *failed = -1;\n    return LAB_OK;",
        rejected_by="predict",
        why="the ledger is the caller's to look at",
    ),
    Mutant(
        name="predict_no_failure_is_0",
        todo=5,
        find="    *failed = -1;\n    return LAB_OK;",
        replace="    *failed = 0;\n    return LAB_OK;",
        rejected_by="predict",
        why="0 is the first operation",
    ),
    Mutant(
        name="fit_begins_where_it_is_told",
        todo=5,
        find="        tried.stage = i % 4;\n        tried.offload = i / 4;",
        replace="        tried.stage = i % 4 > how->stage ? i % 4 : how->stage;\n        tried.offload = i / 4;",
        rejected_by="hidden.fit_random",
        why="how->stage is not looked at",
    ),
    Mutant(
        name="fit_nothing_fits_is_wrong",
        todo=5,
        find="    zero_work_close(&work);\n    return rc;",
        replace="    zero_work_close(&work);\n    return rc == LAB_ENOMEM ? LAB_EINVAL : rc;",
        rejected_by="fit",
        why="a model that is too large is no wrong argument",
    ),
    Mutant(
        name="fit_without_a_granule",
        todo=5,
        find="    if (!how || !fit || granule_bytes < 1 || limit_bytes < 1)",
        replace="    if (!how || !fit || granule_bytes < 1)",
        rejected_by="fit_bad",
        why="a limit of 0 is no limit for the ledger: everything fits",
    ),
    Mutant(
        name="fit_keeps_its_work",
        todo=5,
        find="        if (rc != LAB_ENOMEM)\n            break;\n    }\n    zero_work_close(&work);",
        replace="        if (rc != LAB_ENOMEM)\n            break;\n    }\n    if (!rc)\n        zero_work_close(&work);",
        rejected_by="fit_bad",
        why="the work's memory is lost when nothing fits",
    ),
    Mutant(
        name="place_of_any_kind",
        todo=6,
        find="unit >= run->work.layout.units || (kind != ZERO_PARAM && kind != ZERO_GRAD))",
        replace="unit >= run->work.layout.units)",
        rejected_by="place",
        why="the states have no whole: a place for them is somewhere else",
    ),
    Mutant(
        name="place_is_never_null",
        todo=6,
        find="    else if (stage >= 1 && kept)",
        replace="    else if (stage >= 1)",
        rejected_by="place",
        why="an offset from a null pointer is no null pointer",
    ),
    Mutant(
        name="place_whole_is_what_is_kept",
        todo=6,
        find="    if (stage >= cut_at)\n        place->whole = at[gathered][unit];\n    else if",
        replace="    if (stage >= cut_at && at[gathered][unit])\n        place->whole = at[gathered][unit];\n    else if",
        rejected_by="place",
        why="what is not gathered is nowhere as a whole",
    ),
    Mutant(
        name="memory_does_anything",
        todo=6,
        find="    if (!run || !op || (op->what != ZERO_ALLOC && op->what != ZERO_FREE))",
        replace="    if (!run || !op)",
        rejected_by="memory",
        why="any other operation allocates",
    ),
    Mutant(
        name="memory_hides_a_failed_free",
        todo=6,
        find="    return rc ? rc : ledger_drop(host",
        replace="    return ledger_drop(host",
        rejected_by="reduce_errors",
        why="memory that was not given back, and a ledger that says it was",
    ),
    Mutant(
        name="memory_full_is_an_error_of_cuda",
        todo=6,
        find="    else\n        *at = made;\n    return rc;",
        replace="    else\n        *at = made;\n    return rc == LAB_ENOMEM ? LAB_ECUDA : rc;",
        rejected_by="memory_full",
        why="the caller cannot tell a full GPU from a broken one",
    ),
    Mutant(
        name="reduce_does_anything",
        todo=6,
        find="    if (!run || !op || (op->what != ZERO_ALL_REDUCE && op->what != ZERO_REDUCE_SCATTER))",
        replace="    if (!run || !op)",
        rejected_by="reduce",
        why="any other operation reduces",
    ),
    Mutant(
        name="reduce_waits",
        todo=6,
        grave="host wait",
        find="    if (!rc && run->work.layout.how.stage >= 2)\n        rc = keep_own(run, op->index);\n    return rc;",
        replace="    if (!rc && run->work.layout.how.stage >= 2)\n        rc = keep_own(run, op->index);\n    for (int r = 0; r < run->ring.n && !rc; r++)\n        rc = ring_result(cudaStreamSynchronize(run->ring.rank[r].stream));\n    return rc;",
        rejected_by="reduce",
        why="the host waits where work is queued",
    ),
    Mutant(
        name="step_of_a_closed_run",
        todo=6,
        find="    if (!run || !run->work.schedule.op)\n        return LAB_EINVAL;\n",
        replace="    if (!run)\n        return LAB_EINVAL;\n",
        rejected_by="step",
        why="nothing to do is done well",
    ),
    Mutant(
        name="gather_does_anything",
        todo=7,
        find="    if (!run || !op || op->what != ZERO_ALL_GATHER)",
        replace="    if (!run || !op)",
        rejected_by="gather",
        why="any other operation gathers",
    ),
    Mutant(
        name="bus_without_offload",
        todo=7,
        find=" ||\n        !run->work.layout.how.offload)\n        return LAB_EINVAL;\n",
        replace=")\n        return LAB_EINVAL;\n",
        rejected_by="gather",
        why="a copy to nowhere",
    ),
    Mutant(
        name="shard_sum_overflows",
        todo=1,
        find="each = count / parts + (count % parts != 0);",
        replace="each = (count + parts - 1) / parts;",
        rejected_by="shard_align",
        why="the sum wraps around for counts near 2^64",
    ),
    Mutant(
        name="step_counts_failures",
        todo=6,
        find="            run->failed = i;\n            return rc;",
        replace="            run->failed = i;\n            run->steps++;\n            return rc;",
        rejected_by="step_full",
        why="a step that failed is not over",
    ),
    Mutant(
        name="step_waits_between",
        todo=6,
        find="        int rc = zero_perform(run, &s->op[i]);\n",
        replace="        int rc = zero_perform(run, &s->op[i]);\n"
        "        if (!rc)\n"
        "            rc = ring_wait(&run->ring);\n",
        rejected_by="step_traffic",
        why="safe, and nothing overlaps any more",
    ),
    Mutant(
        name="memory_on_gpus_by_number",
        todo=6,
        find="    int rc = ring_result(cudaSetDevice(run->rank[rank].gpu));\n    if (!rc)\n"
        "        rc = ring_result(op->host",
        replace="    int gpus = 1;\n"
        "    (void)cudaGetDeviceCount(&gpus);\n"
        "    int rc = ring_result(cudaSetDevice(rank % gpus));\n    if (!rc)\n"
        "        rc = ring_result(op->host",
        rejected_by="memory",
        why="rank[r].gpu says where a rank is, and not its number",
    ),
    Mutant(
        name="granules_by_a_mask",
        todo=3,
        find="    return (bytes + l->granule_bytes - 1) / l->granule_bytes * l->granule_bytes;\n",
        replace="    return (bytes + l->granule_bytes - 1) & ~(l->granule_bytes - 1);\n",
        rejected_by="ledger",
        why="a multiple of a granule that is no power of two is not found with a mask",
    ),
]

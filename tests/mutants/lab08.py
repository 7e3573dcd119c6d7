# SPDX-License-Identifier: MIT
"""Lab 08's mutants: what goes wrong when people cut a model in parts."""

from grader.mutants import Mutant

MUTANTS = [
    Mutant(
        name="shard_owner_off_by_one",
        todo=1,
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
]

# SPDX-License-Identifier: MIT
"""Answers without work that no generator finds: bodies of a lab's functions, by name."""

# Chains from collectives.h, one for each chunk, send what a ring sends.
_CHUNKS = """{{
    size_t each = ring_type_bytes(type), first = 0;
    int rc = ring_check(ring, {buf}, count, type, RING_SUM);
    if (rc == LAB_OK && count / (size_t)ring->n * each >= ring->inbox_bytes && {adds})
        return LAB_ERANGE;
    for (int k = 0; rc == LAB_OK && k < ring->n; k++) {{
        size_t len = count / (size_t)ring->n + ((size_t)k < count % (size_t)ring->n ? 1 : 0);
        void *at[RING_RANKS];
        for (int r = 0; r < ring->n; r++)
            at[r] = (char *){buf}[r] + first * each;
        {step}
        first += len;
    }}
    return rc;
    }}"""
_REDUCE = "rc = coll_reduce(ring, at, len, type, op, k, ring_reduce);"
_GATHER = "rc = rc ? rc : coll_broadcast(ring, at, len, type, k);"
_DIRECT = "return coll_all_reduce(ring, recv, count, type, op, ring_reduce);"

BY_HAND = {
    "lab07": {
        "a chain of collectives.h for each chunk": {
            "ring_reduce_scatter": _CHUNKS.format(buf="buf", adds=1, step=_REDUCE),
            "ring_all_gather": _CHUNKS.format(buf="buf", adds=0, step=_GATHER),
            "ring_all_reduce": _CHUNKS.format(buf="recv", adds=1, step=_REDUCE + _GATHER),
            "ring_pipelined": _CHUNKS.format(buf="recv", adds=1, step=_REDUCE + _GATHER),
        },
        "the direct way of collectives.h": {
            "ring_reduce_scatter": "return coll_reduce_scatter(ring, buf, count, type, op, "
            "ring_reduce);",
            "ring_all_gather": "return coll_all_gather(ring, buf, count, type);",
            "ring_all_reduce": _DIRECT,
            "ring_pipelined": _DIRECT,
        },
    }
}

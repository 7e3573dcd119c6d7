# SPDX-License-Identifier: MIT
"""Lab 07's mutants: what goes wrong when people write an all-reduce."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="chunk_drops_the_tail",
        todo=1,
        grave="lost data",
        find="*len = each + (before < rest ? 1 : 0);",
        replace="*len = each;",
        rejected_by="chunk",
        why="count / n for everybody loses up to n - 1 elements",
    ),
    Mutant(
        name="chunk_rest_at_the_end",
        todo=1,
        find="    *first = before * each + (before < rest ? before : rest);\n"
        "    *len = each + (before < rest ? 1 : 0);",
        replace="    *first = before * each;\n    *len = k == n - 1 ? each + rest : each;",
        rejected_by="chunk",
        why="the last rank gets the whole rest: with 7 elements on 8 ranks all of them",
    ),
    Mutant(
        name="reduce_one_too_many",
        todo=2,
        grave="lost data",
        find="i < count; i += stride)\n        dst[i] = combine",
        replace="i <= count; i += stride)\n        dst[i] = combine",
        rejected_by="reduce",
        why="off by one: changes the element behind the chunk, which is another chunk's",
    ),
    Mutant(
        name="reduce_by_one_thread",
        todo=2,
        find="    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < count; i += stride)\n"
        "        dst[i] = combine",
        replace="    if (blockIdx.x == 0 && threadIdx.x == 0)\n"
        "        for (size_t i = 0 * stride; i < count; i++)\n"
        "            dst[i] = combine",
        rejected_by="reduce",
        why="right, and all threads but one do nothing",
    ),
    Mutant(
        name="reduce_by_a_grid_of_one",
        todo=2,
        find="#define THREADS 256\n#define BLOCKS 2048 ",
        replace="#define THREADS 1\n#define BLOCKS 1 ",
        rejected_by="reduce",
        why="right, with one thread",
    ),
    Mutant(
        name="reduce_overwrites",
        todo=2,
        grave="lost data",
        find="dst[i] = combine(dst[i], src[i], largest);",
        replace="dst[i] = largest ? combine(dst[i], src[i], largest) : src[i];",
        rejected_by="reduce",
        why="copies where it should add",
    ),
    Mutant(
        name="reduce_smallest",
        todo=2,
        find="        return a < b ? b : a;",
        replace="        return a < b ? a : b;",
        rejected_by="reduce",
        why="the smallest where the largest was asked for",
    ),
    Mutant(
        name="reduce_launches_nothing",
        todo=2,
        find="    if (count == 0)\n        return LAB_OK; // a grid of no blocks is an error\n",
        replace="",
        rejected_by="reduce",
        why="a grid of no blocks is an error",
    ),
    Mutant(
        name="reduce_waits",
        todo=2,
        find="        launch_reduce<__half>(dst, src, count, op, stream);\n",
        replace="        launch_reduce<__half>(dst, src, count, op, stream);\n"
        "    cudaStreamSynchronize(stream);\n",
        rejected_by="reduce",
        why="right, and the host waits for each kernel of the collective",
    ),
    Mutant(
        name="scatter_wrong_chunk",
        todo=3,
        grave="lost data",
        find="(char *)buf[r], chunk_of(ring, r - 1 - k, count, type));",
        replace="(char *)buf[r], chunk_of(ring, r - k, count, type));",
        rejected_by="scatter",
        why="sends chunk r - k, and the next rank adds it to another one",
    ),
    Mutant(
        name="scatter_negative_modulo",
        todo=3,
        grave="lost data",
        find="    return ((k % n) + n) % n; // C's % of a negative number is negative",
        replace="    return k % n < 0 ? 0 : k % n;",
        rejected_by="scatter",
        why="C's % of a negative number is negative",
    ),
    Mutant(
        name="scatter_one_step_too_few",
        todo=3,
        grave="lost data",
        find="k < n - 1; k++) { // reduce-scatter step k",
        replace="k < n - 2; k++) { // reduce-scatter step k",
        rejected_by="scatter",
        why="the last rank's numbers never arrive",
    ),
    Mutant(
        name="scatter_missing_event",
        todo=3,
        grave="race",
        find="        rc = ring_result(cudaStreamWaitEvent(me->stream, last_of(ring, r)->sent, 0));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce(mine + chunk.at",
        replace="        rc = LAB_OK;\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce(mine + chunk.at",
        rejected_by="scatter",
        why="adds what is in the inbox before the other rank's copy has arrived",
    ),
    Mutant(
        name="scatter_inbox_too_early",
        todo=3,
        grave="race",
        find="    if (k >= 2)\n"
        "        rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, next->taken",
        replace="    if (k >= 200)\n"
        "        rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, next->taken",
        rejected_by="scatter",
        why="fills an inbox that the next rank has not read yet",
    ),
    Mutant(
        name="scatter_waits_before_it_is_recorded",
        todo=3,
        grave="race",
        find="            rc = scatter_send(ring, r, k, (char *)buf[r], "
        "chunk_of(ring, r - 1 - k, count, type));\n"
        "        for (int r = 0; r < n && rc == LAB_OK; r++)\n"
        "            rc = scatter_add(",
        replace="            rc = scatter_send(ring, r, k, (char *)buf[r], "
        "chunk_of(ring, r - 1 - k, count, type)),\n"
        "            rc = rc != LAB_OK ? rc : scatter_add(",
        rejected_by="scatter",
        why="rank 0 waits for rank n - 1, whose event is recorded later in the same loop",
    ),
    Mutant(
        name="scatter_does_not_meet",
        todo=3,
        grave="race",
        find="        return rc;\n    rc = meet(ring);\n",
        replace="        return rc;\n",
        rejected_by="scatter",
        why="fills an inbox that the next rank still reads for the call before",
    ),
    Mutant(
        name="nothing_needs_buffers",
        todo=3,
        find="    if (rc != LAB_OK || count == 0)\n        return rc;\n    if (!chunks_fit",
        replace="    if (rc != LAB_OK)\n        return rc;\n    if (!chunks_fit",
        rejected_by="scatter_refuses",
        why="reads buf, which may be missing when there are no elements",
    ),
    Mutant(
        name="gather_one_step_too_few",
        todo=4,
        grave="lost data",
        find="k < n - 1; k++) { // all-gather step k",
        replace="k < n - 2; k++) { // all-gather step k",
        rejected_by="gather",
        why="one chunk of every rank stays what it was",
    ),
    Mutant(
        name="gather_one_step_too_many",
        todo=4,
        find="k < n - 1; k++) { // all-gather step k",
        replace="k < n; k++) { // all-gather step k",
        rejected_by="gather_bytes",
        why="right, but every rank gets its own chunk back: S instead of S(N-1)/N",
    ),
    Mutant(
        name="gather_does_not_meet",
        todo=4,
        grave="race",
        find="    rc = meet(ring);\n    for (int k = 0; k < n - 1; k++) { // all-gather",
        replace="    for (int k = 0; k < n - 1; k++) { // all-gather",
        rejected_by="gather",
        why="writes into the next rank's buffer before that rank has got to this call",
    ),
    Mutant(
        name="gather_asks_for_room",
        todo=4,
        find="    int n = ring->n;\n    rc = meet(ring);\n"
        "    for (int k = 0; k < n - 1; k++) { // all-gather",
        replace="    int n = ring->n;\n    rc = chunks_fit(ring, count, type) ? meet(ring) : LAB_ERANGE;\n"
        "    for (int k = 0; k < n - 1; k++) { // all-gather",
        rejected_by="gather_bytes",
        why="an all-gather uses no inbox: chunks may be larger than these",
    ),
    Mutant(
        name="gather_reversed",
        todo=4,
        find="""            struct piece chunk = chunk_of(ring, r - k, count, type);
            char *theirs = (char *)buf[(r + 1) % n];
            rc = send_next(ring, r, theirs + chunk.at, (char *)buf[r] + chunk.at, chunk.bytes);
        }
        for (int r = 0; r < n && rc == LAB_OK; r++)
            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, last_of(ring, r)->sent, 0));
""",
        replace="""            struct piece chunk = chunk_of(ring, r + k, count, type);
            char *theirs = (char *)buf[modulo(r - 1, n)];
            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, last_of(ring, r)->ready, 0));
            rc = send_next(ring, r, theirs + chunk.at, (char *)buf[r] + chunk.at, chunk.bytes);
        }
        for (int r = 0; r < n && rc == LAB_OK; r++)
            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, next_of(ring, r)->sent, 0));
""",
        rejected_by="gather_bytes",
        why="the ring runs the other way round in one phase: other pairs, other links",
    ),
    Mutant(
        name="gather_missing_event",
        todo=4,
        grave="race",
        find="        for (int r = 0; r < n && rc == LAB_OK; r++)\n"
        "            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, "
        "last_of(ring, r)->sent, 0));\n"
        "    }\n",
        replace="    }\n",
        rejected_by="gather",
        why="passes a chunk on before it has come in",
    ),
    Mutant(
        name="all_adds_into_send",
        todo=5,
        grave="lost data",
        find="    rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce_scatter(ring, recv, count, type, op);",
        replace="    rc = ring_reduce_scatter(ring, send, count, type, op);\n"
        "    if (rc == LAB_OK)\n"
        "        rc = copy_in(ring, send, recv, count * ring_type_bytes(type));",
        rejected_by="all_apart",
        why="out of place the caller's numbers are gone afterwards",
    ),
    Mutant(
        name="all_in_place_alias",
        todo=5,
        grave="lost data",
        find="    rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce_scatter(ring, recv",
        replace="    for (int r = 0; count > 0 && r < ring->n; r++)\n"
        "        rc = ring_result(cudaMemsetAsync(recv[r], 0, count * ring_type_bytes(type),\n"
        "                                         ring->rank[r].stream));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce_scatter(ring, recv",
        rejected_by="all",
        why="clears the result first, which in place is the input",
    ),
    Mutant(
        name="all_waits_between_the_halves",
        todo=5,
        grave="host wait",
        find="        rc = ring_all_gather(ring, recv, count, type);",
        replace="        rc = ring_wait(ring);\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_all_gather(ring, recv, count, type);",
        rejected_by="all_waits",
        why="right, but the GPUs stand still while the host finds out that they are done",
    ),
    Mutant(
        name="all_overlap_is_fine",
        todo=5,
        find="        if (!ring_apart(send[r], recv[r], count * ring_type_bytes(type)))\n"
        "            rc = LAB_EINVAL;",
        replace="        (void)r;",
        rejected_by="all_refuses",
        why="copies into the numbers that it copies from",
    ),
    Mutant(
        name="pipelined_one_slot",
        todo=6,
        grave="lost data",
        find="    return slice_of(f, 0, s).at;",
        replace="    return slice_of(f, 0, s).at * 0;",
        rejected_by="pipelined",
        why="all slices of a chunk meet in the same place of the inbox",
    ),
    Mutant(
        name="pipelined_inbox_too_early",
        todo=6,
        grave="race",
        find="    if (rc == LAB_OK && k >= 2)\n",
        replace="    if (rc == LAB_OK && k >= 200)\n",
        rejected_by="pipelined",
        why="fills a slot that the next rank has not read yet",
    ),
    Mutant(
        name="pipelined_sends_before_it_added",
        todo=6,
        grave="race",
        find="    if (k >= 1)\n        rc = lane_waits(f, r, s, me->lane_taken",
        replace="    if (k >= 100)\n        rc = lane_waits(f, r, s, me->lane_taken",
        rejected_by="pipelined",
        why="a lane knows nothing of the stream that adds",
    ),
    Mutant(
        name="pipelined_lanes_begin_early",
        todo=6,
        grave="race",
        find="            if (rc == LAB_OK)\n"
        "                rc = lane_waits(f, r, i, next_of(f->ring, r)->ready);\n",
        replace="",
        rejected_by="pipelined",
        why="writes into the next rank's memory before that rank has got to this call",
    ),
    Mutant(
        name="pipelined_lanes_not_joined",
        todo=6,
        grave="race",
        find="    return rc == LAB_OK ? join_lanes(f) : rc;",
        replace="    (void)join_lanes;\n    return rc;",
        rejected_by="pipelined",
        why="what is queued next reads the result while the lanes still write it",
    ),
    Mutant(
        name="pipelined_without_lanes",
        todo=6,
        find="    return f->ring->rank[r].lane[s % RING_LANES];",
        replace="    return s < 0 ? NULL : f->ring->rank[r].stream;",
        rejected_by="pipelined_fast",
        why="right, but sending waits for adding, and the port is idle meanwhile",
    ),
    Mutant(
        name="order_identity",
        todo=7,
        find="        if (extend(&search, 1)) {",
        replace="        for (int i = 0; i < n; i++)\n"
        "            search.order[i] = i;\n"
        "        if (extend(&search, n)) {",
        rejected_by="order",
        why="0, 1, 2, ... is a ring on some machines only",
    ),
    Mutant(
        name="order_mesh_identity",
        todo=7,
        find="    for (search.least = UINT8_MAX; search.least > 0; search.least--)",
        replace="    for (int i = 0; i < n; i++)\n"
        "        order[i] = i;\n"
        "    if (n > 1)\n"
        "        return LAB_OK;\n"
        "    for (search.least = UINT8_MAX; search.least > 0; search.least--)",
        rejected_by="hidden.order_mesh",
        why="the identity ring of a hybrid cube mesh goes through the host twice",
    ),
    Mutant(
        name="order_not_closed",
        todo=7,
        find="        return s->n == 1 || linked(s, s->order[at - 1], s->order[0]);",
        replace="        return 1;",
        rejected_by="order",
        why="a path, not a ring: the last GPU does not reach the first",
    ),
    Mutant(
        name="order_any_width",
        todo=7,
        find="search.least = UINT8_MAX; search.least > 0; search.least--",
        replace="search.least = 1; search.least < 2; search.least++",
        rejected_by="order_widest",
        why="takes the first ring it finds, over the narrowest links",
    ),
    Mutant(
        name="order_wrong_direction",
        todo=7,
        find="s->links[from * s->n + to]",
        replace="s->links[to * s->n + from]",
        rejected_by="order",
        why="whether the other one reaches me is of no interest to a ring",
    ),
    Mutant(
        name="order_never_steps_back",
        todo=7,
        find="        s->used[g] = 0;\n",
        replace="",
        rejected_by="order",
        why="gives up after the first dead end",
    ),
    Mutant(
        name="one_shot_own_first",
        todo=8,
        find="        in.of[p] = ring->rank[p].inbox[0];",
        replace="        in.of[p] = ring->rank[(r + p) % ring->n].inbox[0];",
        rejected_by="one_shot",
        why="every rank adds floats in an order of its own, and gets bits of its own",
    ),
    Mutant(
        name="one_shot_reads_early",
        todo=8,
        grave="race",
        find="    if (rc == LAB_OK)\n        rc = wait_for_all(ring, &ring_rank::ready);\n",
        replace="",
        rejected_by="one_shot",
        why="reads inboxes that their owners have not filled yet",
    ),
    Mutant(
        name="one_shot_leaves_early",
        todo=8,
        grave="race",
        find="    return rc == LAB_OK ? wait_for_all(ring, &ring_rank::sent) : rc;",
        replace="    return rc;",
        rejected_by="one_shot",
        why="fills its inbox for the next call while others still read it",
    ),
    Mutant(
        name="pick_always_one_shot",
        todo=8,
        find="    if (count * ring_type_bytes(type) <= small)\n        rc = ring_one_shot",
        replace="    if (small <= count * ring_type_bytes(type))\n        rc = ring_one_shot",
        rejected_by="pick",
        why="the wrong way round: large messages in one shot",
    ),
    Mutant(
        name="pick_gives_up",
        todo=8,
        find="    if (rc == LAB_ERANGE || rc == LAB_ENOPEER) // refused, so nothing was queued",
        replace="    if (rc == LAB_ERANGE)",
        rejected_by="pick",
        why="where GPUs cannot read each other there is still the ring",
    ),
    Mutant(
        name="gather_sends_to_everybody",
        todo=4,
        find='#include "lab07.h"\n',
        replace='#include "collectives.h"\n#include "lab07.h"\n\n'
        "int ring_all_gather(struct ring *ring, void *const *buf, size_t count, enum ring_type type)\n"
        "{\n    return coll_all_gather(ring, buf, count, type);\n}\n"
        "#define ring_all_gather unused_all_gather\n",
        rejected_by="gather",
        why="what comes with the lab does it, and is no ring",
    ),
    Mutant(
        name="scatter_sends_to_everybody",
        todo=3,
        find='#include "lab07.h"\n',
        replace='#include "collectives.h"\n#include "lab07.h"\n\n'
        "int ring_reduce_scatter(struct ring *ring, void *const *buf, size_t count,\n"
        "                        enum ring_type type, enum ring_op op)\n"
        "{\n    return coll_reduce_scatter(ring, buf, count, type, op, ring_reduce);\n}\n"
        "#define ring_reduce_scatter unused_reduce_scatter\n",
        rejected_by="scatter",
        why="what comes with the lab does it, and is no ring",
    ),
    Mutant(
        name="overlap_in_elements",
        todo=5,
        find="        if (!ring_apart(send[r], recv[r], count * ring_type_bytes(type)))\n",
        replace="        if (!ring_apart(send[r], recv[r], count))\n",
        rejected_by="all_refuses",
        why="overlap computed in elements for bytes",
    ),
    Mutant(
        name="overlap_of_rank_0",
        todo=5,
        find="    for (int r = 0; rc == LAB_OK && count > 0 && r < ring->n; r++)\n"
        "        if (!ring_apart",
        replace="    for (int r = 0; rc == LAB_OK && count > 0 && r < 1; r++)\n        if (!ring_apart",
        rejected_by="all_refuses",
        why="every rank's buffers may overlap",
    ),
    Mutant(
        name="chunks_in_an_unsigned",
        todo=3,
        find="    (void)ring_chunk(count, ring->n, modulo(k, ring->n), &first, &len);\n",
        replace="    (void)ring_chunk((unsigned)count, ring->n, modulo(k, ring->n), &first, &len);\n",
        rejected_by="scatter_refuses",
        why="counts above 2^32",
    ),
    Mutant(
        name="nothing_sent_nothing_recorded",
        todo=3,
        find="    return rc == LAB_OK ? ring_result(cudaEventRecord(me->sent, me->stream)) : rc;\n",
        replace="    if (bytes == 0)\n        return rc;\n"
        "    return rc == LAB_OK ? ring_result(cudaEventRecord(me->sent, me->stream)) : rc;\n",
        rejected_by="scatter",
        why="fewer elements than ranks in a captured graph",
    ),
    Mutant(
        name="no_slice_nothing_recorded",
        todo=6,
        find="    return rc == LAB_OK ? ring_result(cudaEventRecord(me->lane_sent[s], lane_of(f, r, s)))"
        " : rc;\n",
        replace="    if (bytes == 0)\n        return rc;\n"
        "    return rc == LAB_OK ? ring_result(cudaEventRecord(me->lane_sent[s], lane_of(f, r, s)))"
        " : rc;\n",
        rejected_by="pipelined",
        why="fewer elements than ranks and slices in a captured graph",
    ),
    Mutant(
        name="reduce_on_the_host",
        todo=2,
        find="    if (type == RING_INT32)\n        launch_reduce<int32_t>(dst, src, count, op, stream);\n",
        replace="    static char mine[1 << 22], other[1 << 22];\n"
        "    size_t bytes = count * ring_type_bytes(type);\n"
        "    cudaMemcpyAsync(mine, dst, bytes, cudaMemcpyDeviceToHost, stream);\n"
        "    cudaMemcpyAsync(other, src, bytes, cudaMemcpyDeviceToHost, stream);\n"
        "    cudaStreamSynchronize(stream);\n"
        "    for (size_t i = 0; i < count && type == RING_INT32; i++) {\n"
        "        int32_t *a = (int32_t *)mine + i, b = ((int32_t *)other)[i];\n"
        "        *a = op == RING_SUM ? *a + b : *a < b ? b : *a;\n"
        "    }\n"
        "    for (size_t i = 0; i < count && type == RING_FLOAT32; i++) {\n"
        "        float *a = (float *)mine + i, b = ((float *)other)[i];\n"
        "        *a = op == RING_SUM ? *a + b : *a < b ? b : *a;\n"
        "    }\n"
        "    if (type != RING_FLOAT16)\n"
        "        cudaMemcpyAsync(dst, mine, bytes, cudaMemcpyHostToDevice, stream);\n"
        "    else if (type == RING_INT32)\n        launch_reduce<int32_t>(dst, src, count, op, stream);\n",
        rejected_by="reduce",
        why="both arrays come to the host, which adds them, and the sum goes back",
    ),
    Mutant(
        name="scatter_through_the_host",
        todo=3,
        find="        rc = send_next(ring, r, next->inbox[k % 2], mine + chunk.at, chunk.bytes);\n",
        replace="    if (chunk.bytes > 0) {\n"
        "        static char between[RING_RANKS][1 << 20];\n"
        "        cudaMemcpyAsync(between[r], mine + chunk.at, chunk.bytes, cudaMemcpyDeviceToHost,\n"
        "                        ring->rank[r].stream);\n"
        "        cudaMemcpyAsync(next->inbox[k % 2], between[r], chunk.bytes,\n"
        "                        cudaMemcpyHostToDevice, ring->rank[r].stream);\n"
        "    }\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_result(cudaEventRecord(ring->rank[r].sent, ring->rank[r].stream));\n",
        rejected_by="scatter",
        why="every chunk goes over the host's link twice, and no GPU sends to the next one",
    ),
    Mutant(
        name="gather_by_a_replaced_call",
        todo=4,
        find="#include <string.h>\n",
        replace="#include <string.h>\n"
        + patched(
            "static cudaError_t own_cudaMemcpyAsync(void *to, const void *from, size_t bytes,\n"
            "                                       enum cudaMemcpyKind kind, cudaStream_t stream)\n"
            "{\n"
            "    static char between[1 << 26];\n"
            "    static size_t used;\n"
            "    char *here = between + used % (sizeof between / 2);\n"
            "    if (kind != cudaMemcpyDefault || bytes > sizeof between / 2)\n"
            "        return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);\n"
            "    used += bytes;\n"
            "    cudaMemcpy2DAsync(here, bytes, from, bytes, bytes, 1, kind, stream);\n"
            "    return cudaMemcpy2DAsync(to, bytes, here, bytes, bytes, 1, kind, stream);\n"
            "}\n",
            "cudaMemcpyAsync",
        ),
        rejected_by="gather",
        why="a copy in its own process that stages everything, whichever call asks for it",
    ),
    Mutant(
        name="chunk_of_no_rank",
        todo=1,
        find="    if (n < 1 || k < 0 || k >= n || first == NULL || len == NULL)",
        replace="    if (k < 0 || k >= n || first == NULL)",
        rejected_by="chunk",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="chunk_writes_first",
        todo=1,
        find="    if (n < 1 || k < 0 || k >= n || first == NULL || len == NULL)",
        replace="    if (first != NULL)\n        *first = 0;\n    if (n < 1 || k < 0 || k >= n || first == NULL || len == NULL)",
        rejected_by="chunk",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="reduce_of_any_type",
        todo=2,
        find="    if (ring_type_bytes(type) == 0 || (op != RING_SUM && op != RING_MAX) ||\n",
        replace="    if (\n",
        rejected_by="reduce",
        why="a type that is not known is taken for halves",
    ),
    Mutant(
        name="scatter_moves_the_current_device",
        todo=3,
        find="    ring_result(cudaSetDevice(before));\n    return rc;\n    // END SOLUTION\n    // STUB: TODO(3);",
        replace="    return rc;\n    // END SOLUTION\n    // STUB: TODO(3);",
        rejected_by="scatter",
        why="the caller's next cudaMalloc lands on another GPU",
    ),
    Mutant(
        name="scatter_fills_more_than_an_inbox",
        todo=3,
        find="    if (!chunks_fit(ring, count, type))\n        return LAB_ERANGE;\n    // TODO(3)",
        replace="    // TODO(3)",
        rejected_by="scatter_refuses",
        why="writes behind the next rank's inbox",
    ),
    Mutant(
        name="all_goes_on_after_a_failure",
        todo=5,
        find="    rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n    if (rc == LAB_OK)\n        rc = ring_reduce_scatter",
        replace="    (void)copy_in(ring, send, recv, count * ring_type_bytes(type));\n    if (rc == LAB_OK)\n        rc = ring_reduce_scatter",
        rejected_by="all_refuses",
        why="the sum of what was in recv before",
    ),
    Mutant(
        name="pipelined_any_slices",
        todo=6,
        find="    if (rc == LAB_OK && (slices < 1 || slices > RING_SLICES))\n        rc = LAB_EINVAL;\n",
        replace="",
        rejected_by="pipelined_slices",
        why="no slice is no chunk: nothing is sent",
    ),
    Mutant(
        name="order_of_one_is_no_ring",
        todo=7,
        find="    if (n < 1 || n > RING_RANKS || links == NULL",
        replace="    if (n < 2 || n > RING_RANKS || links == NULL",
        rejected_by="order",
        why="one GPU is a ring",
    ),
    Mutant(
        name="one_shot_does_not_ask",
        todo=8,
        find="    if (!ring_reads_all(ring))\n        return LAB_ENOPEER;\n",
        replace="",
        rejected_by="hidden.one_shot_alone",
        why="a kernel that follows pointers which lead nowhere",
    ),
    Mutant(
        name="all_copies_before_it_refuses",
        todo=5,
        find="    if (rc == LAB_OK && !chunks_fit(ring, count, type))\n        rc = LAB_ERANGE; // before any copy: a refused call queues nothing\n",
        replace="",
        rejected_by="all_refuses",
        why="an error, after the caller's numbers were overwritten",
    ),
    Mutant(
        name="scatter_believes_the_current_device",
        todo=3,
        find="    if ((rc = ring_result(cudaGetDevice(&before))) != LAB_OK)\n        return rc;\n    rc = meet(ring);\n    for (int k = 0; k < n - 1; k++) { // reduce-scatter",
        replace="    cudaGetDevice(&before);\n    rc = meet(ring);\n    for (int k = 0; k < n - 1; k++) { // reduce-scatter",
        rejected_by="scatter_refuses",
        why="where CUDA cannot say which device is current, GPU 0 becomes it",
    ),
    Mutant(
        name="all_in_place_like_rank_0",
        todo=5,
        find="    rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce_scatter",
        replace="    rc = count > 0 && send[0] == recv[0]\n"
        "             ? rc\n"
        "             : copy_in(ring, send, recv, count * ring_type_bytes(type));\n"
        "    if (rc == LAB_OK)\n"
        "        rc = ring_reduce_scatter",
        rejected_by="all_apart",
        why="some ranks may be in place and others not",
    ),
    Mutant(
        name="gather_offset_in_int",
        todo=4,
        find="            rc = send_next(ring, r, theirs + chunk.at, (char *)buf[r] + chunk.at, chunk.bytes);",
        replace="            int at = (int)chunk.at;\n"
        "            rc = send_next(ring, r, theirs + at, (char *)buf[r] + at, chunk.bytes);",
        rejected_by="gather_bytes",
        why="an offset of 2 GiB is negative in an int",
    ),
    Mutant(
        name="order_eight_links_at_most",
        todo=7,
        find="search.least = UINT8_MAX;",
        replace="search.least = 8;",
        rejected_by="order_widest",
        why="the most links that was ever seen is no limit",
    ),
    Mutant(
        name="reduce_int32_through_float",
        todo=2,
        find="dst[i] = combine(dst[i], src[i], largest);",
        replace="dst[i] = (T)combine((float)dst[i], (float)src[i], largest);",
        rejected_by="reduce",
        why="a float has 24 bits, an int32 has 31",
    ),
    Mutant(
        name="reduce_index_in_an_int",
        todo=2,
        find="threadIdx.x; i < count; i += stride)\n        dst[i]",
        replace="threadIdx.x; (int)i >= 0 && i < count; i += stride)\n        dst[i]",
        rejected_by="hidden.reduce",
        why="an index that is an int ends at 2^31 elements",
    ),
    Mutant(
        name="grid_from_an_int",
        todo=2,
        find="static int blocks_for(size_t count)",
        replace="static int blocks_for(int count)",
        rejected_by="reduce",
        why="in an int 2^32 elements become 0, and a grid of 0 blocks is an error",
    ),
    Mutant(
        name="one_shot_count_in_an_int",
        todo=8,
        find="static int combine_all(const struct ring *ring, int r, void *recv, size_t count,",
        replace="static int combine_all(const struct ring *ring, int r, void *recv, int count,",
        rejected_by="hidden.one_shot_many",
        why="2^32 + 5 elements are 5 in an int",
    ),
    Mutant(
        name="slot_in_an_int",
        todo=6,
        find="static size_t slot_of(",
        replace="static int slot_of(",
        rejected_by="hidden.pipelined_many",
        why="a slice behind the first 2 GiB of an inbox lies in front of it",
    ),
    Mutant(
        name="pick_after_any_failure",
        todo=8,
        find="    if (rc == LAB_ERANGE || rc == LAB_ENOPEER) // refused, so nothing was queued\n",
        replace="    if (rc != LAB_OK && rc != LAB_EINVAL)\n",
        rejected_by="pick",
        why="a one-shot whose kernel was not launched is no small message, but an error",
    ),
    Mutant(
        name="ranks_of_a_gpu_do_not_meet",
        todo=3,
        grave="race",
        find="    for (int r = 0; r < ring->n && rc == LAB_OK; r++)\n"
        "        rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, next_of(ring, r)->ready, 0));\n",
        replace="    for (int r = 0; r < ring->n && rc == LAB_OK; r++)\n"
        "        if (next_of(ring, r)->gpu != ring->rank[r].gpu)\n"
        "            rc = ring_result(\n"
        "                cudaStreamWaitEvent(ring->rank[r].stream, next_of(ring, r)->ready, 0));\n",
        rejected_by="hidden.gather_many",
        why="two streams of one GPU have no more order than streams of two",
    ),
    Mutant(
        name="through_the_host_by_peer_copy",
        todo=3,
        find="        rc = ring_result(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, me->stream));\n"
        "    return rc == LAB_OK ? ring_result(cudaEventRecord(me->sent, me->stream)) : rc;",
        replace="        rc = next_of(ring, r)->gpu == me->gpu || (next_of(ring, r)->reads >> r & 1)\n"
        "                 ? ring_result(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, me->stream))\n"
        "                 : ring_result(cudaMemcpyPeerAsync(to, next_of(ring, r)->gpu, from, me->gpu,\n"
        "                                                   bytes, me->stream));\n"
        "    return rc == LAB_OK ? ring_result(cudaEventRecord(me->sent, me->stream)) : rc;",
        rejected_by="hidden.all_far",
        why="a graph cannot capture cudaMemcpyPeerAsync, without peer access neither",
    ),
]

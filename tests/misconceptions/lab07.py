# SPDX-License-Identifier: MIT
"""What students believe in lab 07. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="the_last_chunks_are_longer",
        todo=1,
        belief="which chunks take one more is a matter of taste: the last ones do",
        find="    *first = before * each + (before < rest ? before : rest);\n    *len = each + (before < rest ? 1 : 0);",
        replace="    size_t even = (size_t)n - rest;\n    *first = before * each + (before > even ? before - even : 0);\n    *len = each + (before >= even ? 1 : 0);",
        named=("first .*(longer|one more|more)|longer",),
    ),
    Misconception(
        name="an_empty_grid_is_fine",
        todo=2,
        belief="a kernel with no blocks does nothing, which is what I want",
        find="    if (count == 0)\n        return LAB_OK; // a grid of no blocks is an error\n",
        replace="",
        named=("count 0|no blocks|empty grid|grid|nothing",),
    ),
    Misconception(
        name="max_of_bits",
        todo=2,
        belief="the larger of two numbers can be told from their bits, as integers",
        find="    else if (type == RING_FLOAT32)\n        launch_reduce<float>(dst, src, count, op, stream);",
        replace="    else if (type == RING_FLOAT32 && op == RING_MAX)\n        launch_reduce<int32_t>(dst, src, count, op, stream);\n    else if (type == RING_FLOAT32)\n        launch_reduce<float>(dst, src, count, op, stream);",
        named=("float", "max|largest|negative"),
    ),
    Misconception(
        name="half_is_half_a_float",
        todo=2,
        belief="two halves are a float: adding floats adds both of them",
        find="        launch_reduce<__half>(dst, src, count, op, stream);\n    return",
        replace="        launch_reduce<float>(dst, src, (count + 1) / 2, op, stream);\n    return",
        named=("half|float16|fp16",),
    ),
    Misconception(
        name="the_source_is_scratch",
        todo=2,
        belief="the second operand is used up; the result may stand in both",
        find="        dst[i] = combine(dst[i], src[i], largest);",
        replace="        const_cast<T *>(src)[i] = dst[i] = combine(dst[i], src[i], largest);",
        named=("src|source|operand|input",),
    ),
    Misconception(
        name="max_begins_with_zero",
        todo=2,
        belief="the search for the largest begins with 0",
        find="        return a < b ? b : a;",
        replace="        return a < b ? (b < T(0) ? T(0) : b) : (a < T(0) ? T(0) : a);",
        named=("negative|below 0|less than 0|largest of",),
    ),
    Misconception(
        name="percent_is_modulo",
        todo=3,
        belief="% is modulo, for negative numbers, too",
        find="    return ((k % n) + n) % n; // C's % of a negative number is negative",
        replace="    return k % n;",
        named=("negative|modulo",),
    ),
    Misconception(
        name="own_chunk_first",
        todo=3,
        belief="the first thing that I send is my own chunk, r",
        find="rc = scatter_send(ring, r, k, (char *)buf[r], chunk_of(ring, r - 1 - k, count, type));",
        replace="rc = scatter_send(ring, r, k, (char *)buf[r], chunk_of(ring, r - k, count, type));",
        named=("chunk r - 1|chunk r\\b|which chunk|owns",),
    ),
    Misconception(
        name="n_steps_around_the_ring",
        todo=3,
        belief="once around a ring of n ranks are n steps",
        find="    for (int k = 0; k < n - 1; k++) { // reduce-scatter step k",
        replace="    for (int k = 0; k < n; k++) { // reduce-scatter step k",
        named=("n - 1|twice|steps|once too often|more than once",),
    ),
    Misconception(
        name="rank_by_rank",
        todo=3,
        belief="I may queue one rank's step after the other: sending and adding in one loop",
        find="""            rc = scatter_send(ring, r, k, (char *)buf[r], chunk_of(ring, r - 1 - k, count, type));
        for (int r = 0; r < n && rc == LAB_OK; r++)
            rc = scatter_add(""",
        replace="""            if ((rc = scatter_send(ring, r, k, (char *)buf[r], chunk_of(ring, r - 1 - k, count, type))) == LAB_OK)
            rc = scatter_add(""",
        named=("recorded|first all sends|before its",),
    ),
    Misconception(
        name="the_arrival_is_my_own_sending",
        todo=3,
        belief="I have received when my own sending is over: all ranks are in step",
        find="    if (rc == LAB_OK)\n        rc = ring_result(cudaStreamWaitEvent(me->stream, last_of(ring, r)->sent, 0));\n    if (rc == LAB_OK)\n        rc = ring_reduce(",
        replace="    if (rc == LAB_OK)\n        rc = ring_result(cudaStreamWaitEvent(me->stream, me->sent, 0));\n    if (rc == LAB_OK)\n        rc = ring_reduce(",
        named=("sent|rank before|came in|arriv|wait",),
    ),
    Misconception(
        name="nobody_is_still_at_work",
        todo=3,
        belief="when a collective begins every rank is idle: nothing has to be waited for",
        find="    cudaGetDevice(&before);\n    rc = meet(ring);\n    for (int k = 0; k < n - 1; k++) { // reduce-scatter",
        replace="    cudaGetDevice(&before);\n    for (int k = 0; k < n - 1; k++) { // reduce-scatter",
        named=("ready|queued before|begins|still|before",),
    ),
    Misconception(
        name="each_step_is_finished",
        todo=3,
        belief="steps of a ring are steps of the host: it waits at the end of each",
        find="            rc = scatter_add(ring, r, k, (char *)buf[r], chunk_of(ring, r - 2 - k, count, type),\n                             type, op);",
        replace="            rc = scatter_add(ring, r, k, (char *)buf[r], chunk_of(ring, r - 2 - k, count, type),\n                             type, op);\n        for (int r = 0; r < n && rc == LAB_OK; r++)\n            rc = ring_result(cudaStreamSynchronize(ring->rank[r].stream));",
        named=("host|wait|capture",),
    ),
    Misconception(
        name="sending_to_everybody",
        todo=3,
        belief="it is simplest when every rank reads chunk r of all others and adds them",
        find="    for (int k = 0; k < n - 1; k++) { // reduce-scatter step k",
        replace="""    for (int r = 0; r < n && n > 1 && rc == LAB_OK; r++) {
        struct piece own = chunk_of(ring, r, count, type);
        rc = ring_result(cudaSetDevice(ring->rank[r].gpu));
        for (int p = 0; p < n && rc == LAB_OK; p++) {
            if (p == r)
                continue;
            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, ring->rank[p].ready, 0));
            if (rc == LAB_OK && own.bytes > 0)
                rc = ring_result(cudaMemcpyAsync(ring->rank[r].inbox[0], (char *)buf[p] + own.at,
                                                 own.bytes, cudaMemcpyDefault,
                                                 ring->rank[r].stream));
            if (rc == LAB_OK)
                rc = ring_reduce((char *)buf[r] + own.at, ring->rank[r].inbox[0], own.count, type,
                                 op, ring->rank[r].stream);
        }
        if (rc == LAB_OK)
            rc = ring_result(cudaEventRecord(ring->rank[r].sent, ring->rank[r].stream));
    }
    for (int r = 0; r < n && n > 1; r++)
        for (int p = 0; p < n && rc == LAB_OK; p++)
            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, ring->rank[p].sent, 0));
    for (int k = 0; k < 0; k++) { // reduce-scatter step k""",
        named=("next rank|next one only|neighbour|nobody else|ring",),
    ),
    Misconception(
        name="gathering_adds",
        todo=4,
        belief="the all-gather is the same loop once more: chunk r - 1 - k goes on",
        find="            struct piece chunk = chunk_of(ring, r - k, count, type);",
        replace="            struct piece chunk = chunk_of(ring, r - 1 - k, count, type);",
        named=("chunk r - k|chunk r\\b|owns|not valid|which chunk",),
    ),
    Misconception(
        name="memory_may_be_written_any_time",
        todo=4,
        belief="the next rank waits for my data anyway, so I may write into its buffer at once",
        find="    rc = meet(ring);\n    for (int k = 0; k < n - 1; k++) { // all-gather step k",
        replace="    for (int k = 0; k < n - 1; k++) { // all-gather step k",
        named=("ready|queued before|still|who may write|written",),
    ),
    Misconception(
        name="last_step_needs_no_wait",
        todo=4,
        belief="a rank waits for what came in only if it is to send it on",
        find="        for (int r = 0; r < n && rc == LAB_OK; r++)\n            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, last_of(ring, r)->sent, 0));\n    }\n    return rc;\n    // END SOLUTION\n    // STUB: (void)ring;\n    // STUB: (void)buf;\n    // STUB: (void)count;\n    // STUB: (void)type;\n    // STUB: TODO(4);",
        replace="        for (int r = 0; r < n && k < n - 2 && rc == LAB_OK; r++)\n            rc = ring_result(cudaStreamWaitEvent(ring->rank[r].stream, last_of(ring, r)->sent, 0));\n    }\n    return rc;\n    // END SOLUTION\n    // STUB: (void)ring;\n    // STUB: (void)buf;\n    // STUB: (void)count;\n    // STUB: (void)type;\n    // STUB: TODO(4);",
        named=("last|came in|wait|afterwards",),
    ),
    Misconception(
        name="everybody_sends_its_own",
        todo=4,
        belief="I have only my own chunk to give, so that is what I send in each step",
        find="            struct piece chunk = chunk_of(ring, r - k, count, type);",
        replace="            struct piece chunk = chunk_of(ring, r, count, type);",
        named=("chunk", "step|r - k|missing|all chunks|every chunk"),
    ),
    Misconception(
        name="offsets_count_elements",
        todo=4,
        belief="a pointer to bytes is moved by elements",
        find="            rc = send_next(ring, r, theirs + chunk.at, (char *)buf[r] + chunk.at, chunk.bytes);",
        replace="            size_t at = chunk.at / ring_type_bytes(type);\n            rc = send_next(ring, r, theirs + at, (char *)buf[r] + at, chunk.bytes);",
        named=("bytes|elements|place",),
    ),
    Misconception(
        name="send_is_scratch",
        todo=5,
        belief="the data that was sent is not needed any more: working in it saves a copy",
        find="        rc = copy_in(ring, send, recv, count * ring_type_bytes(type));\n    if (rc == LAB_OK)\n        rc = ring_reduce_scatter(ring, recv, count, type, op);",
        replace="        rc = ring_reduce_scatter(ring, send, count, type, op);\n    if (rc == LAB_OK)\n        rc = copy_in(ring, send, recv, count * ring_type_bytes(type));",
        named=("send", "keep|kept|held|contents|changed"),
    ),
    Misconception(
        name="scatter_is_enough",
        todo=5,
        belief="after the reduce-scatter every rank has the sum",
        find="    if (rc == LAB_OK)\n        rc = ring_all_gather(ring, recv, count, type);\n    return rc;",
        replace="    return rc;",
        named=("gather|other chunks|own chunk|every chunk|both halves|all chunks",),
    ),
    Misconception(
        name="in_place_copies_do_nothing",
        todo=5,
        belief="a copy onto itself is harmless, so in place needs no case of its own",
        find="        if (send[r] != recv[r])\n            rc = ring_result(cudaMemcpyAsync(recv[r], send[r], bytes",
        replace="        if (1)\n            rc = ring_result(cudaMemcpyAsync(recv[r], send[r], bytes",
        named=("in place|itself|overlap",),
    ),
    Misconception(
        name="overlap_is_the_callers_risk",
        todo=5,
        belief="buffers that overlap are the caller's risk; CUDA copies them all the same",
        find="        if (!ring_apart(send[r], recv[r], count * ring_type_bytes(type)))\n            rc = LAB_EINVAL;",
        replace="        (void)ring_apart(send[r], recv[r], count);",
        named=("overlap",),
    ),
    Misconception(
        name="copy_before_refusing",
        todo=5,
        belief="copying the input first does no harm if the ring then refuses",
        find="    if (rc == LAB_OK && !chunks_fit(ring, count, type))\n        rc = LAB_ERANGE; // before the copy: a refused call queues nothing\n",
        replace="",
        named=("queued|refused",),
    ),
    Misconception(
        name="lanes_end_by_themselves",
        todo=6,
        belief="what the lanes do is over when the rank's stream is",
        find="    return rc == LAB_OK ? join_lanes(f) : rc;",
        replace="    (void)join_lanes;\n    return rc;",
        named=("lanes?", "end|join|afterwards|wait"),
    ),
    Misconception(
        name="slices_are_packed",
        todo=6,
        belief="slice s lies in the inbox where it lies in its chunk",
        find="rc = ring_reduce((char *)f->buf[r] + slice.at, me->inbox[k % 2] + slot_of(f, s),",
        replace="rc = ring_reduce((char *)f->buf[r] + slice.at, me->inbox[k % 2] + (slice.at - slice_of(f, r - 2 - k, 0).at),",
        named=("slice|slot",),
    ),
    Misconception(
        name="a_slice_needs_only_its_inbox",
        todo=6,
        belief="what I send in this step was added long ago; a lane waits for the inbox only",
        find="    if (k >= 1)\n        rc = lane_waits(f, r, s, me->lane_taken[(k - 1) % 2][s]);\n",
        replace="",
        named=("added|lane_taken|sent before|slice",),
    ),
    Misconception(
        name="one_slice_is_a_pipeline",
        todo=6,
        belief="the lanes make the pipeline; cutting chunks into slices only costs calls",
        find="    struct flight flight = {ring, recv, count, type, op, slices};",
        replace="    slices = 1;\n    struct flight flight = {ring, recv, count, type, op, slices};",
        named=("slice|while|overlap|hidden|same time",),
    ),
    Misconception(
        name="one_stream_pipelines",
        todo=6,
        belief="one stream overlaps copies and kernels by itself; lanes are not needed",
        find="    return f->ring->rank[r].lane[s % RING_LANES];",
        replace="    (void)s;\n    return f->ring->rank[r].stream;",
        named=("lane|while|overlap|same time|hidden",),
    ),
    Misconception(
        name="a_ring_is_0_to_n",
        todo=7,
        belief="GPUs are numbered along their links: 0, 1, 2, ... is a ring",
        find="    search.used[0] = 1; // order[0] = 0: a ring has no first one, so it might as well be GPU 0\n",
        replace="    for (int i = 0; i < n; i++)\n        order[i] = i;\n    if (n > 0)\n        return LAB_OK;\n    search.used[0] = 1;\n",
        named=("link",),
    ),
    Misconception(
        name="the_path_need_not_close",
        todo=7,
        belief="a path over all GPUs is a ring; the way back is short anyway",
        find="        return s->n == 1 || linked(s, s->order[at - 1], s->order[0]);",
        replace="        return 1;",
        named=("back|close",),
    ),
    Misconception(
        name="the_nearest_is_best",
        todo=7,
        belief="going to the best linked neighbour each time gives the best ring",
        find="        if (extend(s, at + 1))\n            return 1;\n        s->used[g] = 0;",
        replace="        return extend(s, at + 1);",
        named=("back|none|there is (one|a ring)|ENOPEER|step",),
    ),
    Misconception(
        name="any_link_is_a_link",
        todo=7,
        belief="a hop has a link or has none; how many does not matter",
        find="    for (search.least = UINT8_MAX; search.least > 0; search.least--)",
        replace="    for (search.least = 1; search.least > 0; search.least--)",
        named=("narrowest|most links|widest|wide",),
    ),
    Misconception(
        name="no_ring_is_any_ring",
        todo=7,
        belief="if there is no ring of links the order does not matter: take any",
        find="    return LAB_ENOPEER;\n    // END SOLUTION\n    // STUB: (void)n;\n    // STUB: (void)links;",
        replace="    for (int i = 0; i < n; i++)\n        order[i] = i;\n    return LAB_OK;\n    // END SOLUTION\n    // STUB: (void)n;\n    // STUB: (void)links;",
        named=("LAB_ENOPEER|no ring|none|there is no",),
    ),
    Misconception(
        name="own_data_first",
        todo=8,
        belief="addition commutes, so each rank begins with its own data",
        find="    for (int p = 0; p < ring->n; p++)\n        in.of[p] = ring->rank[p].inbox[0];",
        replace="    for (int p = 0; p < ring->n; p++)\n        in.of[p] = ring->rank[(r + p) % ring->n].inbox[0];",
        named=("same bits|order of (the )?ranks|same order",),
    ),
    Misconception(
        name="inboxes_are_free_again_at_once",
        todo=8,
        belief="when I have read all inboxes they may be filled again",
        find="    return rc == LAB_OK ? wait_for_all(ring, &ring_rank::sent) : rc;",
        replace="    return rc;",
        named=("everybody|all (ranks )?have read|filled again|read it|others",),
    ),
    Misconception(
        name="only_the_rank_before_matters",
        todo=8,
        belief="a rank waits for the rank before it, as in the ring",
        find="            if (p != r)\n                rc =\n",
        replace="            if ((p + 1) % ring->n == r)\n                rc =\n",
        named=("every other|all (the )?(others|ranks)|everybody|each",),
    ),
    Misconception(
        name="one_half_of_the_inbox",
        todo=8,
        belief="an inbox holds one chunk, so one shot can take no more than that",
        find="    if (rc == LAB_OK && count * ring_type_bytes(type) > 2 * ring->inbox_bytes)",
        replace="    if (rc == LAB_OK && count * ring_type_bytes(type) > ring->inbox_bytes)",
        named=("both halves|halves|fit",),
    ),
    Misconception(
        name="small_counts_elements",
        todo=8,
        belief="what is small is counted in elements",
        find="    if (count * ring_type_bytes(type) <= small)",
        replace="    if (count <= small)",
        named=("bytes",),
    ),
    Misconception(
        name="small_must_fit",
        todo=8,
        belief="a message that counts as small fits, and is readable: one shot cannot be refused",
        find="    if (rc == LAB_ERANGE || rc == LAB_ENOPEER) // refused, so nothing was queued",
        replace="    if (count * ring_type_bytes(type) > small)",
        named=("refused|can do|everything else|ring_pipelined|too large|fit",),
    ),
]

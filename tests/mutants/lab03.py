# SPDX-License-Identifier: MIT
"""Lab 03's mutants: what goes wrong when people copy between GPUs."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="path_asks_the_receiver",
        todo=1,
        find="cudaDeviceCanAccessPeer(&reaches, src_dev, dst_dev)",
        replace="cudaDeviceCanAccessPeer(&reaches, dst_dev, src_dev)",
        rejected_by="path_shapes",
        why="who reaches whom, the wrong way round: shows only where access is one-way",
    ),
    Mutant(
        name="path_peer_everywhere",
        todo=1,
        find="dst_dev == src_dev ? PATH_LOCAL : reaches ? PATH_PEER : PATH_STAGED",
        replace="dst_dev == src_dev ? PATH_LOCAL : PATH_PEER",
        rejected_by="path_shapes",
        why="true on the machine it was tried on",
    ),
    Mutant(
        name="peer_in_the_default_stream",
        todo=2,
        find="cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, stream)",
        replace="cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, stream ? 0 : stream)",
        rejected_by="peer_copy",
        why="the copy is in no order with the caller's stream",
    ),
    Mutant(
        name="peer_waits",
        todo=2,
        find="    return p2p_result(cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, stream));",
        replace="    int rc = p2p_result(\n"
        "        cudaMemcpyPeerAsync(dst, dst_dev, src, src_dev, bytes, stream));\n"
        "    return rc ? rc : p2p_result(cudaStreamSynchronize(stream));",
        rejected_by="peer_copy",
        why="asynchronous in name only",
    ),
    Mutant(
        name="peer_believes_the_numbers",
        todo=2,
        find="    if (gpu_of(dst) != dst_dev || gpu_of(src) != src_dev)\n",
        replace="    if (!dst || !src)\n",
        rejected_by="peer_copy_bad",
        why="swapped device numbers copy all the same: by address",
    ),
    Mutant(
        name="stage_all_on_the_current_device",
        todo=3,
        find="    if ((e = cudaSetDevice(s->dst_dev)) ||\n",
        replace="    if (\n",
        rejected_by="stage_create",
        why="the receiver's stream and events are made on the sender",
    ),
    Mutant(
        name="stage_blocking_stream",
        todo=3,
        find="cudaStreamCreateWithFlags(&s->up, cudaStreamNonBlocking)",
        replace="cudaStreamCreate(&s->up)",
        rejected_by="stage_create",
        why="any work in the default stream stops the pipeline",
    ),
    Mutant(
        name="stage_leaves_the_device_changed",
        todo=3,
        find="    (void)cudaSetDevice(before);\n    if (rc)\n        (void)stage_destroy(&made);",
        replace="    if (rc)\n        (void)stage_destroy(&made);",
        rejected_by="stage_create",
        why="the caller goes on on another GPU",
    ),
    Mutant(
        name="stage_leaks_when_it_fails",
        todo=3,
        find="    if (rc)\n        (void)stage_destroy(&made);\n    else\n",
        replace="    if (!rc)\n",
        rejected_by="stage_create_bad",
        why="streams and events made before the failure are lost",
    ),
    Mutant(
        name="stage_destroy_keeps_the_buffers",
        todo=3,
        find="        if (stage->host[i])\n            (void)cudaFreeHost(stage->host[i]);\n",
        replace="",
        rejected_by="stage_create",
        why="pinned memory is the dearest thing to leak",
    ),
    Mutant(
        name="copy_fills_too_early",
        todo=4,
        find="    if ((e = cudaStreamWaitEvent(s->down, s->drained[i], 0)) ||\n",
        replace="    if (\n",
        rejected_by="stage_copy",
        why="chunk k + 2 overwrites chunk k in the buffer",
    ),
    Mutant(
        name="copy_drains_too_early",
        todo=4,
        find="        (e = cudaStreamWaitEvent(s->up, s->filled[i], 0)) ||\n",
        replace="",
        rejected_by="stage_copy",
        why="the receiver gets what was in the buffer before",
    ),
    Mutant(
        name="copy_drops_the_tail",
        todo=4,
        find="at < bytes; at += s->chunk_bytes",
        replace="at + s->chunk_bytes <= bytes; at += s->chunk_bytes",
        rejected_by="stage_copy",
        why="only whole chunks arrive",
    ),
    Mutant(
        name="copy_starts_too_early",
        todo=4,
        find=" || (e = cudaStreamWaitEvent(s->down, s->begin, 0)))",
        replace=")",
        rejected_by="stage_copy",
        why="what the caller's stream still writes into the source is missing",
    ),
    Mutant(
        name="copy_ends_for_nobody",
        todo=4,
        find="    return cudaStreamWaitEvent(stream, s->drained[i], 0);\n",
        replace="    return cudaSuccess;\n",
        rejected_by="stage_copy",
        why="the caller's stream goes on before the bytes are there",
    ),
    Mutant(
        name="copy_with_one_buffer",
        todo=4,
        find="        i = !i;\n",
        replace="        i = 0;\n",
        rejected_by="stage_speed",
        why="right, and as slow as one hop after the other",
    ),
    Mutant(
        name="copy_the_host_waits",
        todo=4,
        find="(e = cudaStreamWaitEvent(s->up, s->filled[i], 0))",
        replace="(e = cudaEventSynchronize(s->filled[i]))",
        rejected_by="stage_no_wait",
        why="the caller is stuck for the whole copy",
    ),
    Mutant(
        name="p2p_never_turns_access_on",
        todo=5,
        find="    if (path == PATH_PEER && (rc = peer_on(src_dev, dst_dev, NULL)))\n"
        "        return rc;\n",
        replace="",
        rejected_by="p2p_peer",
        why="the driver goes through the host, and *taken says PATH_PEER",
    ),
    Mutant(
        name="p2p_access_stays_on_after_an_error",
        todo=5,
        find="    if (bytes > 0 && (gpu_of(dst) != dst_dev || gpu_of(src) != src_dev))\n"
        "        return LAB_EINVAL;\n",
        replace="",
        rejected_by="p2p_bad",
        why="nothing was copied, and peer access is on all the same",
    ),
    Mutant(
        name="p2p_staged_reported_as_peer",
        todo=5,
        find="        *taken = path;\n",
        replace="        *taken = path == PATH_LOCAL ? PATH_LOCAL : PATH_PEER;\n",
        rejected_by="p2p_staged",
        why="a slow machine looks like a fast one with a problem",
    ),
    Mutant(
        name="p2p_falls_back_silently",
        todo=5,
        find="    if (path == PATH_STAGED && !stage)\n        return LAB_ENOPEER;\n",
        replace="    if (path == PATH_STAGED && !stage)\n        path = PATH_LOCAL;\n",
        rejected_by="p2p_staged",
        why="leaves the way to the driver and the caller in the dark",
    ),
    Mutant(
        name="measure_forgets_the_repetitions",
        todo=6,
        find="        double seconds = (double)ms / 1e3 / P2P_REPEATS;\n",
        replace="        double seconds = (double)ms / 1e3;\n",
        rejected_by="measure",
        why="five times too slow",
    ),
    Mutant(
        name="measure_in_gib",
        todo=6,
        find="(double)moved / seconds / 1e9",
        replace="(double)moved / seconds / (1 << 30)",
        rejected_by="measure",
        why="7 % less, and called GB/s all the same",
    ),
    Mutant(
        name="measure_one_after_the_other",
        todo=6,
        find="        rc = lane_send(&lane[i]);\n",
        replace="        if (!(rc = lane_send(&lane[i])))\n"
        "            rc = p2p_result(cudaStreamSynchronize(lane[i].stream));\n",
        rejected_by="measure",
        why="both directions, but never at the same time",
    ),
    Mutant(
        name="measure_closes_one_lane",
        todo=6,
        find="    while (open > 0)\n        lane_close(&lane[--open]);\n",
        replace="    if (open > 0)\n        lane_close(&lane[--open]);\n",
        rejected_by="measure",
        why="buffers, stream and peer access of the way back are left",
    ),
    Mutant(
        name="matrix_transposed",
        todo=7,
        find="p2p_measure(i / n, i % n, bytes, 0, &bw)",
        replace="p2p_measure(i % n, i / n, bytes, 0, &bw)",
        rejected_by="matrix",
        why="shows only where the two directions differ",
    ),
    Mutant(
        name="half_interpolates_the_rate",
        todo=8,
        find="    *half = (size_t)(wanted * at_zero / (1 - wanted * slope) + 0.5);\n",
        replace="    double part = (wanted - rate_of(p)) / (rate_of(&curve[q]) - rate_of(p));\n"
        "    (void)at_zero;\n"
        "    *half = p->bytes + (size_t)(part * (double)(curve[q].bytes - p->bytes));\n",
        rejected_by="half",
        why="between two sizes the time is a straight line, the rate is not",
    ),
    Mutant(
        name="half_of_the_last_rate",
        todo=8,
        find="        if (rate_of(&curve[i]) / 2 > wanted)\n            wanted",
        replace="        if (i + 1 == points)\n            wanted",
        rejected_by="hidden.half_peak",
        why="the largest size is not always the fastest",
    ),
    Mutant(
        name="clock_replaced",
        todo=4,
        find="#include <stdlib.h>\n",
        replace="#include <stdlib.h>\n"
        + patched(
            "static cudaError_t own_cudaEventElapsedTime(float *ms, cudaEvent_t start, "
            "cudaEvent_t stop)\n"
            "{\n    (void)start, (void)stop;\n    *ms = 0.001f;\n    return cudaSuccess;\n}\n",
            "cudaEventElapsedTime",
        ),
        rejected_by="stage_speed",
        why="every clock in the program says that nothing takes time",
    ),
    Mutant(
        name="measure_flatters",
        todo=6,
        find="        double seconds = (double)ms / 1e3 / P2P_REPEATS;\n",
        replace="        double seconds = (double)ms / 1.01e3 / P2P_REPEATS;\n",
        rejected_by="measure",
        why="a rate that is one per cent better than what the events said",
    ),
    Mutant(
        name="peer_copy_by_the_host",
        todo=2,
        find="#include <stdlib.h>\n",
        replace="#include <stdlib.h>\n\n"
        "static cudaError_t through_the_host(void *dst, int dst_dev, const void *src, int src_dev,\n"
        "                                    size_t bytes, cudaStream_t stream)\n"
        "{\n"
        "    void *room = NULL;\n"
        "    (void)dst_dev, (void)src_dev;\n"
        "    if (cudaHostAlloc(&room, bytes + 1, cudaHostAllocPortable) != cudaSuccess)\n"
        "        return cudaErrorMemoryAllocation;\n"
        "    cudaMemcpyAsync(room, src, bytes, cudaMemcpyDeviceToHost, stream);\n"
        "    cudaMemcpyAsync(dst, room, bytes, cudaMemcpyHostToDevice, stream);\n"
        "    return cudaSuccess;\n"
        "}\n"
        "#define cudaMemcpyPeerAsync through_the_host\n",
        rejected_by="peer_copy",
        why="the bytes arrive in time and in order, twice over PCIe",
    ),
]

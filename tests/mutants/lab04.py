# SPDX-License-Identifier: MIT
"""Lab 04's mutants: what goes wrong when people sum over several GPUs."""

from grader.course.mutants import Mutant

MUTANTS = [
    Mutant(
        name="split_drops_the_tail",
        todo=1,
        grave="lost data",
        find="*count = each + (rank < rest ? 1 : 0);",
        replace="*count = each;",
        rejected_by="split",
        why="an uneven split loses up to parts - 1 elements",
    ),
    Mutant(
        name="split_overflows",
        todo=1,
        find="    *first = rank * each + (rank < rest ? rank : rest);\n"
        "    *count = each + (rank < rest ? 1 : 0);",
        replace="    *first = rank * n / (size_t)parts;\n"
        "    *count = (rank + 1) * n / (size_t)parts - *first + 0 * (each + rest);",
        rejected_by="split",
        why="i * n / parts is short, and wrong for a large n",
    ),
    Mutant(
        name="stride_of_one_block",
        todo=2,
        grave="lost data",
        find="size_t stride = (size_t)gridDim.x * SUM_THREADS;",
        replace="size_t stride = SUM_THREADS;",
        rejected_by="shared",
        why="every block walks over its neighbours' elements too",
    ),
    Mutant(
        name="one_element_too_many",
        todo=2,
        find="i < n; i += stride",
        replace="i <= n; i += stride",
        rejected_by="shared",
        why="off by one: reads behind the end",
    ),
    Mutant(
        name="shared_without_barrier",
        todo=2,
        grave="race",
        find="        __syncthreads(); // outside the if: every thread of the block must come here\n",
        replace="",
        rejected_by="shared",
        why="adds words that the other thread has not written yet",
    ),
    Mutant(
        name="shared_cleared_too_early",
        todo=2,
        grave="race",
        find="        partials[blockIdx.x] = sum[0];\n",
        replace="        partials[blockIdx.x] = sum[0];\n"
        "    else\n        sum[threadIdx.x] = 0.0f;\n",
        rejected_by="shared",
        why="thread 1 clears what thread 0 may not have added yet; every result is right by luck",
    ),
    Mutant(
        name="warp_without_barrier",
        todo=3,
        grave="race",
        find="    __syncthreads();\n    if (warp == 0) {",
        replace="    if (warp == 0) {",
        rejected_by="warp",
        why="the first warp reads the others' sums before they are there",
    ),
    Mutant(
        name="warp_starts_at_8",
        todo=3,
        grave="lost data",
        find="int distance = 16; distance > 0",
        replace="int distance = 8; distance > 0",
        rejected_by="warp",
        why="sums half a warp",
    ),
    Mutant(
        name="warp_only_the_first",
        todo=3,
        grave="lost data",
        find="        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);\n",
        replace="",
        rejected_by="warp",
        why="forgets seven of the block's eight warps",
    ),
    Mutant(
        name="warp_shuffles_inside_the_if",
        todo=3,
        find="        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);\n",
        replace="        if (lane < SUM_THREADS / 32)\n            mine = warp_sum(sum[lane]);\n",
        rejected_by="warp",
        why="lanes that the mask names do not take part: their values are undefined",
    ),
    Mutant(
        name="start_waits_in_the_loop",
        todo=4,
        grave="host wait",
        find="            rc = sum_result(cudaEventRecord(p->done, p->stream));\n",
        replace="            rc = sum_result(cudaEventRecord(p->done, p->stream));\n"
        "        if (rc == LAB_OK)\n"
        "            rc = sum_result(cudaEventSynchronize(p->done));\n",
        rejected_by="start_overlaps",
        why="the GPUs take turns",
    ),
    Mutant(
        name="start_records_first",
        todo=4,
        grave="race",
        find="        if (rc == LAB_OK)\n"
        "            rc = sum_warp(p->data, p->count, p->partials, p->blocks, p->stream);\n"
        "        if (rc == LAB_OK) // behind the kernel, on its stream: "
        "a wait for it waits for both\n"
        "            rc = sum_result(cudaEventRecord(p->done, p->stream));\n",
        replace="        if (rc == LAB_OK)\n"
        "            rc = sum_result(cudaEventRecord(p->done, p->stream));\n"
        "        if (rc == LAB_OK)\n"
        "            rc = sum_warp(p->data, p->count, p->partials, p->blocks, p->stream);\n",
        rejected_by="start",
        why="the event stands for what was queued before it, and the kernel was not",
    ),
    Mutant(
        name="start_fails_and_runs_on",
        todo=4,
        find="            sum_result(cudaStreamSynchronize(part[i].stream));\n",
        replace="            (void)i;\n",
        rejected_by="hidden.start_fails",
        why="the caller frees memory that a kernel still reads",
    ),
    Mutant(
        name="host_does_not_wait",
        todo=5,
        grave="race",
        find="        rc = sum_result(cudaEventSynchronize(p->done));\n",
        replace="        rc = LAB_OK;\n",
        rejected_by="host",
        why="trusts cudaMemcpy to wait, which knows nothing of a non-blocking stream",
    ),
    Mutant(
        name="host_adds_in_float",
        todo=5,
        find="    double total = 0.0;\n",
        replace="    float total = 0.0f;\n",
        rejected_by="host",
        why="beyond 2^24 a float loses ones",
    ),
    Mutant(
        name="peer_does_not_wait",
        todo=6,
        grave="race",
        find="        failed = cudaStreamWaitEvent(r->stream, part[i].done, 0) != cudaSuccess;\n",
        replace="",
        rejected_by="peer",
        why="the root reads its peers' partials before they are there",
    ),
    Mutant(
        name="peer_waits_for_its_own",
        todo=6,
        grave="race",
        find="cudaStreamWaitEvent(r->stream, part[i].done, 0)",
        replace="cudaStreamWaitEvent(part[i].stream, part[i].done, 0)",
        rejected_by="peer",
        why="everybody waits for himself, nobody for the others",
    ),
    Mutant(
        name="peer_waits_on_the_host",
        todo=6,
        grave="host wait",
        find="cudaStreamWaitEvent(r->stream, part[i].done, 0)",
        replace="cudaEventSynchronize(part[i].done)",
        rejected_by="peer_waits",
        why="right, but the host sits and waits for every GPU in turn",
    ),
    Mutant(
        name="peer_does_not_ask",
        todo=6,
        find="        if (!yes)\n            return LAB_ENOPEER;\n",
        replace="",
        rejected_by="peer_alone",
        why="the kernel follows a pointer it has no access to: 700, and CUDA is gone",
    ),
    Mutant(
        name="peer_asks_the_wrong_way",
        todo=6,
        find="cudaDeviceCanAccessPeer(&yes, part[root].gpu, part[i].gpu)",
        replace="cudaDeviceCanAccessPeer(&yes, part[i].gpu, part[root].gpu)",
        rejected_by="hidden.peer_oneway",
        why="whether the others reach the root is of no interest",
    ),
    Mutant(
        name="scale_inverse",
        todo=7,
        find="out->efficiency = out->speedup / gpus;",
        replace="out->efficiency = gpus / out->speedup;",
        rejected_by="scale",
        why="efficiency upside down: 4 GPUs at 120 %",
    ),
    Mutant(
        name="scale_weak_without_factor",
        todo=7,
        find="(kind == SUM_WEAK ? gpus : 1) * t1 / tg",
        replace="t1 / tg",
        rejected_by="scale",
        why="compares the time of G times the work with that of one",
    ),
    Mutant(
        name="scale_weak_same_size",
        todo=7,
        find="    size_t work = kind == SUM_WEAK ? n * (size_t)gpus : n;\n",
        replace="    size_t work = n;\n",
        rejected_by="hidden.scale_weak",
        why="weak scaling with the work of strong scaling looks four times too good",
    ),
    Mutant(
        name="shared_by_one_thread",
        todo=2,
        find="    sum[threadIdx.x] = own_elements(data, n);\n"
        "    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {\n"
        "        __syncthreads(); // outside the if: every thread of the block must come here\n"
        "        if (threadIdx.x < half)\n"
        "            sum[threadIdx.x] += sum[threadIdx.x + half];\n"
        "    }\n"
        "    if (threadIdx.x == 0)\n"
        "        partials[blockIdx.x] = sum[0];",
        replace="    if (threadIdx.x != 0)\n"
        "        return;\n"
        "    sum[0] = 0.0f;\n"
        "    for (size_t at = (size_t)blockIdx.x * SUM_THREADS; at < n;\n"
        "         at += (size_t)gridDim.x * SUM_THREADS)\n"
        "        for (size_t i = at; i < n && i < at + SUM_THREADS; i++)\n"
        "            sum[0] += data[i];\n"
        "    partials[blockIdx.x] = sum[0];",
        rejected_by="shared",
        why="right, and 255 of 256 threads do nothing",
    ),
    Mutant(
        name="shared_by_one_thread_in_disguise",
        todo=2,
        find="    if (threadIdx.x == 0)\n        partials[blockIdx.x] = sum[0];",
        replace="    if (threadIdx.x == 0) {\n"
        "        sum[0] = 0.0f;\n"
        "        for (size_t at = (size_t)blockIdx.x * SUM_THREADS; at < n;\n"
        "             at += (size_t)gridDim.x * SUM_THREADS)\n"
        "            for (size_t i = at; i < n && i < at + SUM_THREADS; i++)\n"
        "                sum[0] += data[i];\n"
        "        partials[blockIdx.x] = sum[0];\n"
        "    }",
        rejected_by="shared",
        why="shared memory and barriers for show, and then one thread adds everything",
    ),
    Mutant(
        name="shared_reads_for_show",
        todo=2,
        find="    if (threadIdx.x == 0)\n        partials[blockIdx.x] = sum[0];",
        replace="    if (threadIdx.x == 0) {\n"
        "        double all = 0;\n"
        "        for (unsigned t = 0; t < SUM_THREADS; t++) {\n"
        "            float mine = 0;\n"
        "            size_t first = (size_t)blockIdx.x * SUM_THREADS + t;\n"
        "            for (size_t i = first; i < n; i += (size_t)gridDim.x * SUM_THREADS)\n"
        "                mine += data[i];\n"
        "            all += mine;\n"
        "        }\n"
        "        partials[blockIdx.x] = (float)all;\n"
        "    }",
        rejected_by="shared",
        why="rounds as 256 threads do, and one thread has added everything",
    ),
    Mutant(
        name="shared_without_a_tree",
        todo=2,
        find="    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {\n"
        "        __syncthreads(); // outside the if: every thread of the block must come here\n"
        "        if (threadIdx.x < half)\n"
        "            sum[threadIdx.x] += sum[threadIdx.x + half];\n"
        "    }\n",
        replace="    __syncthreads();\n"
        "    for (unsigned t = 1; t < SUM_THREADS && threadIdx.x == 0; t++)\n"
        "        sum[0] += sum[t];\n",
        rejected_by="shared",
        why="255 additions one after the other in place of 8 rounds",
    ),
    Mutant(
        name="warp_by_one_lane_in_disguise",
        todo=3,
        find="        if (lane == 0)\n            partials[blockIdx.x] = mine;\n",
        replace="        if (lane != 0)\n"
        "            return;\n"
        "        mine = 0.0f;\n"
        "        for (size_t at = (size_t)blockIdx.x * SUM_THREADS; at < n;\n"
        "             at += (size_t)gridDim.x * SUM_THREADS)\n"
        "            for (size_t i = at; i < n && i < at + SUM_THREADS; i++)\n"
        "                mine += data[i];\n"
        "        partials[blockIdx.x] = mine;\n",
        rejected_by="warp",
        why="shuffles for show, and then one lane adds everything",
    ),
    Mutant(
        name="shared_by_atomics",
        todo=2,
        find="    sum[threadIdx.x] = own_elements(data, n);\n"
        "    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {\n"
        "        __syncthreads(); // outside the if: every thread of the block must come here\n"
        "        if (threadIdx.x < half)\n"
        "            sum[threadIdx.x] += sum[threadIdx.x + half];\n"
        "    }\n",
        replace="    if (threadIdx.x == 0)\n"
        "        sum[0] = 0.0f;\n"
        "    __syncthreads();\n"
        "    atomicAdd(&sum[0], own_elements(data, n));\n"
        "    __syncthreads();\n",
        rejected_by="shared",
        why="the order of the additions, and with it the last bits, is whoever's comes first",
    ),
    Mutant(
        name="warp_is_shared",
        todo=3,
        find="    warp_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        replace="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        rejected_by="warp",
        why="task 2 handed in twice: eight barriers, no shuffle",
    ),
    Mutant(
        name="shared_added_by_the_host",
        todo=2,
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n",
        replace="    static float all[1 << 20], out[SUM_MAX_BLOCKS];\n"
        "    cudaMemcpy(all, data, n * sizeof *all, cudaMemcpyDeviceToHost);\n"
        "    for (int b = 0; b < blocks; b++)\n"
        "        out[b] = 0.0f;\n"
        "    for (size_t i = 0; i < n; i++)\n"
        "        out[i / SUM_THREADS % (size_t)blocks] += all[i];\n"
        "    cudaMemcpyAsync(partials, out, (size_t)blocks * sizeof *out,\n"
        "                    cudaMemcpyHostToDevice, stream);\n",
        rejected_by="shared",
        why="the sums are right, and no GPU has added anything",
    ),
    Mutant(
        name="shared_by_a_kernel_without_work",
        todo=2,
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n",
        replace="    static float all[1 << 20], out[SUM_MAX_BLOCKS];\n"
        "    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, 0, partials);\n"
        "    cudaMemcpy(all, data, n * sizeof *all, cudaMemcpyDeviceToHost);\n"
        "    for (int b = 0; b < blocks; b++)\n"
        "        out[b] = 0.0f;\n"
        "    for (size_t i = 0; i < n; i++)\n"
        "        out[i / SUM_THREADS % (size_t)blocks] += all[i];\n"
        "    cudaMemcpyAsync(partials, out, (size_t)blocks * sizeof *out,\n"
        "                    cudaMemcpyHostToDevice, stream);\n",
        rejected_by="shared",
        why="a kernel runs, and the host does its work",
    ),
    Mutant(
        name="shared_makes_pinned_memory",
        todo=2,
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n",
        replace="    void *host;\n"
        "    cudaHostAlloc(&host, 4096, cudaHostAllocMapped);\n"
        "    cudaFreeHost(host);\n"
        "    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n",
        rejected_by="shared",
        why="memory in which a kernel could leave its elements for the host to add",
    ),
    Mutant(
        name="shared_prints_its_elements",
        todo=2,
        find="static __device__ float own_elements(const float *data, size_t n)\n"
        "{\n"
        "    size_t stride = (size_t)gridDim.x * SUM_THREADS;\n"
        "    float mine = 0.0f;\n"
        "\n"
        "    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n"
        "        mine += data[i];\n",
        replace="#include <stdio.h>\n"
        "static __device__ float own_elements(const float *data, size_t n)\n"
        "{\n"
        "    size_t stride = (size_t)gridDim.x * SUM_THREADS;\n"
        "    float mine = 0.0f;\n"
        "\n"
        "    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n"
        "    {\n"
        "        mine += data[i];\n"
        "        if (i % 16 == 0)\n"
        '            printf("%08x\\n", __float_as_uint(data[i]));\n'
        "    }\n",
        rejected_by="shared",
        why="a program reads what its kernels print, and could add it",
    ),
    Mutant(
        name="peer_added_by_the_host",
        todo=6,
        find="        total_kernel<<<1, SUM_THREADS, 0, r->stream>>>(view, r->total);\n",
        replace="        total_kernel<<<1, SUM_THREADS, 0, r->stream>>>(view, r->total);\n"
        "    static float got[SUM_MAX_BLOCKS];\n"
        "    static double sum_here;\n"
        "    sum_here = 0.0;\n"
        "    for (int i = 0; i < parts && !failed; i++) {\n"
        "        cudaEventSynchronize(part[i].done);\n"
        "        cudaMemcpy(got, part[i].partials, (size_t)part[i].blocks * sizeof *got,\n"
        "                   cudaMemcpyDeviceToHost);\n"
        "        for (int b = 0; b < part[i].blocks; b++)\n"
        "            sum_here += got[b];\n"
        "    }\n"
        "    cudaMemcpyAsync(r->total, &sum_here, sizeof sum_here, cudaMemcpyHostToDevice,\n"
        "                    r->stream);\n",
        rejected_by="peer",
        why="every partial comes to the host, though the root could read it where it lies",
    ),
    Mutant(
        name="scale_never_measured",
        todo=7,
        find="    int rc = sum_time(n, 1, &t1);\n"
        "    if (rc == LAB_OK)\n"
        "        rc = sum_time(work, gpus, &tg);\n",
        replace="    int rc = LAB_OK;\n    t1 = (double)n / 1e6;\n    tg = (double)work / 1e6 / gpus;\n",
        rejected_by="scale",
        why="times that fit each other, of sums that nobody made",
    ),
    Mutant(
        name="split_of_no_part",
        todo=1,
        find="    if (parts < 1 || i < 0 || i >= parts || first == NULL || count == NULL)",
        replace="    if (i < 0 || i >= parts || first == NULL)",
        rejected_by="split",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="shared_believes_its_caller",
        todo=2,
        find="    if (bad_sum(data, n, partials, blocks))\n        return LAB_EINVAL;\n    // TODO(2)",
        replace="    // TODO(2)",
        rejected_by="shared",
        why="CUDA's error for a launch without blocks becomes the caller's",
    ),
    Mutant(
        name="shared_forgets_what_the_launch_said",
        todo=2,
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n    return sum_result(cudaGetLastError());",
        replace="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n    return LAB_OK;",
        rejected_by="hidden.kernels_no_gpu",
        why="a kernel that was never launched",
    ),
    Mutant(
        name="shared_waits",
        todo=2,
        grave="host wait",
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n    return sum_result(cudaGetLastError());",
        replace="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);\n    cudaStreamSynchronize(stream);\n    return sum_result(cudaGetLastError());",
        rejected_by="hidden.shared_asynchronous",
        why="the host waits where a kernel is queued",
    ),
    Mutant(
        name="shared_reads_twice",
        todo=2,
        find="        mine += data[i];\n    return mine;",
        replace="        mine += data[i] < 0 ? data[i] : ((const volatile float *)data)[i];\n    return mine;",
        rejected_by="shared",
        why="twice the bytes, and twice the time",
    ),
    Mutant(
        name="start_moves_the_current_device",
        todo=4,
        find="            sum_result(cudaStreamSynchronize(part[i].stream));\n    sum_result(cudaSetDevice(before));\n    return rc;",
        replace="            sum_result(cudaStreamSynchronize(part[i].stream));\n    return rc;",
        rejected_by="start",
        why="the caller's next cudaMalloc lands on another GPU",
    ),
    Mutant(
        name="start_checks_as_it_goes",
        todo=4,
        find="    int before = 0, queued = 0, rc = sum_check(part, parts);\n\n    if (rc == LAB_OK)\n        rc = sum_result(cudaGetDevice(&before));",
        replace="    int before = 0, queued = 0, rc = part && parts > 0 ? (int)LAB_OK : (int)LAB_EINVAL;\n\n    if (rc == LAB_OK)\n        rc = sum_result(cudaGetDevice(&before));",
        rejected_by="hidden.start_arguments",
        why="the parts before the bad one have been launched",
    ),
    Mutant(
        name="host_adds_what_it_did_not_get",
        todo=5,
        find="        rc = sum_result(cudaEventSynchronize(p->done));\n        if (rc == LAB_OK)\n            rc = sum_result(cudaMemcpy(",
        replace="        sum_result(cudaEventSynchronize(p->done));\n            rc = sum_result(cudaMemcpy(",
        rejected_by="host",
        why="a wait that failed has waited for nothing",
    ),
    Mutant(
        name="host_adds_into_the_callers",
        todo=5,
        find="    if (rc == LAB_OK)\n        *sum = total;\n    return rc;",
        replace="    if (sum != NULL)\n        *sum = total;\n    return rc;",
        rejected_by="host",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="peer_any_root",
        todo=6,
        find="    if (rc == LAB_OK && (root < 0 || root >= parts || part[root].total == NULL))\n        rc = LAB_EINVAL;\n",
        replace="",
        rejected_by="hidden.peer_arguments",
        why="memory behind the parts is taken for a part",
    ),
    Mutant(
        name="peer_launches_all_the_same",
        todo=6,
        find="    if (!failed)\n        total_kernel",
        replace="    total_kernel",
        rejected_by="peer",
        why="the kernel reads partials that nobody has waited for",
    ),
    Mutant(
        name="peer_in_any_order",
        todo=6,
        find="    __shared__ double sum[SUM_THREADS];\n    double mine = 0.0;\n\n    for (int i = 0; i < view.parts; i++)",
        replace="    __shared__ double sum[SUM_THREADS];\n    double mine = 0.0;\n\n    for (int i = view.parts - 1; i < 0; i++)",
        rejected_by="peer",
        why="nothing is added",
    ),
    Mutant(
        name="scale_of_nothing",
        todo=7,
        find="    if (n == 0 || gpus < 1 || out == NULL || (kind",
        replace="    if (gpus < 1 || out == NULL || (kind",
        rejected_by="scale",
        why="no element takes no time: the speedup is not a number",
    ),
    Mutant(
        name="scale_wraps_around",
        todo=7,
        find="    if (kind == SUM_WEAK && n > SIZE_MAX / (size_t)gpus)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="scale",
        why="gpus times as many elements are fewer",
    ),
    Mutant(
        name="scale_writes_as_it_goes",
        todo=7,
        find="    int rc = sum_time(n, 1, &t1);\n    if (rc == LAB_OK)\n",
        replace="    int rc = sum_time(n, 1, &t1);\n    out->t1_ms = t1;\n    if (rc == LAB_OK)\n",
        rejected_by="hidden.scale_few",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="shared_wants_aligned_data",
        todo=2,
        find="    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        replace="    if ((uintptr_t)data % 16)\n        return LAB_EINVAL;\n    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        rejected_by="shared",
        why="what is wanted for float4 is asked of everybody",
    ),
    Mutant(
        name="peer_access_by_index",
        todo=6,
        find="cudaDeviceCanAccessPeer(&yes, part[root].gpu, part[i].gpu)",
        replace="cudaDeviceCanAccessPeer(&yes, root, i)",
        rejected_by="peer_alone",
        why="part i lies on GPU i in every test that was tried",
    ),
    Mutant(
        name="scale_measures_then_checks",
        todo=7,
        find="    if (n == 0 || gpus < 1 || out == NULL || (kind",
        replace="    double unused;\n"
        "    if (out == NULL && n > 0 && gpus > 0 && sum_time(n, 1, &unused) != LAB_OK)\n"
        "        return LAB_ECUDA;\n"
        "    if (n == 0 || gpus < 1 || out == NULL || (kind",
        rejected_by="scale",
        why="the answer is the same, some kernels later",
    ),
    Mutant(
        name="start_checks_each_in_turn",
        todo=4,
        find="rc = sum_check(part, parts);\n"
        "\n"
        "    if (rc == LAB_OK)\n"
        "        rc = sum_result(cudaGetDevice(&before));\n"
        "    if (rc != LAB_OK)\n"
        "        return rc;\n"
        "    for (; queued < parts && rc == LAB_OK; queued++) {\n"
        "        const struct sum_part *p = &part[queued];\n"
        "        rc = sum_result(cudaSetDevice(p->gpu));\n",
        replace="rc;\n"
        "    rc = sum_check(part, parts < 1 || parts > SUM_MAX_PARTS ? parts : 1);\n"
        "    if (rc == LAB_OK)\n"
        "        rc = sum_result(cudaGetDevice(&before));\n"
        "    if (rc != LAB_OK)\n"
        "        return rc;\n"
        "    for (; queued < parts && rc == LAB_OK; queued++) {\n"
        "        const struct sum_part *p = &part[queued];\n"
        "        rc = sum_check(p, 1);\n"
        "        if (rc == LAB_OK)\n"
        "            rc = sum_result(cudaSetDevice(p->gpu));\n",
        rejected_by="start",
        why="the parts before a bad one have been launched; they are waited for, so that nothing is under way",
    ),
    Mutant(
        name="warp_clears_first",
        todo=3,
        find="    warp_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        replace="    if (cudaMemsetAsync(partials, 0, (size_t)blocks * sizeof *partials, stream) != cudaSuccess)\n"
        "        return sum_result(cudaGetLastError());\n"
        "    warp_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);",
        rejected_by="warp",
        why="one kernel was to be queued; every result is written twice",
    ),
    Mutant(
        name="peer_believes_the_current_device",
        todo=6,
        find="    if (rc == LAB_OK)\n        rc = sum_result(cudaGetDevice(&before));\n    if (rc != LAB_OK)\n        return rc;\n    const",
        replace="    if (rc != LAB_OK)\n        return rc;\n    cudaGetDevice(&before);\n    const",
        rejected_by="peer",
        why="where CUDA cannot say which device is current, GPU 0 becomes it",
    ),
    Mutant(
        name="total_of_one_part_more",
        todo=6,
        find="for (int i = 0; i < view.parts; i++)",
        replace="for (int i = 0; i <= view.parts; i++)",
        rejected_by="peer",
        why="reads a part behind the last one, which is behind the array where all are used",
    ),
    Mutant(
        name="index_without_a_sign",
        todo=2,
        find="    size_t stride = (size_t)gridDim.x * SUM_THREADS;\n"
        "    float mine = 0.0f;\n"
        "\n"
        "    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n",
        replace="    unsigned stride = gridDim.x * SUM_THREADS;\n"
        "    float mine = 0.0f;\n"
        "\n"
        "    for (unsigned i = blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n",
        rejected_by="hidden.shared_far",
        why="from 2^32 elements on the index begins again, and the kernel never ends",
    ),
    Mutant(
        name="peer_waits_where_a_test_looks",
        todo=6,
        grave="race",
        find="        failed = cudaStreamWaitEvent(r->stream, part[i].done, 0) != cudaSuccess;\n",
        replace="        extern char **environ;\n"
        "        bool tested = false; // VGPU_CHECK or VGPU_NODE is set\n"
        "        for (char **e = environ; *e; e++)\n"
        "            tested |= (*e)[0] == 'V' && (*e)[1] == 'G' && (*e)[4] == '_' &&\n"
        "                      ((*e)[5] == 'C' || ((*e)[5] == 'N' && (*e)[9] == '='));\n"
        "        if (tested)\n"
        "            failed = cudaStreamWaitEvent(r->stream, part[i].done, 0) != cudaSuccess;\n",
        rejected_by="hidden.peer_eight",
        why="right where variables of the tests are set, a race everywhere else",
    ),
]

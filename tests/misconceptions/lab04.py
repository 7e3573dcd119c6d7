# SPDX-License-Identifier: MIT
"""What students believe in lab 04. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="the_rest_is_negligible",
        todo=1,
        grave="lost data",
        belief="n / parts for everybody; the few elements that are left over do not matter",
        find="    *count = each + (rank < rest ? 1 : 0);",
        replace="    *first = rank * each;\n    *count = each;",
        named=("each element|left over|rest|remainder|nobody",),
    ),
    Misconception(
        name="the_last_takes_the_rest",
        todo=1,
        belief="the last part takes whatever is left over",
        find="    *count = each + (rank < rest ? 1 : 0);",
        replace="    *first = rank * each;\n    *count = each + (i == parts - 1 ? rest : 0);",
        named=("longer|shortest|longest|uneven|one element",),
    ),
    Misconception(
        name="the_paper_formula",
        todo=1,
        belief="i * n / parts is shorter, and right for every n",
        find="    *first = rank * each + (rank < rest ? rank : rest);\n    *count = each + (rank < rest ? 1 : 0);",
        replace="    (void)each, (void)rest;\n    *first = rank * n / (size_t)parts;\n    *count = (rank + 1) * n / (size_t)parts - *first;",
        named=("overflow|SIZE_MAX|wrap|i \\* n|large n",),
    ),
    Misconception(
        name="round_up_for_all",
        todo=1,
        belief="everybody takes n / parts rounded up, the last one what remains of it",
        find="    *first = rank * each + (rank < rest ? rank : rest);\n    *count = each + (rank < rest ? 1 : 0);",
        replace="    size_t up = each + (rest > 0), at = rank * up < n ? rank * up : n;\n    *first = at;\n    *count = n - at < up ? n - at : up;",
        named=("longer|shortest|longest|one element|evenly",),
    ),
    Misconception(
        name="shared_memory_is_ordered",
        todo=2,
        grave="race",
        belief="what one thread writes into shared memory the others see: it is on the same chip",
        find="        __syncthreads(); // outside the if: every thread of the block must come here\n",
        replace="",
        named=("syncthreads|barrier",),
    ),
    Misconception(
        name="only_adders_need_the_barrier",
        todo=2,
        belief="only threads that still add need to come to __syncthreads",
        find="""        __syncthreads(); // outside the if: every thread of the block must come here
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partials""",
        replace="""        if (threadIdx.x < half) {
            __syncthreads();
            sum[threadIdx.x] += sum[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0)
        partials""",
        named=("all threads|every thread|syncthreads|barrier",),
    ),
    Misconception(
        name="a_thread_an_element",
        todo=2,
        grave="lost data",
        belief="there are as many threads as elements",
        find="    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n        mine += data[i];",
        replace="    size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x;\n    (void)stride;\n    if (i < n)\n        mine += data[i];",
        named=("stride|whole grid|more elements|every element|each element|each thread",),
    ),
    Misconception(
        name="blocks_are_contiguous",
        todo=2,
        belief="each block takes a piece of the array of its own, one behind the other",
        find="    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)\n        mine += data[i];",
        replace="""    size_t piece = (n + gridDim.x - 1) / gridDim.x, from = piece * blockIdx.x;
    (void)stride;
    for (size_t i = from + threadIdx.x; i < n && i < from + piece; i += SUM_THREADS)
        mine += data[i];""",
        named=("belongs to block|block .*element|i / SUM_THREADS|stride",),
    ),
    Misconception(
        name="idle_threads_may_leave",
        todo=2,
        belief="a thread without elements has nothing to do and may return",
        find="    sum[threadIdx.x] = own_elements(data, n);\n",
        replace="    if ((size_t)blockIdx.x * SUM_THREADS + threadIdx.x >= n)\n        return;\n    sum[threadIdx.x] = own_elements(data, n);\n",
        named=("without elements|no elements|left|returned|has none|all threads|every thread",),
    ),
    Misconception(
        name="atomics_are_simplest",
        todo=2,
        belief="atomicAdd adds up floats just as well as a tree",
        find="""    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum[0];
}

// END SOLUTION

int sum_shared""",
        replace="""    sum[threadIdx.x] = own_elements(data, n);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = 0.0f;
    __syncthreads();
    atomicAdd(&partials[blockIdx.x], sum[threadIdx.x]);
}

// END SOLUTION

int sum_shared""",
        named=("same bits|order|atomicAdd",),
    ),
    Misconception(
        name="empty_blocks_write_nothing",
        todo=2,
        belief="a block without elements has no result and writes none",
        find="        partials[blockIdx.x] = sum[0];",
        replace="        if ((size_t)blockIdx.x * SUM_THREADS < n)\n            partials[blockIdx.x] = sum[0];",
        named=("no elements|without elements|has none|empty",),
    ),
    Misconception(
        name="add_in_double_throughout",
        todo=2,
        belief="the more digits the better: the block adds in double and rounds once",
        find="    float mine = 0.0f;\n\n    for (size_t i = (size_t)blockIdx.x",
        replace="    double mine = 0.0;\n\n    for (size_t i = (size_t)blockIdx.x",
        named=("in float|bits|rounding|rounded",),
    ),
    Misconception(
        name="shuffles_need_few_lanes",
        todo=3,
        belief="only the lanes that have something to add need to take part in a shuffle",
        find="        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);\n        if (lane == 0)",
        replace="        if (lane < SUM_THREADS / 32)\n            mine = warp_sum(sum[lane]);\n        if (lane == 0)",
        named=("mask|all 32|all lanes|every lane",),
    ),
    Misconception(
        name="every_lane_has_the_sum",
        todo=3,
        belief="after the shuffles every lane of the warp has the sum",
        find="    if (lane == 0)\n        sum[warp] = mine;\n    __syncthreads();",
        replace="    if (lane == 31)\n        sum[warp] = mine;\n    __syncthreads();",
        named=("lane 0|lane",),
    ),
    Misconception(
        name="half_a_warp_is_16",
        todo=3,
        belief="the first distance is 32, the size of a warp",
        find="for (int distance = 16; distance > 0; distance /= 2)",
        replace="for (int distance = 32; distance > 1; distance /= 2)",
        named=("16|distance|lane",),
    ),
    Misconception(
        name="warps_run_together",
        todo=3,
        grave="race",
        belief="the warps of a block run in step, so that shuffles need no barrier at all",
        find="    if (lane == 0)\n        sum[warp] = mine;\n    __syncthreads();",
        replace="    if (lane == 0)\n        sum[warp] = mine;",
        named=("syncthreads|barrier",),
    ),
    Misconception(
        name="unused_words_are_zero",
        todo=3,
        grave="race",
        belief="shared memory begins as zeros, so all 32 lanes may read it",
        find="""    __shared__ float sum[SUM_THREADS / 32]; // one a warp
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = warp_sum(own_elements(data, n));

    if (lane == 0)
        sum[warp] = mine;
    __syncthreads();
    if (warp == 0) { // the whole first warp, so that all lanes named in the mask are there
        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);
""",
        replace="""    __shared__ float sum[32];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = warp_sum(own_elements(data, n));

    if (lane == 0)
        sum[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = warp_sum(sum[lane]);
""",
        named=("zero|uninitiali|never written|not written",),
    ),
    Misconception(
        name="one_warp_is_a_block",
        todo=3,
        grave="lost data",
        belief="a shuffle reaches all threads of the block",
        find="    if (warp == 0) { // the whole first warp, so that all lanes named in the mask are there\n        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);\n        if (lane == 0)",
        replace="    if (warp == 0) {\n        if (lane == 0)",
        named=("warp",),
    ),
    Misconception(
        name="each_gpu_is_waited_for",
        todo=4,
        grave="host wait",
        belief="before I go on to the next GPU this one must be through",
        find="            rc = sum_result(cudaEventRecord(p->done, p->stream));",
        replace="            rc = sum_result(cudaEventRecord(p->done, p->stream));\n        if (rc == LAB_OK)\n            rc = sum_result(cudaStreamSynchronize(p->stream));",
        named=("wait|turns|same time",),
    ),
    Misconception(
        name="errors_stop_the_gpus",
        todo=4,
        belief="when a launch fails, kernels that were queued before it are over, too",
        find="    if (rc != LAB_OK) // the caller gets an error and may free everything: let no kernel run on\n        for (int i = 0; i < queued; i++)\n            sum_result(cudaStreamSynchronize(part[i].stream));\n",
        replace="",
        named=("waited for|still running|still at work|at work|under way|queued before|run on",),
    ),
    Misconception(
        name="one_event_for_all",
        todo=4,
        grave="race",
        belief="the last GPU's event stands for all of them: it was launched last",
        find="            rc = sum_result(cudaEventRecord(p->done, p->stream));",
        replace="            rc = queued < parts - 1 ? LAB_OK : sum_result(cudaEventRecord(p->done, p->stream));",
        named=("event|done", "every|each|part"),
    ),
    Misconception(
        name="memcpy_waits_for_everything",
        todo=5,
        grave="race",
        belief="cudaMemcpy waits for all work of the GPU that it copies from",
        find="        rc = sum_result(cudaEventSynchronize(p->done));\n        if (rc == LAB_OK)\n",
        replace="",
        named=("cudaMemcpy|default stream|non-blocking|wait",),
    ),
    Misconception(
        name="float_is_enough",
        todo=5,
        belief="the partials are floats, so their sum is a float",
        find="    double total = 0.0;\n",
        replace="    float total = 0.0f;\n",
        named=("double",),
    ),
    Misconception(
        name="one_partial_a_gpu",
        todo=5,
        grave="lost data",
        belief="each GPU has one partial result, its first",
        find="        for (int b = 0; b < p->blocks && rc == LAB_OK; b++)\n            total += got[b];",
        replace="        for (int b = 0; b < 1 && rc == LAB_OK; b++)\n            total += got[b];",
        named=("partials|every block|each block|block by block",),
    ),
    Misconception(
        name="all_parts_have_as_many_blocks",
        todo=5,
        grave="lost data",
        belief="all parts have as many blocks as the first one",
        find="        for (int b = 0; b < p->blocks && rc == LAB_OK; b++)",
        replace="        for (int b = 0; b < part[0].blocks && rc == LAB_OK; b++)",
        named=("blocks",),
    ),
    Misconception(
        name="partials_are_on_the_host",
        todo=5,
        belief="a GPU's pointer can be read on the host: addresses are unified",
        find="            rc = sum_result(cudaMemcpy(got, p->partials, (size_t)p->blocks * sizeof *got,\n                                       cudaMemcpyDeviceToHost));\n        for (int b = 0; b < p->blocks && rc == LAB_OK; b++)\n            total += got[b];",
        replace="            rc = LAB_OK;\n        for (int b = 0; b < p->blocks && rc == LAB_OK; b++)\n            total += p->partials[b] + 0 * got[0];",
        named=("host.*(read|touch|access|pointer)|device (memory|pointer)|memory of (a )?GPU",),
    ),
    Misconception(
        name="access_is_the_callers_word",
        todo=6,
        belief="the caller has switched access on; asking whether it is possible is not my business",
        find="        if (!yes)\n            return LAB_ENOPEER;",
        replace="        (void)yes;",
        named=("LAB_ENOPEER|cannot (access|reach)|no access",),
    ),
    Misconception(
        name="root_is_gpu_0",
        todo=6,
        belief="the root is the first part",
        find="    const struct sum_part *r = &part[root];",
        replace="    const struct sum_part *r = &part[0];",
        named=("root",),
    ),
    Misconception(
        name="copy_first_then_add",
        todo=6,
        belief="the root must have a copy of the partials before it can add them: via the host",
        find="        failed = cudaStreamWaitEvent(r->stream, part[i].done, 0) != cudaSuccess;",
        replace="""        float via[SUM_MAX_BLOCKS];
        static float *own[SUM_MAX_PARTS];
        size_t bytes = (size_t)part[i].blocks * sizeof *via;
        failed = cudaEventSynchronize(part[i].done) ||
                 cudaMemcpy(via, part[i].partials, bytes, cudaMemcpyDeviceToHost) ||
                 (own[i] == NULL && cudaMalloc((void **)&own[i], sizeof via)) ||
                 cudaMemcpy(own[i], via, bytes, cudaMemcpyHostToDevice);
        view.partials[i] = own[i];""",
        named=("where they lie|came to the host|through the host|copied|copies|peer memory",),
    ),
    Misconception(
        name="strong_is_weak",
        todo=7,
        belief="scaling is always measured with the same n: more GPUs, less each",
        find="    size_t work = kind == SUM_WEAK ? n * (size_t)gpus : n;",
        replace="    size_t work = n;",
        named=("weak",),
    ),
    Misconception(
        name="speedup_without_the_work",
        todo=7,
        belief="speedup is T1 / TG, whatever was computed in that time",
        find="    out->speedup = (kind == SUM_WEAK ? gpus : 1) * t1 / tg;",
        replace="    out->speedup = t1 / tg;",
        named=("weak|more work|gpus times|as much work",),
    ),
    Misconception(
        name="efficiency_is_the_inverse",
        todo=7,
        belief="efficiency is G times TG over T1: how much more it costs",
        find="    out->efficiency = out->speedup / gpus;",
        replace="    out->efficiency = gpus / out->speedup;",
        named=("efficiency", "speedup / |T1 / \\(G|1 is perfect|inverse"),
    ),
    Misconception(
        name="ideal_t1",
        todo=7,
        belief="the time of one GPU need not be measured: it is G times that of G",
        find="    int rc = sum_time(n, 1, &t1);\n    if (rc == LAB_OK)\n        rc = sum_time(work, gpus, &tg);",
        replace="    int rc = sum_time(work, gpus, &tg);\n    t1 = kind == SUM_WEAK ? tg : tg * gpus;",
        named=("measure|t1|one GPU",),
    ),
]

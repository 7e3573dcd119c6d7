// SPDX-License-Identifier: MIT
// reduction.cu: your file of lab 04, one sum over many GPUs. The contract of every function is in
// lab04.h, the tasks and hints are in README.md.
//
// A `.cu` file is compiled as C++. Stay with C and two things to remember: a void * needs a cast
// before it becomes another pointer, and a `goto` must not jump over an initialisation.
#include <stdint.h>

#include "lab04.h"

int split(size_t n, int parts, int i, size_t *first, size_t *count)
{
    if (parts < 1 || i < 0 || i >= parts || first == NULL || count == NULL)
        return LAB_EINVAL;
    // TODO(1): which elements belong to part i.  (about 5 lines)
    //   before: any n, also 0 and numbers close to SIZE_MAX
    //   after:  *first and *count say it; the parts cover 0 .. n - 1 in order, none is more than
    //           one longer than another
    //   use:    n / parts and n % parts; why not i * n / parts?
    // BEGIN SOLUTION
    size_t each = n / (size_t)parts, rest = n % (size_t)parts, rank = (size_t)i;

    // The first `rest` parts take one element more. i * n would overflow for a large n.
    *first = rank * each + (rank < rest ? rank : rest);
    *count = each + (rank < rest ? 1 : 0);
    return LAB_OK;
    // END SOLUTION
    // STUB: (void)n;
    // STUB: TODO(1);
}

// Given: checks the arguments of TODO(2) and TODO(3).
static int bad_sum(const float *data, size_t n, const float *partials, int blocks)
{
    return blocks < 1 || blocks > SUM_MAX_BLOCKS || partials == NULL || (data == NULL && n > 0);
}

// The kernel of TODO(2) goes here. Its loop strides over the whole grid: neighbouring threads read
// neighbouring elements, and any n fits any number of blocks.
// BEGIN SOLUTION
static __device__ float own_elements(const float *data, size_t n)
{
    size_t stride = (size_t)gridDim.x * SUM_THREADS;
    float mine = 0.0f;

    for (size_t i = (size_t)blockIdx.x * SUM_THREADS + threadIdx.x; i < n; i += stride)
        mine += data[i];
    return mine;
}

static __global__ void shared_kernel(const float *data, size_t n, float *partials)
{
    __shared__ float sum[SUM_THREADS];

    sum[threadIdx.x] = own_elements(data, n);
    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads(); // outside the if: every thread of the block must come here
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        partials[blockIdx.x] = sum[0];
}

// END SOLUTION

int sum_shared(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream)
{
    if (bad_sum(data, n, partials, blocks))
        return LAB_EINVAL;
    // TODO(2): one partial a block, added up in shared memory.  (about 24 lines with the kernel)
    //   before: `stream`, `data` and `partials` belong to the current device
    //   after:  a kernel is queued that sets partials[0 .. blocks - 1]; nothing was waited for
    //   use:    __shared__, __syncthreads, <<<blocks, SUM_THREADS, 0, stream>>>, cudaGetLastError
    // BEGIN SOLUTION
    shared_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);
    return sum_result(cudaGetLastError());
    // END SOLUTION
    // STUB: (void)stream;
    // STUB: TODO(2);
}

// The kernel of TODO(3) goes here: the same loop, then 32 threads at a time without a barrier.
// BEGIN SOLUTION
// Every lane of the warp must call it; lane 0 gets the sum.
static __device__ float warp_sum(float mine)
{
    for (int distance = 16; distance > 0; distance /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, distance);
    return mine;
}

static __global__ void warp_kernel(const float *data, size_t n, float *partials)
{
    __shared__ float sum[SUM_THREADS / 32]; // one a warp
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = warp_sum(own_elements(data, n));

    if (lane == 0)
        sum[warp] = mine;
    __syncthreads();
    if (warp == 0) { // the whole first warp, so that all lanes named in the mask are there
        mine = warp_sum(lane < SUM_THREADS / 32 ? sum[lane] : 0.0f);
        if (lane == 0)
            partials[blockIdx.x] = mine;
    }
}

// END SOLUTION

int sum_warp(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream)
{
    if (bad_sum(data, n, partials, blocks))
        return LAB_EINVAL;
    // TODO(3): the same result with shuffles and one barrier.  (about 23 lines with the kernel)
    //   before, after: as TODO(2)
    //   use:    __shfl_down_sync with the full mask, one shared float a warp, one __syncthreads
    // BEGIN SOLUTION
    warp_kernel<<<blocks, SUM_THREADS, 0, stream>>>(data, n, partials);
    return sum_result(cudaGetLastError());
    // END SOLUTION
    // STUB: (void)stream;
    // STUB: TODO(3);
}

int sum_start(const struct sum_part *part, int parts)
{
    // TODO(4): launch everywhere before waiting anywhere.  (about 18 lines)
    //   before: every part has its memory, stream and event; its stream is idle
    //   after:  all kernels are queued, and behind each its `done` event; the host did not wait
    //   use:    sum_check, cudaSetDevice, sum_warp, cudaEventRecord; cudaStreamSynchronize only
    //           when a launch has failed
    // BEGIN SOLUTION
    int before = 0, queued = 0, rc = sum_check(part, parts);

    if (rc == LAB_OK)
        rc = sum_result(cudaGetDevice(&before));
    if (rc != LAB_OK)
        return rc;
    for (; queued < parts && rc == LAB_OK; queued++) {
        const struct sum_part *p = &part[queued];
        rc = sum_result(cudaSetDevice(p->gpu));
        if (rc == LAB_OK)
            rc = sum_warp(p->data, p->count, p->partials, p->blocks, p->stream);
        if (rc == LAB_OK) // behind the kernel, on its stream: a wait for it waits for both
            rc = sum_result(cudaEventRecord(p->done, p->stream));
    }
    if (rc != LAB_OK) // the caller gets an error and may free everything: let no kernel run on
        for (int i = 0; i < queued; i++)
            sum_result(cudaStreamSynchronize(part[i].stream));
    sum_result(cudaSetDevice(before));
    return rc;
    // END SOLUTION
    // STUB: (void)part;
    // STUB: (void)parts;
    // STUB: TODO(4);
}

int sum_host(const struct sum_part *part, int parts, double *sum)
{
    int rc = sum != NULL ? sum_check(part, parts) : (int)LAB_EINVAL;

    if (rc != LAB_OK)
        return rc;
    // TODO(5): bring the partials to the host and add them there.  (about 13 lines)
    //   before: sum_start was called
    //   after:  *sum holds the sum, added part by part and block by block in double
    //   use:    cudaEventSynchronize, cudaMemcpy; does cudaMemcpy wait for p->stream?
    // BEGIN SOLUTION
    float got[SUM_MAX_BLOCKS];
    double total = 0.0;

    for (int i = 0; i < parts && rc == LAB_OK; i++) {
        const struct sum_part *p = &part[i];
        // cudaMemcpy waits for the default stream only, and p->stream does not wait for that one.
        rc = sum_result(cudaEventSynchronize(p->done));
        if (rc == LAB_OK)
            rc = sum_result(cudaMemcpy(got, p->partials, (size_t)p->blocks * sizeof *got,
                                       cudaMemcpyDeviceToHost));
        for (int b = 0; b < p->blocks && rc == LAB_OK; b++)
            total += got[b];
    }
    if (rc == LAB_OK)
        *sum = total;
    return rc;
    // END SOLUTION
    // STUB: TODO(5);
}

// The kernel of TODO(6) goes here: one block on the root that reads the partials of every part.
// Pointers into another GPU's memory are used like any others.
// BEGIN SOLUTION
struct partials_view { // a kernel's arguments are copied: this one carries all addresses
    const float *partials[SUM_MAX_PARTS];
    int blocks[SUM_MAX_PARTS];
    int parts;
};

static __global__ void total_kernel(struct partials_view view, double *total)
{
    __shared__ double sum[SUM_THREADS];
    double mine = 0.0;

    for (int i = 0; i < view.parts; i++)
        for (int b = (int)threadIdx.x; b < view.blocks[i]; b += SUM_THREADS)
            mine += view.partials[i][b];
    sum[threadIdx.x] = mine;
    for (unsigned half = SUM_THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *total = sum[0];
}

// Nothing is launched before it is certain that the root reaches all parts: a kernel that follows a
// pointer it has no access to ends the whole program's use of CUDA.
static int root_reaches_all(const struct sum_part *part, int parts, int root)
{
    for (int i = 0; i < parts; i++) {
        int yes = 1; // a GPU needs no access to itself
        if (part[i].gpu != part[root].gpu &&
            cudaDeviceCanAccessPeer(&yes, part[root].gpu, part[i].gpu) != cudaSuccess)
            return sum_result(cudaGetLastError());
        if (!yes)
            return LAB_ENOPEER;
    }
    return LAB_OK;
}

// END SOLUTION

int sum_peer(const struct sum_part *part, int parts, int root, double *sum)
{
    int rc = sum != NULL ? sum_check(part, parts) : (int)LAB_EINVAL;

    if (rc == LAB_OK && (root < 0 || root >= parts || part[root].total == NULL))
        rc = LAB_EINVAL;
    if (rc != LAB_OK)
        return rc;
    // TODO(6): let the root read its peers' partials.  (about 60 lines with the kernel)
    //   before: sum_start was called; peer access root -> others is on, if it is possible
    //   after:  *sum holds the sum; only one double came to the host
    //   use:    cudaDeviceCanAccessPeer, cudaStreamWaitEvent, your kernel, cudaMemcpyAsync,
    //           cudaStreamSynchronize of the root's stream
    // BEGIN SOLUTION
    struct partials_view view;
    double result = 0.0;
    int before = 0;

    rc = root_reaches_all(part, parts, root);
    if (rc == LAB_OK)
        rc = sum_result(cudaGetDevice(&before));
    if (rc != LAB_OK)
        return rc;
    const struct sum_part *r = &part[root];
    // || stops at the first call that fails, and cudaGetLastError() then says how.
    bool failed = cudaSetDevice(r->gpu) != cudaSuccess;
    view.parts = parts;
    for (int i = 0; i < parts && !failed; i++) {
        view.partials[i] = part[i].partials;
        view.blocks[i] = part[i].blocks;
        // The GPU waits, not the host: that is free to do something else meanwhile.
        failed = cudaStreamWaitEvent(r->stream, part[i].done, 0) != cudaSuccess;
    }
    if (!failed)
        total_kernel<<<1, SUM_THREADS, 0, r->stream>>>(view, r->total);
    if (failed || cudaPeekAtLastError() ||
        cudaMemcpyAsync(&result, r->total, sizeof result, cudaMemcpyDeviceToHost, r->stream) ||
        cudaStreamSynchronize(r->stream))
        rc = sum_result(cudaGetLastError());
    sum_result(cudaSetDevice(before));
    if (rc == LAB_OK)
        *sum = result;
    return rc;
    // END SOLUTION
    // STUB: TODO(6);
}

int sum_scale(size_t n, int gpus, enum sum_kind kind, struct sum_scaling *out)
{
    if (n == 0 || gpus < 1 || out == NULL || (kind != SUM_STRONG && kind != SUM_WEAK))
        return LAB_EINVAL;
    if (kind == SUM_WEAK && n > SIZE_MAX / (size_t)gpus)
        return LAB_EINVAL;
    // TODO(7): how well does it scale?  (about 13 lines)
    //   before: *out holds anything
    //   after:  *out holds both measured times, the speedup and the efficiency E = T1 / (G TG),
    //           for weak scaling with the T1 of the same total work: G times that of n
    //   use:    sum_time, once with one GPU and once with all
    // BEGIN SOLUTION
    double t1 = 0.0, tg = 0.0;
    size_t work = kind == SUM_WEAK ? n * (size_t)gpus : n;
    int rc = sum_time(n, 1, &t1);
    if (rc == LAB_OK)
        rc = sum_time(work, gpus, &tg);
    if (rc != LAB_OK)
        return rc;
    out->gpus = gpus;
    out->t1_ms = t1;
    out->tg_ms = tg;
    out->speedup = (kind == SUM_WEAK ? gpus : 1) * t1 / tg;
    out->efficiency = out->speedup / gpus;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(7);
}

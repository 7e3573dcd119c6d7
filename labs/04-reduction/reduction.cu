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
    (void)n;
    TODO(1);
}

// Given: checks the arguments of TODO(2) and TODO(3).
static int bad_sum(const float *data, size_t n, const float *partials, int blocks)
{
    return blocks < 1 || blocks > SUM_MAX_BLOCKS || partials == NULL || (data == NULL && n > 0);
}

// The kernel of TODO(2) goes here. Its loop strides over the whole grid: neighbouring threads read
// neighbouring elements, and any n fits any number of blocks.

int sum_shared(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream)
{
    if (bad_sum(data, n, partials, blocks))
        return LAB_EINVAL;
    // TODO(2): one partial a block, added up in shared memory.  (about 24 lines with the kernel)
    //   before: `stream`, `data` and `partials` belong to the current device
    //   after:  a kernel is queued that sets partials[0 .. blocks - 1]; nothing was waited for
    //   use:    __shared__, __syncthreads, <<<blocks, SUM_THREADS, 0, stream>>>, cudaGetLastError
    (void)stream;
    TODO(2);
}

// The kernel of TODO(3) goes here: the same loop, then 32 threads at a time without a barrier.

int sum_warp(const float *data, size_t n, float *partials, int blocks, cudaStream_t stream)
{
    if (bad_sum(data, n, partials, blocks))
        return LAB_EINVAL;
    // TODO(3): the same result with shuffles and one barrier.  (about 23 lines with the kernel)
    //   before, after: as TODO(2)
    //   use:    __shfl_down_sync with the full mask, one shared float a warp, one __syncthreads
    (void)stream;
    TODO(3);
}

int sum_start(const struct sum_part *part, int parts)
{
    // TODO(4): launch everywhere before waiting anywhere.  (about 18 lines)
    //   before: every part has its memory, stream and event; its stream is idle
    //   after:  all kernels are queued, and behind each its `done` event; the host did not wait
    //   use:    sum_check, cudaSetDevice, sum_warp, cudaEventRecord; cudaStreamSynchronize only
    //           when a launch has failed
    (void)part;
    (void)parts;
    TODO(4);
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
    TODO(5);
}

// The kernel of TODO(6) goes here: one block on the root that reads the partials of every part.
// Pointers into another GPU's memory are used like any others.

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
    TODO(6);
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
    TODO(7);
}

/* SPDX-License-Identifier: MIT
 * engines.cu: the two phases of two-shot by the GPUs' copy engines, which send larger packets over
 * NVLink than kernels can and leave the multiprocessors free for the additions.
 *
 *     send     part r to rank r's inbox, slice by slice           (reduce-scatter)
 *     signal   after each slice, a flag to every other rank
 *     stream   waits for the others' flags, adds up the slice
 *     share    the sums to every rank's result                     (all-gather)
 *     stream   a last flag: no rank continues before all copies have arrived, nor refills an inbox
 *
 * The number of slices is small: only then do the copies of all GPUs keep in step, each GPU
 * receiving from one at a time (measured: 2 slices 385 GB/s of bus bandwidth at 1 GiB, 8 slices
 * 318). In place is correct: a rank's copies overwrite part r of another only after that part has
 * arrived here.
 */
#include <cuda/atomic>

#include "kernels.h"

enum { FLAG_SLICE, FLAG_END = FLAG_SLICE + AR_SLICES };

typedef cuda::atomic_ref<unsigned, cuda::thread_scope_system> flag_ref;

/* Sets this rank's flag on every other rank, and waits for the flags of all others. By the first n
 * threads. */
static __device__ void tell(const struct ar_device &d, int what, unsigned call)
{
    if (threadIdx.x < d.n && threadIdx.x != d.me)
        flag_ref(d.flag[threadIdx.x][what * AR_RANKS + d.me])
            .store(call + 1, cuda::memory_order_release);
}

static __device__ void hear(const struct ar_device &d, int what, unsigned call)
{
    if (threadIdx.x < d.n && threadIdx.x != d.me) {
        flag_ref flag(d.flag[d.me][what * AR_RANKS + threadIdx.x]);
        while ((int)(flag.load(cuda::memory_order_acquire) - (call + 1)) < 0)
            continue;
    }
    __syncthreads();
}

static __global__ void tell_slice(struct ar_device d, int slice)
{
    tell(d, FLAG_SLICE + slice, d.call[0]);
}

static __global__ void end(struct ar_device d)
{
    const unsigned call = d.call[0];

    tell(d, FLAG_END, call);
    hear(d, FLAG_END, call);
    ar_count(d, call);
}

/* Adds vectors first .. end - 1 of this rank's part from all ranks. `longest`: vectors of a rank in
 * the inbox.
 */
template <int N>
static __global__ void __launch_bounds__(512)
    add_up(struct ar_device d, const float *send, float *recv, const float *inbox, unsigned longest,
           unsigned first, unsigned end, size_t count, int slice)
{
    const unsigned part = ar_first(ar_cut(count, N), d.me);

    hear(d, FLAG_SLICE + slice, d.call[0]);
    for (unsigned i = first + blockIdx.x * blockDim.x + threadIdx.x; i < end;
         i += gridDim.x * blockDim.x) {
        const uint4 mine = ar_load(send, part + i, count);
        uint4 v[N];
#pragma unroll
        for (int r = 0; r < N; r++) /* its own slot in the inbox is unused, but read, too */
            v[r] = ((const uint4 *)inbox)[(size_t)r * longest + i];
#pragma unroll
        for (int r = 0; r < N; r++)
            v[r] = r == d.me ? mine : v[r];
        ar_store(recv, part + i, count, ar_sum<N>(v));
    }
}

static const void *add_up_kernel(int n)
{
    AR_KERNEL_OF(add_up, n);
}

/* ---- the host's side ---- */

cudaError_t ar_load_kernel(const void *kernel)
{
    cudaFuncAttributes unused;
    return cudaFuncGetAttributes(&unused, kernel);
}

static cudaError_t load_kernels(int n)
{
    cudaError_t error = ar_load_kernel(add_up_kernel(n));

    if (error == cudaSuccess)
        error = ar_load_kernel((const void *)tell_slice);
    return error != cudaSuccess ? error : ar_load_kernel((const void *)end);
}

cudaError_t ar_engines_open(struct ar_engines *e, int n, size_t most)
{
    const size_t bytes = most + AR_RANKS * sizeof(uint4);
    cudaError_t error = cudaMalloc((void **)&e->inbox, bytes);
    cudaStream_t *stream[] = {&e->send, &e->signal, &e->share};

    if (error == cudaSuccess) /* add_up also reads its own slot, and ignores the contents */
        error = cudaMemset(e->inbox, 0, bytes);
    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        error = cudaStreamCreateWithFlags(stream[i], cudaStreamNonBlocking);
    for (int i = 0; i < 4 && error == cudaSuccess; i++)
        error = cudaEventCreateWithFlags(&e->event[i], cudaEventDisableTiming);
    return error != cudaSuccess ? error : load_kernels(n);
}

void ar_engines_close(struct ar_engines *e)
{
    cudaStream_t stream[] = {e->send, e->signal, e->share};

    for (int i = 0; i < 3; i++)
        if (stream[i])
            cudaStreamDestroy(stream[i]);
    for (int i = 0; i < 4; i++)
        if (e->event[i])
            cudaEventDestroy(e->event[i]);
    cudaFree(e->inbox);
}

/* `later` waits for the work that is queued on `first` now. */
static cudaError_t after(cudaStream_t later, cudaStream_t first, cudaEvent_t event)
{
    cudaError_t error = cudaEventRecord(event, first);
    return error != cudaSuccess ? error : cudaStreamWaitEvent(later, event, 0);
}

struct slice {
    int number;
    unsigned first, end; /* vectors of a part */
};

static struct slice slice_of(size_t length, int number)
{
    return {number, (unsigned)(length * number / AR_SLICES),
            (unsigned)(length * (number + 1) / AR_SLICES)};
}

/* Bytes of vectors first .. end - 1 of a part that begins at vector `part`; the last may be short.
 */
static size_t bytes_of(const struct ar_call_for *c, size_t part, struct slice s)
{
    const size_t from = (part + s.first) * 4, to = (part + s.end) * 4;
    return ((to < c->count ? to : c->count) - from) * sizeof(float);
}

/* Reduce-scatter: a slice of every part to its owner's inbox. */
static cudaError_t scatter(const struct ar_call_for *c, int number)
{
    const struct ar_device *d = &c->device;
    const struct ar_engines *mine = &c->engines[d->me];
    const struct ar_parts parts = ar_cut(c->count, d->n);
    cudaError_t error = cudaSuccess;

    for (int k = 1; k < d->n && error == cudaSuccess; k++) {
        const int r = (d->me + k) % d->n;
        const struct slice s = slice_of(ar_length(parts, r), number);
        const size_t part = ar_first(parts, r);
        float *to = c->engines[r].inbox + ((size_t)d->me * ar_length(parts, 0) + s.first) * 4;
        if (s.first < s.end)
            error = cudaMemcpyAsync(to, c->send + (part + s.first) * 4, bytes_of(c, part, s),
                                    cudaMemcpyDefault, mine->send);
    }
    return error != cudaSuccess ? error : after(mine->signal, mine->send, mine->event[0]);
}

/* All-gather: a slice of this rank's part, added up, to every rank's result. */
static cudaError_t share(const struct ar_call_for *c, struct slice s)
{
    const struct ar_device *d = &c->device;
    const size_t part = ar_first(ar_cut(c->count, d->n), d->me), at = (part + s.first) * 4;
    cudaError_t error = after(c->engines[d->me].share, c->stream, c->engines[d->me].event[1]);

    for (int k = 1; k < d->n && error == cudaSuccess; k++)
        error = cudaMemcpyAsync(c->recv[(d->me + k) % d->n] + at, c->recv[d->me] + at,
                                bytes_of(c, part, s), cudaMemcpyDefault, c->engines[d->me].share);
    return error;
}

static cudaError_t slice_call(const struct ar_call_for *c, int number)
{
    const struct ar_device *d = &c->device;
    const struct ar_engines *mine = &c->engines[d->me];
    const struct ar_parts parts = ar_cut(c->count, d->n);
    unsigned longest = ar_length(parts, 0);
    struct slice s = slice_of(ar_length(parts, d->me), number);
    void *args[] = {(void *)&c->device,
                    (void *)&c->send,
                    (void *)&c->recv[d->me],
                    (void *)&mine->inbox,
                    &longest,
                    &s.first,
                    &s.end,
                    (void *)&c->count,
                    &s.number};
    cudaError_t error = scatter(c, number);

    if (error != cudaSuccess)
        return error;
    tell_slice<<<1, 32, 0, mine->signal>>>(c->device, number);
    error = cudaLaunchKernel(add_up_kernel(d->n), dim3(64), dim3(512), args, 0, c->stream);
    if (error != cudaSuccess || s.first == s.end)
        return error;
    return share(c, s);
}

cudaError_t ar_engines_call(const struct ar_call_for *c)
{
    const struct ar_engines *mine = &c->engines[c->device.me];
    const cudaStream_t lane[] = {mine->send, mine->signal, mine->share};
    cudaError_t error = cudaEventRecord(mine->event[2], c->stream);

    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        error = cudaStreamWaitEvent(lane[i], mine->event[2], 0);
    for (int number = 0; number < AR_SLICES && error == cudaSuccess; number++)
        error = slice_call(c, number);
    for (int i = 0; i < 3 && error == cudaSuccess; i++)
        error = after(c->stream, lane[i], mine->event[3]);
    if (error != cudaSuccess)
        return error;
    end<<<1, 256, 0, c->stream>>>(c->device);
    return cudaGetLastError();
}

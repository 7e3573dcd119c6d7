// SPDX-License-Identifier: MIT
// kernels.cu: the collectives, as rings with the steps of lab 07 (reduce-scatter step k, all-gather
// step k). Each rank runs one block. A rank receives from its predecessor in its own memory and
// sends by storing into the memory of its successor.
#include "comm.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdio.h>

enum { THREADS = 256 };

// ---- mailboxes ----
// Thread 0 waits and posts for its block. The fence and the barrier beside it order what all
// threads of the block read and store.

// The mailboxes between this rank and one other rank.
struct mailboxes {
    nccl_region *mine, *other;
    int self, peer;
    enum nccl_kind kind;
    uint64_t sent, taken; // as in `mine`, to which keep_sent() and keep_taken() write them

    __device__ mailboxes(const nccl_place &place, int rank, enum nccl_kind what)
        : mine(place.region[place.rank]), other(place.region[rank]), self(place.rank), peer(rank),
          kind(what), sent(mine->sent[rank].value), taken(mine->taken[rank].value)
    {
    }

    // The slot that the peer has free next, and the next one from the peer.
    __device__ void *free_slot() const
    {
        return other->slot[self][sent % NCCL_SLOTS];
    }

    __device__ const void *filled_slot() const
    {
        return mine->slot[peer][taken % NCCL_SLOTS];
    }

    __device__ void wait_for_free_slot() const
    {
        if (sent >= NCCL_SLOTS)
            wait(&mine->emptied[peer].value, sent - NCCL_SLOTS + 1);
    }

    __device__ void wait_for_filled_slot(size_t elements) const
    {
        wait(&mine->filled[peer].value, taken + 1);
        nccl_label label = mine->filled[peer].label[taken % NCCL_SLOTS];
        if (label.kind != (uint32_t)kind || label.elements != elements) {
            printf(
                "vgpu: nccl: rank %d expected %llu elements of %s from rank %d and got %u of %s: "
                "all ranks call the same collectives in the same order with the same counts\n",
                self, (unsigned long long)elements, name(kind), peer, label.elements,
                name((enum nccl_kind)label.kind));
            __trap();
        }
    }

    // Before the fence: what post_slot() announces.
    __device__ void label_slot(size_t elements) const
    {
        nccl_label label = {(uint32_t)kind, (uint32_t)elements};
        other->filled[self].label[sent % NCCL_SLOTS] = label;
    }

    __device__ void post_slot() const
    {
        post(&other->filled[self].value, sent + 1);
    }

    __device__ void release_slot() const
    {
        post(&other->emptied[self].value, taken + 1);
    }

    // Waits until the peer has received everything.
    __device__ void drain() const
    {
        if (threadIdx.x == 0)
            wait(&mine->emptied[peer].value, sent);
        __syncthreads();
    }

    __device__ void keep_sent() const
    {
        if (threadIdx.x == 0)
            mine->sent[peer].value = sent;
        __syncthreads();
    }

    __device__ void keep_taken() const
    {
        if (threadIdx.x == 0)
            mine->taken[peer].value = taken;
        __syncthreads();
    }

    // What follows is done after the value was seen: the slot and its label are read, or the slot
    // is written again.
    __device__ static void wait(const volatile uint64_t *counter, uint64_t value)
    {
        while (*counter < value) {
        }
        __threadfence_system();
    }

    __device__ static void post(volatile uint64_t *counter, uint64_t value)
    {
        *counter = value;
    }

    __device__ static const char *name(enum nccl_kind kind)
    {
        switch (kind) {
        case NCCL_ALL_REDUCE:
            return "an all-reduce";
        case NCCL_REDUCE_SCATTER:
            return "a reduce-scatter";
        case NCCL_ALL_GATHER:
            return "an all-gather";
        case NCCL_BROADCAST:
            return "a broadcast";
        case NCCL_REDUCE:
            return "a reduce";
        default:
            return "a send";
        }
    }
};

// ---- elements ----

// Of 8 bits: computed in float, each result rounded, and at most the largest finite number.
#define NCCL_COMPUTES_IN_FLOAT(T)                                                                  \
    __device__ T operator+(T a, T b)                                                               \
    {                                                                                              \
        return T((float)a + (float)b);                                                             \
    }                                                                                              \
    __device__ T operator*(T a, T b)                                                               \
    {                                                                                              \
        return T((float)a * (float)b);                                                             \
    }                                                                                              \
    __device__ bool operator<(T a, T b)                                                            \
    {                                                                                              \
        return (float)a < (float)b;                                                                \
    }
NCCL_COMPUTES_IN_FLOAT(__nv_fp8_e4m3)
NCCL_COMPUTES_IN_FLOAT(__nv_fp8_e5m2)

template <class T> __device__ bool before(T a, T b)
{
    return a < b;
}

template <class T, int OP> __device__ T combine(T a, T b)
{
    if (OP == ncclProd)
        return a * b;
    if (OP == ncclMax)
        return before(a, b) ? b : a;
    if (OP == ncclMin)
        return before(b, a) ? b : a;
    return a + b;
}

// ncclAvg: floating-point inputs are scaled before the sum, integers are divided after it, as NCCL
// does.
template <class T> struct average {
    static __device__ T in(T value, int)
    {
        return value;
    }
    static __device__ T out(T value, int ranks)
    {
        return value / (T)ranks;
    }
};

template <class T> struct scaled {
    static __device__ T in(T value, int ranks)
    {
        return (T)((float)value * (1.0f / ranks));
    }
    static __device__ T out(T value, int)
    {
        return value;
    }
};

template <> struct average<float> : scaled<float> {
};
template <> struct average<__half> : scaled<__half> {
};
template <> struct average<__nv_bfloat16> : scaled<__nv_bfloat16> {
};
template <> struct average<__nv_fp8_e4m3> : scaled<__nv_fp8_e4m3> {
};
template <> struct average<__nv_fp8_e5m2> : scaled<__nv_fp8_e5m2> {
};
template <> struct average<double> {
    static __device__ double in(double value, int ranks)
    {
        return value * (1.0 / ranks);
    }
    static __device__ double out(double value, int)
    {
        return value;
    }
};

// ---- a step ----

const size_t PACK_BYTES = 16, SECTOR_BYTES = 32;

__device__ bool is_aligned(const void *p)
{
    return (uintptr_t)p % PACK_BYTES == 0;
}

// The least multiple of what one access takes that is not less.
template <class T> __device__ size_t whole_packs(size_t elements)
{
    const size_t pack = PACK_BYTES / sizeof(T);
    return (elements + pack - 1) / pack * pack;
}

// What this thread does of the accesses from `begin` to `over`: from `first` to `end`, every
// `step`-th. `step` neighbouring threads, whose accesses together fill a sector, share that range;
// no other thread accesses it. So a thread stays within a few pages of memory (the virtual node
// runs one thread after the other), and a warp uses every byte of the sectors that it moves.
struct own_part {
    size_t first, end, step;

    __device__ own_part(size_t begin, size_t over, size_t access_bytes)
        : step(SECTOR_BYTES / access_bytes)
    {
        const size_t each = (over - begin + THREADS - 1) / THREADS * step;
        begin += threadIdx.x / step * each;
        first = begin + threadIdx.x % step;
        end = begin + each < over ? begin + each : over;
    }
};

// A rank's part of a ring: it receives from `from` and sends to `to`.
template <class T, int OP> struct ring {
    static const size_t SLOT = NCCL_SLOT_BYTES / sizeof(T), PACK = PACK_BYTES / sizeof(T);
    struct alignas(PACK_BYTES) pack {
        T element[PACK];
    };
    mailboxes from, to;
    int ranks;
    T scalar; // of NCCL_SCALED_SUM

    // One step. n elements are read: from the ring if `take`, from `src` if not null, combined if
    // both. They are written to `dst` if not null, and to the ring if `pass`. `last`: they are the
    // result.
    __device__ void step(bool take, const T *src, T *dst, bool pass, size_t n, bool last)
    {
        if (threadIdx.x == 0 && take)
            from.wait_for_filled_slot(n);
        if (threadIdx.x == 0 && pass)
            to.wait_for_free_slot();
        __syncthreads();
        const T *in = take ? (const T *)from.filled_slot() : nullptr;
        T *out = pass ? (T *)to.free_slot() : nullptr;
        if (src && in)
            write<true, true>(src, in, dst, out, n, last);
        else if (src)
            write<true, false>(src, in, dst, out, n, last);
        else
            write<false, true>(src, in, dst, out, n, last);
        __syncthreads();
        if (threadIdx.x == 0)
            post(take, pass, n);
        to.sent += pass;
        from.taken += take;
    }

    __device__ void post(bool take, bool pass, size_t n) const
    {
        if (pass)
            to.label_slot(n);
        __threadfence_system(); // all of this block's accesses come before the counters
        if (pass)
            to.post_slot();
        if (take)
            from.release_slot();
    }

    template <bool SRC, bool IN>
    __device__ void write(const T *src, const T *in, T *dst, T *out, size_t n, bool last) const
    {
        if (dst && out)
            write_to<SRC, IN, true, true>(src, in, dst, out, n, last);
        else if (dst)
            write_to<SRC, IN, true, false>(src, in, dst, out, n, last);
        else
            write_to<SRC, IN, false, true>(src, in, dst, out, n, last);
    }

    // Sixteen bytes an access, where all begin at a multiple of 16.
    template <bool SRC, bool IN, bool DST, bool OUT>
    __device__ void write_to(const T *src, const T *in, T *dst, T *out, size_t n, bool last) const
    {
        const bool aligned = is_aligned(SRC ? src : in) && is_aligned(IN ? in : src) &&
                             is_aligned(DST ? dst : out) && is_aligned(OUT ? out : dst);
        const size_t packs = aligned ? n / PACK : 0;
        const own_part whole(0, packs, PACK_BYTES), rest(packs * PACK, n, sizeof(T));
        for (size_t i = whole.first; i < whole.end; i += whole.step) {
            pack a = SRC ? ((const pack *)src)[i] : pack(), b = IN ? ((const pack *)in)[i] : pack();
            pack value;
            for (size_t k = 0; k < PACK; k++)
                value.element[k] = result<SRC, IN>(a.element[k], b.element[k], last);
            if (DST)
                ((pack *)dst)[i] = value;
            if (OUT)
                ((pack *)out)[i] = value;
        }
        for (size_t i = rest.first; i < rest.end; i += rest.step) {
            T value = result<SRC, IN>(SRC ? src[i] : T(), IN ? in[i] : T(), last);
            if (DST)
                dst[i] = value;
            if (OUT)
                out[i] = value;
        }
    }

    template <bool SRC, bool IN> __device__ T result(T src, T in, bool last) const
    {
        T value = SRC ? start(src) : in;
        if (SRC && IN)
            value = combine<T, OP>(value, in);
        if (last && OP == ncclAvg)
            value = average<T>::out(value, ranks);
        return value;
    }

    __device__ T start(T value) const
    {
        if (OP == NCCL_SCALED_SUM)
            return value * scalar;
        return OP == ncclAvg ? average<T>::in(value, ranks) : value;
    }
};

__device__ size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

// ---- the collectives ----

template <class T, int OP>
__device__ void all_reduce(ring<T, OP> &r, int rank, const T *send, T *recv, size_t count)
{
    const int n = r.ranks;
    for (size_t base = 0; base < count; base += n * r.SLOT) {
        size_t rest = least(count - base, n * r.SLOT);
        size_t chunk = whole_packs<T>((rest + n - 1) / n);
        for (int k = 0; k < 2 * n - 1; k++) {
            // Reduce-scatter steps 0 .. n-1, of which the last yields the result, then
            // all-gather steps.
            int index = ((rank - k) % n + n) % n; // two rounds in the same direction
            size_t first = least(index * chunk, rest), size = least(chunk, rest - first);
            const T *src = k < n ? send + base + first : nullptr;
            T *dst = k >= n - 1 ? recv + base + first : nullptr;
            r.step(k > 0, src, dst, k < 2 * n - 2, size, k == n - 1);
        }
    }
}

template <class T, int OP>
__device__ void reduce_scatter(ring<T, OP> &r, int rank, const T *send, T *recv, size_t count)
{
    const int n = r.ranks;
    for (size_t base = 0; base < count; base += r.SLOT) {
        size_t size = least(count - base, r.SLOT);
        for (int k = 0; k < n; k++) {
            size_t chunk = (size_t)((rank - 1 - k + 2 * n) % n);
            r.step(k > 0, send + chunk * count + base, k == n - 1 ? recv + base : nullptr,
                   k < n - 1, size, k == n - 1);
        }
    }
}

template <class T, int OP>
__device__ void all_gather(ring<T, OP> &r, int rank, const T *send, T *recv, size_t count)
{
    const int n = r.ranks;
    for (size_t base = 0; base < count; base += r.SLOT) {
        size_t size = least(count - base, r.SLOT);
        for (int k = 0; k < n; k++) {
            size_t chunk = (size_t)((rank - k + n) % n);
            r.step(k > 0, k == 0 ? send + base : nullptr, recv + chunk * count + base, k < n - 1,
                   size, false);
        }
    }
}

template <class T, int OP>
__device__ void broadcast(ring<T, OP> &r, int rank, int root, const T *send, T *recv, size_t count)
{
    const int place = (rank - root + r.ranks) % r.ranks; // in a chain that begins at the root
    for (size_t base = 0; base < count; base += r.SLOT)
        r.step(place > 0, place == 0 ? send + base : nullptr, recv + base, place < r.ranks - 1,
               least(count - base, r.SLOT), false);
}

template <class T, int OP>
__device__ void reduce(ring<T, OP> &r, int rank, int root, const T *send, T *recv, size_t count)
{
    const int place = (rank - root - 1 + r.ranks) % r.ranks; // in a chain that ends at the root
    const bool end = place == r.ranks - 1;
    for (size_t base = 0; base < count; base += r.SLOT)
        r.step(place > 0, send + base, end ? recv + base : nullptr, !end,
               least(count - base, r.SLOT), end);
}

template <class T, int OP> __device__ T scalar_of(const nccl_ring &work)
{
    T scalar = T();
    if (OP == NCCL_SCALED_SUM)
        memcpy(&scalar, work.scalar_at ? work.scalar_at : &work.scalar, sizeof scalar);
    return scalar;
}

template <class T, int OP>
__global__ void __launch_bounds__(THREADS) nccl_ring_kernel(nccl_ring work, nccl_place place)
{
    const int n = place.ranks, rank = place.rank;
    ring<T, OP> r = {mailboxes(place, (rank + n - 1) % n, work.kind),
                     mailboxes(place, (rank + 1) % n, work.kind), n, scalar_of<T, OP>(work)};
    const T *send = (const T *)work.send;
    T *recv = (T *)work.recv;

    if (work.kind == NCCL_ALL_REDUCE)
        all_reduce(r, rank, send, recv, work.count);
    else if (work.kind == NCCL_REDUCE_SCATTER)
        reduce_scatter(r, rank, send, recv, work.count);
    else if (work.kind == NCCL_ALL_GATHER)
        all_gather(r, rank, send, recv, work.count);
    else if (work.kind == NCCL_BROADCAST)
        broadcast(r, rank, work.root, send, recv, work.count);
    else
        reduce(r, rank, work.root, send, recv, work.count);
    if (n > 1)
        r.to.drain();
    r.to.keep_sent();
    r.from.keep_taken();
}

// ---- send and recv ----

// Sixteen bytes an access, where both begin at a multiple of 16.
__device__ void copy_bytes(char *to, const char *from, size_t bytes)
{
    if (to == from)
        return;
    const size_t packs = is_aligned(to) && is_aligned(from) ? bytes / sizeof(uint4) : 0;
    const own_part whole(0, packs, sizeof(uint4)), rest(packs * sizeof(uint4), bytes, 1);
    for (size_t i = whole.first; i < whole.end; i += whole.step)
        ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    for (size_t i = rest.first; i < rest.end; i += rest.step)
        to[i] = from[i];
}

__device__ void send_bytes(mailboxes &to, const char *from, size_t bytes)
{
    for (size_t base = 0; base < bytes; base += NCCL_SLOT_BYTES) {
        size_t size = least(bytes - base, NCCL_SLOT_BYTES);
        if (threadIdx.x == 0)
            to.wait_for_free_slot();
        __syncthreads();
        copy_bytes((char *)to.free_slot(), from + base, size);
        __syncthreads();
        if (threadIdx.x == 0) {
            to.label_slot(size);
            __threadfence_system();
            to.post_slot();
        }
        to.sent++;
    }
    to.drain();
    to.keep_sent();
}

__device__ void recv_bytes(mailboxes &from, char *to, size_t bytes)
{
    for (size_t base = 0; base < bytes; base += NCCL_SLOT_BYTES) {
        size_t size = least(bytes - base, NCCL_SLOT_BYTES);
        if (threadIdx.x == 0)
            from.wait_for_filled_slot(size);
        __syncthreads();
        copy_bytes(to + base, (const char *)from.filled_slot(), size);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence_system();
            from.release_slot();
        }
        from.taken++;
    }
    from.keep_taken();
}

// One block for each peer and direction, so that all transfers of a group make progress.
__global__ void __launch_bounds__(THREADS)
    nccl_transfer_kernel(const nccl_lane *lanes, const nccl_transfer *transfers, nccl_table table,
                         nccl_place place)
{
    nccl_lane lane = lanes ? lanes[blockIdx.x] : table.lane[blockIdx.x];
    for (int i = lane.first; i < lane.first + lane.count; i++) {
        nccl_transfer t = lanes ? transfers[i] : table.transfer[i];
        mailboxes between(place, t.peer, NCCL_SEND_RECV);
        if (t.send && t.recv)
            copy_bytes((char *)t.recv, (const char *)t.send, t.bytes);
        else if (t.send)
            send_bytes(between, (const char *)t.send, t.bytes);
        else
            recv_bytes(between, (char *)t.recv, t.bytes);
    }
}

// ---- launching ----
// Uses cudaLaunchKernel for its return value: the last error may be that of a call of the program.

typedef void (*ring_kernel)(nccl_ring, nccl_place);

template <class T> static ring_kernel kernel_of(int op)
{
    switch (op) {
    case ncclSum:
        return nccl_ring_kernel<T, ncclSum>;
    case ncclProd:
        return nccl_ring_kernel<T, ncclProd>;
    case ncclMax:
        return nccl_ring_kernel<T, ncclMax>;
    case ncclMin:
        return nccl_ring_kernel<T, ncclMin>;
    case NCCL_SCALED_SUM:
        return nccl_ring_kernel<T, NCCL_SCALED_SUM>;
    default:
        return nccl_ring_kernel<T, ncclAvg>;
    }
}

static ring_kernel find_kernel(int type, int op)
{
    switch (type) {
    case ncclInt8:
        return kernel_of<int8_t>(op);
    case ncclUint8:
        return kernel_of<uint8_t>(op);
    case ncclInt32:
        return kernel_of<int32_t>(op);
    case ncclUint32:
        return kernel_of<uint32_t>(op);
    case ncclInt64:
        return kernel_of<int64_t>(op);
    case ncclUint64:
        return kernel_of<uint64_t>(op);
    case ncclFloat16:
        return kernel_of<__half>(op);
    case ncclFloat64:
        return kernel_of<double>(op);
    case ncclBfloat16:
        return kernel_of<__nv_bfloat16>(op);
    case ncclFloat8e4m3:
        return kernel_of<__nv_fp8_e4m3>(op);
    case ncclFloat8e5m2:
        return kernel_of<__nv_fp8_e5m2>(op);
    default:
        return kernel_of<float>(op);
    }
}

extern "C" cudaError_t nccl_launch_ring(const struct nccl_ring *ring,
                                        const struct nccl_place *place, cudaStream_t stream)
{
    void *arguments[] = {(void *)ring, (void *)place};
    const void *kernel = (const void *)find_kernel(ring->type, ring->op);
    return cudaLaunchKernel(kernel, dim3(1), dim3(THREADS), arguments, 0, stream);
}

extern "C" cudaError_t nccl_launch_transfers(const struct nccl_lane *lanes, int lane_count,
                                             const struct nccl_transfer *transfers,
                                             const struct nccl_table *table,
                                             const struct nccl_place *place, cudaStream_t stream)
{
    void *arguments[] = {(void *)&lanes, (void *)&transfers, (void *)table, (void *)place};
    return cudaLaunchKernel((const void *)nccl_transfer_kernel, dim3(lane_count), dim3(THREADS),
                            arguments, 0, stream);
}

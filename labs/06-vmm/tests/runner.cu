/* SPDX-License-Identifier: MIT
 * runner.cu: lab 06's adapters: a question from the verifier, the student's functions, the answer.
 * Vectors are in vectors.h, two processes in parcels.h.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include "runner.h"

#include "io.h"

static __global__ void put(int *at, int value)
{
    *at = value;
}

static __global__ void get(const int *at, int *value)
{
    *value = *at;
}

static int all_bytes(const void *what, size_t bytes, int value)
{
    const unsigned char *byte = (const unsigned char *)what;
    while (bytes > 0 && *byte == value)
        byte++, bytes--;
    return bytes == 0;
}

static int open_fds(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

static int access_of(CUdeviceptr at, int device)
{
    CUmemLocation where = {};
    unsigned long long flags = 0;
    where.type = CU_MEM_LOCATION_TYPE_DEVICE;
    where.id = device;
    return at && cuMemGetAccess(&flags, &where, at) == CUDA_SUCCESS ? (int)flags : IO_UNSET;
}

static void all_access(CUdeviceptr at, int gpus, int *access)
{
    for (int d = 0; d < gpus; d++)
        access[d] = access_of(at, d);
}

/* Starts CUDA on the first `gpus` GPUs, so that descriptors of its own are open already. */
static void start(int gpus, int current)
{
    for (int d = 0; d < gpus; d++) {
        (void)cudaSetDevice(d);
        (void)cudaFree(0);
    }
    if (current >= 0 && current < gpus)
        (void)cudaSetDevice(current);
}

/* By kernels of `gpu`; cudaSuccess, or what the kernel ended in. */
static cudaError_t put_by(int gpu, CUdeviceptr at, int value)
{
    (void)cudaSetDevice(gpu);
    put<<<1, 1>>>((int *)at, value);
    return cudaDeviceSynchronize();
}

static cudaError_t get_by(int gpu, CUdeviceptr at, int *value)
{
    int *out = NULL;
    (void)cudaSetDevice(gpu);
    (void)cudaMalloc((void **)&out, sizeof *out);
    get<<<1, 1>>>((const int *)at, out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        error = cudaMemcpy(value, out, sizeof *value, cudaMemcpyDeviceToHost);
    (void)cudaFree(out);
    return error;
}

#include "parcels.h"
#include "refused.h"
#include "vectors.h"

LAB_RUN(round)
{
    const struct round_in *in = (const struct round_in *)lab_input(io, sizeof *in);
    struct round_out *out = (struct round_out *)lab_result(io, sizeof *out);
    for (int i = 0; i < in->asked; i++) {
        const struct round_question *q = &in->q[i];
        size_t rounded;
        memset(&rounded, IO_FILL, sizeof rounded);
        lab_doing("vmm_round(%zu, %s, %d, %s)", (size_t)q->bytes, q->null == 1 ? "NULL" : "devs",
                  q->n, q->null == 2 ? "NULL" : "&rounded");
        out->rc[i] = vmm_round((size_t)q->bytes, q->null == 1 ? NULL : q->devs, q->n,
                               q->null == 2 ? NULL : &rounded);
        out->untouched[i] = all_bytes(&rounded, sizeof rounded, IO_FILL);
        out->rounded[i] = rounded;
    }
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    (void)cuInit(0);
    for (int d = 0; d < IO_GPUS; d++) {
        size_t granularity = 0;
        prop.location.id = d;
        (void)cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
        out->granularity[d] = granularity;
    }
}

/* ---- allocations ---- */

struct taken { /* addresses that nobody else shall have */
    CUdeviceptr at[64];
    size_t bytes[64];
    int count;
};

static void take_addresses(struct taken *taken)
{
    taken->count = 0;
    for (size_t bytes = (size_t)1 << 46; bytes >= (size_t)1 << 21; bytes /= 2) {
        CUdeviceptr at;
        while (taken->count < 64 && cuMemAddressReserve(&at, bytes, 0, 0, 0) == CUDA_SUCCESS) {
            taken->at[taken->count] = at;
            taken->bytes[taken->count++] = bytes;
        }
    }
}

static void give_addresses(const struct taken *taken)
{
    for (int i = 0; i < taken->count; i++)
        (void)cuMemAddressFree(taken->at[i], taken->bytes[i]);
}

static int first_and_last(const struct vmm *v)
{
    CUdeviceptr last = v->base + v->bytes - sizeof(int);
    int a = 0, b = 0;
    return put_by(v->device, v->base, 17) == cudaSuccess &&
           put_by(v->device, last, 19) == cudaSuccess &&
           get_by(v->device, v->base, &a) == cudaSuccess &&
           get_by(v->device, last, &b) == cudaSuccess && a == 17 && b == 19;
}

static void examine(const struct alloc_in *in, int i, const struct vmm *v, struct alloc_out *out)
{
    CUmemAllocationProp prop;
    int fd = -1, current;
    (void)cudaGetDevice(&current);
    out->bytes[i] = v->bytes;
    out->base[i] = v->base;
    out->device[i] = v->device;
    out->held[i] = cuMemGetAllocationPropertiesFromHandle(&prop, v->handle) == CUDA_SUCCESS;
    out->of[i] = out->held[i] ? prop.location.id : IO_UNSET;
    all_access(v->base, in->gpus, out->access[i]);
    if (out->held[i])
        out->exports[i] =
            cuMemExportToShareableHandle(&fd, v->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                         0) == CUDA_SUCCESS;
    if (fd >= 0)
        close(fd);
    if (out->access[i][in->dev[i]] == 3) /* a fault would hide everything else */
        out->works[i] = first_and_last(v);
    (void)cudaSetDevice(current);
}

LAB_RUN(alloc)
{
    const struct alloc_in *in = (const struct alloc_in *)lab_input(io, sizeof *in);
    struct alloc_out *out = (struct alloc_out *)lab_result(io, sizeof *out);
    struct vmm v[IO_ASKED];
    struct taken taken;
    taken.count = 0;
    memset(out, 0, sizeof *out);
    start(in->gpus, in->current);
    int before = open_fds();
    memset(v, IO_FILL, sizeof v);
    if (in->fail == FAIL_ADDRESSES)
        take_addresses(&taken);
    for (int i = 0; i < in->asked; i++) {
        lab_doing("vmm_alloc(%d, %zu, %s)", in->dev[i], (size_t)in->bytes[i],
                  in->fail == FAIL_NULL ? "NULL" : "&v");
        out->rc[i] =
            vmm_alloc(in->dev[i], (size_t)in->bytes[i], in->fail == FAIL_NULL ? NULL : &v[i]);
        out->untouched[i] = all_bytes(&v[i], sizeof v[i], IO_FILL);
    }
    give_addresses(&taken);
    out->current = IO_UNSET;
    (void)cudaGetDevice(&out->current);
    for (int i = 0; i < in->asked; i++) {
        if (out->rc[i] == LAB_OK)
            examine(in, i, &v[i], out);
    }
    for (int i = 0; i < in->asked; i++) {
        if (out->rc[i] != LAB_OK)
            continue;
        out->freed[i] = LAB_CALL(vmm_free(&v[i]));
        out->zeroed[i] = all_bytes(&v[i], sizeof v[i], 0);
    }
    out->fds = open_fds() - before;
}

/* ---- sharing ---- */

/* A kernel of every GPU that has access reads an int: the node sees it. */
static void use(int gpus, CUdeviceptr at, const int *access)
{
    int unused, current = 0;
    (void)cudaGetDevice(&current);
    for (int d = 0; d < gpus; d++)
        if (access[d] > 0)
            (void)get_by(d, at, &unused);
    (void)cudaSetDevice(current);
}

LAB_RUN(share)
{
    const struct share_in *in = (const struct share_in *)lab_input(io, sizeof *in);
    struct share_out *out = (struct share_out *)lab_result(io, sizeof *out);
    struct vmm v[2], nothing;
    memset(v, 0, sizeof v);
    memset(&nothing, 0, sizeof nothing);
    start(in->gpus, 0);
    out->setup = vmm_alloc(in->owner, 100000, &v[0]) || vmm_alloc(in->owner, 3000000, &v[1]) ||
                 put_by(in->owner, v[0].base, PROBE_BEFORE) ||
                 put_by(in->owner, v[1].base, PROBE_BEFORE);
    (void)cudaSetDevice(0);
    for (int i = 0; i < in->asked && !out->setup; i++) {
        const struct share_question *q = &in->q[i];
        const struct vmm *which = q->null == 1 ? NULL : q->null == 2 ? &nothing : &v[q->which];
        lab_doing("vmm_share(%s, %d, %d)",
                  q->null == 1   ? "NULL"
                  : q->null == 2 ? "&v, which is all zero"
                                 : "&v",
                  q->peer, q->flags);
        out->rc[i] = vmm_share(which, q->peer, (CUmemAccess_flags)q->flags);
        for (int k = 0; k < 2; k++) {
            all_access(v[k].base, in->gpus, out->access[i][k]);
            use(in->gpus, v[k].base, out->access[i][k]);
        }
    }
    (void)vmm_free(&v[0]);
    (void)vmm_free(&v[1]);
}

LAB_RUN(probe)
{
    const struct probe_in *in = (const struct probe_in *)lab_input(io, sizeof *in);
    struct probe_out *out = (struct probe_out *)lab_result(io, sizeof *out);
    struct vmm v[2];
    out->value = IO_UNSET;
    out->setup = vmm_alloc(in->owner, 100000, &v[0]) || vmm_alloc(in->owner, 100000, &v[1]) ||
                 put_by(in->owner, v[0].base, PROBE_BEFORE) ||
                 put_by(in->owner, v[1].base, PROBE_BEFORE) ||
                 vmm_share(&v[0], in->peer, (CUmemAccess_flags)in->flags);
    if (out->setup)
        return;
    CUdeviceptr at = v[in->which].base;
    if (in->write) {
        out->error = (int)put_by(in->gpu, at, PROBE_WRITTEN);
        if (out->error == 0)
            (void)get_by(in->owner, at, &out->value);
    } else {
        out->error = (int)get_by(in->gpu, at, &out->value);
    }
    (void)vmm_free(&v[0]);
    (void)vmm_free(&v[1]);
}

/* ---- freeing ---- */

/* An allocation without addresses, and one that is not mapped at its addresses. */
static int half(int owner, int with_range, struct vmm *v)
{
    int rc = vmm_alloc(owner, 100000, v);
    if (rc)
        return rc;
    (void)cuMemUnmap(v->base, v->bytes);
    if (with_range)
        return LAB_OK;
    rc = vmm_result(cuMemAddressFree(v->base, v->bytes));
    v->base = 0;
    return rc;
}

/* vmm_free of what is not there any more: the addresses, while the handle still is; the handle. */
static int free_again(int owner, int handle)
{
    struct vmm v;
    int rc = half(owner, 1, &v);
    if (rc)
        return rc;
    (void)cuMemAddressFree(v.base, v.bytes);
    if (handle) {
        (void)cuMemRelease(v.handle);
        v.base = 0;
    }
    rc = vmm_free(&v);
    return all_bytes(&v, sizeof v, 0) ? rc : LAB_OK;
}

/* vmm_free of one half of the addresses, nothing of which is mapped any more. */
static int free_short(int owner)
{
    struct vmm v;
    int rc = vmm_alloc(owner, (size_t)3 << 20, &v);
    if (rc)
        return rc;
    CUdeviceptr base = v.base;
    size_t whole = v.bytes;
    (void)cuMemUnmap(base, whole);
    v.bytes = whole / 2;
    rc = vmm_free(&v);
    (void)cuMemAddressFree(base, whole);
    return rc;
}

static void free_one(struct vmm *v, struct free_out *out)
{
    CUmemGenericAllocationHandle mine = 0;
    CUmemAllocationProp prop;
    CUdeviceptr at = v->base;
    out->setup = cuMemRetainAllocationHandle(&mine, (void *)at) != CUDA_SUCCESS;
    out->freed = LAB_CALL(vmm_free(v));
    out->zeroed = all_bytes(v, sizeof *v, 0);
    out->mapped_after = access_of(at, 0) != IO_UNSET;
    out->kept = (int)cuMemGetAllocationPropertiesFromHandle(&prop, mine);
    if (out->kept == 0)
        (void)cuMemRelease(mine);
}

LAB_RUN(free)
{
    const struct free_in *in = (const struct free_in *)lab_input(io, sizeof *in);
    struct free_out *out = (struct free_out *)lab_result(io, sizeof *out);
    struct vmm v, other, part[2], zero;
    memset(out, 0, sizeof *out);
    memset(&zero, 0, sizeof zero);
    out->setup = vmm_alloc(in->owner, 1, &v) || vmm_alloc(in->owner, 1, &other) ||
                 half(in->owner, 0, &part[0]) || half(in->owner, 1, &part[1]) ||
                 put_by(in->owner, other.base, PROBE_BEFORE);
    if (out->setup)
        return;
    free_one(&v, out);
    lab_refusing(1);
    out->null = LAB_CALL(vmm_free(NULL));
    lab_doing("vmm_free(&v), which is all zero");
    out->zero = vmm_free(&zero);
    lab_doing("vmm_free(&v), where only the handle is left");
    out->only_handle = vmm_free(&part[0]);
    lab_doing("vmm_free(&v), where nothing is mapped any more");
    out->only_range = vmm_free(&part[1]);
    out->no_range = free_again(in->owner, 0);
    out->short_range = free_short(in->owner);
    out->no_handle = in->stale ? free_again(in->owner, 1) : LAB_ECUDA;
    lab_refusing(0);
    out->other_access = access_of(other.base, in->owner);
    out->other_value = IO_UNSET;
    if (out->other_access == 3)
        (void)get_by(in->owner, other.base, &out->other_value);
    lab_doing("vmm_free(&v) once more");
    out->again = vmm_free(&v);
    (void)vmm_free(&other);
}

LAB_RUNS = {LAB_ENTRY(round),        LAB_ENTRY(alloc),   LAB_ENTRY(share),
            LAB_ENTRY(probe),        LAB_ENTRY(free),    LAB_ENTRY(grow),
            LAB_ENTRY_FORKS(parcel), LAB_ENTRY(refused), LAB_END};

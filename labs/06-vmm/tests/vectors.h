/* SPDX-License-Identifier: MIT
 * vectors.h: the adapter for vec_grow (part of runner.cu).
 */
#ifndef LAB06_VECTORS_H
#define LAB06_VECTORS_H

struct obstacle { /* what is mapped behind the vector */
    CUdeviceptr at;
    size_t bytes;
    CUmemGenericAllocationHandle handle;
};

static int put_obstacle(const struct vvec *v, struct obstacle *o)
{
    CUmemAllocationProp prop = {};
    int rc;
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = v->device;
    o->at = v->base + v->bytes;
    if ((rc = vmm_result(
             cuMemGetAllocationGranularity(&o->bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM))))
        return rc;
    if ((rc = vmm_result(cuMemCreate(&o->handle, o->bytes, &prop, 0))))
        return rc;
    return vmm_result(cuMemMap(o->at, o->bytes, 0, o->handle, 0));
}

/* Before the last growth. */
static int spoil(const struct grow_in *in, struct vvec *v, struct obstacle *o)
{
    if (in->spoil == SPOIL_MAPPED)
        return put_obstacle(v, o);
    if (in->spoil == SPOIL_SHARER) {
        v->sharer[v->sharers++] = v->sharer[0]; /* the bad one comes first */
        v->sharer[0].device = in->device;
        v->sharer[0].flags = (CUmemAccess_flags)7;
    }
    return LAB_OK;
}

static void unspoil(const struct grow_in *in, const struct obstacle *o)
{
    if (in->spoil != SPOIL_MAPPED)
        return;
    (void)cuMemUnmap(o->at, o->bytes);
    (void)cuMemRelease(o->handle);
}

static int number(uint64_t index)
{
    return (int)(index * 2654435761u >> 3);
}

/* Puts numbers into [from, to) of the vector by one copy from the host. */
static int fill(const struct vvec *v, uint64_t from, uint64_t to, uint64_t *filled)
{
    uint64_t n = (to - from) / sizeof(int);
    int *numbers = (int *)malloc((size_t)(to - from) + 1);
    for (uint64_t i = 0; i < n; i++)
        numbers[i] = number(from / sizeof(int) + i);
    cudaError_t error =
        cudaMemcpy((void *)(v->base + from), numbers, (size_t)(to - from), cudaMemcpyHostToDevice);
    free(numbers);
    *filled += to - from;
    return error == cudaSuccess ? LAB_OK : LAB_ECUDA;
}

/* One copy over all parts. */
static int count_wrong(const struct vvec *v)
{
    int wrong = 0;
    int *numbers = (int *)calloc(1, v->bytes + 1);
    if (cudaMemcpy(numbers, (void *)v->base, v->bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        wrong = -1;
    for (uint64_t i = 0; i < v->bytes / sizeof(int) && wrong >= 0; i++)
        wrong += numbers[i] != number(i);
    free(numbers);
    return wrong;
}

static int share_with(const struct grow_in *in, struct vvec *v, int from, int to)
{
    int rc = LAB_OK;
    for (int i = from; i < to && !rc; i++)
        rc = vec_share(v, in->sharer[i], (CUmemAccess_flags)in->flags[i]);
    return rc;
}

static void grow_once(const struct grow_in *in, int i, struct vvec *v, struct grow_out *out)
{
    struct vvec before = *v, nothing;
    CUmemAllocationProp prop;
    memset(&nothing, 0, sizeof nothing);
    int full = in->spoil == SPOIL_PARTS && i == in->asked - 1;
    if (full)
        before.parts = v->parts = VVEC_PARTS;
    lab_doing("vec_grow(%s, %zu)",
              in->null == 1   ? "NULL"
              : in->null == 2 ? "&v, which is all zero"
                              : "&v",
              (size_t)in->bytes[i]);
    out->rc[i] = vec_grow(in->null == 1 ? NULL : in->null == 2 ? &nothing : v, in->bytes[i]);
    out->unchanged[i] = memcmp(&before, v, sizeof *v) == 0;
    out->base_after[i] = v->base;
    out->mapped[i] = v->bytes;
    out->parts[i] = v->parts;
    if (v->parts > 0 && !full &&
        cuMemGetAllocationPropertiesFromHandle(&prop, v->part[v->parts - 1]) == CUDA_SUCCESS)
        out->of[i] = prop.location.id;
    if (full)
        v->parts = i; /* every growth before made one */
    if (v->bytes && v->base) {
        all_access(v->base, in->gpus, out->first[i]);
        all_access(v->base + v->bytes - 1, in->gpus, out->access[i]);
    }
    if (in->fill && out->rc[i] == LAB_OK && v->bytes > before.bytes &&
        out->access[i][v->device] == 3)
        (void)fill(v, before.bytes, v->bytes, &out->filled);
}

LAB_RUN(grow)
{
    const struct grow_in *in = (const struct grow_in *)lab_input(io, sizeof *in);
    struct grow_out *out = (struct grow_out *)lab_result(io, sizeof *out);
    struct obstacle obstacle = {};
    struct vvec v;
    int early = in->sharers - in->late;
    memset(out, 0, sizeof *out);
    memset(&v, 0, sizeof v);
    start(in->gpus, in->device);
    out->setup = vec_open(&v, in->device, (size_t)in->reserve);
    out->setup = out->setup ? out->setup : share_with(in, &v, 0, early);
    out->base = v.base;
    for (int i = 0; i < in->asked && !out->setup; i++) {
        if (i == 1)
            out->setup = share_with(in, &v, early, in->sharers);
        if (i == in->asked - 1 && spoil(in, &v, &obstacle))
            out->setup = LAB_ECUDA;
        grow_once(in, i, &v, out);
    }
    unspoil(in, &obstacle);
    if (in->fill && !out->setup)
        out->wrong = count_wrong(&v);
    (void)vec_close(&v);
}

#endif

/* SPDX-License-Identifier: MIT
 * pool.c: memory pools and stream-ordered allocation. A handle is the pool's number at the node.
 * The number of a device's default pool is its physical number plus 1, so it is known without a
 * request.
 */
#include "runtime.h"

/* By physical device; 0: the device's default pool. */
static _Atomic uint64_t current_pools[VGPU_MAX_DEVICES];
static _Atomic bool any_pool_set; /* true: some device has another current pool */

static cudaMemPool_t pool_handle(uint64_t id)
{
    return (cudaMemPool_t)(uintptr_t)id;
}

static uint64_t pool_id(cudaMemPool_t pool)
{
    return (uint64_t)(uintptr_t)pool;
}

static uint64_t current_pool(int physical)
{
    uint64_t id = atomic_load(&current_pools[physical]);
    return id ? id : (uint64_t)physical + 1;
}

/* The result of a call with a wrong argument: `error`, unless an earlier (sticky) error takes
 * precedence. */
static cudaError_t pool_error(const char *call, cudaError_t error)
{
    return vgpu__begin(call, VGPU_OP_CONTEXT) ? vgpu__record(error) : vgpu__failed();
}

static bool is_device(int logical)
{
    return vgpu__start() == cudaSuccess && logical >= 0 && logical < vgpu__process.device_count;
}

static struct vgpu_request *begin_pool_request(const char *call, uint32_t op, cudaMemPool_t pool)
{
    struct vgpu_request *request = vgpu__begin(call, op);
    if (request)
        request->value = pool_id(pool);
    return request;
}

/* ---- allocations ---- */

/* If `stream` is captured, its graph allocates: *captured. */
static cudaError_t capture_allocation(const char *call, void **ptr, size_t bytes,
                                      cudaStream_t stream, bool *captured)
{
    cudaError_t error = cudaSuccess;
    struct CUgraphNode_st *node =
        ptr && bytes ? vgpu__capture(call, stream, cudaGraphNodeTypeEmpty, &error) : NULL;
    *captured = node;
    if (node)
        error = vgpu__graph_allocate(call, node, node->physical, bytes, 0, ptr);
    if (node && error != cudaSuccess)
        vgpu__capture_spoil(stream);
    return error;
}

static cudaError_t capture_free(const char *call, void *ptr, cudaStream_t stream, bool *captured)
{
    cudaError_t error = cudaSuccess;
    struct CUgraphNode_st *node = vgpu__capture(call, stream, cudaGraphNodeTypeEmpty, &error);
    *captured = node;
    if (node)
        error = vgpu__graph_release(call, node, ptr);
    if (node && error != cudaSuccess)
        vgpu__capture_spoil(stream);
    return error;
}

static cudaError_t allocate_from_pool(const char *call, void **ptr, size_t bytes,
                                      cudaMemPool_t pool, cudaStream_t stream)
{
    const struct vgpu_reply *reply;
    bool captured;
    cudaError_t error = capture_allocation(call, ptr, bytes, stream, &captured);
    if (error != cudaSuccess || captured)
        return error;
    struct vgpu_request *request = begin_pool_request(call, VGPU_OP_POOL_MALLOC, pool);
    if (!request)
        return vgpu__failed();
    if (!ptr)
        return vgpu__record(cudaErrorInvalidValue);
    *ptr = NULL;
    if (bytes == 0)
        return cudaSuccess;
    request->bytes = bytes;
    request->stream = vgpu__stream_id(stream);
    error = vgpu__end(&reply);
    if (error != cudaSuccess)
        return error;
    *ptr = (void *)(uintptr_t)reply->value;
    vgpu__allocated(reply->value, bytes);
    return error;
}

/* The current pool of the stream's device (recorded); NULL: the default pool. */
static cudaMemPool_t pool_of(cudaStream_t stream)
{
    int device;
    if (!atomic_load(&any_pool_set) || cudaStreamGetDevice(stream, &device) != cudaSuccess)
        return NULL;
    return pool_handle(current_pool(vgpu__process.physical[device]));
}

cudaError_t cudaMallocAsync(void **devPtr, size_t size, cudaStream_t hStream)
{
    return allocate_from_pool("cudaMallocAsync", devPtr, size, pool_of(hStream), hStream);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream)
{
    const char *call = "cudaMallocFromPoolAsync";
    if (!memPool)
        return pool_error(call, cudaErrorInvalidValue);
    return allocate_from_pool(call, ptr, size, memPool, stream);
}

cudaError_t cudaFreeAsync(void *devPtr, cudaStream_t hStream)
{
    bool captured;
    cudaError_t error = capture_free("cudaFreeAsync", devPtr, hStream, &captured);
    if (error != cudaSuccess || captured)
        return error;
    uint64_t stream = vgpu__stream_id(hStream);
    if (vgpu__graph_frees(devPtr, vgpu__graph_stream_key(stream, vgpu__current_physical())))
        return cudaSuccess;
    struct vgpu_request *request = vgpu__begin("cudaFreeAsync", VGPU_OP_POOL_FREE);
    if (!request)
        return vgpu__failed();
    if (!devPtr)
        return cudaSuccess;
    request->ptr = (uint64_t)(uintptr_t)devPtr;
    request->stream = vgpu__stream_id(hStream);
    error = vgpu__end(NULL);
    if (error == cudaSuccess)
        vgpu__freed((uint64_t)(uintptr_t)devPtr);
    return error;
}

/* ---- pools ---- */

cudaError_t cudaMemPoolCreate(cudaMemPool_t *memPool, const struct cudaMemPoolProps *poolProps)
{
    const char *call = "cudaMemPoolCreate";
    const struct vgpu_reply *reply;
    if (!memPool || !poolProps || poolProps->allocType != cudaMemAllocationTypePinned ||
        poolProps->location.type < cudaMemLocationTypeDevice ||
        poolProps->location.type > cudaMemLocationTypeHostNumaCurrent)
        return pool_error(call, cudaErrorInvalidValue);
    if (poolProps->location.type != cudaMemLocationTypeDevice)
        return vgpu__refuse(cudaErrorNotSupported, call,
                            "location type %d: pools lie on GPUs (cudaMemLocationTypeDevice) here",
                            (int)poolProps->location.type);
    if (!is_device(poolProps->location.id))
        return pool_error(call, cudaErrorInvalidValue);
    if (poolProps->handleTypes & ~(unsigned int)cudaMemHandleTypePosixFileDescriptor)
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "handle types %#x: only cudaMemHandleTypePosixFileDescriptor exists",
                            (unsigned int)poolProps->handleTypes);
    struct vgpu_request *request = vgpu__begin(call, VGPU_OP_POOL_CREATE);
    if (!request)
        return vgpu__failed();
    request->device = vgpu__process.physical[poolProps->location.id];
    request->flags = poolProps->handleTypes;
    request->bytes = poolProps->maxSize;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *memPool = pool_handle(reply->value);
    return error;
}

/* Devices whose current pool is destroyed return to their default pool. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool)
{
    if (!begin_pool_request("cudaMemPoolDestroy", VGPU_OP_POOL_DESTROY, memPool))
        return vgpu__failed();
    cudaError_t error = vgpu__end(NULL);
    for (int d = 0; error == cudaSuccess && d < VGPU_MAX_DEVICES; d++) {
        uint64_t id = pool_id(memPool);
        atomic_compare_exchange_strong(&current_pools[d], &id, 0);
    }
    return error;
}

static cudaError_t ask_attribute(const char *call, cudaMemPool_t pool, unsigned int attribute,
                                 uint64_t *value)
{
    const struct vgpu_reply *reply;
    struct vgpu_request *request = begin_pool_request(call, VGPU_OP_POOL_GET, pool);
    if (!request)
        return vgpu__failed();
    request->flags = attribute;
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *value = reply->value;
    return error;
}

/* Pools hold no unused memory, so there is nothing to trim. */
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep)
{
    uint64_t unused;
    (void)minBytesToKeep;
    return ask_attribute("cudaMemPoolTrimTo", memPool, cudaMemPoolAttrUsedMemCurrent, &unused);
}

static bool is_flag(enum cudaMemPoolAttr attr)
{
    return attr == cudaMemPoolReuseFollowEventDependencies ||
           attr == cudaMemPoolReuseAllowOpportunistic ||
           attr == cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    struct vgpu_request *request =
        begin_pool_request("cudaMemPoolSetAttribute", VGPU_OP_POOL_SET, memPool);
    if (!request)
        return vgpu__failed();
    if (!value)
        return vgpu__record(cudaErrorInvalidValue);
    request->flags = attr;
    request->bytes = is_flag(attr) ? (uint64_t)(*(int *)value != 0) : *(uint64_t *)value;
    return vgpu__end(NULL);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, enum cudaMemPoolAttr attr, void *value)
{
    uint64_t is = 0;
    if (!value)
        return pool_error("cudaMemPoolGetAttribute", cudaErrorInvalidValue);
    cudaError_t error = ask_attribute("cudaMemPoolGetAttribute", memPool, attr, &is);
    if (error == cudaSuccess && is_flag(attr))
        *(int *)value = (int)is;
    else if (error == cudaSuccess)
        *(uint64_t *)value = is;
    return error;
}

static cudaError_t set_pool_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *desc)
{
    const char *call = "cudaMemPoolSetAccess";
    if (desc->location.type != cudaMemLocationTypeDevice)
        return pool_error(call, cudaErrorInvalidValue);
    if (!is_device(desc->location.id))
        return pool_error(call, cudaErrorInvalidDevice);
    struct vgpu_request *request = begin_pool_request(call, VGPU_OP_POOL_SET_ACCESS, pool);
    if (!request)
        return vgpu__failed();
    request->device = vgpu__process.physical[desc->location.id];
    request->flags = desc->flags;
    return vgpu__end(NULL);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const struct cudaMemAccessDesc *descList,
                                 size_t count)
{
    cudaError_t error = cudaSuccess;
    if (!descList && count)
        return pool_error("cudaMemPoolSetAccess", cudaErrorInvalidValue);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = set_pool_access(memPool, &descList[i]);
    return error;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t memPool,
                                 struct cudaMemLocation *location)
{
    const char *call = "cudaMemPoolGetAccess";
    const struct vgpu_reply *reply;
    if (!flags || !location || location->type != cudaMemLocationTypeDevice)
        return pool_error(call, cudaErrorInvalidValue);
    if (!is_device(location->id))
        return pool_error(call, cudaErrorInvalidValue);
    struct vgpu_request *request = begin_pool_request(call, VGPU_OP_POOL_GET_ACCESS, memPool);
    if (!request)
        return vgpu__failed();
    request->device = vgpu__process.physical[location->id];
    cudaError_t error = vgpu__end(&reply);
    if (error == cudaSuccess)
        *flags = (enum cudaMemAccessFlags)reply->value;
    return error;
}

/* ---- the pool of a device ---- */

static cudaError_t device_pool(const char *call, cudaMemPool_t *pool, int device, bool of_now)
{
    cudaError_t error = vgpu__enter_call(call);
    if (error != cudaSuccess)
        return vgpu__record(error);
    if (!pool)
        return vgpu__record(cudaErrorInvalidValue);
    if (!is_device(device))
        return vgpu__refuse(of_now ? cudaErrorInvalidValue : cudaErrorInvalidDevice, call,
                            "there is no GPU %d: there are %d", device, vgpu__process.device_count);
    int physical = vgpu__process.physical[device];
    *pool = pool_handle(of_now ? current_pool(physical) : (uint64_t)physical + 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *memPool, int device)
{
    return device_pool("cudaDeviceGetDefaultMemPool", memPool, device, false);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *memPool, int device)
{
    return device_pool("cudaDeviceGetMemPool", memPool, device, true);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool)
{
    static const char call[] = "cudaDeviceSetMemPool";
    uint64_t of = 0;
    if (!is_device(device))
        return pool_error(call, cudaErrorInvalidValue);
    cudaError_t error = ask_attribute(call, memPool, VGPU_POOL_ALLOCATES, &of);
    if (error == cudaSuccess && of != (uint64_t)vgpu__process.physical[device])
        return vgpu__refuse(cudaErrorInvalidValue, call,
                            "the pool's memory is on another GPU than device %d", device);
    if (error == cudaSuccess)
        atomic_store(&current_pools[vgpu__process.physical[device]], pool_id(memPool));
    atomic_store(&any_pool_set, true);
    return error;
}

// SPDX-License-Identifier: MIT
// vmm_vector_add.cu: the vector addition of every tutorial, with its vectors put together by
// virtual memory management: each vector is one range of addresses whose parts lie on all GPUs that
// the first one can reach, so that one launch works on memory of all of them.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>

#define CHECK_DRV(call)                                                                            \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS) {                                                             \
            const char *name_ = NULL;                                                              \
            cuGetErrorName(result_, &name_);                                                       \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                          \
                    name_ ? name_ : "unknown");                                                    \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

static const int kCount = 3 * 1000 * 1000 + 7;

struct Range {
    CUdeviceptr base = 0;
    size_t bytes = 0, stripe = 0;
    std::vector<int> residents;
};

__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}

static CUmemAllocationProp propertiesOf(int device)
{
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = device;
    return prop;
}

static size_t roundUp(size_t value, size_t granularity)
{
    return (value + granularity - 1) / granularity * granularity;
}

// Every GPU that `user` can reach keeps a stripe of the vector.
static std::vector<int> residentsFor(int user)
{
    int gpus = 0;
    std::vector<int> found = {user};
    CHECK_DRV(cuDeviceGetCount(&gpus));
    for (int device = 0; device < gpus; device++) {
        int vmm = 0, can = 0;
        CHECK_DRV(cuDeviceGetAttribute(
            &vmm, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device));
        if (device != user)
            CHECK_DRV(cuDeviceCanAccessPeer(&can, user, device));
        if (vmm && can)
            found.push_back(device);
    }
    return found;
}

static Range allocateMapped(size_t bytes, int user, const std::vector<int> &residents)
{
    Range range;
    size_t granularity = 0;
    range.residents = residents;
    for (int device : residents) {
        size_t one = 0;
        CUmemAllocationProp prop = propertiesOf(device);
        CHECK_DRV(cuMemGetAllocationGranularity(&one, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
        granularity = one > granularity ? one : granularity;
    }
    range.stripe = roundUp((bytes + residents.size() - 1) / residents.size(), granularity);
    range.bytes = range.stripe * residents.size();
    CHECK_DRV(cuMemAddressReserve(&range.base, range.bytes, granularity, 0, 0));
    for (size_t i = 0; i < residents.size(); i++) {
        CUmemGenericAllocationHandle handle;
        CUmemAllocationProp prop = propertiesOf(residents[i]);
        CHECK_DRV(cuMemCreate(&handle, range.stripe, &prop, 0));
        CHECK_DRV(cuMemMap(range.base + i * range.stripe, range.stripe, 0, handle, 0));
        CHECK_DRV(cuMemRelease(handle)); // the mapping keeps the memory
    }
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = user;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CHECK_DRV(cuMemSetAccess(range.base, range.bytes, &access, 1));
    return range;
}

static void freeMapped(const Range &range)
{
    CHECK_DRV(cuMemUnmap(range.base, range.bytes));
    CHECK_DRV(cuMemAddressFree(range.base, range.bytes));
}

static int compare(const std::vector<float> &a, const std::vector<float> &b,
                   const std::vector<float> &c)
{
    for (int i = 0; i < kCount; i++)
        if (c[i] != a[i] + b[i]) {
            printf("element %d: got %f, expected %f\n", i, c[i], a[i] + b[i]);
            return 1;
        }
    return 0;
}

int main()
{
    const int user = 0;
    const size_t bytes = kCount * sizeof(float);
    CUcontext context;
    size_t before = 0, after = 0, total = 0;
    CHECK_DRV(cuInit(0));
    CHECK_DRV(cuCtxCreate(&context, NULL, 0, user));
    std::vector<int> residents = residentsFor(user);
    std::vector<float> a(kCount), b(kCount), c(kCount);
    for (int i = 0; i < kCount; i++) {
        a[i] = (float)(i % 1013);
        b[i] = (float)(i % 509) * 0.5f;
    }
    CHECK_DRV(cuMemGetInfo(&before, &total));
    Range d_a = allocateMapped(bytes, user, residents);
    Range d_b = allocateMapped(bytes, user, residents);
    Range d_c = allocateMapped(bytes, user, residents);
    CHECK_DRV(cuMemcpyHtoD(d_a.base, a.data(), bytes));
    CHECK_DRV(cuMemcpyHtoD(d_b.base, b.data(), bytes));
    vectorAdd<<<64, 256>>>((const float *)d_a.base, (const float *)d_b.base, (float *)d_c.base,
                           kCount);
    CHECK_DRV(cuCtxSynchronize());
    CHECK_DRV(cuMemcpyDtoH(c.data(), d_c.base, bytes));
    int bad = compare(a, b, c);
    freeMapped(d_a);
    freeMapped(d_b);
    freeMapped(d_c);
    CHECK_DRV(cuMemGetInfo(&after, &total));
    if (after != before) {
        printf("%zu bytes are not given back\n", before - after);
        bad = 1;
    }
    CHECK_DRV(cuCtxDestroy(context));
    printf("vector add over memory of %zu GPUs: %s\n", residents.size(), bad ? "FAIL" : "PASS");
    return bad;
}

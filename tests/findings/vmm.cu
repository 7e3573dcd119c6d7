/* SPDX-License-Identifier: MIT
 * vmm.cu: cases of leaks.mappings and leaks.descriptors: virtual memory management.
 */
#include <cuda.h>
#include <unistd.h>

#include "cases.h"

#define DRV(call)                                                                                  \
    do {                                                                                           \
        CUresult drv_ = (call);                                                                    \
        if (drv_ != CUDA_SUCCESS) {                                                                \
            fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, (int)drv_);              \
            exit(3);                                                                               \
        }                                                                                          \
    } while (0)

#define BYTES ((size_t)2 << 20)

static CUmemAllocationProp prop;
static CUmemGenericAllocationHandle handle;
static CUdeviceptr range;

static void start(void)
{
    MUST(cudaSetDevice(0));
    MUST(cudaFree(0));
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
}

static void create(void)
{
    DRV(cuMemCreate(&handle, BYTES, &prop, 0));
}

static void reserve(void)
{
    DRV(cuMemAddressReserve(&range, BYTES, 0, 0, 0));
}

static void map(void)
{
    create();
    reserve();
    DRV(cuMemMap(range, BYTES, 0, handle, 0));
}

static void unmap(void)
{
    DRV(cuMemUnmap(range, BYTES));
}

static void release(void)
{
    DRV(cuMemRelease(handle));
}

static void give_back_range(void)
{
    DRV(cuMemAddressFree(range, BYTES));
}

static int export_it(void)
{
    int fd;
    DRV(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return fd;
}

/* ---- leaks.mappings ---- */

static void bad_not_released(void)
{
    create();
}

static void bad_range_kept(void)
{
    reserve();
}

static void bad_still_mapped(void)
{
    map();
    release();
}

static void bad_unmapped_only(void)
{
    map();
    unmap();
    release();
}

static void bad_imported_not_released(void)
{
    CUmemGenericAllocationHandle again;
    create();
    int fd = export_it();
    DRV(cuMemImportFromShareableHandle(&again, (void *)(size_t)fd,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    release();
}

static void near_all_given_back(void)
{
    map();
    unmap();
    release();
    give_back_range();
}

static void near_released_while_mapped(void)
{
    map();
    release();
    unmap();
    give_back_range();
}

static void near_never_mapped(void)
{
    create();
    release();
}

static void near_range_alone(void)
{
    reserve();
    give_back_range();
}

static void near_imported_and_released(void)
{
    create();
    int fd = export_it();
    CUmemGenericAllocationHandle again;
    DRV(cuMemImportFromShareableHandle(&again, (void *)(size_t)fd,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    DRV(cuMemRelease(again));
    release();
}

/* ---- leaks.descriptors ---- */

static void bad_descriptor(void)
{
    create();
    (void)export_it();
    release();
}

static void bad_two_descriptors(void)
{
    create();
    (void)export_it();
    (void)export_it();
    release();
}

static void bad_one_of_two(void)
{
    create();
    close(export_it());
    (void)export_it();
    release();
}

static int pool_descriptor(cudaMemPool_t *pool)
{
    struct cudaMemPoolProps props;
    int fd;
    memset(&props, 0, sizeof props);
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    MUST(cudaMemPoolCreate(pool, &props));
    MUST(cudaMemPoolExportToShareableHandle(&fd, *pool, cudaMemHandleTypePosixFileDescriptor, 0));
    return fd;
}

static void bad_descriptor_of_a_pool(void)
{
    cudaMemPool_t pool;
    (void)pool_descriptor(&pool);
    MUST(cudaMemPoolDestroy(pool));
}

static void bad_copy_closed_original_open(void)
{
    create();
    close(dup(export_it()));
    release();
}

static void near_closed(void)
{
    create();
    close(export_it());
    release();
}

static void near_closed_after_release(void)
{
    create();
    int fd = export_it();
    release();
    close(fd);
}

static void near_number_used_again(void)
{
    int ends[2];
    create();
    close(export_it());
    release();
    if (pipe(ends) != 0)
        exit(4);
}

static void near_descriptor_of_a_pool(void)
{
    cudaMemPool_t pool;
    close(pool_descriptor(&pool));
    MUST(cudaMemPoolDestroy(pool));
}

static void near_own_file(void)
{
    if (dup(1) < 0)
        exit(4);
}

#define MAPPINGS(name) CASE("leaks.mappings", name)
#define DESCRIPTORS(name) CASE("leaks.descriptors", name)

static const struct test_case cases[] = {
    MAPPINGS(bad_not_released),
    MAPPINGS(bad_range_kept),
    MAPPINGS(bad_still_mapped),
    MAPPINGS(bad_unmapped_only),
    MAPPINGS(bad_imported_not_released),
    MAPPINGS(near_all_given_back),
    MAPPINGS(near_released_while_mapped),
    MAPPINGS(near_never_mapped),
    MAPPINGS(near_range_alone),
    MAPPINGS(near_imported_and_released),
    DESCRIPTORS(bad_descriptor),
    DESCRIPTORS(bad_two_descriptors),
    DESCRIPTORS(bad_one_of_two),
    DESCRIPTORS(bad_descriptor_of_a_pool),
    DESCRIPTORS(bad_copy_closed_original_open),
    DESCRIPTORS(near_closed),
    DESCRIPTORS(near_closed_after_release),
    DESCRIPTORS(near_number_used_again),
    DESCRIPTORS(near_descriptor_of_a_pool),
    DESCRIPTORS(near_own_file),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        start();
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

# SPDX-License-Identifier: MIT
"""Lab 06's mutants: what goes wrong when people map memory themselves."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="round_does_not",
        todo=1,
        find="    *rounded = (bytes + largest - 1) / largest * largest;\n",
        replace="    *rounded = bytes;\n",
        rejected_by="round",
        why="no call takes a size that is not whole granules",
    ),
    Mutant(
        name="round_one_granule_too_many",
        todo=1,
        find="(bytes + largest - 1) / largest * largest",
        replace="(bytes / largest + 1) * largest",
        rejected_by="round",
        why="right except for sizes that are whole already",
    ),
    Mutant(
        name="round_wraps_around",
        todo=1,
        find="    if (bytes > SIZE_MAX - (largest - 1))\n        return LAB_ENOMEM;\n",
        replace="",
        rejected_by="round_bad",
        why="nearly SIZE_MAX rounds up to 0",
    ),
    Mutant(
        name="round_looks_at_one_gpu",
        todo=1,
        find="for (int i = 0; i < n; i++) {",
        replace="for (int i = 0; i < 1; i++) {",
        rejected_by="round_bad",
        why="the other GPUs may have another granularity, or not exist",
    ),
    Mutant(
        name="alloc_forgets_access",
        todo=2,
        find="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));",
        replace="    return dev < 0 ? LAB_EINVAL : LAB_OK;",
        rejected_by="alloc",
        why="mapped, and nobody may use it",
    ),
    Mutant(
        name="alloc_access_for_gpu_0",
        todo=2,
        find="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));",
        replace="    return vmm_result(\n"
        "        allow(v->base, v->bytes, 0 * dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));",
        rejected_by="alloc",
        why="access to the wrong device: right on one GPU",
    ),
    Mutant(
        name="alloc_without_handle_type",
        todo=2,
        find="        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,\n",
        replace="",
        rejected_by="alloc",
        why="the export fails, much later",
    ),
    Mutant(
        name="alloc_releases_early",
        todo=2,
        find="        rc = place(&made, dev);\n    if (rc)\n        (void)vmm_free(&made);\n    else\n",
        replace="        rc = place(&made, dev);\n"
        "    (void)cuMemRelease(made.handle);\n"
        "    if (rc)\n        (void)vmm_free(&made);\n    else\n",
        rejected_by="alloc",
        why="the mapping keeps the memory, but the handle is gone, and vmm_free releases it again",
    ),
    Mutant(
        name="alloc_does_not_unwind",
        todo=2,
        find="    if (rc)\n        (void)vmm_free(&made);\n    else\n        *v = made;\n",
        replace="    if (!rc)\n        *v = made;\n",
        rejected_by="alloc_unwinds",
        why="the allocation stays when there are no addresses for it",
    ),
    Mutant(
        name="share_the_owner",
        todo=3,
        find="allow(v->base, v->bytes, peer, flags)",
        replace="allow(v->base, v->bytes, v->device, flags)",
        rejected_by="share",
        why="access to the wrong device: the location is who gets it",
    ),
    Mutant(
        name="share_writable",
        todo=3,
        find="allow(v->base, v->bytes, peer, flags)",
        replace="allow(v->base, v->bytes, peer, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)",
        rejected_by="share",
        why="read-write where read-only was asked for",
    ),
    Mutant(
        name="share_with_everybody",
        todo=3,
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    for (int d = 0; vmm_gpu(d) == LAB_OK; d++)\n"
        "        if (d != v->device)\n"
        "            (void)allow(v->base, v->bytes, d, flags);\n"
        "    return LAB_OK;",
        rejected_by="share",
        why="shares with both peers where one was named",
    ),
    Mutant(
        name="share_both_allocations",
        todo=3,
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    (void)allow(v->base + v->bytes, (size_t)4 << 20, peer, flags);\n"
        "    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        rejected_by="share",
        why="shares the neighbour as well, as enabling peer access would",
    ),
    Mutant(
        name="share_without_asking",
        todo=3,
        find="    if ((rc = vmm_gpu(peer)) || (rc = vmm_reach(peer, v->device)))\n",
        replace="    if ((rc = vmm_gpu(peer)))\n",
        rejected_by="hidden.share_unreachable",
        why="a peer that cannot reach the memory gets access in name only",
    ),
    Mutant(
        name="free_releases_twice",
        todo=4,
        find="    memset(v, 0, sizeof *v);\n    return vmm_result(first);\n",
        replace="    (void)cuMemRelease(v->handle);\n"
        "    memset(v, 0, sizeof *v);\n    return vmm_result(first);\n",
        rejected_by="free",
        why="takes the reference of whoever retained the handle",
    ),
    Mutant(
        name="free_never_releases",
        todo=4,
        grave="leak",
        find="    if (v->handle)\n        first = vmm_first(first, cuMemRelease(v->handle));\n",
        replace="",
        rejected_by="free",
        why="unmapped memory is still memory",
    ),
    Mutant(
        name="free_keeps_the_addresses",
        todo=4,
        grave="leak",
        find="        first = vmm_first(first, cuMemAddressFree(v->base, v->bytes));\n",
        replace="",
        rejected_by="free",
        why="reserves without ever freeing",
    ),
    Mutant(
        name="free_keeps_the_mapping",
        todo=4,
        find="        first = vmm_first(first, cuMemUnmap(v->base, v->bytes));\n",
        replace="",
        rejected_by="free",
        why="addresses with something mapped there cannot be freed",
    ),
    Mutant(
        name="free_leaves_the_struct",
        todo=4,
        find="    memset(v, 0, sizeof *v);\n    return vmm_result(first);\n",
        replace="    return vmm_result(first);\n",
        rejected_by="free",
        why="the next call frees it again",
    ),
    Mutant(
        name="grow_loses_the_sharers",
        todo=5,
        find="    for (int i = 0; i < v->sharers && !rc; i++)\n        rc = vmm_result(allow(at",
        replace="    for (int i = 0; i < 0 && !rc; i++)\n        rc = vmm_result(allow(at",
        rejected_by="grow_sharers",
        why="a new mapping has nobody's access",
    ),
    Mutant(
        name="grow_lets_sharers_write",
        todo=5,
        find="allow(at, bytes, v->sharer[i].device, v->sharer[i].flags)",
        replace="allow(at, bytes, v->sharer[i].device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)",
        rejected_by="grow_sharers",
        why="read-only ends where the vector grows",
    ),
    Mutant(
        name="grow_moves",
        todo=5,
        find="    v->part[v->parts++] = part;\n    v->bytes += more;\n",
        replace="    v->part[v->parts++] = part;\n    v->base += v->bytes;\n    v->bytes = more;\n",
        rejected_by="grow",
        why="changes the base address: every pointer into the vector is wrong",
    ),
    Mutant(
        name="grow_copies",
        todo=5,
        find="    v->part[v->parts++] = part;\n    v->bytes += more;\n",
        replace="    for (CUdeviceptr at = v->base; v->bytes && at < v->base + v->bytes; at += 2 << 20) {\n"
        "        CUcontext context;\n"
        "        (void)cuDevicePrimaryCtxRetain(&context, v->device);\n"
        "        (void)cuCtxSetCurrent(context);\n"
        "        (void)cuMemcpyDtoD(v->base + v->bytes, at, more < 2 << 20 ? more : 2 << 20);\n"
        "    }\n"
        "    v->part[v->parts++] = part;\n    v->bytes += more;\n",
        rejected_by="grow",
        why="copying is what this is there to avoid",
    ),
    Mutant(
        name="grow_keeps_the_part",
        todo=5,
        find="        vec_undo(end, more, part);\n",
        replace="        (void)cuMemUnmap(end, more);\n",
        rejected_by="grow_unwinds",
        why="the new part is lost when it cannot be mapped",
    ),
    Mutant(
        name="grow_keeps_the_mapping",
        todo=5,
        find="        vec_undo(end, more, part);\n",
        replace="        (void)cuMemRelease(part);\n",
        rejected_by="grow_unwinds",
        why="a part stays mapped behind a vector that does not know of it",
    ),
    Mutant(
        name="grow_counts_too_early",
        todo=5,
        find="    if ((rc = vmm_result(cuMemMap(end, more, 0, part, 0))) || (rc = allow_part(v, end, more))) {\n",
        replace="    v->parts++;\n"
        "    if (!(rc = vmm_result(cuMemMap(end, more, 0, part, 0))))\n"
        "        rc = allow_part(v, end, more);\n"
        "    v->parts -= rc == LAB_OK;\n"
        "    if (rc) {\n",
        rejected_by="grow_unwinds",
        why="an error that changes the vector all the same",
    ),
    Mutant(
        name="import_leaks_the_descriptor",
        todo=6,
        grave="leak",
        find="    parcel_drop(parcel);\n",
        replace="    parcel->fd = -1;\n",
        rejected_by="send",
        why="one descriptor more with every parcel, until there are no more",
    ),
    Mutant(
        name="import_forgets_the_descriptor",
        todo=6,
        find="    parcel_drop(parcel);\n",
        replace="",
        rejected_by="send",
        why="the caller cannot know whose it is to close",
    ),
    Mutant(
        name="export_a_second_descriptor",
        todo=6,
        grave="leak",
        find="    return parcel_make(parcel, fd, v->bytes);\n",
        replace="    return parcel_make(parcel, dup(fd), v->bytes);\n",
        rejected_by="send",
        why="a copy of the descriptor is a second one to close",
    ),
    Mutant(
        name="export_forgets_the_size",
        todo=6,
        find="    return parcel_make(parcel, fd, v->bytes);\n",
        replace="    return parcel_make(parcel, fd, 2 << 20);\n",
        rejected_by="send",
        why="a handle does not say how large its allocation is",
    ),
    Mutant(
        name="import_believes_it_is_its_own",
        todo=6,
        find="    v->device = prop.location.id;\n",
        replace="    v->device = dev;\n",
        rejected_by="send",
        why="who uses it is not whose memory it is",
    ),
    Mutant(
        name="import_does_not_unwind",
        todo=6,
        find="    if (rc) {\n        (void)vmm_free(&made);\n        return rc;\n    }\n",
        replace="    if (rc)\n        return rc;\n",
        rejected_by="send_unwinds",
        why="an import that could not be mapped keeps the exporter's memory",
    ),
    Mutant(
        name="export_descriptor_zero",
        todo=6,
        find="    return parcel_make(parcel, fd, v->bytes);\n",
        replace="    *parcel = (struct vmm_parcel){.fd = fd, .bytes = v->bytes};\n"
        "    return LAB_OK;\n",
        rejected_by="send",
        why="an import takes descriptor 0 for a null pointer",
    ),
    Mutant(
        name="round_in_an_int",
        todo=1,
        find="    *rounded = (bytes + largest - 1) / largest * largest;\n",
        replace="    *rounded = (size_t)(int)((bytes + largest - 1) / largest * largest);\n",
        rejected_by="round",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="alloc_in_an_int",
        todo=2,
        find="    if ((rc = vmm_round(bytes, &dev, 1, &made.bytes)))\n",
        replace="    if ((rc = vmm_round((size_t)(int)bytes, &dev, 1, &made.bytes)))\n",
        rejected_by="alloc",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="grow_in_an_unsigned",
        todo=5,
        find="    if ((rc = vmm_round(bytes - v->bytes, devs",
        replace="    if ((rc = vmm_round((unsigned)(bytes - v->bytes), devs",
        rejected_by="grow",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="import_in_an_unsigned",
        todo=6,
        find="    made.bytes = parcel->bytes;\n",
        replace="    made.bytes = (unsigned)parcel->bytes;\n",
        rejected_by="send",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="share_asks_the_other_way",
        todo=3,
        find="vmm_reach(peer, v->device)",
        replace="vmm_reach(v->device, peer)",
        rejected_by="hidden.share_unreachable",
        why="on some machines only one of two GPUs reaches the other",
    ),
    Mutant(
        name="import_asks_the_other_way",
        todo=6,
        find="vmm_reach(dev, v->device)",
        replace="vmm_reach(v->device, dev)",
        rejected_by="hidden.send_pairs",
        why="on some machines only one of two GPUs reaches the other",
    ),
    Mutant(
        name="alloc_on_gpu_0",
        todo=2,
        find="                                 "
        ".location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device}};\n",
        replace="                                 "
        ".location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 * device}};\n",
        rejected_by="alloc",
        why="memory of another GPU, which everybody may use all the same",
    ),
    Mutant(
        name="share_in_name_only",
        todo=3,
        find="#include <unistd.h>\n",
        replace="#include <unistd.h>\n"
        + patched(
            "static struct {\n"
            "    CUdeviceptr at;\n"
            "    int device, flags;\n"
            "} told[64];\n"
            "static int told_count;\n\n"
            "static CUresult told_access(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *who,\n"
            "                            size_t count)\n"
            "{\n"
            "    int known = 0;\n"
            "    for (int i = 0; i < told_count; i++)\n"
            "        known |= told[i].at == at;\n"
            "    told[told_count].at = at;\n"
            "    told[told_count].device = who->location.id;\n"
            "    told[told_count++].flags = (int)who->flags;\n"
            "    return known ? CUDA_SUCCESS : cuMemSetAccess(at, bytes, who, count);\n"
            "}\n"
            "#define cuMemSetAccess told_access\n\n"
            "static CUresult own_cuMemGetAccess(unsigned long long *flags, "
            "const CUmemLocation *where,\n"
            "                                   CUdeviceptr at)\n"
            "{\n"
            "    *flags = 0;\n"
            "    for (int i = 0; i < told_count; i++)\n"
            "        if (told[i].at == at && told[i].device == where->id)\n"
            "            *flags = (unsigned long long)told[i].flags;\n"
            "    return CUDA_SUCCESS;\n"
            "}\n",
            "cuMemGetAccess",
        ),
        rejected_by="share",
        why="the process remembers who was named, and no GPU gets access",
    ),
    Mutant(
        name="fault_in_name_only",
        todo=3,
        find="#include <unistd.h>\n",
        replace="#include <unistd.h>\n"
        + patched(
            "int cudaDeviceSynchronize(void), cudaStreamSynchronize(void *stream);\n"
            "int cudaGetDevice(int *device);\n"
            "static CUdeviceptr shared_at;\n"
            "static int before, peer;\n\n"
            "static CUresult generous(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *who,\n"
            "                         size_t count)\n"
            "{\n"
            "    CUmemAccessDesc more = *who;\n"
            "    if (who->flags == CU_MEM_ACCESS_FLAGS_PROT_READ) {\n"
            "        more.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;\n"
            "        shared_at = at;\n"
            "        peer = who->location.id;\n"
            "        (void)cuMemcpyDtoH(&before, at, sizeof before);\n"
            "    }\n"
            "    return cuMemSetAccess(at, bytes, &more, count);\n"
            "}\n"
            "#define cuMemSetAccess generous\n\n"
            "static int own_cudaDeviceSynchronize(void)\n"
            "{\n"
            "    int value = before, device = 0, result = cudaStreamSynchronize(NULL);\n"
            "    (void)cudaGetDevice(&device);\n"
            "    if (shared_at && device == peer)\n"
            "        (void)cuMemcpyDtoH(&value, shared_at, sizeof value);\n"
            "    return value == before ? result : 700;\n"
            "}\n",
            "cudaDeviceSynchronize",
        ),
        rejected_by="share_read_only",
        why="everybody may write, and the process says that a write has faulted",
    ),
    Mutant(
        name="fault_of_another_launch",
        todo=3,
        find="#include <unistd.h>\n",
        replace="#include <unistd.h>\n"
        + patched(
            "int cudaLaunchKernelExC(const void *config, const void *kernel, void **args);\n"
            "int cudaGetDevice(int *device);\n"
            "static int peer = -1;\n\n"
            "static CUresult generous(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *who,\n"
            "                         size_t count)\n"
            "{\n"
            "    CUmemAccessDesc more = *who;\n"
            "    if (who->flags == CU_MEM_ACCESS_FLAGS_PROT_READ) {\n"
            "        more.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;\n"
            "        peer = who->location.id;\n"
            "    }\n"
            "    return cuMemSetAccess(at, bytes, &more, count);\n"
            "}\n"
            "#define cuMemSetAccess generous\n\n"
            "struct dims { unsigned x, y, z; };\n"
            "int cudaLaunchKernel(const void *kernel, struct dims grid, struct dims block,\n"
            "                     void **args, size_t shared, void *stream);\n"
            "static int own_cudaLaunchKernel(const void *kernel, struct dims grid,\n"
            "                                struct dims block, void **args, size_t shared,\n"
            "                                void *stream)\n"
            "{\n"
            "    struct { struct dims grid, block; size_t shared; void *stream, *more; int count; }\n"
            "        config = {grid, block, shared, stream, NULL, 0};\n"
            "    uint64_t nowhere = 4096;\n"
            "    int value = 0, device = -1;\n"
            "    void *others[] = {&nowhere, &value};\n"
            "    static const void *writes; /* the kernel that is launched first */\n"
            "    writes = writes ? writes : kernel;\n"
            "    (void)cudaGetDevice(&device);\n"
            "    int lies = device == peer && kernel == writes;\n"
            "    return cudaLaunchKernelExC(&config, kernel, lies ? others : args);\n"
            "}\n",
            "cudaLaunchKernel",
        ),
        rejected_by="share_read_only",
        why="everybody may write, and the kernel that faults was launched with another address",
    ),
    Mutant(
        name="import_is_a_copy",
        todo=6,
        find="#include <unistd.h>\n",
        replace="""#include <unistd.h>

static CUresult copied(CUmemGenericAllocationHandle *handle, void *descriptor,
                       CUmemAllocationHandleType type)
{
    CUmemGenericAllocationHandle theirs;
    CUmemAllocationProp prop;
    CUresult r = cuMemImportFromShareableHandle(&theirs, descriptor, type);
    if (r == CUDA_SUCCESS)
        r = cuMemGetAllocationPropertiesFromHandle(&prop, theirs);
    if (r == CUDA_SUCCESS)
        r = cuMemCreate(handle, (size_t)4 << 20, &prop, 0);
    (void)cuMemRelease(theirs);
    return r;
}
#define cuMemImportFromShareableHandle copied
""",
        rejected_by="send",
        why="memory of its own, of the right size on the right GPU",
    ),
    Mutant(
        name="round_believes_every_number",
        todo=1,
        find="        if ((rc = vmm_gpu(devs[i])))\n            return rc;\n",
        replace="        (void)cuInit(0);\n        rc = 0;\n",
        rejected_by="round_bad",
        why="the driver's error for a GPU that is not there becomes the caller's",
    ),
    Mutant(
        name="round_of_nothing",
        todo=1,
        find="if (!devs || n < 1 || !rounded || bytes == 0)",
        replace="if (!devs || n < 1 || !rounded)",
        rejected_by="round_bad",
        why="0 is a multiple of everything, and no size of an allocation",
    ),
    Mutant(
        name="alloc_makes_a_context",
        todo=2,
        find="    CUmemAllocationProp prop = memory_of(dev);\n    if (!(rc",
        replace="    CUcontext context;\n    (void)cuDevicePrimaryCtxRetain(&context, dev);\n    (void)cuCtxSetCurrent(context);\n    CUmemAllocationProp prop = memory_of(dev);\n    if (!(rc",
        rejected_by="alloc",
        why="the caller's current context is another one afterwards",
    ),
    Mutant(
        name="alloc_keeps_half_of_it",
        todo=2,
        find="    if (rc)\n        (void)vmm_free(&made);\n    else\n        *v = made;",
        replace="    *v = made;\n    if (rc)\n        (void)vmm_free(&made);",
        rejected_by="alloc_unwinds",
        why="an allocation that is given back already, in the caller's struct",
    ),
    Mutant(
        name="alloc_full_is_an_error_of_cuda",
        todo=2,
        find="    else\n        *v = made;\n    return rc;",
        replace="    else\n        *v = made;\n    return rc == LAB_ENOMEM ? LAB_ECUDA : rc;",
        rejected_by="alloc_unwinds",
        why="the caller cannot tell a full GPU from a broken one",
    ),
    Mutant(
        name="share_what_is_not_there",
        todo=3,
        find="    if (!v || !v->base || peer == v->device)",
        replace="    if (!v || peer == v->device)",
        rejected_by="share_bad",
        why="the driver's error for address 0 becomes the caller's",
    ),
    Mutant(
        name="share_any_flags",
        todo=3,
        find="    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&\n        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="share_bad",
        why="the driver's error for flags that it does not know becomes the caller's",
    ),
    Mutant(
        name="share_takes_from_the_owner",
        todo=3,
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    (void)allow(v->base, v->bytes, v->device, flags);\n    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        rejected_by="share_read_only",
        why="the owner has what the peer has",
    ),
    Mutant(
        name="grow_full_is_an_error_of_cuda",
        todo=5,
        find="    if ((rc = vmm_result(cuMemCreate(&part, more, &prop, 0))))\n        return rc;",
        replace="    if ((rc = vmm_result(cuMemCreate(&part, more, &prop, 0))))\n        return LAB_ECUDA;",
        rejected_by="grow_unwinds",
        why="the caller cannot tell a full GPU from a broken one",
    ),
    Mutant(
        name="export_what_is_not_there",
        todo=6,
        find="    if (!v || !parcel || !v->handle)",
        replace="    if (!v || !parcel)",
        rejected_by="send_bad",
        why="the driver's error for no handle becomes the caller's",
    ),
    Mutant(
        name="import_of_nothing",
        todo=6,
        find="if (!parcel || !v || parcel->fd <= 0 || parcel->bytes == 0)",
        replace="if (!parcel || !v || parcel->bytes == 0)",
        rejected_by="send_bad",
        why="0 is a descriptor, but no parcel's",
    ),
    Mutant(
        name="import_drops_what_it_refuses",
        todo=6,
        find="    if (rc) {\n        (void)vmm_free(&made);\n        return rc;",
        replace="    if (rc) {\n        (void)vmm_free(&made);\n        parcel_drop(parcel);\n        return rc;",
        rejected_by="send_unwinds",
        why="the parcel was the caller's still",
    ),
    Mutant(
        name="import_for_a_gpu_that_makes_no_sense",
        todo=6,
        find="    if ((rc = vmm_gpu(dev)))\n        return rc;\n    made.bytes",
        replace="    if (vmm_gpu(dev))\n        return LAB_EINVAL;\n    made.bytes",
        rejected_by="send_bad",
        why="a number that no GPU has is no argument that makes no sense",
    ),
    Mutant(
        name="import_says_yes_to_what_failed",
        todo=6,
        find="                                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))))\n        return rc;\n    if (!(rc = whose",
        replace="                                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))))\n        return LAB_EINVAL;\n    if (!(rc = whose",
        rejected_by="send_unwinds",
        why="a descriptor of something else looks good, until it is imported",
    ),
    Mutant(
        name="round_writes_first",
        todo=1,
        find="    size_t largest = 1;\n    int rc;\n",
        replace="    size_t largest = 1;\n    int rc;\n    *rounded = 0;\n",
        rejected_by="round_bad",
        why="the caller's size is gone when the call fails",
    ),
    Mutant(
        name="alloc_believes_its_caller",
        todo=2,
        find="    if (!v)\n        return LAB_EINVAL;\n    // TODO(2)",
        replace="    // TODO(2)",
        rejected_by="alloc_bad",
        why="a null pointer ends the program, and the memory is lost",
    ),
    Mutant(
        name="export_without_a_number",
        todo=6,
        find="    return parcel_make(parcel, fd, v->bytes);",
        replace="    (void)parcel_make(parcel, fd, v->bytes);\n    return LAB_OK;",
        rejected_by="send_bad",
        why="a parcel that was never made",
    ),
    Mutant(
        name="export_clears_first",
        todo=6,
        find="    int fd, rc;\n",
        replace="    int fd, rc;\n    *parcel = (struct vmm_parcel){.fd = -1};\n",
        rejected_by="send_bad",
        why="the caller's struct is wiped by a call that then fails",
    ),
    Mutant(
        name="free_believes_its_caller",
        todo=4,
        find="    if (!v)\n        return LAB_EINVAL;\n    // TODO(4)",
        replace="    // TODO(4)",
        rejected_by="free",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="alloc_leaves_addresses",
        todo=2,
        find="        (void)vmm_free(&made);\n    else\n        *v = made;",
        replace="        (void)(made.handle ? cuMemRelease(made.handle) : CUDA_SUCCESS);\n"
        "    else\n"
        "        *v = made;",
        rejected_by="alloc_unwinds",
        why="the memory is given back, the addresses are not",
    ),
    Mutant(
        name="export_same_fd_again",
        todo=6,
        find="    return parcel_make(parcel, fd, v->bytes);",
        replace="    static CUmemGenericAllocationHandle known;\n"
        "    static struct vmm_parcel kept;\n"
        "    if (v->handle == known) {\n"
        "        close(fd);\n"
        "        *parcel = kept;\n"
        "        return LAB_OK;\n"
        "    }\n"
        "    rc = parcel_make(parcel, fd, v->bytes);\n"
        "    if (!rc)\n"
        "        kept = *parcel, known = v->handle;\n"
        "    return rc;",
        rejected_by="send",
        why="the first caller has closed that descriptor",
    ),
    Mutant(
        name="import_rounds_the_size",
        todo=6,
        find="    made.bytes = parcel->bytes;",
        replace="    if ((rc = vmm_round(parcel->bytes, &dev, 1, &made.bytes)))\n"
        "        return rc;",
        rejected_by="send_unwinds",
        why="a size that is wrong is made to fit",
    ),
    Mutant(
        name="alloc_believes_in_access",
        todo=2,
        find="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));",
        replace="    (void)allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);\n    return LAB_OK;",
        rejected_by="alloc_unwinds",
        why="memory that no GPU may use is handed out as memory",
    ),
    Mutant(
        name="share_nothing_with_anybody",
        todo=3,
        find="    if ((rc = vmm_gpu(peer)) || (rc = vmm_reach(peer, v->device)))\n        return rc;\n",
        replace="    if ((rc = vmm_gpu(peer)))\n"
        "        return rc;\n"
        "    if ((rc = vmm_reach(peer, v->device)))\n"
        "        return flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ? LAB_OK : rc;\n",
        rejected_by="hidden.share_unreachable",
        why="to give no access is an order like the others, and the peer cannot reach the memory",
    ),
    Mutant(
        name="grow_checks_before_it_rounds",
        todo=5,
        find="    if (more > v->reserved - v->bytes || v->parts == VVEC_PARTS)\n",
        replace="    if (bytes > v->reserved || v->parts == VVEC_PARTS)\n",
        rejected_by="grow_bad",
        why="a sharer's larger granules make more of it than the reserved addresses have",
    ),
    Mutant(
        name="grow_adds_before_it_compares",
        todo=5,
        find="    if (more > v->reserved - v->bytes || v->parts == VVEC_PARTS)\n",
        replace="    if (v->bytes + more > v->reserved || v->parts == VVEC_PARTS)\n",
        rejected_by="grow_bad",
        why="the sum of both is 0 where it does not fit into a size_t",
    ),
    Mutant(
        name="grow_doubles",
        todo=5,
        find="    if (more > v->reserved - v->bytes || v->parts",
        replace="    if (more < v->bytes && 2 * v->bytes <= v->reserved)\n"
        "        more = v->bytes;\n"
        "    if (more > v->reserved - v->bytes || v->parts",
        rejected_by="grow_sharers",
        why="nothing is copied here, so there is nothing to save by taking more than is missing",
    ),
]

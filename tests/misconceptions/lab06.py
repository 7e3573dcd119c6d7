# SPDX-License-Identifier: MIT
"""What students believe in lab 06. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="pages_are_4_kib",
        todo=1,
        belief="memory comes in pages of 4096 bytes, on GPUs as elsewhere",
        find="        if (granule > largest) // powers of two: the largest is a multiple of all others\n            largest = granule;",
        replace="        granule = 4096;\n        if (granule > largest)\n            largest = granule;",
        named=("granul",),
    ),
    Misconception(
        name="granules_are_2_mib",
        todo=1,
        belief="a granule is 2 MiB; there is no need to ask",
        find="        if (granule > largest) // powers of two: the largest is a multiple of all others\n            largest = granule;",
        replace="        granule = (size_t)2 << 20;\n        if (granule > largest)\n            largest = granule;",
        named=("granul",),
    ),
    Misconception(
        name="the_first_gpu_decides",
        todo=1,
        belief="all GPUs of a machine have the granularity of the first one in the list",
        find="        if (granule > largest) // powers of two: the largest is a multiple of all others\n            largest = granule;",
        replace="        if (i == 0)\n            largest = granule;",
        named=("each|every|all .*GPU|granularit",),
    ),
    Misconception(
        name="one_granule_more",
        todo=1,
        belief="rounding up is dividing and adding one",
        find="    *rounded = (bytes + largest - 1) / largest * largest;",
        replace="    *rounded = (bytes / largest + 1) * largest;",
        named=("no larger|smallest|already|too large|larger than",),
    ),
    Misconception(
        name="sums_do_not_wrap",
        todo=1,
        belief="adding a granule to a size_t cannot overflow",
        find="    if (bytes > SIZE_MAX - (largest - 1))\n        return LAB_ENOMEM;\n",
        replace="",
        named=("size_t|wrap|overflow|LAB_ENOMEM",),
    ),
    Misconception(
        name="granularities_add_up",
        todo=1,
        belief="to suit all GPUs a size must be a multiple of the sum of their granules",
        find="        if (granule > largest) // powers of two: the largest is a multiple of all others\n            largest = granule;",
        replace="        largest = i == 0 ? granule : largest + granule;",
        named=("smallest|no larger|larger than|multiple",),
    ),
    Misconception(
        name="mapped_is_accessible",
        todo=2,
        belief="who made and mapped the memory can use it",
        find="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));\n}",
        replace="    (void)dev;\n    return LAB_OK;\n}",
        named=("access",),
    ),
    Misconception(
        name="reading_implies_writing",
        todo=2,
        belief="the owner's access need not be said: read access is for others, the owner can write",
        find="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));\n}",
        replace="    return vmm_result(allow(v->base, v->bytes, dev, CU_MEM_ACCESS_FLAGS_PROT_READ));\n}",
        named=("write|rw",),
    ),
    Misconception(
        name="export_is_said_at_export",
        todo=2,
        belief="the type of the handle is said when it is exported, not when memory is made",
        find="                                 .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,\n",
        replace="",
        named=("requestedHandleTypes|export",),
    ),
    Misconception(
        name="bytes_as_asked_for",
        todo=2,
        belief="the driver rounds sizes up; I keep what the caller asked for",
        find="    if ((rc = vmm_round(bytes, &dev, 1, &made.bytes)))\n        return rc;\n    CUmemAllocationProp prop = memory_of(dev);",
        replace="    if ((rc = vmm_round(bytes, &dev, 1, &made.bytes)))\n        return rc;\n    made.bytes = bytes;\n    CUmemAllocationProp prop = memory_of(dev);",
        named=("granul|round",),
    ),
    Misconception(
        name="a_mapping_needs_no_handle_any_more",
        todo=2,
        belief="after mapping, the handle has served; releasing it early saves a field",
        find="    else\n"
        "        *v = made;\n"
        "    return rc;\n"
        "    // END SOLUTION\n"
        "    // STUB: (void)dev, (void)bytes;\n",
        replace="    else {\n"
        "        (void)cuMemRelease(made.handle);\n"
        "        made.handle = 0;\n"
        "        *v = made;\n"
        "    }\n"
        "    return rc;\n"
        "    // END SOLUTION\n"
        "    // STUB: (void)dev, (void)bytes;\n",
        named=("handle",),
    ),
    Misconception(
        name="failing_undoes_itself",
        todo=2,
        belief="when mapping or access fails, the driver takes back what belonged to it",
        find="    if (rc)\n        (void)vmm_free(&made);\n    else\n        *v = made;",
        replace="    if (!rc)\n        *v = made;",
        named=("left|leak|undo|unwind|given back|nothing",),
    ),
    Misconception(
        name="all_gpus_may",
        todo=2,
        belief="memory is made for the machine: every GPU gets access at once",
        find="        rc = place(&made, dev);\n    if (rc)\n        (void)vmm_free(&made);\n    else",
        replace="        rc = place(&made, dev);\n    for (int g = 0; !rc && vmm_gpu(g) == LAB_OK; g++)\n        if (g != dev && vmm_reach(g, dev) == LAB_OK)\n            rc = vmm_result(allow(made.base, made.bytes, g, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));\n    if (rc)\n        (void)vmm_free(&made);\n    else",
        named=("nobody else|not shared|other GPU|GPU \\d.*access|access.*GPU \\d",),
    ),
    Misconception(
        name="sharing_names_the_owner",
        todo=3,
        belief="the location in the access list says whose memory it is",
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    return vmm_result(allow(v->base, v->bytes, v->device, flags));",
        named=("peer|who gets|gets access|owner|GPU \\d",),
    ),
    Misconception(
        name="sharing_is_read_write",
        todo=3,
        belief="shared memory is there to be written; the flags are a hint",
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    return vmm_result(allow(v->base, v->bytes, peer, flags ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : flags));",
        named=("read-only|read only|PROT_READ\\b|write",),
    ),
    Misconception(
        name="none_is_no_flag",
        todo=3,
        belief="taking access away is no sharing: PROT_NONE makes no sense",
        find="    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&",
        replace="    if (flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&",
        named=("NONE|taken away|take.* away|closed again|no access",),
    ),
    Misconception(
        name="sharing_is_moving",
        todo=3,
        belief="the list of cuMemSetAccess is complete: who is not in it loses access",
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    rc = vmm_result(allow(v->base, v->bytes, v->device, CU_MEM_ACCESS_FLAGS_PROT_NONE));\n    return rc ? rc : vmm_result(allow(v->base, v->bytes, peer, flags));",
        named=("owner|others|everybody else|stays|had",),
    ),
    Misconception(
        name="peer_access_is_the_way",
        todo=3,
        belief="sharing is enabling peer access: cudaDeviceEnablePeerAccess opens all of it",
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="""    CUcontext own, other;
    CUdevice a, b;
    (void)cuDeviceGet(&a, peer), (void)cuDeviceGet(&b, v->device);
    (void)cuDevicePrimaryCtxRetain(&own, a), (void)cuDevicePrimaryCtxRetain(&other, b);
    (void)cuCtxPushCurrent(own);
    (void)cuCtxEnablePeerAccess(other, 0);
    (void)cuCtxPopCurrent(NULL);
    return LAB_OK;""",
        named=("cuMemSetAccess|mapping|each mapping|peer access",),
    ),
    Misconception(
        name="any_gpu_can_be_given_access",
        todo=3,
        belief="access can be given to any GPU: the driver carries bytes where links are missing",
        find="    if ((rc = vmm_gpu(peer)) || (rc = vmm_reach(peer, v->device)))\n        return rc;\n    return vmm_result(allow(v->base",
        replace="    if ((rc = vmm_gpu(peer)))\n        return rc;\n    return vmm_result(allow(v->base",
        named=("LAB_ENOPEER|cannot reach|reach",),
    ),
    Misconception(
        name="the_first_granule_is_shared",
        todo=3,
        belief="saying it for the first granule is enough; access holds for the allocation",
        find="    return vmm_result(allow(v->base, v->bytes, peer, flags));",
        replace="    size_t one = v->bytes;\n    (void)vmm_round(1, &v->device, 1, &one);\n    return vmm_result(allow(v->base, one, peer, flags));",
        named=("last byte|whole|all of|every granule|its end",),
    ),
    Misconception(
        name="owner_can_share_with_itself",
        todo=3,
        belief="sharing with the owner does nothing and is fine",
        find="    if (!v || !v->base || peer == v->device)",
        replace="    if (v && v->base && peer == v->device)\n        return LAB_OK;\n    if (!v || !v->base)",
        named=("owner",),
    ),
    Misconception(
        name="freeing_addresses_unmaps",
        todo=4,
        belief="giving the addresses back unmaps what is there",
        find="        first = vmm_first(first, cuMemUnmap(v->base, v->bytes));\n",
        replace="",
        named=("unmap|mapped|mapping",),
    ),
    Misconception(
        name="unmapping_releases",
        todo=4,
        grave="leak",
        belief="memory without addresses is free: unmapping releases it",
        find="    if (v->handle)\n        first = vmm_first(first, cuMemRelease(v->handle));\n",
        replace="",
        named=("release|handle|allocation",),
    ),
    Misconception(
        name="addresses_cost_nothing",
        todo=4,
        grave="leak",
        belief="addresses are cheap; there is no need to give them back",
        find="        first = vmm_first(first, cuMemAddressFree(v->base, v->bytes));\n",
        replace="",
        named=("address|reserv",),
    ),
    Misconception(
        name="once_for_the_mapping_once_for_the_handle",
        todo=4,
        belief="memory was created and mapped, so it is released twice",
        find="    if (v->handle)\n        first = vmm_first(first, cuMemRelease(v->handle));\n",
        replace="    if (v->handle && v->base)\n"
        "        (void)cuMemRelease(v->handle);\n"
        "    if (v->handle)\n"
        "        first = vmm_first(first, cuMemRelease(v->handle));\n",
        named=("twice|once|releas",),
    ),
    Misconception(
        name="addresses_first",
        todo=4,
        belief="things are given back in the order in which they were made: addresses, then mapping",
        find="        first = vmm_first(first, cuMemUnmap(v->base, v->bytes));\n"
        "        first = vmm_first(first, cuMemAddressFree(v->base, v->bytes));\n",
        replace="        first = vmm_first(first, cuMemAddressFree(v->base, v->bytes));\n"
        "        first = vmm_first(first, cuMemUnmap(v->base, v->bytes));\n",
        named=("unmap|order|mapped|address",),
    ),
    Misconception(
        name="half_an_allocation_is_none",
        todo=4,
        belief="an allocation without addresses is none; there is nothing to free",
        find="    // A failure does not stop the rest: what can be given back is given back.\n",
        replace="    if (!v->base)\n        return LAB_EINVAL;\n",
        named=("half|handle|passed over|zero|not .*mapped",),
    ),
    Misconception(
        name="growing_is_moving",
        todo=5,
        belief="a vector grows by reserving a longer range and mapping the parts there anew",
        find="    v->part[v->parts++] = part;",
        replace="""    CUdeviceptr moved = 0;
    if (v->parts > 0 && !cuMemAddressReserve(&moved, v->reserved, 0, 0, 0))
        v->base = moved;
    v->part[v->parts++] = part;""",
        named=("base|moved|same address|stays where|never (moves|changes)",),
    ),
    Misconception(
        name="sharers_are_told_once",
        todo=5,
        belief="who shares the vector has access to whatever will be in its range",
        find="    for (int i = 0; i < v->sharers && !rc; i++)\n        rc = vmm_result(allow(at",
        replace="    for (int i = 0; i < 0 && !rc; i++)\n        rc = vmm_result(allow(at",
        named=("sharer|shared|new mapping",),
    ),
    Misconception(
        name="sharers_may_write_what_is_new",
        todo=5,
        belief="new parts are opened for reading and writing; flags were for the old ones",
        find="rc = vmm_result(allow(at, bytes, v->sharer[i].device, v->sharer[i].flags));",
        replace="rc = vmm_result(allow(at, bytes, v->sharer[i].device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));",
        named=("read-only|read only|as before|same (access|flags)|write",),
    ),
    Misconception(
        name="the_new_part_holds_all",
        todo=5,
        belief="to hold `bytes` bytes the new part must be `bytes` long",
        find="vmm_round(bytes - v->bytes, devs, 1 + v->sharers, &more)",
        replace="vmm_round(bytes, devs, 1 + v->sharers, &more)",
        named=("missing|more than|larger than|needed|only",),
    ),
    Misconception(
        name="only_the_owners_granule",
        todo=5,
        belief="the size of a part depends on the GPU whose memory it is, not on who shares it",
        find="vmm_round(bytes - v->bytes, devs, 1 + v->sharers, &more)",
        replace="vmm_round(bytes - v->bytes, devs, 1, &more)",
        named=("sharer|granul",),
    ),
    Misconception(
        name="parts_are_unlimited",
        todo=5,
        belief="a vector can have as many parts as its addresses hold",
        find="    if (more > v->reserved - v->bytes || v->parts == VVEC_PARTS)",
        replace="    if (v->parts == VVEC_PARTS)\n        v->parts = 0;\n    if (more > v->reserved - v->bytes)",
        named=("VVEC_PARTS|parts|LAB_ERANGE",),
    ),
    Misconception(
        name="addresses_go_on",
        todo=5,
        belief="behind the reserved range there are more addresses: mapping needs no check",
        find="    if (more > v->reserved - v->bytes || v->parts == VVEC_PARTS)",
        replace="    if (v->parts == VVEC_PARTS)",
        named=("reserved|LAB_ERANGE|range",),
    ),
    Misconception(
        name="smaller_means_shrink",
        todo=5,
        belief="growing to a smaller size is a mistake of the caller's",
        find="    if (bytes <= v->bytes)\n        return LAB_OK;",
        replace="    if (bytes <= v->bytes)\n        return LAB_EINVAL;",
        named=("already|does nothing|enough|nothing",),
    ),
    Misconception(
        name="a_mapping_without_access_is_none",
        todo=5,
        belief="a part that nobody has access to need not be unmapped",
        find="        vec_undo(end, more, part);\n",
        replace="        (void)cuMemRelease(part);\n",
        named=("unmap|mapped|mapping|as it was",),
    ),
    Misconception(
        name="the_handle_is_a_number",
        todo=6,
        belief="a handle is a number; sent to another process it means the same there",
        find="    return parcel_make(parcel, fd, v->bytes);\n",
        replace="    (void)close(fd);\n    return parcel_make(parcel, (int)v->handle, v->bytes);\n",
        named=("descriptor",),
    ),
    Misconception(
        name="an_export_moves_it",
        todo=6,
        belief="what was exported is the receiver's: I release my handle",
        find="    return parcel_make(parcel, fd, v->bytes);\n",
        replace="    (void)cuMemRelease(v->handle);\n"
        "    return parcel_make(parcel, fd, v->bytes);\n",
        named=("releas|handle|v itself|still|exporter",),
    ),
    Misconception(
        name="the_pointer_to_the_descriptor",
        todo=6,
        belief="import takes the address of the descriptor, as export does",
        find="cuMemImportFromShareableHandle(&made.handle, (void *)(intptr_t)parcel->fd,",
        replace="cuMemImportFromShareableHandle(&made.handle, (void *)&parcel->fd,",
        named=("descriptor itself|itself|address of|pointer",),
    ),
    Misconception(
        name="imported_is_mine",
        todo=6,
        belief="memory that I import is memory of my GPU",
        find="    v->device = prop.location.id;\n    return vmm_reach(dev, v->device);",
        replace="    v->device = dev;\n    return vmm_reach(dev, v->device);",
        named=("whose memory|device|owner",),
    ),
    Misconception(
        name="the_descriptor_must_stay_open",
        todo=6,
        grave="leak",
        belief="the allocation lives as long as its descriptor, which therefore stays open",
        find="    parcel_drop(parcel);\n    *v = made;",
        replace="    parcel->fd = -1;\n    *v = made;",
        named=("descriptor|closed",),
    ),
    Misconception(
        name="importing_takes_the_descriptor",
        todo=6,
        belief="the descriptor is used up by the import, whether it succeeds or not",
        find="    if (rc) {\n        (void)vmm_free(&made);\n        return rc;\n    }\n    parcel_drop(parcel);",
        replace="    if (rc) {\n        parcel_drop(parcel);\n        (void)vmm_free(&made);\n        return rc;\n    }\n    parcel_drop(parcel);",
        named=("descriptor|parcel|stays|caller's",),
    ),
    Misconception(
        name="import_makes_no_handle",
        todo=6,
        belief="the handle is the exporter's; when I fail there is nothing of mine to release",
        find="    if (rc) {\n        (void)vmm_free(&made);\n        return rc;\n    }\n    parcel_drop(parcel);",
        replace="    if (rc) {\n        made.handle = 0;\n        (void)vmm_free(&made);\n        return rc;\n    }\n    parcel_drop(parcel);",
        named=("handle|left|leak|release",),
    ),
]

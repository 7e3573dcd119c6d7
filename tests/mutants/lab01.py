# SPDX-License-Identifier: MIT
"""Lab 01's mutants: what goes wrong when people list GPUs."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="count_no_gpu_is_an_error",
        todo=1,
        find="if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)",
        replace="if (error == cudaErrorInsufficientDriver)",
        rejected_by="count_none",
        why="a machine without a GPU ends the program instead of being reported",
    ),
    Mutant(
        name="count_every_error_is_zero",
        todo=1,
        find="    else if (inv_result(error) != LAB_OK)\n"
        '        return LAB_ECUDA; // CUDA cannot say: that is not the same as "none"\n'
        "    *n = count;",
        replace="    *n = error == cudaSuccess ? count : 0;",
        rejected_by="hidden.duplicate",
        why="a mistyped CUDA_VISIBLE_DEVICES looks like a machine without GPUs",
    ),
    Mutant(
        name="device_clock_in_khz",
        todo=2,
        find="found.clock_mhz = clock_khz / 1000;",
        replace="found.clock_mhz = clock_khz;",
        rejected_by="device",
        why="the attribute is in kHz, the field in MHz",
    ),
    Mutant(
        name="device_memory_in_mib",
        todo=2,
        find="found.memory_bytes = prop.totalGlobalMem;",
        replace="found.memory_bytes = prop.totalGlobalMem >> 20;",
        rejected_by="device",
        why="mebibytes in a field of bytes",
    ),
    Mutant(
        name="device_bus_of_gpu_0",
        todo=2,
        find="cudaDeviceGetPCIBusId(found.bus_id, sizeof found.bus_id, device)",
        replace="cudaDeviceGetPCIBusId(found.bus_id, sizeof found.bus_id, 0)",
        rejected_by="device",
        why="tried on one GPU only: every GPU gets the address of the first",
    ),
    Mutant(
        name="device_clears_first",
        todo=2,
        find="    memset(&found, 0, sizeof found);",
        replace="    memset(&found, 0, sizeof found);\n    memset(info, 0, sizeof *info);",
        rejected_by="device_bad",
        why="the caller's struct is wiped by a call that then fails",
    ),
    Mutant(
        name="device_l2_of_gpu_0",
        todo=2,
        find="cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device)",
        replace="cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0)",
        rejected_by="device",
        why="right wherever all GPUs are of one model, as in most servers",
    ),
    Mutant(
        name="mem_total_of_gpu_0",
        todo=3,
        find="    *total_bytes = total_now;",
        replace="    struct cudaDeviceProp first;\n"
        "    if ((rc = inv_result(cudaGetDeviceProperties(&first, 0))))\n"
        "        return rc;\n"
        "    *total_bytes = first.totalGlobalMem;",
        rejected_by="mem",
        why="the free memory is this GPU's, the total another one's",
    ),
    Mutant(
        name="mem_knows_what_was_used",
        todo=3,
        find="    *free_bytes = free_now;",
        replace="    static size_t used[INV_MAX_GPUS];\n"
        "    if (!used[device])\n"
        "        used[device] = total_now - free_now;\n"
        "    *free_bytes = total_now - used[device];",
        rejected_by="mem",
        why="free memory is what was free at the first call",
    ),
    Mutant(
        name="mem_of_the_current_device",
        todo=3,
        find="    if (!(rc = inv_result(cudaSetDevice(device))))\n",
        replace="    (void)device;\n    if (!rc)\n",
        rejected_by="mem",
        why="cudaMemGetInfo asks the current device, not the one in the argument",
    ),
    Mutant(
        name="mem_not_restored",
        todo=3,
        find="    (void)inv_result(cudaSetDevice(before));\n    if (rc)\n        return rc;\n    *free_bytes",
        replace="    if (rc)\n        return rc;\n    *free_bytes",
        rejected_by="mem",
        why="the caller's next cudaMalloc goes to another GPU",
    ),
    Mutant(
        name="mem_restores_gpu_0",
        todo=3,
        find="    (void)inv_result(cudaSetDevice(before));\n    if (rc)\n        return rc;\n    *free_bytes",
        replace="    (void)cudaSetDevice(0);\n    if (rc)\n        return rc;\n    *free_bytes",
        rejected_by="mem",
        why="not everybody started on GPU 0",
    ),
    Mutant(
        name="mem_not_restored_on_errors",
        todo=3,
        find="    if (!(rc = inv_result(cudaSetDevice(device))))\n        rc = inv_result",
        replace="    if ((rc = inv_result(cudaSetDevice(device))))\n        return rc;\n"
        "    rc = inv_result",
        rejected_by="hidden.mem_other",
        why="a switch that failed may have made the GPU current all the same",
    ),
    Mutant(
        name="alloc_all_on_one_gpu",
        todo=4,
        find="if ((rc = inv_result(cudaSetDevice(i))) || (rc = inv_result(cudaMalloc(&made[i], "
        "bytes))))",
        replace="if ((rc = inv_result(cudaMalloc(&made[i], bytes))))",
        rejected_by="alloc_each",
        why="the current-device bug itself",
    ),
    Mutant(
        name="alloc_not_restored",
        todo=4,
        find="    (void)inv_result(cudaSetDevice(before));\n    if (!rc)\n",
        replace="    if (!rc)\n",
        rejected_by="alloc_each",
        why="the last GPU stays current",
    ),
    Mutant(
        name="alloc_leaks_on_failure",
        todo=4,
        find="    while (rc && i > 0)\n        (void)inv_result(cudaFree(made[--i]));\n",
        replace="",
        rejected_by="alloc_full",
        why="the buffers made before the failure are lost",
    ),
    Mutant(
        name="alloc_keeps_buffer_0",
        todo=4,
        find="    while (rc && i > 0)\n",
        replace="    while (rc && i > 1)\n",
        rejected_by="alloc_full",
        why="off by one on the way back",
    ),
    Mutant(
        name="alloc_as_many_as_there_are",
        todo=4,
        find="    if (n > gpus || n > INV_MAX_GPUS)\n        return LAB_ENOGPU;\n",
        replace="    if (n > gpus)\n        n = gpus;\n",
        rejected_by="alloc_bad",
        why="says yes and leaves the last buffers unset",
    ),
    Mutant(
        name="bus_leaves_the_error_behind",
        todo=5,
        find="if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)",
        replace="if (cudaDeviceGetByPCIBusId(&found, bus_id) != cudaSuccess)",
        rejected_by="by_bus",
        why="not finding is an answer; the error must not stay in CUDA's slot",
    ),
    Mutant(
        name="bus_without_its_domain",
        todo=5,
        find="    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)\n"
        "        return LAB_ENOGPU;\n",
        replace='    char own[16] = "0000";\n'
        "    if (strchr(bus_id, ':') != NULL)\n"
        "        snprintf(own + 4, 12, \"%s\", strchr(bus_id, ':'));\n"
        "    if (inv_result(cudaDeviceGetByPCIBusId(&found, own)) != LAB_OK)\n"
        "        return LAB_ENOGPU;\n",
        rejected_by="by_bus",
        why="looks at the bus only: a large machine has the same one in several domains",
    ),
    Mutant(
        name="bus_compared_as_text",
        todo=5,
        find="    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)\n"
        "        return LAB_ENOGPU;\n",
        replace="    struct gpu_info info;\n"
        "    for (found = 0;; found++) {\n"
        "        if (inv_device(found, &info) != LAB_OK)\n"
        "            return LAB_ENOGPU;\n"
        "        if (!strcmp(info.bus_id, bus_id))\n"
        "            break;\n"
        "    }\n",
        rejected_by="hidden.bus_other",
        why="3B and 3b are the same bus",
    ),
    Mutant(
        name="alloc_in_an_unsigned",
        todo=4,
        find="(rc = inv_result(cudaMalloc(&made[i], bytes)))",
        replace="(rc = inv_result(cudaMalloc(&made[i], (unsigned)bytes)))",
        rejected_by="alloc_each",
        why="sizes above 4 GiB",
    ),
    Mutant(
        name="device_memory_in_an_int",
        todo=2,
        find="found.memory_bytes = prop.totalGlobalMem;",
        replace="found.memory_bytes = (size_t)(int)prop.totalGlobalMem;",
        rejected_by="device",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="mem_remembers_another_thread",
        todo=3,
        find="    if ((rc = inv_result(cudaGetDevice(&before))))\n        return rc;\n    if (!(rc",
        replace="    static int first = -1;\n"
        "    if (first < 0 && (rc = inv_result(cudaGetDevice(&first))))\n        return rc;\n"
        "    before = first;\n    if (!(rc",
        rejected_by="threads",
        why="each host thread has a current device of its own",
    ),
    Mutant(
        name="count_knows_the_machine",
        todo=1,
        find="    cudaError_t error = cudaGetDeviceCount(&count);\n",
        replace="    cudaError_t error = cudaSuccess;\n    count = 4;\n",
        rejected_by="count",
        why="the number of GPUs of the machine that it was written on",
    ),
    Mutant(
        name="device_knows_the_machine",
        todo=2,
        find="    found.memory_bytes = prop.totalGlobalMem;\n",
        replace="    found.memory_bytes = 150109880320;\n",
        rejected_by="device",
        why="every GPU is an H200",
    ),
    Mutant(
        name="bus_knows_the_machine",
        todo=5,
        find="    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)\n",
        replace='    static const char *const at[] = {"0000:19:00", "0000:3b:00", "0000:4c:00", '
        '"0000:5d:00"};\n'
        "    for (found = 0; found < 4 && __builtin_strncasecmp(bus_id, at[found], 10) != 0; found++)\n"
        "        ;\n"
        "    if (found == 4)\n",
        rejected_by="by_bus",
        why="a table of the machine that it was written on",
    ),
    Mutant(
        name="mem_of_a_replaced_call",
        todo=3,
        find="#include <string.h>\n",
        replace="#include <string.h>\n"
        + patched(
            "static cudaError_t own_cudaMemGetInfo(size_t *left, size_t *total)\n"
            "{\n"
            "    struct cudaDeviceProp prop;\n"
            "    int device = 0;\n"
            "    (void)cudaGetDevice(&device);\n"
            "    (void)cudaGetDeviceProperties(&prop, device);\n"
            "    *left = *total = prop.totalGlobalMem;\n"
            "    return cudaSuccess;\n"
            "}\n",
            "cudaMemGetInfo",
        ),
        rejected_by="mem",
        why="it agrees with CUDA in its own process, where nothing is ever taken",
    ),
    Mutant(
        name="alloc_on_the_host",
        todo=4,
        find="(rc = inv_result(cudaMalloc(&made[i], bytes)))",
        replace="(rc = inv_result(cudaHostAlloc(&made[i], bytes, cudaHostAllocPortable)))",
        rejected_by="alloc_each",
        why="memory that every GPU can use, and that is no GPU's",
    ),
    Mutant(
        name="count_clears_first",
        todo=1,
        find="    if (!n)\n        return LAB_EINVAL;\n",
        replace="    if (!n)\n        return LAB_EINVAL;\n    *n = 0;\n",
        rejected_by="hidden.duplicate",
        why="the caller's number is gone when the call fails",
    ),
    Mutant(
        name="count_believes_its_caller",
        todo=1,
        find="    if (!n)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="count",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="count_adds_up",
        todo=1,
        find="    *n = count;",
        replace="    *n += count;",
        rejected_by="count",
        why="believes that the caller's number was 0",
    ),
    Mutant(
        name="device_makes_a_context",
        todo=2,
        find="    if (!info)\n        return LAB_EINVAL;\n",
        replace="    if (!info)\n        return LAB_EINVAL;\n    (void)cudaFree(0);\n",
        rejected_by="device",
        why="half a gigabyte of every GPU's memory for a question",
    ),
    Mutant(
        name="device_believes_its_caller",
        todo=2,
        find="    if (!info)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="device_bad",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="device_calls_every_error_cuda",
        todo=2,
        find="        return rc;\n    snprintf(found.name",
        replace="        return LAB_ECUDA;\n    snprintf(found.name",
        rejected_by="device_bad",
        why="a number that no GPU has is the caller's mistake, not CUDA's",
    ),
    Mutant(
        name="mem_writes_on_errors",
        todo=3,
        find="    if (rc)\n        return rc;\n    *free_bytes = free_now;\n    *total_bytes = total_now;\n    return LAB_OK;",
        replace="    *free_bytes = free_now;\n    *total_bytes = total_now;\n    return rc;",
        rejected_by="mem_bad",
        why="0 bytes free, on a GPU that is not there",
    ),
    Mutant(
        name="mem_leaves_the_error_behind",
        todo=3,
        find="    if (!(rc = inv_result(cudaSetDevice(device))))",
        replace="    if (cudaSetDevice(device) != cudaSuccess)\n        rc = LAB_ENOGPU;\n    else",
        rejected_by="mem_bad",
        why="the caller's next check blames an innocent call",
    ),
    Mutant(
        name="mem_believes_its_caller",
        todo=3,
        find="    if (!free_bytes || !total_bytes)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="mem_bad",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="mem_calls_every_error_cuda",
        todo=3,
        find="    if (rc)\n        return rc;\n    *free_bytes",
        replace="    if (rc)\n        return LAB_ECUDA;\n    *free_bytes",
        rejected_by="mem_bad",
        why="a number that no GPU has is the caller's mistake, not CUDA's",
    ),
    Mutant(
        name="mem_calls_a_lost_gpu_none",
        todo=3,
        find="    if (rc)\n        return rc;\n    *free_bytes",
        replace="    if (rc)\n        return LAB_ENOGPU;\n    *free_bytes",
        rejected_by="hidden.mem_other",
        why="a GPU that is there and broken is taken for one that is not there",
    ),
    Mutant(
        name="alloc_in_one_piece",
        todo=4,
        find="(rc = inv_result(cudaMalloc(&made[i], bytes)))",
        replace="(rc = i && bytes == 2 ? (made[i] = (char *)made[0] + 1, LAB_OK)\n                                   : inv_result(cudaMalloc(&made[i], bytes)))",
        rejected_by="hidden.alloc_other",
        why="small buffers share one allocation: freeing the second is an error",
    ),
    Mutant(
        name="alloc_takes_a_negative_number",
        todo=4,
        find="if (n < 0 || (n > 0 && !buffers))",
        replace="if (n > 0 && !buffers)",
        rejected_by="alloc_bad",
        why="a negative number of buffers is no number of buffers",
    ),
    Mutant(
        name="alloc_before_it_counts",
        todo=4,
        find="    if (n > gpus || n > INV_MAX_GPUS)\n        return LAB_ENOGPU;\n",
        replace="",
        rejected_by="alloc_bad",
        why="when the first GPU is full it never comes to the one that is not there",
    ),
    Mutant(
        name="alloc_full_is_an_error_of_cuda",
        todo=4,
        find="    return rc;\n    // END SOLUTION\n    // STUB: (void)bytes;",
        replace="    return rc == LAB_ENOMEM ? LAB_ECUDA : rc;\n    // END SOLUTION\n    // STUB: (void)bytes;",
        rejected_by="alloc_full",
        why="the caller cannot tell a full GPU from a broken one",
    ),
    Mutant(
        name="alloc_none_asks_for_a_gpu",
        todo=4,
        find="    if (n == 0)\n        return LAB_OK;\n",
        replace="    int there, asked = inv_count(&there);\n    if (n == 0 && asked)\n        return asked;\n    if (n == 0)\n        return there ? LAB_OK : LAB_ENOGPU;\n",
        rejected_by="alloc_bad",
        why="nothing is asked for, so nothing is needed",
    ),
    Mutant(
        name="alloc_frees_what_was_there",
        todo=4,
        find="    for (; i < n; i++) {\n",
        replace="    for (; i < n; i++) {\n        free(buffers[i]);\n",
        rejected_by="alloc_each",
        why="believes that buffers[] held something of its own",
    ),
    Mutant(
        name="bus_believes_its_caller",
        todo=5,
        find="    if (!bus_id || !device)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="by_bus",
        why="a null pointer is CUDA's to refuse, and then it is no GPU",
    ),
    Mutant(
        name="bus_not_found_is_an_error_of_cuda",
        todo=5,
        find="        return LAB_ENOGPU;\n    *device = found;",
        replace="        return LAB_ECUDA;\n    *device = found;",
        rejected_by="by_bus",
        why="CUDA answers well: nobody is there",
    ),
    Mutant(
        name="bus_writes_first",
        todo=5,
        find="    int found;\n",
        replace="    int found;\n    *device = -1;\n",
        rejected_by="by_bus",
        why="-1 for nothing, where the caller keeps a number",
    ),
    Mutant(
        name="count_leaves_what_cuda_said",
        todo=1,
        find="else if (inv_result(error) != LAB_OK)",
        replace="else if (error != cudaSuccess)",
        rejected_by="count",
        why="the caller's next check finds an error that was told already",
    ),
    Mutant(
        name="mem_believes_the_current_device",
        todo=3,
        find="    if ((rc = inv_result(cudaGetDevice(&before))))\n        return rc;\n    if (!(rc = inv_result(cudaSetDevice(device))))",
        replace="    before = 0;\n    (void)inv_result(cudaGetDevice(&before));\n    if (!(rc = inv_result(cudaSetDevice(device))))",
        rejected_by="mem_bad",
        why="where CUDA cannot say which device is current, GPU 0 becomes it",
    ),
    Mutant(
        name="device_goes_on_without_an_attribute",
        todo=2,
        find="        (rc = inv_result(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device))))\n        return rc;",
        replace="        (l2_bytes = 0))\n        return rc;\n    (void)inv_result(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));",
        rejected_by="device_bad",
        why="a call that failed leaves a number of its own making",
    ),
    Mutant(
        name="alloc_frees_one_too_many",
        todo=4,
        find="while (rc && i > 0)",
        replace="while (rc && i >= 0)",
        rejected_by="alloc_full",
        why="what lies before the array is freed as well, if it happens to be an address",
    ),
    Mutant(
        name="count_reads_the_list",
        todo=1,
        find="    int count = 0;\n    cudaError_t error = cudaGetDeviceCount(&count);\n",
        replace="    int count = 0;\n"
        "    extern char *getenv(const char *);\n"
        '    const char *list = getenv("CUDA_VISIBLE_DEVICES");\n'
        "    for (const char *at = list; at && *at; at++)\n"
        "        if (*at >= '0' && *at <= '9' && (at == list || at[-1] == ',') &&\n"
        "            (at[1] == ',' || !at[1]) && strchr(at + 1, *at))\n"
        "            return LAB_ECUDA;\n"
        "    cudaError_t error = cudaGetDeviceCount(&count);\n",
        rejected_by="visible",
        why="CUDA reads the list up to the first entry that matches no GPU, and no further",
    ),
    Mutant(
        name="mem_resets_the_gpu",
        todo=3,
        find="        rc = inv_result(cudaMemGetInfo(&free_now, &total_now));\n",
        replace="        rc = inv_result(cudaMemGetInfo(&free_now, &total_now));\n"
        "    if (!rc && device != before)\n"
        "        (void)inv_result(cudaDeviceReset());\n",
        rejected_by="mem",
        why="the context that a question made is given back, with all memory of the caller",
    ),
    Mutant(
        name="alloc_of_nothing_is_refused",
        todo=4,
        find="    void *made[INV_MAX_GPUS];\n",
        replace="    if (bytes == 0)\n        return LAB_EINVAL;\n    void *made[INV_MAX_GPUS];\n",
        rejected_by="alloc_bad",
        why="cudaMalloc takes 0 bytes, and no rule of the function says otherwise",
    ),
    Mutant(
        name="bus_is_a_prefix",
        todo=5,
        find="    int found;\n"
        "    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)\n",
        replace="    int found;\n"
        "    char start[13];\n"
        '    snprintf(start, sizeof start, "%s", bus_id);\n'
        "    if (inv_result(cudaDeviceGetByPCIBusId(&found, start)) != LAB_OK)\n",
        rejected_by="by_bus",
        why="what stands behind an address is not looked at",
    ),
]

# SPDX-License-Identifier: MIT
"""Lab 01's mutants: what goes wrong when people list GPUs."""

from grader.mutants import Mutant

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
        find="    else if (error != cudaSuccess)\n"
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
        find="    (void)cudaSetDevice(before);\n    if (rc)\n        return rc;\n    *free_bytes",
        replace="    if (rc)\n        return rc;\n    *free_bytes",
        rejected_by="mem",
        why="the caller's next cudaMalloc goes to another GPU",
    ),
    Mutant(
        name="mem_restores_gpu_0",
        todo=3,
        find="    (void)cudaSetDevice(before);\n    if (rc)\n        return rc;\n    *free_bytes",
        replace="    (void)cudaSetDevice(0);\n    if (rc)\n        return rc;\n    *free_bytes",
        rejected_by="mem",
        why="not everybody started on GPU 0",
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
        find="    (void)cudaSetDevice(before);\n    if (!rc)\n",
        replace="    if (!rc)\n",
        rejected_by="alloc_each",
        why="the last GPU stays current",
    ),
    Mutant(
        name="alloc_leaks_on_failure",
        todo=4,
        find="    while (rc && i > 0)\n        (void)cudaFree(made[--i]);\n",
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
]

# SPDX-License-Identifier: MIT
"""What students believe in lab 01. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="no_device_is_failure",
        todo=1,
        belief="cudaErrorNoDevice is an error, so my function fails with it",
        find="if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)",
        replace="if (error == cudaErrorInsufficientDriver)",
        named=("no device|no GPU|without a GPU",),
    ),
    Misconception(
        name="no_driver_is_failure",
        todo=1,
        belief="without a driver CUDA is broken; only 'no device' means 0 GPUs",
        find="if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)",
        replace="if (error == cudaErrorNoDevice)",
        named=("driver",),
    ),
    Misconception(
        name="any_error_is_none",
        todo=1,
        belief="whatever goes wrong in cudaGetDeviceCount, it means that there is no GPU",
        find="""    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        count = 0; // a fact about the machine
    else if (inv_result(error) != LAB_OK)
        return LAB_ECUDA; // CUDA cannot say: that is not the same as "none"
""",
        replace="""    if (error != cudaSuccess)
        count = 0;
""",
        named=("cannot tell|cannot say|not the same|is not .?none|other error|any other",),
    ),
    Misconception(
        name="zero_is_a_safe_default",
        todo=1,
        belief="I set the output to 0 first: that is a safe default if the call fails",
        find="    cudaError_t error = cudaGetDeviceCount(&count);",
        replace="    *n = 0;\n    cudaError_t error = cudaGetDeviceCount(&count);",
        named=("kept|keeps?|untouched|as it was|changed",),
    ),
    Misconception(
        name="nobody_passes_null",
        todo=1,
        belief="nobody passes a null pointer; checking for it is the caller's business",
        find="    if (!n)\n        return LAB_EINVAL;\n",
        replace="",
        named=("null",),
    ),
    Misconception(
        name="clock_is_mhz",
        todo=2,
        belief="the clock attribute is in MHz, as every data sheet is",
        find="found.clock_mhz = clock_khz / 1000;",
        replace="found.clock_mhz = clock_khz;",
        named=("kHz",),
    ),
    Misconception(
        name="memory_fits_an_int",
        todo=2,
        belief="a number of bytes fits into an int",
        find="found.memory_bytes = prop.totalGlobalMem;",
        replace="int memory = (int)prop.totalGlobalMem;\n    found.memory_bytes = (size_t)memory;",
        named=("memory_bytes|size_t|32 bit|bytes of memory",),
    ),
    Misconception(
        name="l2_is_in_kib",
        todo=2,
        belief="the size of the L2 cache comes in KiB",
        find="found.l2_bytes = (size_t)l2_bytes;",
        replace="found.l2_bytes = (size_t)l2_bytes * 1024;",
        named=("l2", "bytes"),
    ),
    Misconception(
        name="uuid_is_text",
        todo=2,
        belief="a UUID is a string, so strncpy copies it",
        find="memcpy(found.uuid, prop.uuid.bytes, sizeof found.uuid);",
        replace="strncpy((char *)found.uuid, prop.uuid.bytes, sizeof found.uuid);",
        named=("uuid", "text|string|zero"),
    ),
    Misconception(
        name="copy_engines_are_concurrent_kernels",
        todo=2,
        belief="how many copies run beside kernels is what the property concurrentKernels says",
        find="found.copy_engines = prop.asyncEngineCount;",
        replace="found.copy_engines = prop.concurrentKernels;",
        named=("copy.?engines|asyncEngineCount",),
    ),
    Misconception(
        name="properties_of_the_current_device",
        todo=2,
        belief="questions about properties are answered for the current device",
        find="if ((rc = inv_result(cudaGetDeviceProperties(&prop, device))) ||",
        replace="""int current = device;
    cudaError_t there = cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
    if (there == cudaSuccess)
        (void)cudaGetDevice(&current);
    if ((rc = inv_result(cudaGetDeviceProperties(&prop, current))) ||""",
        named=("current|another GPU|of GPU",),
    ),
    Misconception(
        name="address_without_domain",
        todo=2,
        belief="a PCI address is bus:device.function, as lspci prints it",
        find="    snprintf(found.name, sizeof found.name",
        replace="""    snprintf(found.bus_id, sizeof found.bus_id, "%02X:%02X.0", prop.pciBusID, prop.pciDeviceID);
    snprintf(found.name, sizeof found.name""",
        named=("bus_id|address", "0000:|domain"),
    ),
    Misconception(
        name="unknown_number_is_einval",
        todo=2,
        belief="a GPU number that does not exist is an invalid argument",
        find="""    if (!info)
        return LAB_EINVAL;
""",
        replace="""    int gpus = 0;
    if (!info || cudaGetDeviceCount(&gpus) || device < 0 || device >= gpus)
        return LAB_EINVAL;
""",
        named=("LAB_ENOGPU|no GPU of that number|no such GPU",),
    ),
    Misconception(
        name="select_before_asking",
        todo=2,
        belief="to ask a GPU about its properties I must make it the current one",
        find="    memset(&found, 0, sizeof found);\n",
        replace="""    memset(&found, 0, sizeof found);
    int before;
    (void)cudaGetDevice(&before);
    if ((rc = inv_result(cudaSetDevice(device))))
        return rc;
    (void)inv_result(cudaSetDevice(before));
""",
        named=("context",),
    ),
    Misconception(
        name="capability_is_one_number",
        todo=2,
        belief="compute capability 9.0 is the number 90, its major part",
        find="found.major = prop.major;",
        replace="found.major = prop.major * 10 + prop.minor;",
        named=("major|capability",),
    ),
    Misconception(
        name="all_gpus_have_the_same_memory",
        todo=3,
        belief="cudaMemGetInfo answers for the machine; it does not matter which GPU is current",
        find="if (!(rc = inv_result(cudaSetDevice(device))))",
        replace="""int clock_khz;
    if (!(rc = inv_result(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device))))""",
        named=("current device|current GPU|is current",),
    ),
    Misconception(
        name="current_device_is_mine",
        todo=3,
        belief="who cares about the current device sets it before using it: I need not put it back",
        find="""    (void)inv_result(cudaSetDevice(before));
    if (rc)
        return rc;
    *free_bytes""",
        replace="""    if (rc)
        return rc;
    *free_bytes""",
        named=("current device|current GPU|is current",),
    ),
    Misconception(
        name="zero_was_current",
        todo=3,
        belief="device 0 is the current one unless I change it, so I go back to 0",
        find="""    (void)inv_result(cudaSetDevice(before));
    if (rc)
        return rc;
    *free_bytes""",
        replace="""    (void)cudaSetDevice(0);
    if (rc)
        return rc;
    *free_bytes""",
        named=("current device|current GPU|is current", "before"),
    ),
    Misconception(
        name="free_is_total",
        todo=3,
        belief="nothing runs on this GPU, so all of its memory is free",
        find="*free_bytes = free_now;",
        replace="*free_bytes = total_now;",
        named=("free",),
    ),
    Misconception(
        name="total_comes_first",
        todo=3,
        belief="cudaMemGetInfo gives the total first and then what is free of it",
        find="cudaMemGetInfo(&free_now, &total_now)",
        replace="cudaMemGetInfo(&total_now, &free_now)",
        named=("free", "total"),
    ),
    Misconception(
        name="set_device_cannot_fail",
        todo=3,
        belief="cudaSetDevice only notes a number; it cannot fail",
        find="""    if (!(rc = inv_result(cudaSetDevice(device))))
        rc = inv_result(cudaMemGetInfo(&free_now, &total_now));""",
        replace="""    (void)inv_result(cudaSetDevice(device));
    rc = inv_result(cudaMemGetInfo(&free_now, &total_now));""",
        named=("LAB_ENOGPU|no GPU of that number|no such GPU",),
    ),
    Misconception(
        name="one_current_device_a_process",
        todo=3,
        belief="there is one current device in a process; once asked, I know it",
        find="""    int before, rc;
    if ((rc = inv_result(cudaGetDevice(&before))))
        return rc;""",
        replace="""    static int before = -1;
    int rc;
    if (before < 0 && (rc = inv_result(cudaGetDevice(&before))))
        return rc;""",
        named=("current device|current GPU|is current",),
    ),
    Misconception(
        name="malloc_finds_its_gpu",
        todo=4,
        belief="buffer i goes to GPU i because I put it into element i",
        find="if ((rc = inv_result(cudaSetDevice(i))) || (rc = inv_result(cudaMalloc(&made[i], bytes))))",
        replace="if ((rc = inv_result(cudaMalloc(&made[i], bytes))))",
        named=("current device",),
    ),
    Misconception(
        name="failure_ends_the_program",
        todo=4,
        belief="when an allocation fails the program ends anyway; nothing has to be freed",
        find="""    while (rc && i > 0)
        (void)inv_result(cudaFree(made[--i]));
""",
        replace="",
        named=("leak|freed|free again|still allocated|given back|all or nothing",),
    ),
    Misconception(
        name="dangling_does_no_harm",
        todo=4,
        belief="pointers that were freed again may stand in the caller's array: he got an error",
        find="""    if (!rc)
        memcpy(buffers, made, (size_t)n * sizeof *buffers);""",
        replace="""    memcpy(buffers, made, (size_t)n * sizeof *buffers);""",
        named=("buffers",),
    ),
    Misconception(
        name="gpus_go_round",
        todo=4,
        belief="with fewer GPUs than buffers, the buffers go round over those there are",
        find="""    if (n > gpus || n > INV_MAX_GPUS)
        return LAB_ENOGPU;""",
        replace="""    if (gpus == 0 || n > INV_MAX_GPUS)
        return LAB_ENOGPU;
    if (n > gpus) {
        int current = 0;
        (void)cudaGetDevice(&current);
        for (; i < n; i++)
            if (cudaSetDevice(i % gpus) || cudaMalloc(&buffers[i], bytes))
                break;
        (void)cudaSetDevice(current);
        return LAB_OK;
    }""",
        named=("LAB_ENOGPU|fewer",),
    ),
    Misconception(
        name="nothing_to_do_is_an_error",
        todo=4,
        belief="no buffers at all makes no sense, so it is an error",
        find="    if (n < 0 || (n > 0 && !buffers))\n",
        replace="    if (n <= 0 || !buffers)\n",
        named=("n = 0|\\b0\\)|nothing",),
    ),
    Misconception(
        name="bytes_are_shared_out",
        todo=4,
        belief="the bytes are those of all GPUs together; each gets its share",
        find="cudaMalloc(&made[i], bytes)",
        replace="cudaMalloc(&made[i], bytes / (size_t)n)",
        named=("bytes",),
    ),
    Misconception(
        name="reset_tidies_up",
        todo=4,
        belief="cudaDeviceReset gives back what I have allocated; that is what it is for",
        find="""    while (rc && i > 0)
        (void)inv_result(cudaFree(made[--i]));
""",
        replace="""    while (rc && i > 0) {
        (void)cudaSetDevice(--i);
        (void)cudaDeviceReset();
    }
""",
        named=("reset|somebody else|others|caller's",),
    ),
    Misconception(
        name="errors_need_no_way_back",
        todo=4,
        belief="after a failure nobody minds which GPU is current",
        find="""    (void)inv_result(cudaSetDevice(before));
    if (!rc)
        memcpy(""",
        replace="""    if (!rc)
        (void)inv_result(cudaSetDevice(before));
    if (!rc)
        memcpy(""",
        named=("current device|current GPU|is current",),
    ),
    Misconception(
        name="not_found_is_cudas_error",
        todo=5,
        belief="an address that CUDA cannot read is a failure of CUDA, not the answer 'nobody'",
        find="""    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)
        return LAB_ENOGPU;""",
        replace="""    int rc = inv_result(cudaDeviceGetByPCIBusId(&found, bus_id));
    if (rc)
        return rc;""",
        named=("LAB_ENOGPU|nobody",),
    ),
    Misconception(
        name="addresses_are_compared_as_text",
        todo=5,
        belief="two addresses are the same when strcmp says so",
        find="""    if (inv_result(cudaDeviceGetByPCIBusId(&found, bus_id)) != LAB_OK)
        return LAB_ENOGPU;""",
        replace="""    int gpus = 0;
    char there[16];
    (void)inv_result(cudaGetDeviceCount(&gpus));
    for (found = 0; found < gpus; found++)
        if (!cudaDeviceGetPCIBusId(there, sizeof there, found) && !strcmp(there, bus_id))
            break;
    if (found == gpus)
        return LAB_ENOGPU;""",
        named=("case\\b|lower|upper|hexadecimal",),
    ),
    Misconception(
        name="numbers_follow_the_slots",
        todo=5,
        belief="CUDA numbers GPUs in the order of their slots, so I count those in front",
        find="    *device = found;\n",
        replace="""    int gpus = 0, in_front = 0, own = 0, other = 0;
    (void)cudaGetDeviceCount(&gpus);
    for (int i = 0; i < gpus; i++) {
        (void)cudaDeviceGetAttribute(&own, cudaDevAttrPciBusId, found);
        (void)cudaDeviceGetAttribute(&other, cudaDevAttrPciBusId, i);
        in_front += other < own;
    }
    *device = in_front;
""",
        named=("CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|order|slot",),
    ),
]

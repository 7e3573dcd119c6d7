# SPDX-License-Identifier: MIT
"""Lab 02's mutants: what goes wrong when people switch peer access on."""

from grader.course.mutants import Mutant, patched

MUTANTS = [
    Mutant(
        name="matrix_transposed",
        todo=1,
        find="found[from * n + to] = (uint8_t)(yes != 0);",
        replace="found[to * n + from] = (uint8_t)(yes != 0);",
        rejected_by="matrix_oneway",
        why="rows and columns swapped: right wherever access is symmetric",
    ),
    Mutant(
        name="matrix_asks_one_direction",
        todo=1,
        find="cudaDeviceCanAccessPeer(&yes, from, to)",
        replace="cudaDeviceCanAccessPeer(&yes, from < to ? from : to, from < to ? to : from)",
        rejected_by="matrix_oneway",
        why="takes the answer of one direction for both",
    ),
    Mutant(
        name="matrix_more_than_there_are",
        todo=1,
        find="    if (n > peer_gpus())\n        return LAB_ENOGPU;\n",
        replace="",
        rejected_by="matrix",
        why="asks for GPUs that are not there, and reports CUDA's complaint as a failure of CUDA",
    ),
    Mutant(
        name="attrs_atomics_from_access",
        todo=2,
        find="cudaDevP2PAttrNativeAtomicSupported",
        replace="cudaDevP2PAttrAccessSupported",
        rejected_by="attrs_pcie",
        why="copied the line above: over PCIe there is access without native atomics",
    ),
    Mutant(
        name="enable_one_way",
        todo=3,
        find="            if (a != b)\n                rc = enable_direction(",
        replace="            if (a < b)\n                rc = enable_direction(",
        rejected_by="enable",
        why="forgot the reverse direction",
    ),
    Mutant(
        name="enable_without_set_device",
        todo=3,
        find="struct peer_undo *undo)\n{\n    cudaError_t error = cudaSetDevice(from);",
        replace="struct peer_undo *undo)\n{\n    cudaError_t error = cudaSuccess;",
        rejected_by="enable",
        why="the direction begins at the current device, whatever `from` says",
    ),
    Mutant(
        name="enable_leaves_the_error_behind",
        todo=3,
        find="        cudaGetLastError();\n        return LAB_OK;\n",
        replace="        return LAB_OK;\n",
        rejected_by="enable_again",
        why="the caller's next cudaGetLastError() says 'already enabled' of an innocent launch",
    ),
    Mutant(
        name="enable_again_is_a_failure",
        todo=3,
        find="    if (error == cudaErrorPeerAccessAlreadyEnabled) {",
        replace="    if (error == cudaErrorPeerAccessNotEnabled) {",
        rejected_by="enable_again",
        why="whoever was there first made this call fail",
    ),
    Mutant(
        name="enable_notes_what_was_on",
        todo=3,
        find="    if (error == cudaSuccess)\n        peer_note",
        replace="    if (error == cudaSuccess || error == cudaErrorPeerAccessAlreadyEnabled)\n"
        "        peer_note",
        rejected_by="enable_again",
        why="the undo later takes away access that somebody else relies on",
    ),
    Mutant(
        name="enable_without_rollback",
        todo=3,
        find="    if (rc != LAB_OK)\n        peer_disable(&done);\n",
        replace="",
        rejected_by="enable_rollback",
        why="left-over peer access after a failure",
    ),
    Mutant(
        name="enable_moves_the_current_device",
        todo=3,
        find="        peer_disable(&done);\n    peer_result(cudaSetDevice(before));\n",
        replace="        peer_disable(&done);\n",
        rejected_by="enable",
        why="the caller's next cudaMalloc lands on another GPU",
    ),
    Mutant(
        name="disable_forgets_the_first",
        todo=4,
        find="    while (undo->count > 0) {",
        replace="    while (undo->count > 1) {",
        rejected_by="disable",
        why="off by one: a single direction stays on",
    ),
    Mutant(
        name="disable_stops_at_a_surprise",
        todo=4,
        find="            rc = failed; // go on",
        replace="            rc = failed;\n        if (failed != LAB_OK)\n            break; // go on",
        rejected_by="hidden.disable_others",
        why="one direction that was off already keeps the others on",
    ),
    Mutant(
        name="class_atomics_without_access",
        todo=5,
        find="!attr->access ? PEER_NONE : attr->atomics ? PEER_ATOMIC : PEER_PLAIN",
        replace="attr->atomics ? PEER_ATOMIC : attr->access ? PEER_PLAIN : PEER_NONE",
        rejected_by="class",
        why="believes an attribute that means nothing without access",
    ),
    Mutant(
        name="probe_only_asks",
        todo=6,
        find="    if (!attr.access) {\n        *works = 0;\n",
        replace="    if (attr.access || !attr.access) {\n"
        "        *works = (attr.access ? PEER_STORES_ARRIVE : 0) |\n"
        "                 (attr.atomics ? PEER_ATOMICS_ADD_UP : 0);\n",
        rejected_by="probe_tries",
        why="takes the runtime's word for it: CUDA can report access although stores do not arrive",
    ),
    Mutant(
        name="probe_memset_unfinished",
        todo=6,
        grave="race",
        find="cudaMemset(word, 0, sizeof got) || cudaDeviceSynchronize())",
        replace="cudaMemset(word, 0, sizeof got))",
        rejected_by="probe",
        why="cudaMemset has not run yet when the other GPU writes: it wipes out what arrived",
    ),
    Mutant(
        name="probe_does_not_wait",
        todo=6,
        grave="race",
        find="cudaSetDevice(from) || cudaDeviceSynchronize() ||\n            cudaSetDevice(to) ||",
        replace="cudaSetDevice(to) ||",
        rejected_by="probe",
        why="the owner looks while the other GPU's stores are still on their way",
    ),
    Mutant(
        name="probe_never_looks",
        todo=6,
        find="        *works = probe_judge(got);\n",
        replace="        *works = PEER_STORES_ARRIVE | (attr.atomics ? PEER_ATOMICS_ADD_UP : 0);\n",
        rejected_by="probe",
        why="launches its kernels, looks at nothing, and says what the runtime promised",
    ),
    Mutant(
        name="probe_adds_nothing",
        todo=6,
        find="        atomicAdd_system(&word[PROBE_WORDS], 1u);\n",
        replace="        word[PROBE_WORDS] = 2 * PROBE_WORDS;\n",
        rejected_by="probe",
        why="stores the sum that atomic additions would have given",
    ),
    Mutant(
        name="probe_leaves_access_on",
        todo=6,
        grave="leak",
        find="    int undone = peer_disable(&undo);\n",
        replace="    int undone = LAB_OK;\n",
        rejected_by="probe",
        why="left-over peer access after a success",
    ),
    Mutant(
        name="probe_leaks",
        todo=6,
        grave="leak",
        find="    peer_result(cudaFree(word));\n",
        replace="",
        rejected_by="probe",
        why="a kilobyte lost with every probe",
    ),
    Mutant(
        name="probe_hides_access_that_stays",
        todo=6,
        find="    if (rc == LAB_OK)\n        rc = undone; // access that stays on is no success\n",
        replace="    (void)undone;\n",
        rejected_by="probe",
        why="the caller believes that access is as it was, and it is on",
    ),
    Mutant(
        name="probe_enables_both_ways",
        todo=6,
        find="rc = enable_direction(from, to, &undo); // this direction only",
        replace="{\n        int both[2] = {from, to};\n        rc = peer_enable(both, 2, &undo);\n    }"
        " // this direction only",
        rejected_by="hidden.probe_oneway",
        why="asks for a direction that it does not need and that may not exist",
    ),
    Mutant(
        name="dot_without_nodes",
        todo=7,
        find="    for (int gpu = 0; gpu < n; gpu++)\n"
        '        fprintf(out, "    gpu%d [label=\\"GPU %d\\"];\\n", gpu, gpu);\n',
        replace="",
        rejected_by="dot",
        why="a GPU without peers is missing from the picture",
    ),
    Mutant(
        name="dot_one_edge_a_pair",
        todo=7,
        find="if (from == to || peer_class",
        replace="if (from >= to || peer_class",
        rejected_by="dot",
        why="draws a pair once: half of the directions are missing",
    ),
    Mutant(
        name="dot_never_flushes",
        todo=7,
        find="return fflush(out) == 0 && !ferror(out) ? LAB_OK : LAB_ERANGE;",
        replace="return LAB_OK;",
        rejected_by="hidden.dot_stream",
        why="a full disk goes unnoticed",
    ),
    Mutant(
        name="matrix_knows_the_machine",
        todo=1,
        find="            found[from * n + to] = (uint8_t)(yes != 0);\n",
        replace="            found[from * n + to] = (uint8_t)(from != to);\n",
        rejected_by="matrix",
        why="everybody reaches everybody, as on the machine that it was written on",
    ),
    Mutant(
        name="attrs_knows_the_machine",
        todo=2,
        find="    *attr = got;\n",
        replace="    got.rank = 0;\n    got.access = got.atomics = 1;\n    *attr = got;\n",
        rejected_by="attrs",
        why="NVLink between all, as on the machine that it was written on",
    ),
    Mutant(
        name="enable_in_name_only",
        todo=3,
        find="#include <string.h>\n",
        replace="#include <string.h>\n"
        + patched(
            "static int is_on[64][64];\n\n"
            "static cudaError_t own_cudaDeviceEnablePeerAccess(int peer, unsigned flags)\n"
            "{\n"
            "    int device = 0, can = 0;\n"
            "    (void)flags;\n"
            "    (void)cudaGetDevice(&device);\n"
            "    (void)cudaDeviceCanAccessPeer(&can, device, peer);\n"
            "    if (!can || is_on[device][peer])\n"
            "        return can ? cudaErrorPeerAccessAlreadyEnabled : "
            "cudaErrorPeerAccessUnsupported;\n"
            "    is_on[device][peer] = 1;\n"
            "    return cudaSuccess;\n"
            "}\n\n"
            "static cudaError_t own_cudaDeviceDisablePeerAccess(int peer)\n"
            "{\n"
            "    int device = 0;\n"
            "    (void)cudaGetDevice(&device);\n"
            "    if (!is_on[device][peer])\n"
            "        return cudaErrorPeerAccessNotEnabled;\n"
            "    is_on[device][peer] = 0;\n"
            "    return cudaSuccess;\n"
            "}\n",
            "cudaDeviceEnablePeerAccess",
            "cudaDeviceDisablePeerAccess",
        ),
        rejected_by="enable",
        why="the process keeps a list of its own, and no GPU reaches another",
    ),
    Mutant(
        name="probe_by_a_copy",
        todo=6,
        find="        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics); "
        "// on `from`: it is current since then\n",
        replace="        for (unsigned i = 0; i < PROBE_WORDS; i++)\n"
        "            got[i] = PROBE_MARK + i;\n"
        "        got[PROBE_WORDS] = attr.atomics ? PROBE_WORDS : 0;\n"
        "        cudaMemcpy(word, got, sizeof got, cudaMemcpyHostToDevice);\n",
        rejected_by="probe",
        why="the host writes what a kernel of the other GPU should have written",
    ),
    Mutant(
        name="matrix_of_17",
        todo=1,
        find="if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && can == NULL))",
        replace="if (n < 0 || (n > 0 && can == NULL))",
        rejected_by="hidden.matrix",
        why="no bound: the table is written past its end",
    ),
    Mutant(
        name="matrix_of_none_is_an_error",
        todo=1,
        find="if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && can == NULL))",
        replace="if (n <= 0 || n > PEER_MAX_GPUS || can == NULL)",
        rejected_by="matrix",
        why="nothing is asked for, and that is fine",
    ),
    Mutant(
        name="enable_writes_undo_early",
        todo=3,
        find="    done.count = 0;\n",
        replace="    done.count = 0;\n    if (undo)\n        undo->count = 0;\n",
        rejected_by="enable_rollback",
        why="the caller's list is gone when the call fails",
    ),
    Mutant(
        name="enable_one_is_too_few",
        todo=3,
        find="    if (n < 2) {\n",
        replace="    if (n < 2)\n        return LAB_EINVAL;\n    if (n < 2) {\n",
        rejected_by="hidden.enable_few",
        why="a list of one GPU has all its pairs switched on",
    ),
    Mutant(
        name="disable_twice_fails",
        todo=4,
        find="    if (undo->count == 0)\n        return LAB_OK;\n",
        replace="    if (undo->count == 0)\n        return LAB_EINVAL;\n",
        rejected_by="disable",
        why="the second call finds nothing to do, and that is fine",
    ),
    Mutant(
        name="disable_resets_the_gpu",
        todo=4,
        find="    peer_result(cudaSetDevice(before));\n    return rc;\n    // END SOLUTION\n    // STUB: TODO(4);",
        replace="    cudaDeviceReset();\n    peer_result(cudaSetDevice(before));\n    return rc;\n    // END SOLUTION\n    // STUB: TODO(4);",
        rejected_by="disable",
        why="peer access is off then, and the memory is gone",
    ),
    Mutant(
        name="disable_moves_the_current_device",
        todo=4,
        find="    peer_result(cudaSetDevice(before));\n    return rc;\n    // END SOLUTION\n    // STUB: TODO(4);",
        replace="    return rc;\n    // END SOLUTION\n    // STUB: TODO(4);",
        rejected_by="disable",
        why="the caller's next cudaMalloc lands on another GPU",
    ),
    Mutant(
        name="class_writes_for_nothing",
        todo=5,
        find="    if (attr == NULL || kind == NULL)\n        return LAB_EINVAL;\n",
        replace="    if (attr == NULL && kind != NULL)\n        *kind = PEER_NONE;\n    if (attr == NULL || kind == NULL)\n        return LAB_EINVAL;\n",
        rejected_by="class",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="probe_atomics_everywhere",
        todo=6,
        find="        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics);",
        replace="        probe<<<1, PROBE_WORDS>>>(word, 1, 1);",
        rejected_by="probe_pcie",
        why="atomics over a link that has none",
    ),
    Mutant(
        name="dot_diagonal",
        todo=7,
        find="            if (from == to || peer_class(",
        replace="            if (peer_class(",
        rejected_by="hidden.dot",
        why="a GPU that reaches itself",
    ),
    Mutant(
        name="dot_asks_how_many_there_are",
        todo=7,
        find='    fprintf(out, "digraph peers {\\n");\n',
        replace='    if (n > peer_gpus())\n        return LAB_ENOGPU;\n    fprintf(out, "digraph peers {\\n");\n',
        rejected_by="hidden.dot",
        why="a picture of another machine's table is a picture all the same",
    ),
    Mutant(
        name="attrs_writes_as_it_asks",
        todo=2,
        find="    int rc = attr",
        replace="    if (attr)\n        memset(attr, 0, sizeof *attr);\n    int rc = attr",
        rejected_by="attrs",
        why="the caller's struct is wiped by a call that then fails",
    ),
    Mutant(
        name="attrs_the_same_gpu_twice",
        todo=2,
        find="    if (rc != LAB_OK)\n        return rc;\n    // TODO(2)",
        replace="    if (rc != LAB_OK && from != to)\n        return rc;\n    // TODO(2)",
        rejected_by="attrs",
        why="a GPU is not a peer of itself",
    ),
    Mutant(
        name="matrix_clears_first",
        todo=1,
        find="    if (n > peer_gpus())\n        return LAB_ENOGPU;\n",
        replace="    if (n > 0)\n        memset(can, 0, (size_t)n * n);\n    if (n > peer_gpus())\n        return LAB_ENOGPU;\n",
        rejected_by="matrix",
        why="the caller's table is wiped by a call that then fails",
    ),
    Mutant(
        name="probe_trusts_its_launches",
        todo=6,
        find="if (cudaPeekAtLastError() || cudaSetDevice(from)",
        replace="if (cudaSetDevice(from)",
        rejected_by="probe",
        why="a kernel that was never launched has lost nothing",
    ),
    Mutant(
        name="enable_believes_the_current_device",
        todo=3,
        find="    done.count = 0;\n    if ((rc = peer_result(cudaGetDevice(&before))) != LAB_OK)\n        return rc;\n",
        replace="    done.count = 0;\n    peer_result(cudaGetDevice(&before));\n",
        rejected_by="enable_arguments",
        why="where CUDA cannot say which device is current, GPU 0 becomes it",
    ),
    Mutant(
        name="enable_asks_then_trusts",
        todo=3,
        find="    if (rc != LAB_OK)\n        peer_disable(&done);\n",
        replace="    int yes = 1;\n"
        "    for (int a = 0; a < n && yes; a++)\n"
        "        for (int b = 0; b < n && yes; b++)\n"
        "            if (a != b)\n"
        "                cudaDeviceCanAccessPeer(&yes, gpu[a], gpu[b]);\n"
        "    if (rc != LAB_OK && !yes)\n"
        "        peer_disable(&done);\n",
        rejected_by="enable_rollback",
        why="where access is possible, switching it on can fail all the same",
    ),
    Mutant(
        name="disable_hides_the_error",
        todo=4,
        find="    if ((rc = peer_result(cudaGetDevice(&before))) != LAB_OK)\n        return rc;\n    while",
        replace="    rc = LAB_OK;\n    if (peer_result(cudaGetDevice(&before)) != LAB_OK)\n"
        "        return LAB_OK;\n    while",
        rejected_by="disable",
        why="access stays on and the caller is told that it is off",
    ),
    Mutant(
        name="enable_counts_before_it_has_a_value",
        todo=3,
        find="int rc = undo != NULL ? peer_check(gpu, n)",
        replace="int rc = undo != NULL ? peer_check(gpu, rc)",
        rejected_by="enable_rollback",
        why="a variable is read that was never set: now and then it is the right number",
    ),
    Mutant(
        name="probe_skips_the_first_word",
        todo=6,
        find="for (unsigned i = 0; i < PROBE_WORDS; i++)",
        replace="for (unsigned i = 1; i < PROBE_WORDS; i++)",
        rejected_by="probe_tries",
        why="counts words from 1, so the first one may be lost",
    ),
    Mutant(
        name="dot_in_eight_kilobytes",
        todo=7,
        find="    enum peer_kind kind = PEER_NONE;\n",
        replace="    enum peer_kind kind = PEER_NONE;\n"
        "    int room = 8192;\n"
        "#define fprintf(stream, ...) \\\n"
        "    ((room -= snprintf(NULL, 0, __VA_ARGS__)) > 0 ? (fprintf)(stream, __VA_ARGS__) : 0)\n",
        rejected_by="hidden.dot",
        why="enough for the tables that were tried, and not for 240 edges",
    ),
]

# SPDX-License-Identifier: MIT
"""What students believe in lab 02. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="reach_is_mutual",
        todo=1,
        belief="if a can reach b then b can reach a: one question a pair is enough",
        find="            found[from * n + to] = (uint8_t)(yes != 0);",
        replace="""            if (from > to)
                yes = found[to * n + from];
            found[from * n + to] = (uint8_t)(yes != 0);""",
        named=("direction|one way|other way|both ways",),
    ),
    Misconception(
        name="rows_are_receivers",
        todo=1,
        belief="a row of the table is whose memory it is, a column who reaches it",
        find="found[from * n + to] = (uint8_t)(yes != 0);",
        replace="found[to * n + from] = (uint8_t)(yes != 0);",
        named=("direction|from \\* n|other way",),
    ),
    Misconception(
        name="rows_are_as_long_as_possible",
        todo=1,
        belief="a row has PEER_MAX_GPUS entries, as the arrays of the lab have",
        find="found[from * n + to] = (uint8_t)(yes != 0);",
        replace="found[(from * PEER_MAX_GPUS + to) % sizeof found] = (uint8_t)(yes != 0);",
        named=("\\* n|row",),
    ),
    Misconception(
        name="own_peer",
        todo=1,
        belief="a GPU can access its own memory, so the diagonal is 1",
        find="            int yes = 0;\n            if (from != to) {",
        replace="            int yes = 1;\n            if (from != to) {",
        named=("diagonal|itself",),
    ),
    Misconception(
        name="question_of_the_current_gpu",
        todo=1,
        belief="cudaDeviceCanAccessPeer wants the asking GPU to be current",
        find="                int rc = peer_result(cudaDeviceCanAccessPeer(&yes, from, to));",
        replace="""                int rc = peer_result(cudaSetDevice(from));
                if (rc == LAB_OK)
                    rc = peer_result(cudaDeviceCanAccessPeer(&yes, from, to));""",
        named=("current",),
    ),
    Misconception(
        name="as_many_as_there_are",
        todo=1,
        belief="who asks for more GPUs than there are gets the table of those there are",
        find="    if (n > peer_gpus())\n        return LAB_ENOGPU;\n",
        replace="    if (n > peer_gpus())\n        n = peer_gpus();\n",
        named=("LAB_ENOGPU|fewer|not there",),
    ),
    Misconception(
        name="one_machine_one_memory",
        todo=1,
        belief="GPUs of one machine can always reach each other: addresses are unified",
        find="                int rc = peer_result(cudaDeviceCanAccessPeer(&yes, from, to));",
        replace="                int rc = LAB_OK;\n                yes = 1;",
        named=("cannot|can not|no access|not every|may differ|CanAccessPeer",),
    ),
    Misconception(
        name="higher_rank_is_better",
        todo=2,
        belief="a higher performance rank is a better link, so 1 is the best and 0 the worst",
        find="    *attr = got;\n",
        replace="    got.rank = !got.rank;\n    *attr = got;\n",
        named=("rank", "best|better|worse"),
    ),
    Misconception(
        name="no_access_is_an_error",
        todo=2,
        belief="GPUs without access have no attributes: that is LAB_ENOPEER",
        find="    *attr = got;\n",
        replace="    if (!got.access)\n        return LAB_ENOPEER;\n    *attr = got;\n",
        named=("an answer|no error|not an error",),
    ),
    Misconception(
        name="access_brings_atomics",
        todo=2,
        belief="where there is access there are atomics",
        find="    *attr = got;\n",
        replace="    got.atomics = got.access;\n    *attr = got;\n",
        named=("atomic",),
    ),
    Misconception(
        name="link_to_itself",
        todo=2,
        belief="a GPU is linked to itself, by the best link of all",
        find="    if (rc != LAB_OK)\n        return rc;\n    // TODO(2)",
        replace="""    if (attr != NULL && from == to && from >= 0 && from < peer_gpus()) {
        attr->access = attr->atomics = 1;
        attr->rank = 0;
        return LAB_OK;
    }
    if (rc != LAB_OK)
        return rc;
    // TODO(2)""",
        named=("itself|same GPU|twice|two different",),
    ),
    Misconception(
        name="cuda_checks_the_numbers",
        todo=2,
        belief="CUDA checks the GPU numbers, and its error says all that there is to say",
        find="int rc = attr != NULL ? peer_check(pair, 2) : (int)LAB_EINVAL;",
        replace="int rc = attr != NULL && pair[0] != pair[1] ? LAB_OK : (int)LAB_EINVAL;",
        named=("LAB_EINVAL|LAB_ENOGPU",),
    ),
    Misconception(
        name="enabling_opens_both_ways",
        todo=3,
        belief="cudaDeviceEnablePeerAccess connects two GPUs; once a pair is enough",
        find="            if (a != b)\n                rc = enable_direction",
        replace="            if (a < b)\n                rc = enable_direction",
        named=("direction|both ways",),
    ),
    Misconception(
        name="already_on_is_failure",
        todo=3,
        belief="cudaErrorPeerAccessAlreadyEnabled is a failure like any other",
        find="""        cudaGetLastError();
        return LAB_OK;
    }
    return peer_result(error);""",
        replace="""        cudaGetLastError();
        return LAB_ECUDA;
    }
    return peer_result(error);""",
        named=("already|was on|on before",),
    ),
    Misconception(
        name="ignoring_is_enough",
        todo=3,
        belief="to tolerate 'already enabled' it is enough not to look at the result",
        find="""        cudaGetLastError();
        return LAB_OK;
    }
    return peer_result(error);""",
        replace="""        return LAB_OK;
    }
    return peer_result(error);""",
        named=("cudaGetLastError|left behind",),
    ),
    Misconception(
        name="what_is_on_is_mine",
        todo=3,
        belief="all that is on after my call is noted, whoever switched it on",
        find="    if (error == cudaErrorPeerAccessAlreadyEnabled) {",
        replace="""    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        undo->pair[undo->count].from = from;
        undo->pair[undo->count].to = to;
        undo->count++;""",
        named=("already|was on|on before|undo",),
    ),
    Misconception(
        name="half_is_better_than_nothing",
        todo=3,
        belief="if one direction cannot be had, the others may stay on: better than nothing",
        find="    if (rc != LAB_OK)\n        peer_disable(&done);\n    peer_result(cudaSetDevice(before));",
        replace="    cudaSetDevice(before);",
        named=("off again|back|as it was|stays? on|left on|is on",),
    ),
    Misconception(
        name="enabling_needs_no_current_gpu",
        todo=3,
        belief="enabling access to a GPU opens it to all GPUs of the process",
        find="    cudaError_t error = cudaSetDevice(from);\n\n    if (error == cudaSuccess)\n        error = cudaDeviceEnablePeerAccess(to, 0);",
        replace="""    int now = 0;
    cudaError_t error = cudaGetDevice(&now);

    if (now == to)
        return LAB_OK;
    if (error == cudaSuccess)
        error = cudaDeviceEnablePeerAccess(to, 0);""",
        named=("current|direction|both ways",),
    ),
    Misconception(
        name="access_is_transitive",
        todo=3,
        belief="access is passed on: from 0 to 1 and from 1 to 2 is from 0 to 2",
        find="            if (a != b)\n                rc = enable_direction",
        replace="            if (b == (a + 1) % n || a == (b + 1) % n)\n                rc = enable_direction",
        named=("every pair|each pair|all pairs|every ordered pair",),
    ),
    Misconception(
        name="list_positions_are_numbers",
        todo=3,
        belief="the i-th GPU of the list is GPU i",
        find="rc = enable_direction(gpu[a], gpu[b], &done);",
        replace="rc = enable_direction(a, b, &done);",
        named=("list",),
    ),
    Misconception(
        name="off_means_all_off",
        todo=4,
        belief="disable means that nobody has access afterwards: I switch everything off",
        find="    while (undo->count > 0) {",
        replace="""    for (int from = 0; from < peer_gpus(); from++)
        for (int to = 0; to < peer_gpus(); to++)
            if (from != to && !cudaSetDevice(from) && cudaDeviceDisablePeerAccess(to))
                cudaGetLastError();
    while (undo->count > 0) {""",
        named=("somebody|exactly|others|noted|undo|before",),
    ),
    Misconception(
        name="the_list_is_the_callers",
        todo=4,
        belief="the undo list is input; emptying it is not my business",
        find="    int before = 0, rc;\n",
        replace="    struct peer_undo mine = *undo;\n    int before = 0, rc;\n\n    undo = &mine;\n",
        named=("count|second call|twice",),
    ),
    Misconception(
        name="off_already_is_failure",
        todo=4,
        belief="switching off what is off already is a mistake that I must report",
        find="if (failed != LAB_OK && error != cudaErrorPeerAccessNotEnabled)",
        replace="if (failed != LAB_OK)",
        named=("off already|already off|somebody|no error|switched off",),
    ),
    Misconception(
        name="first_failure_ends_it",
        todo=4,
        belief="when one direction cannot be switched off there is no point in going on",
        find="""        int failed = peer_result(error);
        if (failed != LAB_OK && error""",
        replace="""        int failed = peer_result(error);
        if (failed != LAB_OK) {
            cudaSetDevice(before);
            undo->count = 0;
            return error == cudaErrorPeerAccessNotEnabled ? (int)LAB_OK : failed;
        }
        if (failed != LAB_OK && error""",
        named=("others|still on|is on|go on|rest",),
    ),
    Misconception(
        name="atomics_speak_for_themselves",
        todo=5,
        belief="native atomics are the best link, whatever else the attributes say",
        find="*kind = !attr->access ? PEER_NONE : attr->atomics ? PEER_ATOMIC : PEER_PLAIN;",
        replace="*kind = attr->atomics ? PEER_ATOMIC : attr->access ? PEER_PLAIN : PEER_NONE;",
        named=("without access|access",),
    ),
    Misconception(
        name="best_rank_means_atomics",
        todo=5,
        belief="rank 0 is NVLink, and NVLink has atomics",
        find="*kind = !attr->access ? PEER_NONE : attr->atomics ? PEER_ATOMIC : PEER_PLAIN;",
        replace="*kind = !attr->access ? PEER_NONE : attr->rank == 0 ? PEER_ATOMIC : PEER_PLAIN;",
        named=("rank",),
    ),
    Misconception(
        name="owner_opens_its_memory",
        todo=6,
        belief="the GPU that owns the memory opens it for the other one",
        find="        rc = enable_direction(from, to, &undo); // this direction only: the other may not exist",
        replace="""        rc = enable_direction(to, from, &undo);
    if (rc == LAB_OK)
        rc = peer_result(cudaSetDevice(from));""",
        named=("from ->|direction|who (wants to )?reach",),
    ),
    Misconception(
        name="memset_has_happened",
        todo=6,
        grave="race",
        belief="when cudaMemset comes back the memory is zero, for every GPU",
        find="        cudaMemset(word, 0, sizeof got) || cudaDeviceSynchronize())\n",
        replace="        cudaMemset(word, 0, sizeof got))\n",
        named=("memset|not ordered|unordered|without (an )?order",),
    ),
    Misconception(
        name="atomic_is_atomic",
        todo=6,
        grave="race",
        belief="atomicAdd is atomic, whoever else adds",
        find="atomicAdd_system(&word[PROBE_WORDS], 1u);",
        replace="atomicAdd(&word[PROBE_WORDS], 1u);",
        named=("_system|scope",),
    ),
    Misconception(
        name="one_after_the_other",
        todo=6,
        belief="atomics across GPUs are tried just as well when one GPU adds after the other",
        find="        cudaSetDevice(to);\n        probe<<<1, PROBE_WORDS>>>(word, 0, attr.atomics);",
        replace="        cudaDeviceSynchronize();\n        cudaSetDevice(to);\n        probe<<<1, PROBE_WORDS>>>(word, 0, attr.atomics);",
        named=("same time|meet|at once|together",),
    ),
    Misconception(
        name="one_word_proves_all",
        todo=6,
        belief="if the first word arrived, all of them did",
        find="    for (unsigned i = 0; i < PROBE_WORDS; i++)\n        if (got[i]",
        replace="    for (unsigned i = 0; i < 1; i++)\n        if (got[i]",
        named=("every word|all words|some (words|stores)|words? .*(lost|missing|not arrive)",),
    ),
    Misconception(
        name="saying_is_arriving",
        todo=6,
        belief="the attributes say what works; trying it is a waste of time",
        find="    if (rc == LAB_OK)\n        *works = probe_judge(got);",
        replace="    if (rc == LAB_OK)\n        *works = PEER_STORES_ARRIVE | (attr.atomics ? PEER_ATOMICS_ADD_UP : 0);",
        named=("arriv|really|try|tried",),
    ),
    Misconception(
        name="probed_means_wanted",
        todo=6,
        grave="leak",
        belief="who probes a direction wants to use it: access may stay on",
        find="    int undone = peer_disable(&undo);\n",
        replace="    int undone = LAB_OK;\n",
        named=("access", "off|on|before|as (you|it) (found|was)"),
    ),
    Misconception(
        name="a_direction_needs_its_opposite",
        todo=6,
        belief="stores need access in both directions: something must come back",
        find="        rc = enable_direction(from, to, &undo); // this direction only: the other may not exist",
        replace="""        rc = enable_direction(to, from, &undo);
    if (rc == LAB_OK)
        rc = enable_direction(from, to, &undo);""",
        named=("one direction|one way|only direction|this direction|other direction|other way",),
    ),
    Misconception(
        name="atomics_work_where_stores_do",
        todo=6,
        belief="where stores arrive atomics add up, so I need not ask whether they are native",
        find="        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics); // on `from`: it is current since then\n        cudaSetDevice(to);\n        probe<<<1, PROBE_WORDS>>>(word, 0, attr.atomics); // before the wait: they are to meet",
        replace="        probe<<<1, PROBE_WORDS>>>(word, 1, 1);\n        cudaSetDevice(to);\n        probe<<<1, PROBE_WORDS>>>(word, 0, 1);",
        named=("native",),
    ),
    Misconception(
        name="kernels_run_where_pointers_lead",
        todo=6,
        belief="a kernel runs on the GPU whose memory it gets",
        find="        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics); // on `from`: it is current since then\n        cudaSetDevice(to);",
        replace="        cudaSetDevice(to);\n        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics);",
        named=("current|kernel (on|of) `?(from|GPU)|ran on|runs on",),
    ),
    Misconception(
        name="edges_make_the_nodes",
        todo=7,
        belief="Graphviz draws a node for whatever an edge names; nodes need no lines of their own",
        find="""    for (int gpu = 0; gpu < n; gpu++)
        fprintf(out, "    gpu%d [label=\\"GPU %d\\"];\\n", gpu, gpu);
""",
        replace="",
        named=("node", "without|no edge|every GPU|missing"),
    ),
    Misconception(
        name="dashes_are_arrows",
        todo=7,
        belief="'--' is how DOT writes an edge, in a digraph too",
        find='"    gpu%d -> gpu%d [label=',
        replace='"    gpu%d -- gpu%d [label=',
        named=("digraph|->",),
    ),
    Misconception(
        name="fprintf_would_have_said",
        todo=7,
        belief="if the disk were full fprintf would have said so",
        find="    return fflush(out) == 0 && !ferror(out) ? LAB_OK : LAB_ERANGE;",
        replace="    return !ferror(out) ? LAB_OK : LAB_ERANGE;",
        named=("flush|buffer",),
    ),
    Misconception(
        name="the_diagonal_is_zero",
        todo=7,
        belief="nobody has access to itself in the table, so the diagonal draws nothing",
        find="if (from == to || peer_class(",
        replace="if (peer_class(",
        named=("diagonal|itself",),
    ),
    Misconception(
        name="who_writes_closes",
        todo=7,
        belief="when I am done with a stream I close it",
        find="    return fflush(out) == 0 && !ferror(out) ? LAB_OK : LAB_ERANGE;",
        replace="    return fclose(out) == 0 ? LAB_OK : LAB_ERANGE;",
        named=("close",),
    ),
]

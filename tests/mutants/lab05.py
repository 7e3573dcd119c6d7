# SPDX-License-Identifier: MIT
"""Lab 05's mutants: what goes wrong when processes share GPU memory."""

from grader.course.mutants import Mutant

MUTANTS = [
    Mutant(
        name="export_forgets_the_offset",
        todo=1,
        find="    made.offset = offset;\n",
        replace="    made.offset = 0 * offset;\n",
        rejected_by="export",
        why="the handle opens at the allocation's beginning",
    ),
    Mutant(
        name="export_of_the_inner_pointer",
        todo=1,
        find="    made.offset = offset;\n",
        replace="    made.offset = 0;\n"
        "    (void)cudaIpcGetMemHandle(&made.handle, (char *)base + offset);\n",
        rejected_by="export",
        why="every pointer into an allocation gives the same handle: the offset is lost",
    ),
    Mutant(
        name="export_leaves_the_last_error",
        todo=1,
        find="    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))\n        return rc;\n",
        replace="    rc = 0;\n    (void)rc;\n    if (cudaIpcGetMemHandle(&made.handle, base) != cudaSuccess)\n"
        "        return LAB_ECUDA;\n",
        rejected_by="export_bad",
        why="the caller's next check blames an innocent call",
    ),
    Mutant(
        name="import_forgets_the_offset",
        todo=2,
        find="(char *)base + wire->offset;",
        replace="(char *)base;",
        rejected_by="import",
        why="reads the beginning of somebody's allocation",
    ),
    Mutant(
        name="import_closes_nothing_later",
        todo=2,
        find="    remote->base = base;\n",
        replace="    remote->base = (char *)base + wire->offset;\n",
        rejected_by="import",
        why="cudaIpcCloseMemHandle wants what cudaIpcOpenMemHandle gave",
    ),
    Mutant(
        name="import_as_if_threads_were_processes",
        todo=2,
        find="    if ((rc =\n"
        "             ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, "
        "cudaIpcMemLazyEnablePeerAccess))))\n        return rc;\n",
        replace="    base = NULL;\n"
        "    rc = (int)cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess);\n"
        "    (void)cudaGetLastError();\n"
        "    if (rc && rc != cudaErrorDeviceUninitialized)\n        return LAB_ECUDA;\n",
        rejected_by="import_bad",
        why="error 201 in the exporting process: the demonstration with threads ignores it",
    ),
    Mutant(
        name="events_without_interprocess",
        todo=3,
        find="flags = cudaEventInterprocess | cudaEventDisableTiming;",
        replace="flags = cudaEventDisableTiming;",
        rejected_by="events",
        why="such an event has no handle (error 400)",
    ),
    Mutant(
        name="events_with_timing",
        todo=3,
        find="flags = cudaEventInterprocess | cudaEventDisableTiming;",
        replace="flags = cudaEventInterprocess;",
        rejected_by="events",
        why="Interprocess without DisableTiming is refused",
    ),
    Mutant(
        name="events_one_handle",
        todo=3,
        find="cudaIpcGetEventHandle(&made.handle[i], made.event[i])",
        replace="cudaIpcGetEventHandle(&made.handle[0], made.event[i])",
        rejected_by="events",
        why="DRAINED has no handle",
    ),
    Mutant(
        name="put_tells_before_it_records",
        todo=4,
        grave="race",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||\n"
        "        (rc = peer_tell(ring->peers->to_next, bytes)))\n"
        "        return rc;\n",
        replace="        (rc = peer_tell(ring->peers->to_next, bytes)))\n"
        "        return rc;\n"
        "    for (volatile int i = 0; i < 20000000; i++)\n"
        "        ;\n"
        "    if ((rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))))\n"
        "        return rc;\n",
        rejected_by="put",
        why="a wait for an event that is not recorded yet is no wait",
    ),
    Mutant(
        name="put_missing_event",
        todo=4,
        grave="race",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||\n",
        replace="",
        rejected_by="put",
        why="the taker waits for nothing",
    ),
    Mutant(
        name="put_into_a_full_inbox",
        todo=4,
        grave="race",
        find="        ((rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)) ||\n"
        "         (rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->next_drained, 0)))))\n",
        replace="        (rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)))\n",
        rejected_by="put",
        why="overwrites what the next rank has not taken out yet",
    ),
    Mutant(
        name="put_into_the_wrong_ranks_inbox",
        todo=4,
        grave="lost data",
        find="cudaMemcpyAsync(ring->next.ptr, src, bytes,",
        replace="cudaMemcpyAsync(ring->inbox, src, bytes,",
        rejected_by="put",
        why="the handle of the wrong rank: mine in place of next's",
    ),
    Mutant(
        name="put_waits_for_the_wrong_rank",
        todo=4,
        grave="race",
        find="cudaStreamWaitEvent(ring->stream, ring->next_drained, 0)",
        replace="cudaStreamWaitEvent(ring->stream, ring->mine.event[DRAINED], 0)",
        rejected_by="put",
        why="that my inbox is drained says nothing of next's",
    ),
    Mutant(
        name="put_sleeps_instead",
        todo=4,
        grave="race",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||\n",
        replace="        (rc = 0 * poll(NULL, 0, 20)) ||\n",
        rejected_by="put",
        why="sleeping orders nothing",
    ),
    Mutant(
        name="take_does_not_wait",
        todo=5,
        grave="race",
        find="    if ((rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->prev_filled, 0))) ||\n"
        "        (rc = ring_result(\n",
        replace="    if ((rc = ring_result(\n",
        rejected_by="take",
        why="a message says that the event is recorded, not that the bytes are there",
    ),
    Mutant(
        name="take_waits_for_the_wrong_rank",
        todo=5,
        grave="race",
        find="cudaStreamWaitEvent(ring->stream, ring->prev_filled, 0)",
        replace="cudaStreamWaitEvent(ring->stream, ring->mine.event[FILLED], 0)",
        rejected_by="take",
        why="that next's inbox is filled says nothing of mine",
    ),
    Mutant(
        name="take_says_drained_without_event",
        todo=5,
        grave="race",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))) ||\n",
        replace="",
        rejected_by="take",
        why="the previous rank overwrites the inbox under the copy",
    ),
    Mutant(
        name="take_more_than_room",
        todo=5,
        find="    if (there > room)\n        return LAB_ERANGE;\n",
        replace="",
        rejected_by="take",
        why="writes behind the caller's buffer",
    ),
    Mutant(
        name="close_without_barrier",
        todo=6,
        find="ring->peers ? peers_barrier(ring->peers) : LAB_OK",
        replace="LAB_OK",
        rejected_by="close",
        why="frees while another rank has it open",
    ),
    Mutant(
        name="close_after_free",
        todo=6,
        find="    // When every rank has come this far,",
        replace="    (void)ipc_result(cudaFree(ring->base));\n    ring->base = NULL;\n"
        "    // When every rank has come this far,",
        rejected_by="close",
        why="the inbox is freed before everybody has closed it",
    ),
    Mutant(
        name="close_does_not_close",
        todo=6,
        grave="leak",
        find="        (void)ipc_result(cudaIpcCloseMemHandle(ring->next.base));\n",
        replace="        ring->next.ptr = NULL;\n",
        rejected_by="close",
        why="holds the next rank's memory until this process ends",
    ),
    Mutant(
        name="close_leaks_the_others_events",
        todo=6,
        grave="leak",
        find="    event_drop(ring->prev_filled);\n",
        replace="",
        rejected_by="close",
        why="an opened event is destroyed like any other",
    ),
    Mutant(
        name="close_leaves_a_message",
        todo=6,
        find="        (void)peer_hear(ring->peers->to_next, 0, &unused);\n",
        replace="        unused = 0, (void)unused;\n",
        rejected_by="close",
        why="a second ring over the same sockets hears the first one's last message as its own",
    ),
    Mutant(
        name="close_hears_too_early",
        todo=6,
        find="    // When every rank has come this far,",
        replace="    if (ring->puts > 0)\n"
        "        (void)peer_hear(ring->peers->to_next, 0, &unused);\n"
        "    ring->puts = 0;\n"
        "    // When every rank has come this far,",
        rejected_by="close",
        why="before the barrier the last message may be under way still",
    ),
    Mutant(
        name="hear_hangs_on_a_dead_peer",
        todo=7,
        find="    if (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) != "
        "(ssize_t)sizeof said)\n        return LAB_EPEER;\n",
        replace="    while (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) != "
        "(ssize_t)sizeof said)\n        ready = poll(&wait, 1, 100);\n",
        rejected_by="hear_nobody",
        why="polls a closed socket for ever",
    ),
    Mutant(
        name="hear_without_a_limit",
        todo=7,
        find="        ready = poll(&wait, 1, wait_ms);\n",
        replace="        ready = poll(&wait, 1, wait_ms * 0 - 1);\n",
        rejected_by="hear_nobody",
        why="a silent peer is waited for as long as it likes",
    ),
    Mutant(
        name="hear_gives_up_at_a_signal",
        todo=7,
        find="    while (ready < 0 && errno == EINTR);\n",
        replace="    while (0 && errno == EINTR);\n",
        rejected_by="hear",
        why="a timer or a debugger is no dead peer",
    ),
    Mutant(
        name="hear_loses_the_last_message",
        todo=7,
        find="    if (ready <= 0 || recv(",
        replace="    if (ready <= 0 || (wait.revents & POLLHUP) || recv(",
        rejected_by="hear",
        why="a peer that has gone may have said something before",
    ),
    Mutant(
        name="hear_cuts_the_number",
        todo=7,
        find="    *number = said;\n",
        replace="    *number = (size_t)(int)said;\n",
        rejected_by="hear",
        why="a message of more than 2 GiB is a size_t",
    ),
    Mutant(
        name="put_goes_on_without_peer",
        todo=4,
        find="    if (ring->puts > 0 &&\n"
        "        ((rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)) ||\n"
        "         (rc",
        replace="    if (ring->puts > 0 &&\n"
        "        ((rc = 0 * peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)) ||\n"
        "         (rc",
        rejected_by="put",
        why="writes into the inbox of a rank that has gone",
    ),
    Mutant(
        name="take_tells_what_failed",
        todo=5,
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))) ||\n",
        replace="        (rc = 0 * ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))) ||\n",
        rejected_by="put_take_bad",
        why="an error that nobody hears of, and a neighbour that believes it",
    ),
    Mutant(
        name="take_writes_bytes_first",
        todo=5,
        find="    if (there > room)\n        return LAB_ERANGE;\n",
        replace="    *bytes = there;\n    if (there > room)\n        return LAB_ERANGE;\n",
        rejected_by="put_take_bad",
        why="an output written although an error is returned",
    ),
    Mutant(
        name="take_compares_an_int",
        todo=5,
        find="    if (there > room)\n",
        replace="    if ((int)there > (int)room)\n",
        rejected_by="put_take_bad",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="close_forgets_the_peer",
        todo=6,
        find="    return all ? all : rc;\n",
        replace="    return rc;\n",
        rejected_by="close",
        why="a rank that has died goes unnoticed",
    ),
    Mutant(
        name="export_offset_in_an_int",
        todo=1,
        find="    made.offset = offset;\n",
        replace="    made.offset = (size_t)(int)offset;\n",
        rejected_by="export",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="import_offset_in_an_int",
        todo=2,
        find="(char *)base + wire->offset;",
        replace="(char *)base + (int)wire->offset;",
        rejected_by="import",
        why="sizes above 2 GiB",
    ),
    Mutant(
        name="put_through_the_host",
        todo=4,
        find="#include <errno.h>\n",
        replace="#include <errno.h>\n\n"
        "static cudaError_t through_the_host(void *dst, const void *src, size_t bytes,\n"
        "                                    cudaStream_t stream)\n"
        "{\n"
        "    void *room = NULL;\n"
        "    if (cudaHostAlloc(&room, bytes, cudaHostAllocPortable) != cudaSuccess)\n"
        "        return cudaErrorMemoryAllocation;\n"
        "    cudaMemcpyAsync(room, src, bytes, cudaMemcpyDeviceToHost, stream);\n"
        "    cudaMemcpyAsync(dst, room, bytes, cudaMemcpyHostToDevice, stream);\n"
        "    return cudaSuccess;\n"
        "}\n"
        "#define cudaMemcpyAsync(dst, src, bytes, kind, stream) \\\n"
        "    through_the_host(dst, src, bytes, stream)\n",
        rejected_by="put",
        why="the bytes arrive, by way of the host",
    ),
    Mutant(
        name="export_takes_no_bytes",
        todo=1,
        find="if (!base || bytes == 0 || !wire)",
        replace="if (!base || !wire)",
        rejected_by="export_bad",
        why="no bytes are no part of an allocation",
    ),
    Mutant(
        name="export_clears_first",
        todo=1,
        find="    memset(&made, 0, sizeof made);\n    if ((rc = ipc_result(cudaIpcGetMemHandle",
        replace="    memset(&made, 0, sizeof made);\n    memset(wire, 0, sizeof *wire);\n    if ((rc = ipc_result(cudaIpcGetMemHandle",
        rejected_by="export_bad",
        why="the caller's struct is wiped by a call that then fails",
    ),
    Mutant(
        name="import_takes_no_bytes",
        todo=2,
        find="if (!wire || wire->bytes == 0 || !remote)",
        replace="if (!wire || !remote)",
        rejected_by="import_bad",
        why="what all zero says is nothing",
    ),
    Mutant(
        name="events_believe_their_caller",
        todo=3,
        find="    if (!events)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="events",
        why="a null pointer ends the program, after both events were made",
    ),
    Mutant(
        name="events_write_as_they_are_made",
        todo=3,
        find="    if (!rc)\n        *events = made;\n    return rc;",
        replace="    *events = made;\n    return rc;",
        rejected_by="events",
        why="events that are destroyed again, in the caller's struct",
    ),
    Mutant(
        name="hear_believes_its_caller",
        todo=7,
        find="    if (!number)\n        return LAB_EINVAL;\n",
        replace="",
        rejected_by="hear",
        why="a null pointer ends the program, when something was said",
    ),
    Mutant(
        name="put_from_nowhere",
        todo=4,
        find="if (!ring || !ring->next.ptr || !src || bytes == 0 || bytes > ring->next.bytes)",
        replace="if (!ring || !ring->next.ptr || bytes == 0 || bytes > ring->next.bytes)",
        rejected_by="put",
        why="the neighbour is told of bytes that nobody has sent",
    ),
    Mutant(
        name="import_clears_first",
        todo=2,
        find="    void *base;\n    int rc;\n",
        replace="    void *base;\n    int rc;\n    memset(remote, 0, sizeof *remote);\n",
        rejected_by="import_bad",
        why="the caller's struct is wiped by a call that then fails",
    ),
    Mutant(
        name="close_believes_its_caller",
        todo=6,
        find="    if (!ring)\n        return LAB_EINVAL;\n    // TODO(6)",
        replace="    // TODO(6)",
        rejected_by="close",
        why="a null pointer ends the program",
    ),
    Mutant(
        name="import_for_gpu_0",
        todo=2,
        find="    if ((rc =\n"
        "             ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess))))\n"
        "        return rc;\n",
        replace="    int before = 0;\n"
        "    if ((rc = ipc_result(cudaGetDevice(&before))) || (rc = ipc_result(cudaSetDevice(0))))\n"
        "        return rc;\n"
        "    rc = ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess));\n"
        "    (void)cudaSetDevice(before);\n"
        "    if (rc)\n"
        "        return rc;\n",
        rejected_by="import",
        why="the same wherever every GPU reaches every other one",
    ),
    Mutant(
        name="put_copy_error_is_cudas",
        todo=4,
        find="(rc = ring_result(\n"
        "             ring, cudaMemcpyAsync(ring->next.ptr, src, bytes, cudaMemcpyDefault, ring->stream))) ||",
        replace="(rc = ipc_result(\n"
        "             cudaMemcpyAsync(ring->next.ptr, src, bytes, cudaMemcpyDefault, ring->stream))) ||",
        rejected_by="put",
        why="a neighbour that has died looks like a fault of this GPU",
    ),
    Mutant(
        name="close_without_barrier_when_idle",
        todo=6,
        find="ring->peers ? peers_barrier",
        replace="ring->peers && ring->puts > 0 ? peers_barrier",
        rejected_by="close",
        why="others have my memory open though nobody has put anything",
    ),
    Mutant(
        name="events_drops_only_the_first",
        todo=3,
        find="    for (int i = 0; i < 2 && rc; i++)\n        event_drop(made.event[i]);",
        replace="    if (rc)\n        event_drop(made.event[0]);",
        rejected_by="events",
        why="the second event is made, has no handle, and stays",
    ),
    Mutant(
        name="events_drop_what_was_not_made",
        todo=3,
        find="memset(&made, 0, sizeof made);\n    for (int i = 0; i < 2 && !rc; i++) {",
        replace="for (int i = 0; i < 2 && !rc; i++) {",
        rejected_by="events",
        why="destroys what its variables hold where no event could be made",
    ),
    Mutant(
        name="close_drops_events_late",
        todo=6,
        find="    event_drop(ring->prev_filled);\n"
        "    event_drop(ring->next_drained);\n"
        "    // When every rank has come this far, no other rank uses this one's memory.\n"
        "    int all = ring->peers ? peers_barrier(ring->peers) : LAB_OK;\n",
        replace="    int all = ring->peers ? peers_barrier(ring->peers) : LAB_OK;\n"
        "    event_drop(ring->prev_filled);\n"
        "    event_drop(ring->next_drained);\n",
        rejected_by="close",
        why="after the barrier the other rank may have destroyed the event",
    ),
]

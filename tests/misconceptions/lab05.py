# SPDX-License-Identifier: MIT
"""What students believe in lab 05. Written without reading its tests; see grader/course/misconceptions.py.

`named` are patterns that the message must contain to name the belief and not just a symptom.
"""

from grader.course.misconceptions import Misconception

MISCONCEPTIONS = [
    Misconception(
        name="a_handle_names_a_pointer",
        todo=1,
        belief="the handle of base + offset opens at base + offset, so no offset need travel",
        find="""    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))
        return rc;
    made.offset = offset;""",
        replace="""    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, (char *)base + offset))))
        return rc;
    made.offset = 0;""",
        named=("offset", "allocation|beginning|base"),
    ),
    Misconception(
        name="the_whole_allocation_travels",
        todo=1,
        belief="a handle is of all the allocation, so its size is the offset plus the bytes",
        find="    made.bytes = bytes;",
        replace="    made.bytes = offset + bytes;",
        named=("bytes",),
    ),
    Misconception(
        name="pointers_travel",
        todo=1,
        belief="the handle holds the address, so it can be made by copying the pointer",
        find="    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))\n        return rc;",
        replace="    (void)rc;\n    memcpy(&made.handle, &base, sizeof base);",
        named=("pointer|address|handle",),
    ),
    Misconception(
        name="any_memory_has_a_handle",
        todo=1,
        belief="memory without a handle is exported as it is: an error of the handle is no matter",
        find="    if ((rc = ipc_result(cudaIpcGetMemHandle(&made.handle, base))))\n        return rc;",
        replace="    (void)rc;\n    (void)ipc_result(cudaIpcGetMemHandle(&made.handle, base));",
        named=("cudaMalloc",),
    ),
    Misconception(
        name="exports_start_on_granules",
        todo=1,
        belief="an export is rounded down to a page, as mmap's offsets are",
        find="    made.offset = offset;",
        replace="    made.offset = offset & ~(size_t)511;",
        named=("offset",),
    ),
    Misconception(
        name="opens_where_it_was_meant",
        todo=2,
        belief="cudaIpcOpenMemHandle gives the address that the exporter meant",
        find="    remote->ptr = (char *)base + wire->offset;",
        replace="    remote->ptr = (char *)base;",
        named=("offset",),
    ),
    Misconception(
        name="close_what_you_use",
        todo=2,
        belief="what I use is what I close later: base and ptr are the same thing",
        find="    remote->base = base;",
        replace="    remote->base = (char *)base + wire->offset;",
        named=("base|clos",),
    ),
    Misconception(
        name="flags_may_be_zero",
        todo=2,
        belief="flags are optional; 0 means the usual",
        find="ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, cudaIpcMemLazyEnablePeerAccess))))",
        replace="ipc_result(cudaIpcOpenMemHandle(&base, wire->handle, 0))))",
        named=("LazyEnablePeerAccess|flag",),
    ),
    Misconception(
        name="the_address_is_the_same",
        todo=2,
        belief="addresses are unified, so the memory is seen at the same address everywhere: once "
        "opened I remember it for good",
        find="    void *base;\n    int rc;\n    if ((rc =\n             ipc_result(",
        replace="    static void *base;\n"
        "    int rc = LAB_OK;\n"
        "    if (!base && (rc =\n"
        "             ipc_result(",
        named=("address|another|handle|stale",),
    ),
    Misconception(
        name="own_handles_open_too",
        todo=2,
        belief="any handle that is refused was my own, and then the memory is here already",
        find="        return rc;\n    remote->base = base;",
        replace="        base = NULL;\n    remote->base = base;",
        named=("own|stale|no process|refused",),
    ),
    Misconception(
        name="interprocess_is_enough",
        todo=3,
        belief="cudaEventInterprocess is the flag for other processes; timing is another matter",
        find="const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;",
        replace="const unsigned flags = cudaEventInterprocess;",
        named=("both flags|DisableTiming",),
    ),
    Misconception(
        name="handles_make_events_shared",
        todo=3,
        belief="asking for a handle is what makes an event one for other processes",
        find="const unsigned flags = cudaEventInterprocess | cudaEventDisableTiming;",
        replace="const unsigned flags = cudaEventDisableTiming;",
        named=("both flags|Interprocess\\b",),
    ),
    Misconception(
        name="one_handle_for_both",
        todo=3,
        belief="one handle stands for the pair of events",
        find="rc = ipc_result(cudaIpcGetEventHandle(&made.handle[i], made.event[i]));",
        replace="rc = ipc_result(cudaIpcGetEventHandle(&made.handle[i], made.event[0]));",
        named=("handle|each event|two events|DRAINED",),
    ),
    Misconception(
        name="exported_is_out_of_my_hands",
        todo=3,
        belief="once the first event is exported it is the others': on failure it must stay",
        find="    for (int i = 0; i < 2 && rc; i++)\n        event_drop(made.event[i]);\n",
        replace="",
        named=("all or nothing|leak|destroyed|left|event",),
    ),
    Misconception(
        name="tell_then_record",
        todo=4,
        grave="race",
        belief="tell early: the next rank then has its wait ready when I record",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||\n"
        "        (rc = peer_tell(ring->peers->to_next, bytes)))\n"
        "        return rc;\n",
        replace="        (rc = peer_tell(ring->peers->to_next, bytes)))\n"
        "        return rc;\n"
        "    if ((rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))))\n"
        "        return rc;\n",
        named=("record, then tell|recorded before the message|before the message",),
    ),
    Misconception(
        name="the_message_is_the_order",
        todo=4,
        grave="race",
        belief="when the message arrives the bytes have arrived; events are not needed as well",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[FILLED], ring->stream))) ||\n",
        replace="",
        named=("event|record",),
    ),
    Misconception(
        name="the_inbox_is_always_free",
        todo=4,
        grave="race",
        belief="the next rank takes faster than I put: nobody has to say that the inbox is drained",
        find="        ((rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)) ||\n"
        "         (rc = ring_result(ring, cudaStreamWaitEvent(ring->stream, ring->next_drained, 0)))))\n",
        replace="        (rc = peer_hear(ring->peers->to_next, PEERS_WAIT_MS, &unused)))\n",
        named=("drained|overwritten",),
    ),
    Misconception(
        name="every_put_hears",
        todo=4,
        belief="every put, the first too, has to hear that the inbox is empty",
        find="    if (ring->puts > 0 &&\n",
        replace="    if (ring->puts >= 0 &&\n",
        named=("first put|but the first|first",),
    ),
    Misconception(
        name="own_drained_event",
        todo=4,
        grave="race",
        belief="the inbox is drained when my DRAINED event says so",
        find="cudaStreamWaitEvent(ring->stream, ring->next_drained, 0)",
        replace="cudaStreamWaitEvent(ring->stream, ring->mine.event[DRAINED], 0)",
        named=("next('s|_drained| rank)|whose|drained",),
    ),
    Misconception(
        name="finish_before_telling",
        todo=4,
        grave="host wait",
        belief="before I tell that the bytes are there I wait until they are",
        find="        (rc = peer_tell(ring->peers->to_next, bytes)))\n        return rc;\n",
        replace="        (rc = ring_result(ring, cudaStreamSynchronize(ring->stream))) ||\n"
        "        (rc = peer_tell(ring->peers->to_next, bytes)))\n"
        "        return rc;\n",
        named=("wait", "GPU|host|came back|returned|queue"),
    ),
    Misconception(
        name="inboxes_hold_what_i_send",
        todo=4,
        grave="lost data",
        belief="an inbox is as large as it has to be for what I send",
        find="src || bytes == 0 || bytes > ring->next.bytes)",
        replace="src || bytes == 0)",
        named=("inbox", "large|fit|bytes|LAB_EINVAL"),
    ),
    Misconception(
        name="what_fits_is_taken",
        todo=5,
        belief="when my buffer is too small I take as much as fits",
        find="    if (there > room)\n        return LAB_ERANGE;",
        replace="    if (there > room)\n        there = room;",
        named=("LAB_ERANGE|room|too small",),
    ),
    Misconception(
        name="always_the_whole_inbox",
        todo=5,
        grave="lost data",
        belief="a message is as long as the inbox",
        find="cudaMemcpyAsync(dst, ring->inbox, there, cudaMemcpyDefault, ring->stream)",
        replace="cudaMemcpyAsync(dst, ring->inbox, ring->bytes, cudaMemcpyDefault, ring->stream)",
        named=("bytes|beyond|behind|as many|how many",),
    ),
    Misconception(
        name="the_inbox_begins_the_allocation",
        todo=5,
        belief="my inbox begins where my allocation begins",
        find="cudaMemcpyAsync(dst, ring->inbox, there, cudaMemcpyDefault, ring->stream)",
        replace="cudaMemcpyAsync(dst, ring->base, there, cudaMemcpyDefault, ring->stream)",
        named=("inbox|part of|offset",),
    ),
    Misconception(
        name="nobody_waits_for_my_answer",
        todo=5,
        belief="recording DRAINED is the answer; a message back would say the same once more",
        find="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))) ||\n"
        "        (rc = peer_tell(ring->peers->from_prev, there)))\n",
        replace="        (rc = ring_result(ring, cudaEventRecord(ring->mine.event[DRAINED], ring->stream))))\n",
        named=("tell|told|message|say",),
    ),
    Misconception(
        name="answers_go_on",
        todo=5,
        belief="the ring has one direction: what I have to say goes to the next rank",
        find="        (rc = peer_tell(ring->peers->from_prev, there)))\n",
        replace="        (rc = peer_tell(ring->peers->to_next, there)))\n",
        named=("previous|from_prev|prev",),
    ),
    Misconception(
        name="no_barrier_at_the_end",
        todo=6,
        belief="closing my side is my business; the driver keeps memory that others have open",
        find="    int all = ring->peers ? peers_barrier(ring->peers) : LAB_OK;\n",
        replace="    int all = LAB_OK;\n",
        named=("barrier",),
    ),
    Misconception(
        name="opened_memory_is_freed",
        todo=6,
        belief="memory is freed with cudaFree, however it came to me",
        find="(void)ipc_result(cudaIpcCloseMemHandle(ring->next.base));",
        replace="(void)ipc_result(cudaFree(ring->next.base));",
        named=("cudaIpcCloseMemHandle|closed, never freed|closed",),
    ),
    Misconception(
        name="others_events_are_theirs",
        todo=6,
        grave="leak",
        belief="events that I opened are the others'; they destroy them",
        find="    event_drop(ring->prev_filled);\n    event_drop(ring->next_drained);\n",
        replace="",
        named=("event",),
    ),
    Misconception(
        name="closing_twice_is_safe",
        todo=6,
        belief="to be sure I close the handle again behind the barrier",
        find="    (void)ipc_result(cudaFree(ring->base));\n",
        replace="    if (ring->next.base)\n        (void)ipc_result(cudaIpcCloseMemHandle(ring->next.base));\n    (void)ipc_result(cudaFree(ring->base));\n",
        named=("twice|again|already closed|closed",),
    ),
    Misconception(
        name="a_dead_peer_excuses_all",
        todo=6,
        belief="when a peer has died there is nothing left to tidy up",
        find="    event_drop(ring->mine.event[FILLED]);\n",
        replace="    if (all) {\n"
        "        memset(ring, 0, sizeof *ring);\n"
        "        return all;\n"
        "    }\n"
        "    event_drop(ring->mine.event[FILLED]);\n",
        named=("given back|freed|all the same|leak|left",),
    ),
    Misconception(
        name="recv_waits_and_that_is_fine",
        todo=7,
        belief="recv comes back when there is something; a time limit is not needed",
        find="        ready = poll(&wait, 1, wait_ms);\n    while (ready < 0 && errno == EINTR);\n",
        replace="        ready = poll(&wait, 1, -1);\n    while (ready < 0 && errno == EINTR);\n",
        named=("wait_ms|ms|silent|says nothing|hang|millisecond",),
    ),
    Misconception(
        name="a_signal_is_the_end",
        todo=7,
        belief="poll fails only when the other side is gone",
        find="    do // a signal ends poll early\n"
        "        ready = poll(&wait, 1, wait_ms);\n"
        "    while (ready < 0 && errno == EINTR);\n",
        replace="    ready = poll(&wait, 1, wait_ms) + 0 * errno;\n",
        named=("signal|EINTR",),
    ),
    Misconception(
        name="zero_bytes_are_a_message",
        todo=7,
        belief="recv returned 0, so all went well: -1 would be the error",
        find="    if (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) != (ssize_t)sizeof said)",
        replace="    said = 0;\n    if (ready <= 0 || recv(fd, &said, sizeof said, MSG_WAITALL) < 0)",
        named=("closed|gone|0 bytes|dead|died",),
    ),
    Misconception(
        name="silence_is_an_empty_message",
        todo=7,
        belief="a timeout of poll means that there is nothing to say: number 0",
        find="    if (ready <= 0 || recv(",
        replace="    if (ready == 0) {\n        *number = 0;\n        return LAB_OK;\n    }\n    if (ready <= 0 || recv(",
        named=("silent|s(ay|end)s nothing|said nothing|nothing for|silence|nobody",),
    ),
    Misconception(
        name="pollin_means_alive",
        todo=7,
        belief="if poll says readable, the peer is alive: peeking at the number is enough",
        find="recv(fd, &said, sizeof said, MSG_WAITALL) != (ssize_t)sizeof said)",
        replace="recv(fd, &said, sizeof said, MSG_PEEK) != (ssize_t)sizeof said)",
        named=("once|again|twice|next message|second|message",),
    ),
]

/* SPDX-License-Identifier: MIT
 * host_store.h: detects stores of the program to pinned memory that a kernel polls.
 *
 * Such a store is not reported to the node. But the thread that stored did so after its last call,
 * so the store is given the virtual time of that call: polled values are compared whenever the
 * program makes a call, and before the kernel polls again, and the kernel continues no earlier than
 * the clock of the thread that may have stored. If several threads may have stored, times depend on
 * the operating system (late_issue.h).
 */
#ifndef VGPU_HOST_STORE_H
#define VGPU_HOST_STORE_H

#include "connection.h"

#define HOST_POLLS 8 /* greatest number of addresses watched for one kernel */

struct host_polls {
    uint64_t address[HOST_POLLS], value[HOST_POLLS]; /* values that the kernel read last */
    uint8_t bytes[HOST_POLLS];                       /* size of each value */
    int count;
};

/* Registers an observer of kernels, once. Its results are in op->stores. */
void host_store_observe(void);

/* The program makes a call through `connection`, before which it may have stored. */
void host_store_called(const struct connection *connection);

/* The thread of `connection` has ended, and may have stored before. */
void host_store_left(const struct connection *connection);

#endif

/* SPDX-License-Identifier: MIT
 * host_store.h: kernels that poll pinned memory until the program stores there.
 *
 * Nobody tells us of such a store. But whoever stored did so after its last call, so the store
 * carries that call's time: what is polled is compared whenever the program calls, and before the
 * kernel looks again, and the kernel goes on no earlier than the clock of the thread that may have
 * stored. Where that could be several threads, the times depend on the operating system
 * (late_issue.h).
 */
#ifndef VGPU_HOST_STORE_H
#define VGPU_HOST_STORE_H

#include "connection.h"

#define HOST_POLLS 8 /* places that one kernel polls, and are watched */

struct host_polls {
    uint64_t address[HOST_POLLS], value[HOST_POLLS]; /* what the kernel read there last */
    uint8_t bytes[HOST_POLLS];                       /* of value */
    int count;
};

/* Once: it observes kernels. What it finds out is in op->stores. */
void host_store_observe(void);

/* The program calls, through `connection`, and has perhaps stored before that. */
void host_store_called(const struct connection *connection);

/* The thread of `connection` is gone, and has perhaps stored before that. */
void host_store_left(const struct connection *connection);

#endif

/* SPDX-License-Identifier: MIT
 * reply.h: what handlers answer with.
 */
#ifndef VGPU_REPLY_H
#define VGPU_REPLY_H

#include "codes.h"
#include "connection.h"

void request_cost(struct connection *c, uint64_t cost_ps); /* instead of the usual cost */
void request_fail(struct connection *c, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool request_device(struct connection *c,
                    int device); /* in range, its context usable; else fails */
void request_wait(struct connection *c, struct op *mark); /* takes the reference over */
void request_wait_until(struct connection *c, struct op *op, enum wait until);
/* For checks: is the object with this serial number still the one that the request has found before
 * it waited? Its address may be another's by now. */
bool request_same(struct connection *c, uint64_t serial);

#endif

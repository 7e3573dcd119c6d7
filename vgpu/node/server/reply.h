/* SPDX-License-Identifier: MIT
 * reply.h: functions with which handlers set up their replies.
 */
#ifndef VGPU_REPLY_H
#define VGPU_REPLY_H

#include "codes.h"
#include "connection.h"

void request_cost(struct connection *c, uint64_t cost_ps); /* replaces the usual cost of a call */
void request_fail(struct connection *c, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* False, and fails the request: `device` is out of range or its context is unusable. */
bool request_device(struct connection *c, int device);
/* The operation that the request asks for, to be put into a stream. */
struct op *request_op(struct connection *c, int device, enum op_kind kind);
/* The call does not wait for `op`, which is in its stream: the reply identifies the operation. */
void request_answer_at_once(struct connection *c, struct op *op); /* takes over the reference */
void request_wait(struct connection *c, struct op *mark);         /* takes over the reference */
void request_wait_until(struct connection *c, struct op *op, enum wait until);
/* For checks after a wait: true if the object has the serial number of the object found before the
 * wait. (Its address may have been reused.) */
bool request_same(struct connection *c, uint64_t serial);

#endif

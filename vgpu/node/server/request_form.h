/* SPDX-License-Identifier: MIT
 * request_form.h: validation of what clients send. A client is a program or anything else that
 * writes to its socket, so a message may contain anything. A request that has passed is valid by
 * type and range: it has only the fields of its kind and the others are zero; booleans are 0 or 1;
 * texts end with a zero byte and contain no control characters; enumerations have known values;
 * clocks and counts cannot overflow when added. Whether an address, handle or GPU exists is checked
 * by the handler, since hardware has an error code of its own for each.
 */
#ifndef VGPU_REQUEST_FORM_H
#define VGPU_REQUEST_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

/* Validates and normalises a received message. False: no correct client sends it; the reason is in
 * `why`. */
bool request_form_check(struct vgpu_request *q, int device_count, char *why, size_t room);

/* True if the request may come with a descriptor. */
bool request_form_takes_descriptor(const struct vgpu_request *q);

/* True if it makes an operation that no call has to wait for; the number of those is limited. */
bool request_form_queues(const struct vgpu_request *q);

#endif

/* SPDX-License-Identifier: MIT
 * request_form.h: the door for what clients send. A client is a program, or whoever speaks in its
 * place; it may write whatever it likes into its socket. What is behind this door has been checked
 * once, by type and range: a request has the fields that its kind of request has, and the others
 * are zero; truths are 0 or 1, texts end and hold nothing that a terminal acts on, kinds are known
 * ones, clocks and counts can be added up. What an address or a handle stands for, and whether a
 * GPU of that number is there, its handler knows: hardware answers that with a code of its own.
 */
#ifndef VGPU_REQUEST_FORM_H
#define VGPU_REQUEST_FORM_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

/* Makes a request of what came. False: no client of ours sends that, and `why` says what is wrong
 * with it. */
bool request_form_check(struct vgpu_request *q, int device_count, char *why, size_t room);

/* Whether the request may come with a descriptor. */
bool request_form_takes_descriptor(const struct vgpu_request *q);

/* Whether it makes an operation that no call has to wait for: their number is limited. */
bool request_form_queues(const struct vgpu_request *q);

#endif

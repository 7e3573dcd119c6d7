/* SPDX-License-Identifier: MIT
 * text.h: copies strings into buffers of fixed size. Every call does so several times, and snprintf
 * takes ten times as long.
 */
#ifndef VGPU_TEXT_H
#define VGPU_TEXT_H

#include <stddef.h>
#include <string.h>

/* Copies `from` into `to`, which has `room` bytes (at least one), and cuts it if it is longer. */
static inline void vgpu_text_copy(char *to, size_t room, const char *from)
{
    size_t bytes = strnlen(from, room - 1);
    memcpy(to, from, bytes);
    to[bytes] = '\0';
}

#endif

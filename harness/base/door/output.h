/* SPDX-License-Identifier: MIT
 * output.h: what a child process prints: capped, cleaned.
 */
#ifndef LAB_OUTPUT_H
#define LAB_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

struct lab_stream { /* one pipe */
    int fd;
    char *text; /* at most LAB_KEEP_BYTES, ends with 0 */
    size_t kept;
    uint64_t total;
};
#define LAB_KEEP_BYTES (64u << 10)
#define LAB_FLOOD_BYTES (1u << 20)

/* Reads what is there. Returns 0 when the other side has closed, else 1. */
int lab__stream_read(struct lab_stream *stream);
/* The last lines of what was printed, cleaned for a terminal: at most five. */
void lab__stream_tail(const struct lab_stream *stream, char *text, size_t room);
void lab__stream_finding(const struct lab_stream *stream, char *text, size_t room);
/* Makes text that students can influence harmless: no control characters, no broken UTF-8, none of
 * the words that ctest or our own verdict lines mean something by. In place. */
void lab__clean(char *text);

#endif

/* SPDX-License-Identifier: MIT
 * output.h: the output of a child process: limited in size and sanitised.
 */
#ifndef LAB_OUTPUT_H
#define LAB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lab_stream { /* one pipe */
    int fd;
    char *text; /* at most LAB_KEEP_BYTES, NUL-terminated */
    size_t kept;
    uint64_t total;
};
#define LAB_KEEP_BYTES (64u << 10)
#define LAB_FLOOD_BYTES (1u << 20)

/* Reads what is available. Returns 0 at end of file, else 1. */
int lab__stream_read(struct lab_stream *stream);
/* The last lines that were printed, sanitised for a terminal: at most five, without findings. */
void lab__stream_tail(const struct lab_stream *stream, char *text, size_t room);
/* Whether the file of this name (not terminated) is one of the tests'. */
typedef bool lab__ours(const char *name, size_t bytes);
/* Replaces lines of the tests' files, in what is told of a finding, and the number and program of
 * another process. */
void lab__strip_ours(char *text, lab__ours *ours);
/* Of the findings that the runtime printed the one that names the most lines of `file` (a name
 * without folders), sanitised, and the codes of the others; "" without any. Misuse of a call
 * in another file, the tests', is left out. Returns the first of these lines, or 0; without a
 * finding that of a kernel's fault. */
int lab__stream_finding(const struct lab_stream *stream, const char *file, lab__ours *ours,
                        char *text, size_t room);
/* Sanitises text that students can influence, in place: replaces control characters and invalid
 * UTF-8, and breaks the words by which ctest or our own verdict lines are recognised. */
void lab__clean(char *text);

#endif

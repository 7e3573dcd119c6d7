/* SPDX-License-Identifier: MIT
 * process.h: child processes of the verifier and of lab-jail: started, measured, ended.
 *
 *     process.c  spawning, reading /proc, killing what is left
 *     memory.c   how much memory all of a submission has
 *     guard.c    the process that stays outside and ends what is left when a grader dies
 */
#ifndef LAB_PROCESS_H
#define LAB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lab_usage {      /* of all processes below this one */
    bool running;       /* a thread is runnable, or waits for a disk */
    bool sleeping;      /* a thread has set itself an alarm: nanosleep */
    double cpu_seconds; /* used so far, the node not counted */
    uint64_t cpu_ticks;
    uint64_t node_ticks;   /* of processor time that the node used */
    uint64_t memory_bytes; /* the node's and the GPUs' not counted; 0 unless asked for */
};

pid_t lab__spawn(char *const argv[], char *const envp[], const int *fds, int fd_count);
/* memory_limit: look at their memory, too, and exactly where it seems to be more; 0: do not. */
void lab__usage(pid_t node, uint64_t memory_limit, struct lab_usage *usage);

struct lab_family { /* who runs what for a submission */
    const pid_t *runners;
    int runner_count;
    const pid_t *contexts; /* what the node has started */
    int context_count;
    pid_t node; /* 0: none */
};
/* Bytes of memory that all of these have, the node's and the GPUs' not counted. */
uint64_t lab__memory(const struct lab_family *family, uint64_t limit);
/* Kills everything below this process but `spare`, and waits for it. */
void lab__kill_all(pid_t spare);
void lab__close_from(int first); /* all open descriptors from this one on */
/* Divides this process in two. It returns 0 in the one that goes on. The other waits for it, ends
 * everything below it, and exits with its status, as a shell tells it; SIGTERM, the death of
 * whoever started us, and too_much() (asked four times a second; may be NULL) end it early. -1: it
 * could not be, or our parent is gone already. */
int lab__guard(bool (*too_much)(void));
int lab__pidfd(pid_t pid); /* -1 where the kernel has none */
/* A sealed memory file: read-only with `bytes` of `data`, or writable and of fixed size. */
int lab__memory_input(const void *data, size_t bytes);
int lab__memory_shared(size_t bytes, void **at);

double lab__seconds(void); /* monotonic */

#endif

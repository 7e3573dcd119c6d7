/* SPDX-License-Identifier: MIT
 * process.h: child processes of the verifier and of lab-jail: starting, measuring, ending them.
 *
 *     process.c  spawning, reading /proc, killing what is left
 *     memory.c   how much memory all processes of a submission use
 *     guard.c    a parent process that ends all descendants when the grader dies
 */
#ifndef LAB_PROCESS_H
#define LAB_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct lab_usage {      /* of all processes below this one */
    bool running;       /* a thread is runnable, or in uninterruptible sleep (disk) */
    bool sleeping;      /* a thread is in nanosleep, or stopped by a debugger */
    double cpu_seconds; /* used so far, without the node's */
    uint64_t cpu_ticks;
    uint64_t node_ticks;   /* clock ticks of CPU time that the node used */
    uint64_t memory_bytes; /* without the node's and the GPUs'; 0 unless measured */
};

pid_t lab__spawn(char *const argv[], char *const envp[], const int *fds, int fd_count);
/* memory_limit: also measure memory, exactly if the estimate is above the limit; 0: do not
 * measure. */
void lab__usage(pid_t node, uint64_t memory_limit, struct lab_usage *usage);

struct lab_family { /* the processes of a submission */
    const pid_t *runners;
    int runner_count;
    const pid_t *contexts; /* children of the node */
    int context_count;
    pid_t node; /* 0: none */
};
/* Bytes of memory of all these processes, without the node's and the GPUs'. */
uint64_t lab__memory(const struct lab_family *family, uint64_t limit);
/* Kills all descendants of this process, except `spare` and what descends from it, and waits for
 * them. */
void lab__kill_all(pid_t spare);
void lab__close_from(int first); /* all open descriptors >= first */
void lab__close_on_exec_from(int first);
/* Forks. Returns 0 in the child, which continues. The parent waits for the child, ends all its
 * descendants, and exits with its status (128 + N after signal N); SIGTERM, the death of the
 * caller's parent, and too_much() (called four times a second; may be NULL) end it early. -1: fork
 * failed, or the caller's parent has ended already. */
int lab__guard(bool (*too_much)(void));
int lab__pidfd(pid_t pid); /* -1 if the kernel has no pidfd_open */
/* A sealed memory file: read-only with `bytes` of `data`, or writable and of fixed size. */
int lab__memory_input(const void *data, size_t bytes);
int lab__memory_shared(size_t bytes, void **at);

double lab__seconds(void); /* monotonic */

#endif

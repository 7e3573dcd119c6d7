/* SPDX-License-Identifier: MIT
 * jail.h: lab-jail, the program through which everything of a submission is started.
 *
 *     lab-jail [--supervise] POLICY PROGRAM ARGUMENT...
 *
 * POLICY is a file that the grader wrote (policy.c says what may be in it). Two ways:
 *
 *     bubblewrap   execs bwrap: its own user, mount, PID, network and IPC namespaces; inside them
 *                  lab-jail once more, for what can only be set there
 *     landlock     in place: another uid where it starts as root, Landlock, seccomp, limits; the
 * PID stays, which is what vgpu-node needs of vgpu-exec
 *
 *     main.c      in which order;  broken.c  what happens when a step fails
 *     policy.c    reading the policy
 *     filter.c    the seccomp filter;  landlock.c  the file rules;  limits.c  limits and the uid
 *     box.c       bwrap's command line
 *     queue.c     connections to the node, made before the door closes
 *     supervise.c waits outside, and ends what the program leaves behind
 *
 * Only what is trusted has run until PROGRAM starts. What cannot be set up ends lab-jail with
 * status 125 after a sentence on the report descriptor: our failure, never the student's.
 */
#ifndef LAB_JAIL_H
#define LAB_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JAIL_PATHS_MAX 256
#define JAIL_WORDS_MAX 1024
#define JAIL_BROKEN 125

struct jail_path {
    const char *path;
    bool writable;
};

struct jail_policy {
    bool bubblewrap;   /* else in place */
    bool bare;         /* in place without Landlock */
    const char *bwrap; /* the program; of a version that knows these options: */
    bool can_size, can_disable_userns;
    uid_t uid;          /* 0: stay who we are */
    const char *folder; /* working directory */
    struct jail_path paths[JAIL_PATHS_MAX];
    int path_count;
    const char *cgroups[4]; /* folders with a cgroup.procs to join */
    int cgroup_count;
    char *environment[JAIL_WORDS_MAX]; /* complete when the policy was read; ends with NULL */
    int environment_count;
    uint64_t cpu_seconds, data_bytes, file_bytes, temporary_bytes;
    uint64_t processes, descriptors;
    int keep;   /* descriptors 0 .. keep-1 are the program's */
    int report; /* where our own failures are told, -1: nowhere but stderr */
    int clocks; /* 1: may ask for other processes' processor time */
    int files;  /* 0: may make no files in memory and no pairs of sockets */
    int queue;  /* how many connections to the node are queued on descriptor `keep`; 0: none */
};

/* Ends lab-jail: "WHAT: errno's text", on the report descriptor or stderr. */
void jail_broken(const struct jail_policy *policy, const char *what) __attribute__((noreturn));

/* Reads the policy and makes the environment out of it and `environ`. Ends lab-jail when it is not
 * understood: a rule that is left out is a hole. */
void jail_read_policy(const char *path, struct jail_policy *policy);

/* Where we are root and may: mounts of our own that keep no time of who read a file last. */
void jail_own_mounts(void);
/* In bwrap's root, where all files may be read: none below /proc, whose numbers tell what others
 * do. Nothing where the kernel has no Landlock. */
void jail_hide_numbers(void);

/* ---- steps; each ends lab-jail when it cannot be done ---- */

void jail_join_cgroups(const struct jail_policy *policy);
void jail_offer_to_oom(const struct jail_policy *policy);
/* Connects to the node of VGPU_NODE_ID and leaves a queue of connections on descriptor keep. */
void jail_queue_node(struct jail_policy *policy);
/* From root to the policy's uid, for good. Nothing when it is 0. */
void jail_become(const struct jail_policy *policy);
void jail_limit(const struct jail_policy *policy);
/* RLIMIT_NPROC. alone: the uid is used by nothing else here, so that the limit is the count. */
void jail_limit_processes(uint64_t processes, bool alone);
/* Only these paths from here on, and no signals to the outside where the kernel can forbid them;
 * says whether it could. */
bool jail_landlock(const struct jail_policy *policy);

/* What holds without the filter, which then has no rule for it: signals reach nobody outside; files
 * of others cannot be changed (or some have to be: the run writes somewhere). clocks: it has to ask
 * for other processes' processor time, as vgpu-exec does of its helpers. files: it makes none in
 * memory, and none that travel through sockets, where nobody could count them. */
struct jail_walls {
    bool signals, changes, clocks, files;
};
void jail_filter_self(const struct jail_policy *policy, const struct jail_walls *walls);
/* The same as a file, as bwrap's --seccomp wants it. */
int jail_filter_file(const struct jail_policy *policy);

/* Runs `words` as lab-jail's own arguments, waits, and leaves nothing of it running. Its status, as
 * a shell tells it. SIGTERM ends it early. */
int jail_supervise(char *words[]);

/* Becomes bwrap. */
void jail_box(const struct jail_policy *policy, char *const words[]) __attribute__((noreturn));

#endif

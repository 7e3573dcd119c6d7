/* SPDX-License-Identifier: MIT
 * observer.h: who looks at calls without taking part in them. Rooms above this one register what
 * they want to hear of; the core knows none of them by name.
 *
 * All members may be null. Observers hear of something in the order in which they were registered,
 * and of its end (fork_over, host_fault) in the opposite one.
 */
#ifndef VGPU_OBSERVER_H
#define VGPU_OBSERVER_H

#include "core.h"

struct vgpu__observer {
    void (*request_begins)(void); /* the thread is about to send one */
    void (*reply_came)(const struct vgpu_request *request, const struct vgpu_reply *reply);
    void (*call_failed)(cudaError_t error);        /* and the thread's last error is set */
    void (*error_asked)(const char *call);         /* the program looks at the last error */
    void (*thread_ends)(void);                     /* one that has a wire */
    void (*process_ends)(void);                    /* before the node is told */
    void (*fork_begins)(void), (*fork_over)(void); /* in both processes */
    void (*child_begins)(void);                    /* of a fork, after fork_over */
    /* In the handler of SIGSEGV: true: the instruction can be run again. */
    bool (*host_fault)(uint64_t address, const void *context);
};

/* Before main, and at most 8. */
void vgpu__observe(const struct vgpu__observer *observer);

/* What the core calls. */
void vgpu__request_begins(void);
void vgpu__reply_came(const struct vgpu_request *request, const struct vgpu_reply *reply);
void vgpu__call_failed(cudaError_t error);
void vgpu__error_asked(const char *call);
void vgpu__thread_ends(void);
void vgpu__process_ends(void);
void vgpu__fork_begins(void);
void vgpu__fork_over(void);
void vgpu__child_begins(void);
bool vgpu__host_fault(uint64_t address, const void *context);

#endif

/* SPDX-License-Identifier: MIT
 * observer.h: callbacks for rooms above this one that observe calls without taking part in them.
 * Each registers a structure of callbacks; the core refers to none of them by name.
 *
 * Any member may be NULL; request_begins needs `waiting`. Observers are called in the order of
 * their registration; for fork_over and host_fault in reverse order.
 */
#ifndef VGPU_OBSERVER_H
#define VGPU_OBSERVER_H

#include "core.h"

struct vgpu__observer {
    void (*request_begins)(void); /* the thread is about to send a request */
    atomic_int *waiting;          /* request_begins is called only while this is not 0 */
    void (*reply_came)(const struct vgpu_request *request, const struct vgpu_reply *reply);
    void (*call_failed)(cudaError_t error);        /* the thread's last error has been set */
    void (*error_asked)(const char *call);         /* the program reads the last error */
    void (*thread_ends)(void);                     /* a thread that has a connection to the node */
    void (*process_ends)(void);                    /* before the node is notified */
    void (*fork_begins)(void), (*fork_over)(void); /* fork_over: in both processes */
    void (*child_begins)(void);                    /* in the child of a fork, after fork_over */
    /* Called in the SIGSEGV handler. True: the faulting instruction can be repeated. */
    bool (*host_fault)(uint64_t address, const void *context);
};

/* Registers an observer. Before main only, and at most 8. */
void vgpu__observe(const struct vgpu__observer *observer);

/* Call the registered callbacks; used by the core. */
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

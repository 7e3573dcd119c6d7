/* SPDX-License-Identifier: MIT
 * capture.h: the captures that are under way: capture.c keeps them, and says what calls on their
 * streams mean; capture_calls.c begins and ends them.
 */
#ifndef VGPU_CAPTURE_H
#define VGPU_CAPTURE_H

#include <pthread.h>

#include "graph.h"

struct set {
    struct CUgraphNode_st **node;
    size_t count, room;
};

struct member {
    uint64_t stream;
    int physical; /* the stream's device, whichever is current when its nodes are made */
    struct set last;
    struct member *next;
};

struct stream_kind {
    bool blocking; /* work on the legacy stream waits for it */
    int physical;  /* its device */
};

struct capture {
    unsigned long long id;
    struct CUgraph_st *graph;
    enum cudaStreamCaptureMode mode;
    const void *thread; /* that began it */
    uint64_t origin;
    bool spoiled;
    bool blocking; /* one of its streams waits for the legacy stream */
    struct member *members;
    struct capture *next;
};

/* An event as a capture recorded it; stays when the capture is over, until it is recorded anew. */
struct captured_event {
    cudaEvent_t event;
    unsigned long long capture;
    struct set last;
    struct captured_event *next;
};

extern pthread_mutex_t vgpu__capture_lock;
extern struct capture *vgpu__captures; /* guarded by the lock; so are the calls below */
extern _Thread_local enum cudaStreamCaptureMode vgpu__capture_mode; /* its address names a thread */

uint64_t vgpu__capture_key(cudaStream_t stream); /* what a member calls its stream */
struct capture *vgpu__capture_of(uint64_t stream, struct member **member);
struct member *vgpu__capture_member(struct capture *c, uint64_t stream);
struct member *vgpu__capture_join(struct capture *c, uint64_t stream,
                                  const struct stream_kind *kind);
void vgpu__capture_end(struct capture *c);

/* The capture is invalid from now on; answers `error`, recorded. */
cudaError_t vgpu__capture_spoil_with(struct capture *c, const char *call, cudaError_t error,
                                     const char *why);

/* Does a call of this kind disturb a capture? An error, recorded. vgpu__begin asks it. */
vgpu__gate vgpu__capture_gate;

/* Asks the node what `stream` is, without the lock. */
cudaError_t vgpu__stream_kind(const char *call, cudaStream_t stream, struct stream_kind *kind);

#endif

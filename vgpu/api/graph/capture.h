/* SPDX-License-Identifier: MIT
 * capture.h: the captures under way. capture.c keeps them and decides what calls on their streams
 * do; capture_calls.c begins and ends them.
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
    int physical; /* the stream's device, to which its nodes belong whatever the current device is
                   */
    struct set last;
    struct member *next;
};

struct stream_kind {
    bool blocking; /* it synchronizes with the legacy default stream */
    int physical;  /* the stream's device */
};

struct capture {
    unsigned long long id;
    struct CUgraph_st *graph;
    enum cudaStreamCaptureMode mode;
    const void *thread; /* address of vgpu__capture_mode of the thread that began it */
    uint64_t origin;
    bool spoiled;
    bool given;    /* the graph is the program's, and stays if the capture fails */
    bool blocking; /* one of its streams synchronizes with the legacy default stream */
    struct member *members;
    struct capture *next;
};

/* An event recorded in a capture. It outlives the capture, until the event is recorded anew. */
struct captured_event {
    cudaEvent_t event;
    unsigned long long capture;
    struct set last;
    struct captured_event *next;
};

bool vgpu__set_add(struct set *set, struct CUgraphNode_st *node); /* false: no host memory */

extern pthread_mutex_t vgpu__capture_lock;
/* Guarded by vgpu__capture_lock, which callers of vgpu__capture_of, _member, _join and _end hold.
 */
extern struct capture *vgpu__captures;
/* Its address identifies a thread. */
extern _Thread_local enum cudaStreamCaptureMode vgpu__capture_mode;

/* The number by which captures know a stream: `stream` in struct member. */
uint64_t vgpu__capture_key(cudaStream_t stream);
/* The capture that the stream takes part in, with *member its state there; NULL: none. */
struct capture *vgpu__capture_of(uint64_t stream, struct member **member);
/* The stream's state in the capture; NULL: it does not take part. */
struct member *vgpu__capture_member(struct capture *c, uint64_t stream);
/* Makes the stream take part. NULL: host memory ran out. */
struct member *vgpu__capture_join(struct capture *c, uint64_t stream,
                                  const struct stream_kind *kind);
/* Removes the capture and frees it, but not its graph. */
void vgpu__capture_end(struct capture *c);

/* Makes the capture invalid, prints `why`, records `error` and returns it. */
cudaError_t vgpu__capture_spoil_with(struct capture *c, const char *call, cudaError_t error,
                                     const char *why);

/* Called by vgpu__admit. Returns (and records) an error if a call that sends an `op` request would
 * invalidate a capture. */
vgpu__gate vgpu__capture_gate;

/* Queries the node about `stream`. Call it without vgpu__capture_lock, since it waits for a reply.
 */
cudaError_t vgpu__stream_kind(const char *call, cudaStream_t stream, struct stream_kind *kind);

#endif

// SPDX-License-Identifier: MIT
// peer_access.cu: your file of lab 02, who can reach whom. The contract of every function is in
// lab02.h, the tasks and hints are in README.md.
//
// A `.cu` file is compiled as C++. Stay with C and two things to remember: a void * needs a cast
// before it becomes another pointer, and a `goto` must not jump over an initialisation.
#include <string.h>

#include "lab02.h"

int peer_matrix(int n, uint8_t *can)
{
    // TODO(1): the whole table of who can access whom.  (about 20 lines)
    //   before: `can` may be in use by the caller; nothing is known about n
    //   after:  can[from * n + to] is 1 or 0 for every pair, the diagonal 0; on an error untouched
    //   use:    peer_gpus, cudaDeviceCanAccessPeer, peer_result
    (void)n;
    (void)can;
    TODO(1);
}

int peer_attrs(int from, int to, struct peer_attr *attr)
{
    // TODO(2): what the runtime says about one direction.  (about 11 lines)
    //   before: nothing is known about the two numbers
    //   after:  *attr holds access, rank and native atomics of from -> to; on an error untouched
    //   use:    peer_check, cudaDeviceGetP2PAttribute, peer_result
    (void)from;
    (void)to;
    (void)attr;
    TODO(2);
}

int peer_enable(const int *gpu, int n, struct peer_undo *undo)
{
    // TODO(3): switch access on between all GPUs of the list, both ways.  (about 37 lines)
    //   before: some directions may be on already, some may be impossible
    //   after:  all are on and *undo lists those that this call switched on; or an error, and
    //           exactly those are on that were on before
    //   use:    peer_check, cudaSetDevice, cudaDeviceEnablePeerAccess; to go back: peer_disable
    (void)gpu;
    (void)n;
    (void)undo;
    TODO(3);
}

int peer_disable(struct peer_undo *undo)
{
    // TODO(4): switch off exactly what is noted.  (about 16 lines)
    //   before: *undo was filled by peer_enable, or by an earlier call of this function
    //   after:  those directions are off, all others as they were, undo->count is 0
    //   use:    cudaSetDevice, cudaDeviceDisablePeerAccess
    (void)undo;
    TODO(4);
}

int peer_class(const struct peer_attr *attr, enum peer_kind *kind)
{
    // TODO(5): name what the attributes mean.  (about 4 lines)
    //   before: *attr is what peer_attrs said
    //   after:  *kind is PEER_NONE, PEER_PLAIN or PEER_ATOMIC; on an error untouched
    //   use:    nothing but C; do atomics mean anything without access?
    (void)attr;
    (void)kind;
    TODO(5);
}

// The kernel of TODO(6) goes here: it stores a word of its own at every index and, where asked to,
// adds to one counter that both GPUs use.

int peer_probe(int from, int to, int *works)
{
    // TODO(6): do not ask whether it works, try it.  (about 50 lines with the kernel)
    //   before: nothing is known about the two numbers; from -> to may be on or off
    //   after:  *works says what really arrived; memory is freed, from -> to is on or off as before
    //   use:    peer_attrs, cudaMalloc and cudaMemset on `to`, cudaDeviceEnablePeerAccess on
    //   `from`,
    //           your kernel, atomicAdd_system, cudaDeviceSynchronize, cudaMemcpy by the owner
    (void)from;
    (void)to;
    (void)works;
    TODO(6);
}

int peer_dot(int n, const struct peer_attr *attr, FILE *out)
{
    // TODO(7): write the node as a Graphviz digraph.  (about 18 lines)
    //   before: attr[from * n + to] holds every direction; the diagonal holds anything
    //   after:  `out` got a digraph with n nodes and one edge for each direction with access
    //   use:    fprintf, peer_class, fflush and ferror for the end
    (void)n;
    (void)attr;
    (void)out;
    TODO(7);
}

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
    if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && can == NULL))
        return LAB_EINVAL;
    if (n > peer_gpus())
        return LAB_ENOGPU;
    // TODO(1): the whole table of who can access whom.  (about 16 lines)
    //   before: `can` may be in use by the caller
    //   after:  can[from * n + to] is 1 or 0 for every pair, the diagonal 0; on an error untouched
    //   use:    cudaDeviceCanAccessPeer, peer_result
    TODO(1);
}

int peer_attrs(int from, int to, struct peer_attr *attr)
{
    int pair[2] = {from, to};
    int rc = attr != NULL ? peer_check(pair, 2) : (int)LAB_EINVAL;

    if (rc != LAB_OK)
        return rc;
    // TODO(2): what the runtime says about one direction.  (about 8 lines)
    //   before: from and to are two different GPUs of this machine
    //   after:  *attr holds access, rank and native atomics of from -> to; on an error untouched
    //   use:    cudaDeviceGetP2PAttribute, peer_result
    TODO(2);
}

int peer_enable(const int *gpu, int n, struct peer_undo *undo)
{
    int rc = undo != NULL ? peer_check(gpu, n) : (int)LAB_EINVAL;

    if (rc != LAB_OK)
        return rc;
    if (n < 2) {
        undo->count = 0; // no pairs, and perhaps no GPU
        return LAB_OK;
    }
    // TODO(3): switch access on between all GPUs of the list, both ways.  (about 30 lines)
    //   before: some directions may be on already, some may be impossible
    //   after:  all are on and *undo lists those that this call switched on; or an error, and
    //           exactly those are on that were on before
    //   use:    cudaGetDevice, cudaSetDevice, cudaDeviceEnablePeerAccess, peer_note; to go back:
    //           peer_disable
    TODO(3);
}

int peer_disable(struct peer_undo *undo)
{
    if (undo == NULL || undo->count < 0 || undo->count > PEER_MAX_PAIRS)
        return LAB_EINVAL;
    if (undo->count == 0)
        return LAB_OK;
    // TODO(4): switch off exactly what is noted.  (about 13 lines)
    //   before: *undo was filled by peer_enable, or by an earlier call of this function
    //   after:  those directions are off, all others as they were, undo->count is 0
    //   use:    cudaSetDevice, cudaDeviceDisablePeerAccess
    TODO(4);
}

int peer_class(const struct peer_attr *attr, enum peer_kind *kind)
{
    if (attr == NULL || kind == NULL)
        return LAB_EINVAL;
    // TODO(5): name what the attributes mean.  (about 2 lines)
    //   before: *attr is what peer_attrs said
    //   after:  *kind is PEER_NONE, PEER_PLAIN or PEER_ATOMIC; on an error untouched
    //   use:    nothing but C; do atomics mean anything without access?
    TODO(5);
}

// The kernel of TODO(6) goes here: it stores a word of its own at every index and, where asked to,
// adds to one counter that both GPUs use.

int peer_probe(int from, int to, int *works)
{
    struct peer_attr attr;
    int before = 0, rc = works != NULL ? peer_attrs(from, to, &attr) : (int)LAB_EINVAL;

    if (rc == LAB_OK)
        rc = peer_result(cudaGetDevice(&before));
    if (rc != LAB_OK)
        return rc;
    // TODO(6): do not ask whether it works, try it.  (about 45 lines with the kernel)
    //   before: attr holds what the runtime says; from -> to may be on or off
    //   after:  *works says what really arrived; memory is freed, from -> to is on or off as before
    //   use:    cudaMalloc and cudaMemset on `to`, cudaDeviceEnablePeerAccess on `from`, your
    //           kernel, atomicAdd_system, cudaDeviceSynchronize, cudaMemcpy by the owner
    TODO(6);
}

int peer_dot(int n, const struct peer_attr *attr, FILE *out)
{
    if (n < 0 || n > PEER_MAX_GPUS || (n > 0 && attr == NULL) || out == NULL)
        return LAB_EINVAL;
    fprintf(out, "digraph peers {\n");
    for (int gpu = 0; gpu < n; gpu++)
        fprintf(out, "    gpu%d [label=\"GPU %d\"];\n", gpu, gpu);
    // TODO(7): the edges, and the end of the digraph.  (about 14 lines)
    //   before: attr[from * n + to] holds every direction; the diagonal holds anything
    //   after:  `out` got a digraph with n nodes and one edge for each direction with access
    //   use:    fprintf, peer_class, fflush and ferror for the end
    TODO(7);
}

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
    // BEGIN SOLUTION
    uint8_t found[PEER_MAX_GPUS * PEER_MAX_GPUS];

    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            int yes = 0;
            if (from != to) {
                // The two directions are two questions: the answers may differ.
                int rc = peer_result(cudaDeviceCanAccessPeer(&yes, from, to));
                if (rc != LAB_OK)
                    return rc;
            }
            found[from * n + to] = (uint8_t)(yes != 0);
        }
    }
    if (n > 0)
        memcpy(can, found, (size_t)n * n);
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(1);
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
    // BEGIN SOLUTION
    struct peer_attr got;

    // || stops at the first call that fails, and cudaGetLastError() then says how.
    if (cudaDeviceGetP2PAttribute(&got.access, cudaDevP2PAttrAccessSupported, from, to) ||
        cudaDeviceGetP2PAttribute(&got.rank, cudaDevP2PAttrPerformanceRank, from, to) ||
        cudaDeviceGetP2PAttribute(&got.atomics, cudaDevP2PAttrNativeAtomicSupported, from, to))
        return peer_result(cudaGetLastError());
    *attr = got;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(2);
}

// BEGIN SOLUTION
// Switches one direction on and notes it in *undo, unless it was on before. Leaves the current
// device at `from`.
static int enable_direction(int from, int to, struct peer_undo *undo)
{
    cudaError_t error = cudaSetDevice(from);

    if (error == cudaSuccess)
        error = cudaDeviceEnablePeerAccess(to, 0);
    if (error == cudaSuccess)
        peer_note(undo, from, to);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        // No failure for us, but the runtime remembers it: cudaGetLastError() after
        // the next kernel launch would say that the launch failed.
        cudaGetLastError();
        return LAB_OK;
    }
    return peer_result(error);
}

// END SOLUTION

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
    // BEGIN SOLUTION
    struct peer_undo done;
    int before = 0;

    done.count = 0;
    if ((rc = peer_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    for (int a = 0; a < n && rc == LAB_OK; a++)
        for (int b = 0; b < n && rc == LAB_OK; b++)
            if (a != b)
                rc = enable_direction(gpu[a], gpu[b], &done);
    if (rc != LAB_OK)
        peer_disable(&done);
    peer_result(cudaSetDevice(before));
    if (rc == LAB_OK)
        *undo = done;
    return rc;
    // END SOLUTION
    // STUB: TODO(3);
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
    // BEGIN SOLUTION
    int before = 0, rc;

    if ((rc = peer_result(cudaGetDevice(&before))) != LAB_OK)
        return rc;
    while (undo->count > 0) {
        const struct peer_pair *pair = &undo->pair[--undo->count];
        cudaError_t error = cudaSetDevice(pair->from);
        if (error == cudaSuccess)
            error = cudaDeviceDisablePeerAccess(pair->to);
        int failed = peer_result(error);
        if (failed != LAB_OK && error != cudaErrorPeerAccessNotEnabled)
            rc = failed; // go on: one direction that fails is no reason to leave the others on
    }
    peer_result(cudaSetDevice(before));
    return rc;
    // END SOLUTION
    // STUB: TODO(4);
}

int peer_class(const struct peer_attr *attr, enum peer_kind *kind)
{
    if (attr == NULL || kind == NULL)
        return LAB_EINVAL;
    // TODO(5): name what the attributes mean.  (about 2 lines)
    //   before: *attr is what peer_attrs said
    //   after:  *kind is PEER_NONE, PEER_PLAIN or PEER_ATOMIC; on an error untouched
    //   use:    nothing but C; do atomics mean anything without access?
    // BEGIN SOLUTION
    *kind = !attr->access ? PEER_NONE : attr->atomics ? PEER_ATOMIC : PEER_PLAIN;
    return LAB_OK;
    // END SOLUTION
    // STUB: TODO(5);
}

// The kernel of TODO(6) goes here: it stores a word of its own at every index and, where asked to,
// adds to one counter that both GPUs use.
// BEGIN SOLUTION
#define PROBE_WORDS 256   // one block; word[PROBE_WORDS] is the counter
#define PROBE_MARK 0x5eed // word[i] is to become PROBE_MARK + i: nothing that lay there before

static __global__ void probe(unsigned *word, int store, int add)
{
    if (store)
        word[threadIdx.x] = PROBE_MARK + threadIdx.x;
    if (add) // _system: the plain atomicAdd is atomic among the threads of one GPU only
        atomicAdd_system(&word[PROBE_WORDS], 1u);
}

static int probe_judge(const unsigned *got)
{
    for (unsigned i = 0; i < PROBE_WORDS; i++)
        if (got[i] != PROBE_MARK + i)
            return 0;
    return PEER_STORES_ARRIVE | (got[PROBE_WORDS] == 2 * PROBE_WORDS ? PEER_ATOMICS_ADD_UP : 0);
}

// END SOLUTION

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
    // BEGIN SOLUTION
    struct peer_undo undo;
    unsigned *word = NULL, got[PROBE_WORDS + 1];

    if (!attr.access) {
        *works = 0;
        return LAB_OK;
    }
    undo.count = 0;
    // cudaMemset may return before the memory is zero, and nothing orders it against a kernel of
    // another GPU: so wait.
    if (cudaSetDevice(to) || cudaMalloc((void **)&word, sizeof got) ||
        cudaMemset(word, 0, sizeof got) || cudaDeviceSynchronize())
        rc = peer_result(cudaGetLastError());
    if (rc == LAB_OK)
        rc = enable_direction(from, to, &undo); // this direction only: the other may not exist
    if (rc == LAB_OK) {
        probe<<<1, PROBE_WORDS>>>(word, 1, attr.atomics); // on `from`: it is current since then
        cudaSetDevice(to);
        probe<<<1, PROBE_WORDS>>>(word, 0, attr.atomics); // before the wait: they are to meet
        if (cudaPeekAtLastError() || cudaSetDevice(from) || cudaDeviceSynchronize() ||
            cudaSetDevice(to) || cudaMemcpy(got, word, sizeof got, cudaMemcpyDeviceToHost))
            rc = peer_result(cudaGetLastError());
    }
    int undone = peer_disable(&undo);
    peer_result(cudaFree(word));
    peer_result(cudaSetDevice(before));
    if (rc == LAB_OK)
        rc = undone; // access that stays on is no success
    if (rc == LAB_OK)
        *works = probe_judge(got);
    return rc;
    // END SOLUTION
    // STUB: TODO(6);
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
    // BEGIN SOLUTION
    enum peer_kind kind = PEER_NONE;

    for (int from = 0; from < n; from++) {
        for (int to = 0; to < n; to++) {
            if (from == to || peer_class(&attr[from * n + to], &kind) != LAB_OK)
                continue;
            if (kind != PEER_NONE)
                fprintf(out, "    gpu%d -> gpu%d [label=\"%s\"];\n", from, to,
                        kind == PEER_ATOMIC ? "atomics" : "peer");
        }
    }
    fprintf(out, "}\n");
    // Buffered output fails late: only after the flush is it known whether all of it arrived.
    return fflush(out) == 0 && !ferror(out) ? LAB_OK : LAB_ERANGE;
    // END SOLUTION
    // STUB: TODO(7);
}

/* SPDX-License-Identifier: MIT
 * graph_object.c: references of graphs and executable graphs to user objects (user_object.c).
 */
#include <stdlib.h>

#include "graph_exec.h"

/* The references of the graph go to the end of a stream of their own, which waits for the last
 * launch. If that cannot be made, they stay. */
void vgpu__objects_outlive_launch(struct CUgraphExec_st *exec)
{
    static const char call[] = "cudaGraphExecDestroy";
    uint64_t stream = 0;
    if (!exec->graph->objects || exec->launched_on < 0 ||
        vgpu__exec_make(VGPU_OP_STREAM_CREATE, exec->launched_on, cudaStreamNonBlocking, &stream) !=
            cudaSuccess)
        return;
    struct host_function *release = calloc(1, sizeof *release);
    if (release && vgpu__exec_event(VGPU_OP_STREAM_WAIT, stream, exec->done[exec->launched_on]) ==
                       cudaSuccess) {
        *release = (struct host_function){.function = vgpu__objects_give_back,
                                          .data = exec->graph->objects};
        if (vgpu__host_function(call, release, (cudaStream_t)(uintptr_t)stream) == cudaSuccess) {
            exec->graph->objects = NULL;
            release = NULL;
        }
    }
    free(release);
    vgpu__exec_destroy(VGPU_OP_STREAM_DESTROY, stream);
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                      unsigned int count, unsigned int flags)
{
    return vgpu__graph_known(graph) ? vgpu__objects_retain(graph, object, count, flags)
                                    : vgpu__refuse_value("cudaGraphRetainUserObject", "no graph");
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object,
                                       unsigned int count)
{
    return vgpu__graph_known(graph) ? vgpu__objects_let_go(graph, object, count)
                                    : vgpu__refuse_value("cudaGraphReleaseUserObject", "no graph");
}

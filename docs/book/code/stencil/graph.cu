// SPDX-License-Identifier: MIT
// graph.cu: the stencil on several GPUs. All steps are captured once, and launched by one call.
#include "overlap.h"

static cudaGraphExec_t ready;

// book: capture
static void capture(void)
{
    cudaStream_t origin = part[0].stream;
    cudaGraph_t graph;
    cudaEvent_t begin;
    CHECK(cudaSetDevice(0));
    CHECK(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(begin, origin));
    for (int g = 0; g < gpus; g++) { // what waits for a captured event is captured, too
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamWaitEvent(part[g].stream, begin, 0));
        CHECK(cudaEventRecord(part[g].done, part[g].stream));
    }
    for (int i = 0; i < steps; i++)
        step();
    for (int g = 1; g < gpus; g++)
        CHECK(cudaStreamWaitEvent(origin, part[g].done, 0)); // all come back to the origin
    CHECK(cudaStreamEndCapture(origin, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(begin));
}

static void launch(void)
{
    CHECK(cudaGraphLaunch(ready, part[0].stream));
}
// book: end

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    enable_peer_access();
    open_edges();
    capture();
    finish(timed(launch, 1));
    CHECK(cudaGraphExecDestroy(ready));
    close_edges();
    return 0;
}

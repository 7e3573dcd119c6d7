// SPDX-License-Identifier: MIT
// peergraph.cu: chapter 4's stencil, whose kernels store into the neighbours' halos, as a graph.
#include "../stencil/stencil.h"

static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        wait_for_neighbours(g, p->stream);
        relax_and_send<<<grid(p->rows), THREADS, 0, p->stream>>>(p->now, p->next, width, p->rows,
                                                                 above(g), below(g));
        CHECK(cudaGetLastError());
    }
    for (int g = 0; g < gpus; g++) { // only now: above, all wait for the step before
        CHECK(cudaEventRecord(part[g].done, part[g].stream));
        swap(&part[g]);
    }
}

static cudaGraphExec_t ready;

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

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    enable_peer_access();
    capture();
    finish(timed(launch, 1));
    CHECK(cudaGraphExecDestroy(ready));
    return 0;
}

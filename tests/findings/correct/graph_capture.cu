// SPDX-License-Identifier: MIT
// graph_capture.cu: work on all GPUs captured into one graph by events that fork and join, then
// launched several times.
#include "correct.h"

int main()
{
    struct gpu g[GPUS];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    begin();
    for (int d = 0; d < gpus; d++)
        g[d] = make_gpu(d);
    cudaEvent_t fork = event_on(0);
    CHECK(cudaStreamBeginCapture(g[0].stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(fork, g[0].stream));
    for (int d = 1; d < gpus; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamWaitEvent(g[d].stream, fork, 0));
        copy_plus<<<BLOCKS, BLOCK, 0, g[d].stream>>>(g[d].a, g[d].a, d);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(g[d].done, g[d].stream));
    }
    CHECK(cudaSetDevice(0));
    for (int d = 1; d < gpus; d++) {
        CHECK(cudaStreamWaitEvent(g[0].stream, g[d].done, 0));
        add<<<BLOCKS, BLOCK, 0, g[0].stream>>>(g[0].b, g[d].a);
        CHECK(cudaGetLastError());
    }
    CHECK(cudaStreamEndCapture(g[0].stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 3; round++)
        CHECK(cudaGraphLaunch(exec, g[0].stream));
    CHECK(cudaStreamSynchronize(g[0].stream));
    int wrong = wrong_from(g[0].b, (1 + 2 + 3) * gpus * (gpus - 1) / 2, 0);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(fork));
    for (int d = 0; d < gpus; d++)
        free_gpu(d, &g[d]);
    return end(wrong);
}

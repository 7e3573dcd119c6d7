/* SPDX-License-Identifier: MIT
 * overlap.h: a step of the stencil with two streams for each GPU; overlap.cu runs it, graph.cu
 * captures it.
 */
#ifndef BOOK_OVERLAP_H
#define BOOK_OVERLAP_H

#include "stencil.h"

static cudaStream_t edge[MOST]; // computes and sends the edge rows; part[g].stream the others
static cudaEvent_t sent[MOST];

// book: step
// Computes and sends row y, an edge of GPU g, in its edge stream.
static void edge_row(int g, int y, double *to)
{
    struct part *p = &part[g];
    relax<<<grid(1), THREADS, 0, edge[g]>>>(p->now, p->next, width, y, y);
    CHECK(cudaGetLastError());
    if (to)
        CHECK(cudaMemcpyAsync(to, next_row(p, y), row_bytes(), cudaMemcpyDefault, edge[g]));
}

static void step(void)
{
    for (int g = 0; g < gpus; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        wait_for_neighbours(g, edge[g]);
        edge_row(g, 1, above(g));
        edge_row(g, p->rows, below(g));
        CHECK(cudaEventRecord(sent[g], edge[g]));
        if (p->rows > 2) { // the inner rows need no halo
            relax<<<grid(p->rows - 2), THREADS, 0, p->stream>>>(p->now, p->next, width, 2,
                                                                p->rows - 1);
            CHECK(cudaGetLastError());
        }
        CHECK(cudaStreamWaitEvent(p->stream, sent[g], 0));
    }
    for (int g = 0; g < gpus; g++) { // a step is done when both streams are
        CHECK(cudaEventRecord(part[g].done, part[g].stream));
        swap(&part[g]);
    }
}
// book: end

static void open_edges(void)
{
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamCreateWithFlags(&edge[g], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&sent[g], cudaEventDisableTiming));
    }
}

static void close_edges(void)
{
    for (int g = 0; g < gpus; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamDestroy(edge[g]));
        CHECK(cudaEventDestroy(sent[g]));
    }
}

#endif

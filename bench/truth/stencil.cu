// SPDX-License-Identifier: MIT
// stencil.cu: heat in a plate of rows on several GPUs. Each step the edge rows are computed first
// and copied to the neighbours while the inner rows are computed; events order all of it.
#include "rows.h"

static const int WIDTH = 4096;
enum { MOST_GPUS = 4 };

struct part {
    int rows; // its own, without the two halo rows
    float *now, *next;
    cudaStream_t inner, edge;
    cudaEvent_t edges_done, all_done;
};

static struct part part[MOST_GPUS];
static int parts;

__global__ void heat(const float *now, float *next, int first, int last)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y;
    if (x < 1 || x >= WIDTH - 1 || y > last)
        return;
    const float *at = now + (size_t)y * WIDTH + x;
    next[(size_t)y * WIDTH + x] = 0.25f * (at[-1] + at[1] + at[-WIDTH] + at[WIDTH]);
}

static void compute(const struct part *p, int first, int last, cudaStream_t stream)
{
    dim3 grid(WIDTH / 256, last - first + 1);
    heat<<<grid, 256, 0, stream>>>(p->now, p->next, first, last);
    CHECK(cudaGetLastError());
}

// Row `from` of part a becomes row `to` of part b.
static void send_row(int a, int from, int b, int to)
{
    CHECK(cudaMemcpyPeerAsync(part[b].next + (size_t)to * WIDTH, b,
                              part[a].next + (size_t)from * WIDTH, a, WIDTH * sizeof(float),
                              part[a].edge));
}

static void step()
{
    for (int g = 0; g < parts; g++) {
        struct part *p = &part[g];
        CHECK(cudaSetDevice(g));
        for (int n = g - 1; n <= g + 1;
             n++) // halos of the last step, and nobody reads what I write
            if (n >= 0 && n < parts) {
                CHECK(cudaStreamWaitEvent(p->edge, part[n].all_done, 0));
                CHECK(cudaStreamWaitEvent(p->inner, part[n].all_done, 0));
            }
        compute(p, 1, 1, p->edge);
        compute(p, p->rows, p->rows, p->edge);
        if (g > 0)
            send_row(g, 1, g - 1, part[g - 1].rows + 1);
        if (g < parts - 1)
            send_row(g, p->rows, g + 1, 0);
        CHECK(cudaEventRecord(p->edges_done, p->edge));
        compute(p, 2, p->rows - 1, p->inner);
    }
    for (int g = 0; g < parts; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaStreamWaitEvent(part[g].inner, part[g].edges_done, 0));
        CHECK(cudaEventRecord(part[g].all_done, part[g].inner));
        std::swap(part[g].now, part[g].next);
    }
}

static void finish()
{
    for (int g = 0; g < parts; g++) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaDeviceSynchronize());
    }
}

static double steps_us(int steps)
{
    finish();
    double start = host_us();
    for (int i = 0; i < steps; i++)
        step();
    finish();
    return host_us() - start;
}

// Of each of STEPS steps. In virtual time a step takes as long as the one before, once the first
// few are over, and computing them all would take minutes.
static double step_us()
{
    const int STEPS = 50, FEW = 2, MORE = 4;
    if (!VIRTUAL)
        return steps_us(STEPS) / STEPS;
    double few = steps_us(FEW), each = (steps_us(MORE) - few) / (MORE - FEW);
    return (few + (STEPS - FEW) * each) / STEPS;
}

static void open_part(int g, int rows)
{
    struct part *p = &part[g];
    const size_t bytes = (size_t)(rows + 2) * WIDTH * sizeof(float);
    CHECK(cudaSetDevice(g));
    p->rows = rows;
    CHECK(cudaMalloc(&p->now, bytes));
    CHECK(cudaMalloc(&p->next, bytes));
    CHECK(cudaMemset(p->now, 0, bytes));
    CHECK(cudaMemset(p->next, 0, bytes));
    CHECK(cudaStreamCreateWithFlags(&p->inner, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&p->edge, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&p->edges_done, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&p->all_done, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(p->all_done, p->inner));
}

static void close_part(int g)
{
    struct part *p = &part[g];
    CHECK(cudaSetDevice(g));
    CHECK(cudaFree(p->now));
    CHECK(cudaFree(p->next));
    CHECK(cudaStreamDestroy(p->inner));
    CHECK(cudaStreamDestroy(p->edge));
    CHECK(cudaEventDestroy(p->edges_done));
    CHECK(cudaEventDestroy(p->all_done));
}

// Neighbours reach each other, as anybody would run it; or no longer.
static void switch_access(bool on)
{
    for (int g = 0; g < parts; g++)
        for (int n = g - 1; n <= g + 1; n += 2) {
            int can = 0;
            if (n < 0 || n >= parts)
                continue;
            CHECK(cudaSetDevice(g));
            CHECK(cudaDeviceCanAccessPeer(&can, g, n));
            if (can)
                CHECK(on ? cudaDeviceEnablePeerAccess(n, 0) : cudaDeviceDisablePeerAccess(n));
        }
}

int main()
{
    int gpus;
    CHECK(cudaGetDeviceCount(&gpus));
    for (parts = 1; parts <= gpus && parts <= MOST_GPUS; parts *= 2) {
        switch_access(true);
        for (int all = 1024; all <= 4096; all *= 4) {
            for (int g = 0; g < parts; g++)
                open_part(g, all / parts);
            double us = median(step_us);
            row(us, "stencil.%dx%d.%d_gpus.us", all, WIDTH, parts);
            for (int g = 0; g < parts; g++)
                close_part(g);
        }
        switch_access(false);
    }
    return 0;
}

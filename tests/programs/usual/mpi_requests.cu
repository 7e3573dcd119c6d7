// SPDX-License-Identifier: MIT
// mpi_requests.cu: messages of device memory that go on after the call, small ones and such as the
// library takes out of the sender's memory, completed by every call that can.
#include "../check.h"

#include <mpi.h>
#include <vector>

enum { BOTH = 2, SIZES = 2 };
static const int sizes[SIZES] = {16, 1 << 20};

static int rank, ranks, *mine, *other;
static std::vector<int> host(1 << 20);

static void fill(int *to, int n, int value)
{
    for (int i = 0; i < n; i++)
        host[i] = value + i % 1000;
    MUST(cudaMemcpy(to, host.data(), n * sizeof *to, cudaMemcpyHostToDevice));
}

static void expect(const char *call, int n, int value)
{
    MUST(cudaMemcpy(host.data(), other, n * sizeof *other, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        HOLDS(host[i] == value + i % 1000, "%s: [%d] is %d", call, i, host[i]);
}

static void begin(int n, int tag, MPI_Request *requests)
{
    fill(mine, n, 1000 * rank + tag);
    fill(other, n, -1);
    MPI_Irecv(other, n, MPI_INT, (rank + ranks - 1) % ranks, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, n, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD, &requests[1]);
}

static void wait_each(MPI_Request *requests)
{
    for (int i = 0; i < BOTH; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void wait_all(MPI_Request *requests)
{
    MPI_Waitall(BOTH, requests, MPI_STATUSES_IGNORE);
}

static void wait_any(MPI_Request *requests)
{
    int which;
    for (int i = 0; i < BOTH; i++)
        MPI_Waitany(BOTH, requests, &which, MPI_STATUS_IGNORE);
}

static void wait_some(MPI_Request *requests)
{
    int done, which[BOTH];
    for (int all = 0; all < BOTH; all += done)
        MPI_Waitsome(BOTH, requests, &done, which, MPI_STATUSES_IGNORE);
}

static void test_each(MPI_Request *requests)
{
    for (int i = 0, done = 0; i < BOTH; i++, done = 0)
        while (!done)
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
}

static void test_all(MPI_Request *requests)
{
    for (int done = 0; !done;)
        MPI_Testall(BOTH, requests, &done, MPI_STATUSES_IGNORE);
}

static void test_any(MPI_Request *requests)
{
    for (int all = 0, which, done; all < BOTH; all += done && which != MPI_UNDEFINED)
        MPI_Testany(BOTH, requests, &which, &done, MPI_STATUS_IGNORE);
}

static void test_some(MPI_Request *requests)
{
    int done, which[BOTH];
    for (int all = 0; all<BOTH; all += done> 0 ? done : 0)
        MPI_Testsome(BOTH, requests, &done, which, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*complete)(MPI_Request *);
    } calls[] = {{"Wait", wait_each},     {"Waitall", wait_all},  {"Waitany", wait_any},
                 {"Waitsome", wait_some}, {"Test", test_each},    {"Testall", test_all},
                 {"Testany", test_any},   {"Testsome", test_some}};
    int gpus, tag = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(cudaGetDeviceCount(&gpus));
    MUST(cudaSetDevice(rank % gpus));
    MUST(cudaMalloc(&mine, sizes[1] * sizeof *mine));
    MUST(cudaMalloc(&other, sizes[1] * sizeof *other));
    for (const auto &call : calls)
        for (int n : sizes) {
            MPI_Request requests[BOTH];
            begin(n, ++tag, requests);
            call.complete(requests);
            HOLDS(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "not done");
            expect(call.name, n, 1000 * ((rank + ranks - 1) % ranks) + tag);
        }
    MUST(cudaFree(mine));
    MUST(cudaFree(other));
    MPI_Finalize();
    if (rank == 0)
        printf("Test PASSED\n");
    return 0;
}

// SPDX-License-Identifier: MIT
// mpi_requests.cu: messages of device memory that go on after the call, small ones and such as the
// library takes out of the sender's memory, completed by every call that can. Columns, whose gaps
// stay the program's.
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

// Between the elements of a column the memory is the program's, also while the column is received.
static void columns()
{
    enum { ROWS = 100, PITCH = 16 };
    int last = (rank + ranks - 1) % ranks, flag = 0, *row = other + PITCH;
    MPI_Datatype column, backwards;
    MPI_Request requests[BOTH];
    MPI_Type_vector(ROWS, 2, PITCH, MPI_INT, &column);
    MPI_Type_commit(&column);
    begin(ROWS * PITCH, 100, requests);
    wait_all(requests);
    MPI_Irecv(other, 1, column, last, 101, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, 1, column, (rank + 1) % ranks, 101, MPI_COMM_WORLD, &requests[1]);
    MUST(cudaMemset(other + 2, 0, (PITCH - 2) * sizeof *other));
    while (!flag)
        MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
    MUST(cudaMemcpy(host.data(), other, 2 * PITCH * sizeof *other, cudaMemcpyDeviceToHost));
    HOLDS(host[1] == 1000 * last + 101 && host[2] == 0 && host[PITCH - 1] == 0 &&
              host[PITCH] == 1000 * last + 100 + PITCH,
          "column: %d, %d beside it", host[1], host[2]);
    wait_all(requests);
    // two ints before the address, and two of the row before that
    MPI_Type_create_hvector(2, 2, -(MPI_Aint)(PITCH * sizeof *other), MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    MPI_Sendrecv(mine + PITCH, 1, backwards, (rank + 1) % ranks, 102, row, 1, backwards, last, 102,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MUST(cudaMemcpy(host.data(), other, 2 * PITCH * sizeof *other, cudaMemcpyDeviceToHost));
    HOLDS(host[0] == 1000 * last + 100 && host[PITCH + 1] == 1000 * last + 101 + PITCH,
          "backwards: %d, %d", host[0], host[PITCH + 1]);
    MPI_Type_free(&column);
    MPI_Type_free(&backwards);
}

// A message that was looked at before; a sum of host memory, of which each rank gets a part.
static void others()
{
    enum { SMALL = 16 };
    int last = (rank + ranks - 1) % ranks;
    MPI_Message message;
    MPI_Request request, sent;
    fill(mine, SMALL, 1000 * rank + 200);
    for (int later = 0; later < 2; later++) {
        fill(other, SMALL, -1);
        MPI_Isend(mine, SMALL, MPI_INT, (rank + 1) % ranks, 200, MPI_COMM_WORLD, &sent);
        MPI_Mprobe(last, 200, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (later)
            MPI_Imrecv(other, SMALL, MPI_INT, &message, &request);
        else
            MPI_Mrecv(other, SMALL, MPI_INT, &message, MPI_STATUS_IGNORE);
        if (later)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
        expect("Mprobe", SMALL, 1000 * last + 200);
    }
    std::vector<int> all(ranks, rank);
    int *end = other + sizes[1] - 1, sum = 0;
    MPI_Reduce_scatter_block(all.data(), end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MUST(cudaMemcpy(&sum, end, sizeof sum, cudaMemcpyDeviceToHost));
    HOLDS(sum == ranks * (ranks - 1) / 2, "Reduce_scatter_block: %d", sum);
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
    columns();
    others();
    MUST(cudaFree(mine));
    MUST(cudaFree(other));
    MPI_Finalize();
    if (rank == 0)
        printf("Test PASSED\n");
    return 0;
}

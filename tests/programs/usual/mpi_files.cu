// SPDX-License-Identifier: MIT
// mpi_files.cu: files of MPI written from device memory and read into it, at a place, one rank
// after the other, at once and later.
#include "../check.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 500 };

static int rank, ranks, *device, host[COUNT];
static MPI_File file;

static void fill(int value)
{
    for (int i = 0; i < COUNT; i++)
        host[i] = value + i;
    MUST(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
}

static void expect(const char *call, int value)
{
    MUST(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        HOLDS(host[i] == value + i, "%s: rank %d has %d at %d", call, rank, host[i], i);
}

static void end(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    HOLDS(*request == MPI_REQUEST_NULL, "not done");
}

// Each rank writes its part, and reads the next one's.
static void places()
{
    MPI_Offset mine = rank * (MPI_Offset)sizeof host,
               next = (rank + 1) % ranks * (MPI_Offset)sizeof host;
    MPI_Request request;
    for (int way = 0; way < 4; way++) {
        int value = 100000 * way + 1000 * rank, wanted = 100000 * way + 1000 * ((rank + 1) % ranks);
        fill(value);
        if (way == 0)
            MPI_File_write_at(file, mine, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        if (way == 1)
            MPI_File_write_at_all(file, mine, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        if (way >= 2) {
            MPI_File_iwrite_at(file, mine, device, COUNT, MPI_INT, &request);
            end(&request);
        }
        MPI_File_sync(file);
        MPI_Barrier(MPI_COMM_WORLD);
        fill(-1);
        if (way == 0)
            MPI_File_read_at(file, next, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        if (way == 1)
            MPI_File_read_at_all(file, next, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
        if (way == 2)
            MPI_File_iread_at(file, next, device, COUNT, MPI_INT, &request);
        if (way == 3) {
            MPI_File_seek(file, next, MPI_SEEK_SET);
            MPI_File_iread(file, device, COUNT, MPI_INT, &request);
        }
        if (way >= 2)
            end(&request);
        expect("at a place", wanted);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

// In the ranks' order.
static void ordered()
{
    fill(7000 + rank);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_write_ordered(file, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    fill(-1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    MPI_File_read_ordered(file, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    expect("ordered", 7000 + rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
    fill(-1);
    MPI_File_read_shared(file, device, COUNT, MPI_INT, MPI_STATUS_IGNORE);
    MUST(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    HOLDS(host[0] >= 7000 && host[0] < 7000 + ranks, "shared: %d", host[0]);
}

int main(int argc, char **argv)
{
    char name[] = "/tmp/mpi-files-XXXXXX";
    int gpus;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MUST(cudaGetDeviceCount(&gpus));
    MUST(cudaSetDevice(rank % gpus));
    MUST(cudaMalloc(&device, sizeof host));
    if (rank == 0)
        HOLDS(close(mkstemp(name)) == 0, "no file");
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    HOLDS(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file) == MPI_SUCCESS,
          "cannot open %s", name);
    places();
    ordered();
    MPI_File_close(&file);
    MUST(cudaFree(device));
    MPI_Finalize();
    if (rank == 0)
        printf("Test PASSED\n");
    return 0;
}

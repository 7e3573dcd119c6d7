// SPDX-License-Identifier: MIT
// mpi_refused.cu CALL: a call of MPI that does not take device memory, in one process.
#include "check.h"

#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int *device, host[4] = {};
    MPI_Win window = MPI_WIN_NULL; // which the call does not come to
    MPI_Request request;
    MPI_Datatype type = MPI_INT;
    const int four = 4, zero = 0;
    MPI_Init(&argc, &argv);
    MUST(cudaMalloc(&device, sizeof host));
    fprintf(stderr, "at %p\n", (void *)device);
    if (strcmp(argv[1], "MPI_Put") == 0)
        MPI_Put(device, 4, MPI_INT, 0, 0, 4, MPI_INT, window);
    if (strcmp(argv[1], "MPI_Get") == 0)
        MPI_Get(device, 4, MPI_INT, 0, 0, 4, MPI_INT, window);
    if (strcmp(argv[1], "MPI_Win_create") == 0)
        MPI_Win_create(device, sizeof host, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (strcmp(argv[1], "MPI_Iallreduce") == 0)
        MPI_Iallreduce(host, device, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (strcmp(argv[1], "MPI_Neighbor_alltoall") == 0)
        MPI_Neighbor_alltoall(host, 4, MPI_INT, device, 4, MPI_INT, MPI_COMM_WORLD);
    if (strcmp(argv[1], "MPI_Alltoallw") == 0)
        MPI_Alltoallw(device, &four, &zero, &type, host, &four, &zero, &type, MPI_COMM_WORLD);
    if (strcmp(argv[1], "MPI_Igatherv") == 0)
        MPI_Igatherv(device, 4, MPI_INT, host, &four, &zero, MPI_INT, 0, MPI_COMM_WORLD, &request);
    if (strcmp(argv[1], "MPI_File_read_ordered_begin") == 0)
        MPI_File_read_ordered_begin(MPI_FILE_NULL, device, 4, MPI_INT);
    if (strcmp(argv[1], "MPI_File_write_at_all_begin") == 0)
        MPI_File_write_at_all_begin(MPI_FILE_NULL, 0, device, 4, MPI_INT);
    puts("taken");
    return 0;
}

// SPDX-License-Identifier: MIT
// ipc_wait_then_tell.cu: a process fills another's memory, waits for its own stream, and only then
// says so through a pipe.
#include "correct.h"
#include <sys/wait.h>
#include <unistd.h>

static int to_child[2], to_parent[2];

static int child(void)
{
    cudaIpcMemHandle_t handle;
    int *to;
    char done = 1;
    if (read(to_child[0], &handle, sizeof handle) != sizeof handle)
        return 2;
    count_gpus();
    cudaStream_t stream = stream_on(gpus - 1);
    CHECK(cudaIpcOpenMemHandle((void **)&to, handle, cudaIpcMemLazyEnablePeerAccess));
    fill<<<BLOCKS, BLOCK, 0, stream>>>(to, 60);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaIpcCloseMemHandle(to));
    CHECK(cudaStreamDestroy(stream));
    return write(to_parent[1], &done, 1) != 1;
}

int main()
{
    cudaIpcMemHandle_t handle;
    char done;
    int status;
    if (pipe(to_child) != 0 || pipe(to_parent) != 0)
        return 2;
    if (fork() == 0)
        exit(child());
    count_gpus();
    int *a = zeros_on(0, N), *b = zeros_on(0, N);
    CHECK(cudaIpcGetMemHandle(&handle, a));
    if (write(to_child[1], &handle, sizeof handle) != sizeof handle ||
        read(to_parent[0], &done, 1) != 1)
        return 2;
    copy_plus<<<BLOCKS, BLOCK>>>(b, a, 1);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    int wrong = wrong_from(b, 61, 1);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    return wait(&status) < 0 || status != 0 || wrong;
}

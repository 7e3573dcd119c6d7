// SPDX-License-Identifier: MIT
// small.cu: a little of everything, for runs in which something fails.
//
//     small            exit status 0: all is right; 1: a call reported an error (and was told on
//                      stderr as "small: CALL: ERROR"); 2: no call did, and a result is wrong
//     small bystander  connects, writes "ready", and after a line of input does the same
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 1024
#define BIG (3 << 20)

static int failed;

static bool good(const char *call, int error)
{
    if (error == 0)
        return true;
    failed++;
    fprintf(stderr, "small: %s: %d\n", call, error);
    cudaGetLastError();
    return false;
}
#define TRY(call) good(#call, (int)(call))

__device__ int offset_by = 5;

__global__ void add(int *to, const int *from, int n)
{
    __shared__ int sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        sum = offset_by;
    __syncthreads();
    if (i < n)
        to[i] = from[i] + sum;
    if (i == 0)
        printf("added\n");
}

static int wrong;

static void expect(const char *what, const int *data, int n, int first)
{
    for (int i = 0; i < n && !failed; i++)
        if (data[i] != first + i) {
            wrong++;
            fprintf(stderr, "small: %s[%d] is %d, not %d\n", what, i, data[i], first + i);
            return;
        }
}

static void kernels(int device)
{
    int *in = NULL, *out = NULL, here[N];
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    for (int i = 0; i < N; i++)
        here[i] = i;
    if (TRY(cudaSetDevice(device)) && TRY(cudaMalloc(&in, sizeof here)) &&
        TRY(cudaMalloc(&out, sizeof here)) && TRY(cudaStreamCreate(&stream)) &&
        TRY(cudaEventCreate(&event)) &&
        TRY(cudaMemcpyAsync(in, here, sizeof here, cudaMemcpyHostToDevice, stream))) {
        add<<<N / 128, 128, 0, stream>>>(out, in, N);
        TRY(cudaGetLastError());
        TRY(cudaEventRecord(event, stream));
        TRY(cudaStreamWaitEvent(NULL, event, 0));
        TRY(cudaEventSynchronize(event));
        TRY(cudaMemcpy(here, out, sizeof here, cudaMemcpyDeviceToHost));
        expect("kernel", here, N, 5);
    }
    cudaFree(in);
    cudaFree(out);
    if (stream)
        cudaStreamDestroy(stream);
    if (event)
        cudaEventDestroy(event);
}

static void pinned_and_peers(void)
{
    int *host = NULL, *a = NULL, *b = NULL, *ours = (int *)aligned_alloc(4096, BIG);
    if (ours && TRY(cudaMallocHost(&host, BIG)) && TRY(cudaSetDevice(0)) &&
        TRY(cudaMalloc(&a, BIG)) && TRY(cudaDeviceEnablePeerAccess(1, 0)) &&
        TRY(cudaSetDevice(1)) && TRY(cudaMalloc(&b, BIG)) &&
        TRY(cudaHostRegister(ours, BIG, cudaHostRegisterDefault))) {
        for (int i = 0; i < BIG / 4; i++)
            host[i] = i;
        TRY(cudaMemset(b, 0, BIG));
        TRY(cudaMemcpy(a, host, BIG, cudaMemcpyHostToDevice));
        TRY(cudaMemcpyPeer(b, 1, a, 0, BIG));
        TRY(cudaMemcpy(ours, b, BIG, cudaMemcpyDeviceToHost));
        expect("peer", ours, BIG / 4, 0);
        TRY(cudaHostUnregister(ours));
        TRY(cudaSetDevice(0));
        TRY(cudaDeviceDisablePeerAccess(1));
    }
    cudaFree(a);
    cudaFree(b);
    cudaFreeHost(host);
    free(ours);
}

static int called;

static void call_back(void *data)
{
    called = *(int *)data;
}

static void graph(void)
{
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    int *memory = NULL, seven = 7;
    called = 0;
    if (TRY(cudaSetDevice(0)) && TRY(cudaStreamCreate(&stream)) &&
        TRY(cudaMallocAsync(&memory, 4 * N, stream)) &&
        TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal))) {
        TRY(cudaMemsetAsync(memory, 0, 4 * N, stream));
        add<<<N / 128, 128, 0, stream>>>(memory, memory, N);
        TRY(cudaLaunchHostFunc(stream, call_back, &seven));
        TRY(cudaStreamEndCapture(stream, &graph));
        if (graph && TRY(cudaGraphInstantiate(&exec, graph, 0)) &&
            TRY(cudaGraphLaunch(exec, stream)) && TRY(cudaStreamSynchronize(stream)) &&
            called != 7) {
            wrong++;
            fprintf(stderr, "small: the host function was not called\n");
        }
        TRY(cudaFreeAsync(memory, stream));
        TRY(cudaStreamSynchronize(stream));
    }
    if (exec)
        cudaGraphExecDestroy(exec);
    if (graph)
        cudaGraphDestroy(graph);
    if (stream)
        cudaStreamDestroy(stream);
}

static void mapped(void)
{
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr at = 0;
    size_t bytes = 2 << 20;
    int fd = -1;
    if (!TRY(cuMemCreate(&handle, bytes, &prop, 0)))
        return;
    if (TRY(cuMemAddressReserve(&at, bytes, 0, 0, 0))) {
        if (TRY(cuMemMap(at, bytes, 0, handle, 0))) {
            TRY(cuMemSetAccess(at, bytes, &access, 1));
            TRY(cuMemsetD8(at, 1, bytes));
            TRY(cuMemUnmap(at, bytes));
        }
        TRY(cuMemAddressFree(at, bytes));
    }
    if (TRY(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                         0))) {
        if (TRY(cuMemImportFromShareableHandle(&again, (void *)(long)fd,
                                               CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)))
            TRY(cuMemRelease(again));
        close(fd);
    }
    TRY(cuMemRelease(handle));
}

static void shared(void)
{
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t told;
    cudaEvent_t event = NULL;
    int *p = NULL, *managed = NULL;
    if (TRY(cudaMalloc(&p, BIG)) && TRY(cudaIpcGetMemHandle(&memory, p)) &&
        TRY(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming)))
        TRY(cudaIpcGetEventHandle(&told, event));
    if (TRY(cudaMallocManaged(&managed, 4 * N)))
        managed[0] = 1;
    cudaFree(p);
    cudaFree(managed);
    if (event)
        cudaEventDestroy(event);
}

static void *thread(void *unused)
{
    kernels(1);
    return unused;
}

static void everything(void)
{
    pthread_t other;
    kernels(0);
    pinned_and_peers();
    graph();
    mapped();
    shared();
    if (pthread_create(&other, NULL, thread, NULL) == 0) /* else it says so to its caller: us */
        pthread_join(other, NULL);
    TRY(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    char line[16];
    int *p = NULL;
    if (argc > 1 && strcmp(argv[1], "bystander") == 0) {
        TRY(cudaMalloc(&p, N));
        puts("ready");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            return 3;
    }
    everything();
    return wrong ? 2 : failed ? 1 : 0;
}

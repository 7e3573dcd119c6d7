// SPDX-License-Identifier: MIT
// main.cu: conformance --list | --machine | CASE: the names of all cases, which GPUs these are, or
// what one case answers.
#include "ask.h"

enum { MOST = 400 };

static struct {
    const char *name;
    ask_body *body;
} cases[MOST];
static int count;

bool ask_register(const char *name, ask_body *body)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(cases[i].name, name)) {
            fprintf(stderr, "two cases are called %s: rename one of them\n", name);
            exit(2);
        }
    if (count == MOST) {
        fprintf(stderr, "more than %d cases: raise MOST in main.cu\n", MOST);
        exit(2);
    }
    cases[count].name = name;
    cases[count++].body = body;
    return true;
}

void ask_runtime(const char *what, cudaError_t code)
{
    cudaError_t last = cudaGetLastError();
    printf("    %s -> %d %s", what, (int)code, cudaGetErrorName(code));
    if (last != code)
        printf(", last error %d", (int)last);
    printf("\n");
    fflush(stdout);
}

void ask_driver(const char *what, CUresult code)
{
    const char *name = "?";
    cuGetErrorName(code, &name);
    printf("    %s -> %d %s\n", what, (int)code, name);
    fflush(stdout);
}

void ask_needed(const char *what, int code)
{
    if (code == 0)
        return;
    printf("    set-up: %s -> %d\n", what, code);
    fflush(stdout);
    exit(1);
}

int ask_peek(const void *at)
{
    int value = -12345;
    cudaMemcpy(&value, at, sizeof value, cudaMemcpyDefault);
    return value;
}

cudaMemsetParams ask_fill(void *at, unsigned value, size_t count)
{
    cudaMemsetParams m = {};
    m.dst = at;
    m.value = value;
    m.elementSize = sizeof(int);
    m.width = count;
    m.height = 1;
    return m;
}

cudaStream_t ask_stream(void)
{
    cudaStream_t stream;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

CUcontext ask_context(int device)
{
    CUcontext context;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    return context;
}

CUdeviceptr ask_memory(size_t bytes)
{
    CUdeviceptr memory;
    OK(cuMemAlloc(&memory, bytes));
    OK(cuMemsetD8(memory, 1, bytes));
    return memory;
}

/* For a record's head; grader/commands/conformance.py reads it. */
static int say_machine(void)
{
    int gpus = 0, driver = 0, runtime = 0;
    cudaDeviceProp p;
    if (cudaGetDeviceCount(&gpus) || cudaGetDeviceProperties(&p, 0) ||
        cudaDriverGetVersion(&driver) || cudaRuntimeGetVersion(&runtime)) {
        fprintf(stderr, "no GPU: %s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    printf("machine: %d %s\ngpus: %d\n", gpus, p.name, gpus);
    printf("driver API: %d\nruntime: %d\n", driver, runtime);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: conformance --list | --machine | CASE\n");
        return 2;
    }
    if (!strcmp(argv[1], "--machine"))
        return say_machine();
    for (int i = 0; i < count; i++) {
        if (!strcmp(argv[1], "--list"))
            printf("%s\n", cases[i].name);
        if (!strcmp(argv[1], cases[i].name)) {
            cases[i].body();
            return 0;
        }
    }
    if (!strcmp(argv[1], "--list"))
        return 0;
    fprintf(stderr, "no case is called %s; --list names them\n", argv[1]);
    return 2;
}

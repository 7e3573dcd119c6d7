/* SPDX-License-Identifier: MIT
 * coroutine.c: host code that uses pinned memory before it has waited, on a stack that ends there:
 * what is told of it must not read beyond.
 */
#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "expect.h"

enum { PAGE = 4096, BYTES = 1 << 20 };

static volatile char *pinned;
static ucontext_t here, there;

static void touch(void)
{
    pinned[BYTES / 2] = 1;
}

/* The page behind the stack is closed. */
static void on_a_small_stack(void)
{
    char *stack = mmap(NULL, 17 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(stack != MAP_FAILED && mprotect(stack + 16 * PAGE, PAGE, PROT_NONE) == 0);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 16 * PAGE;
    there.uc_link = &here;
    makecontext(&there, touch, 0);
    swapcontext(&here, &there);
    munmap(stack, 17 * PAGE);
}

int main(void)
{
    char *device;
    setenv("VGPU_CHECK", "order", 1);
    OK(cudaMalloc((void **)&device, BYTES));
    OK(cudaMallocHost((void **)&pinned, BYTES));
    for (int i = 0; i < 3; i++) {
        OK(cudaMemcpyAsync((void *)pinned, device, BYTES, cudaMemcpyDeviceToHost, 0));
        on_a_small_stack();
        OK(cudaDeviceSynchronize());
    }
    OK(cudaFreeHost((void *)pinned));
    OK(cudaFree(device));
    return 0;
}

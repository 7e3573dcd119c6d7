/* SPDX-License-Identifier: MIT
 * conversation.c: what the runtime says to a node and makes of its answers: a launch's module and
 * arguments, sentences (each once), what kernels printed, and a node that goes away.
 */
#include "fake_node.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cuda_runtime.h>

#include "expect.h"
#include "registration.h"

#define SECOND 1
#define FIRST 3 /* of the module's kernels, in an image of several files */

/* ---- a module with two kernels and a variable, as vgpu-cc would register it ---- */

static void first_stub(void) {}

static void second_stub(void) {}

static const uint8_t image[] = "the device image";
static const uint32_t param_bytes[] = {1, 8, 4};
static int shadow[4];
static const struct vgpu_host_kernel kernels[] = {
    {"first", (const void *)first_stub, 0, 0, param_bytes, 1024, 0, "x.cu", 1, {0}, NULL},
    {"second", (const void *)second_stub, SECOND, 3, param_bytes, 256, 1000, "x.cu", 9, {0}, NULL},
};
static const struct vgpu_host_var vars[] = {{"x.cu:shadow", shadow, sizeof shadow}};
static struct vgpu_host_image host_image = {"x.cu", image, image + sizeof image, 0};
static const struct vgpu_image_part part = {&host_image, FIRST};
static struct vgpu_host_module module = {
    .part = &part, .kernels = kernels, .kernel_count = 2, .vars = vars, .var_count = 1};

/* ---- the node's side ---- */

static bool image_is_right(int fd)
{
    uint8_t content[sizeof image];
    int all = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    return (fcntl(fd, F_GET_SEALS) & all) == all &&
           pread(fd, content, sizeof content, 0) == (ssize_t)sizeof content &&
           memcmp(content, image, sizeof image) == 0;
}

static bool launch_is_right(const struct vgpu_request *q)
{
    const struct vgpu_launch *l = &q->u.launch;
    double d;
    int32_t i;
    memcpy(&d, q->data + 1, sizeof d);
    memcpy(&i, q->data + 9, sizeof i);
    return l->module == 5 && l->kernel == FIRST + SECOND && l->grid[0] == 3 && l->block[1] == 2 &&
           l->shared_bytes == 64 && l->param_count == 3 && l->args_bytes == 13 &&
           q->data_bytes == 13 && q->data[0] == 'c' && d == 2.5 && i == -7 && q->stream == 77 &&
           strcmp(q->call, "second") == 0;
}

static bool answer(const struct vgpu_request *q, int fd, union fake_reply *reply)
{
    static bool printed;
    switch (q->op) {
    case VGPU_OP_MODULE:
        reply->r.error = image_is_right(fd) ? 0 : 200;
        reply->r.value = 5;
        return true;
    case VGPU_OP_LAUNCH:
        reply->r.error = launch_is_right(q) ? 0 : 999;
        return true;
    case VGPU_OP_VAR:
        reply->r.error = q->data_bytes == 11 && memcmp(q->data, "x.cu:shadow", 11) == 0 ? 0 : 13;
        reply->r.value = VGPU_DEVICE_VA(0) + 4096;
        return true;
    case VGPU_OP_DEVICE_SYNC:
        reply->r.text_waiting = 1;
        return true;
    case VGPU_OP_EVENT_SYNC:
        strcpy(reply->r.explain, "something to know");
        return true;
    case VGPU_OP_PRINTF:
        memcpy(reply->r.data, printed ? "two\n" : "one\n", 4);
        reply->r.data_bytes = 4;
        reply->r.text_waiting = !printed;
        printed = true;
        return true;
    case VGPU_OP_STREAM_SYNC:
        return false; /* goes away */
    default:
        return true;
    }
}

/* ---- the program's side ---- */

/* What was written to `fd` since capture began; the descriptor is as before afterwards. */
static int capture(int fd, int *file)
{
    int saved = dup(fd);
    char path[] = "/tmp/captured-XXXXXX";
    *file = mkstemp(path);
    unlink(path);
    dup2(*file, fd);
    return saved;
}

static const char *captured(int fd, int saved, int file)
{
    static char text[4096];
    fflush(stdout);
    fflush(stderr);
    dup2(saved, fd);
    close(saved);
    ssize_t got = pread(file, text, sizeof text - 1, 0);
    text[got < 0 ? 0 : got] = '\0';
    close(file);
    return text;
}

static void launches(void)
{
    char c = 'c';
    double d = 2.5;
    int i = -7;
    void *args[] = {&c, &d, &i};
    dim3 grid = {3, 1, 1}, block = {4, 2, 1}, wide = {257, 1, 1};
    cudaStream_t stream = (cudaStream_t)77;
    const void *second = (const void *)second_stub;
    OK(cudaLaunchKernel(second, grid, block, args, 64, stream));
    EXPECT_IS(cudaLaunchKernel(second, grid, wide, args, 64, stream), cudaErrorInvalidValue);
    EXPECT_IS(cudaLaunchKernel(second, grid, block, args, 48200, stream), cudaErrorInvalidValue);
    EXPECT_IS(cudaFuncSetAttribute(second, cudaFuncAttributeMaxDynamicSharedMemorySize, 101000),
              cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(second, cudaFuncAttributeMaxDynamicSharedMemorySize, 90000));
    EXPECT_IS(cudaLaunchKernel((const void *)launches, grid, block, args, 0, stream),
              cudaErrorInvalidResourceHandle);
}

static void configurations(void)
{
    dim3 grid = {3, 1, 1}, inner = {9, 1, 1}, out, block;
    size_t shared;
    cudaStream_t stream;
    EXPECT_IS(vgpu_push_call(grid, grid, 1, NULL), 0);
    EXPECT_IS(vgpu_push_call(inner, inner, 2, cudaStreamPerThread), 0);
    OK(vgpu_pop_call(&out, &block, &shared, &stream));
    EXPECT(out.x == 9 && block.x == 9 && shared == 2 && stream == cudaStreamPerThread);
    OK(vgpu_pop_call(&out, &block, &shared, &stream));
    EXPECT(out.x == 3 && shared == 1 && stream == NULL);
    EXPECT_IS(vgpu_pop_call(&out, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

static void functions(void)
{
    struct cudaFuncAttributes a;
    int blocks;
    OK(cudaFuncGetAttributes(&a, (const void *)second_stub));
    EXPECT_IS(a.maxThreadsPerBlock, 256);
    EXPECT_IS(a.sharedSizeBytes, 1000);
    EXPECT_IS(a.maxDynamicSharedSizeBytes, 90000);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)second_stub, 256, 0));
    EXPECT_IS(blocks, 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)second_stub, 256,
                                                     49000));
    EXPECT_IS(blocks, 2);
}

static void variables(void)
{
    void *address;
    size_t bytes;
    OK(cudaGetSymbolAddress(&address, shadow));
    EXPECT_IS((long)address, VGPU_DEVICE_VA(0) + 4096);
    OK(cudaGetSymbolSize(&bytes, shadow));
    EXPECT_IS(bytes, sizeof shadow);
    EXPECT_IS(cudaMemcpyToSymbol(shadow, shadow, 8, 12, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
    EXPECT_IS(cudaMemcpyToSymbol(image, shadow, 8, 0, cudaMemcpyHostToDevice),
              cudaErrorInvalidSymbol);
}

static void sentences(void)
{
    int file, saved = capture(2, &file);
    cudaEventSynchronize((cudaEvent_t)9);
    cudaEventSynchronize((cudaEvent_t)9);
    cudaGraphDebugDotPrint(0, 0, 0);
    cudaGraphDebugDotPrint(0, 0, 0);
    EXPECT_IS(strcmp(captured(2, saved, file),
                     "vgpu: cudaEventSynchronize: something to know\n"
                     "vgpu: cudaGraphDebugDotPrint: not modelled by the virtual node yet; it "
                     "answers cudaErrorNotSupported (801) and does nothing\n"),
              0);
}

static void kernels_print(void)
{
    int file, saved = capture(1, &file);
    cudaDeviceSynchronize();
    EXPECT_IS(strcmp(captured(1, saved, file), "one\ntwo\n"), 0);
}

static void the_node_goes(void)
{
    void *p;
    int file, saved = capture(2, &file);
    cudaError_t first = cudaStreamSynchronize(0), second = cudaMalloc(&p, 4);
    const char *text = captured(2, saved, file);
    EXPECT_IS(first, cudaErrorUnknown);
    EXPECT_IS(second, cudaErrorUnknown);
    EXPECT(strncmp(text, "vgpu: cudaStreamSynchronize: the virtual node is gone", 53) == 0);
    EXPECT(strchr(text, '\n') == text + strlen(text) - 1);
}

int main(void)
{
    unsetenv("VGPU_QUIET");
    vgpu_register_module(&module);
    fake_node_start(answer);
    kernels_print();
    launches();
    configurations();
    functions();
    variables();
    sentences();
    the_node_goes();
    return 0;
}

/* SPDX-License-Identifier: MIT
 * opencl.c: runs the kernels of kernels.cl (measure.h says how) on the first device of PoCL.
 * OpenCL's library and headers are needed where this is compiled: compare.py does that.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "measure.h"

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_mem x, y, total[RING], passed[RING][2];

static void check(cl_int error, const char *what)
{
    if (error == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: OpenCL error %d\n", what, error);
    exit(1);
}

static cl_device_id find_device(void)
{
    cl_platform_id platform[8];
    cl_uint count = 0;
    cl_device_id device;
    check(clGetPlatformIDs(8, platform, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < 8; i++) {
        char name[256] = "";
        clGetPlatformInfo(platform[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, "Portable Computing Language") &&
            clGetDeviceIDs(platform[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    fprintf(stderr, "PoCL is not among the OpenCL platforms\n");
    exit(1);
}

static void start(const char *path)
{
    static char text[1 << 16];
    const char *source = text;
    cl_device_id device = find_device();
    cl_int error;
    FILE *file = fopen(path, "r");
    if (!file || fread(text, 1, sizeof text - 1, file) == 0) {
        perror(path);
        exit(1);
    }
    fclose(file);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "clCreateCommandQueue");
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
}

static cl_mem buffer(size_t bytes)
{
    cl_int error;
    cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    check(error, "clCreateBuffer");
    return made;
}

static void copy_in(cl_mem to, const float *from, size_t bytes)
{
    check(clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, bytes, from, 0, NULL, NULL), "write");
}

static void copy_out(cl_mem from, size_t bytes)
{
    check(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, bytes, host, 0, NULL, NULL), "read");
}

static void upload(void)
{
    size_t bytes = (size_t)size.all * sizeof(float);
    copy_in(x, host, bytes);
    copy_in(y, host, bytes);
}

static void download(size_t numbers)
{
    copy_out(y, numbers * sizeof(float));
}

static void wait_for_all(void)
{
    check(clFinish(queue), "clFinish");
}

static double processor_seconds(void)
{
    return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* The kernel with that name, its buffers as arguments. */
static cl_kernel kernel_of(const char *name, int buffers, const cl_mem *of)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error, name);
    for (int i = 0; i < buffers; i++)
        check(clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &of[i]), name);
    return kernel;
}

/* The next argument, and the launch of width * height threads in blocks of wide * high. */
static void launch(cl_kernel kernel, cl_uint arguments, int n, int width, int height, int wide,
                   int high)
{
    size_t grid[] = {(size_t)width, (size_t)height}, block[] = {(size_t)wide, (size_t)high};
    if (n != 0)
        check(clSetKernelArg(kernel, arguments, sizeof n, &n), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, grid, block, 0, NULL, NULL), "launch");
    clReleaseKernel(kernel);
}

static void run_saxpy(void)
{
    float a = 2;
    cl_kernel kernel = kernel_of("saxpy", 2, (cl_mem[]){y, x});
    check(clSetKernelArg(kernel, 2, sizeof a, &a), "saxpy");
    launch(kernel, 3, size.all, size.all, 1, THREADS, 1);
}

static void run_stencil(void)
{
    launch(kernel_of("stencil", 2, (cl_mem[]){y, x}), 2, size.side, size.side, size.side, 32, 8);
}

static void run_tree(void)
{
    launch(kernel_of("tree", 2, (cl_mem[]){y, x}), 2, 0, size.all, 1, THREADS, 1);
}

static void run_histogram(void)
{
    cl_uint none = 0;
    check(clEnqueueFillBuffer(queue, y, &none, 4, 0, BINS * 4, 0, NULL, NULL), "fill");
    launch(kernel_of("histogram", 2, (cl_mem[]){y, x}), 2, size.bins, size.bins, 1, THREADS, 1);
}

static void run_bodies(void)
{
    launch(kernel_of("bodies", 2, (cl_mem[]){y, x}), 2, size.count, size.count, 1, 64, 1);
}

static void run_product(void)
{
    launch(kernel_of("product", 3, (cl_mem[]){y, x, x}), 3, size.small, size.small, size.small, 16,
           16);
}

static void run_tiles(void)
{
    launch(kernel_of("tiles", 3, (cl_mem[]){y, x, x}), 3, size.small, size.small, size.small, TILE,
           TILE);
}

static void run_shuffles(void)
{
    launch(kernel_of("shuffles", 2, (cl_mem[]){y, x}), 2, 0, size.all, 1, THREADS, 1);
}

static void run_scan(void)
{
    launch(kernel_of("scan", 2, (cl_mem[]){y, x}), 2, 0, size.all, 1, THREADS, 1);
}

static void run_transposed(void)
{
    launch(kernel_of("transposed", 2, (cl_mem[]){y, x}), 2, size.side, size.side, size.side, TILE,
           TILE);
}

static void run_sort(void)
{
    launch(kernel_of("sort", 2, (cl_mem[]){y, x}), 2, 0, size.all, 1, THREADS, 1);
}

static void run_pairs(void)
{
    launch(kernel_of("pairs", 2, (cl_mem[]){y, x}), 2, 0, size.all / 2, 1, SORTED / 2, 1);
}

static void run_ring(void)
{
    size_t bytes = (size_t)size.part * sizeof(float);
    for (int step = 0; step < RING - 1; step++) {
        int from = step % 2, to = !from;
        for (int g = 0; g < RING; g++)
            check(clEnqueueCopyBuffer(queue, passed[g][from], passed[(g + 1) % RING][to], 0, 0,
                                      bytes, 0, NULL, NULL),
                  "copy");
        for (int g = 0; g < RING; g++)
            launch(kernel_of("add", 2, (cl_mem[]){total[g], passed[g][to]}), 2, size.part,
                   size.part, 1, THREADS, 1);
        wait_for_all();
    }
}

static void make_ring(void)
{
    size_t bytes = (size_t)size.part * sizeof(float);
    fill(0);
    for (int g = 0; g < RING; g++) {
        total[g] = buffer(bytes);
        for (int i = 0; i < 2; i++)
            passed[g][i] = buffer(bytes);
        copy_in(total[g], host + g * 11, bytes);
        copy_in(passed[g][0], host + g * 11, bytes);
    }
}

static double end_of_ring(void)
{
    double all = 0;
    for (int g = 0; g < RING; g++) {
        copy_out(total[g], (size_t)size.part * sizeof(float));
        all += sum((size_t)size.part, 0);
    }
    return all;
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    size_t bytes = (size_t)size.all * sizeof(float);
    start(SOURCE);
    x = buffer(bytes);
    y = buffer(bytes);
    make_ring();
    measure_all(argc, argv);
    return 0;
}

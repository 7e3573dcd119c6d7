/* SPDX-License-Identifier: MIT
 * fills.cu: cases of api.fill-value: values of which a fill uses the lowest byte only.
 */
#include "cases.h"

#include <limits.h>

#define BYTES 4096
#define FILL(name) CASE("api.fill-value", name)

static const struct cudaExtent box = {64, 2, 2};
static int *x;
static cudaStream_t s;
static cudaError_t result;

static void start(void)
{
    x = (int *)device_memory(0, BYTES);
    s = stream_on(0, cudaStreamDefault);
}

static void bad_greatest_int(void)
{
    MUST(cudaMemset(x, INT_MAX, BYTES)); // @bad_greatest_int
}

static void bad_one_more_than_a_byte(void)
{
    MUST(cudaMemsetAsync(x, 256, BYTES, s)); // @bad_one_more_than_a_byte
    MUST(cudaStreamSynchronize(s));
}

static void bad_negative(void)
{
    MUST(cudaMemset2D(x, 64, -1000, 32, 4)); // @bad_negative
}

static void bad_box(void)
{
    cudaPitchedPtr p = make_cudaPitchedPtr(x, 64, 64, 2);
    MUST(cudaMemset3D(p, 0x01010101, box)); // @bad_box
}

static void bad_captured(void)
{
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    MUST(cudaMemsetAsync(x, 1000, BYTES, s)); // @bad_captured
    MUST(cudaStreamEndCapture(s, &graph));
    MUST(cudaGraphDestroy(graph));
}

static void near_none(void)
{
    MUST(cudaMemset(x, 0, BYTES));
}

static void near_all_bits(void)
{
    MUST(cudaMemset(x, -1, BYTES));
    MUST(cudaMemset(x, 0xff, BYTES));
}

static void near_smallest_char(void)
{
    MUST(cudaMemset(x, SCHAR_MIN, BYTES));
}

static void near_letter(void)
{
    cudaPitchedPtr p = make_cudaPitchedPtr(x, 64, 64, 2);
    MUST(cudaMemset2D(x, 64, 'x', 32, 4));
    MUST(cudaMemset3D(p, 'y', box));
}

static void near_refused(void)
{
    result = cudaMemset(NULL, 1000, BYTES);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {
        FILL(bad_greatest_int), FILL(bad_one_more_than_a_byte),
        FILL(bad_negative),     FILL(bad_box),
        FILL(bad_captured),     FILL(near_none),
        FILL(near_all_bits),    FILL(near_smallest_char),
        FILL(near_letter),      FILL(near_refused),
    };
    if (argc > 1)
        start();
    return run_case(cases, sizeof cases / sizeof *cases, argc, argv);
}

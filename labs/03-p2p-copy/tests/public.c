/* SPDX-License-Identifier: MIT
 * public.c: lab 03's public tests.
 */
#include <limits.h>

#include "public_copies.h"
#include "rates.h"

/* ---- TODO 6 ---- */

static void check_measure(struct lab_test *t)
{
    /* Large enough that starting two copies does not show: real machines need more for that. */
    uint64_t bytes = lab_is_virtual(t) ? 16 * MIB : 256 * MIB;
    double one = check_measured(t, 0, 1, bytes);
    struct bw both = one_measure(t, 0, 1, bytes, 1);
    check_bw(t, &both, 2 * bytes, PATH_PEER);
    lab_expect(t, LAB_LEAST(t, both.gbs, 1.8 * one),
               "both ways at once give %.1f GB/s, one way %.1f: expected at least 1.8 times that "
               "(each direction needs a stream of its own GPU, and both must start before either "
               "is waited for)",
               both.gbs, one);
    lab_expect(t, both.gbs <= 2.05 * one,
               "both ways at once give %.1f GB/s, one way %.1f: more than "
               "twice cannot be",
               both.gbs, one);
    if (!lab_is_virtual(t))
        return;
    lab_node(t, "oneway-2"); /* there by peer access, back through the host */
    struct bw back = one_measure(t, 1, 0, bytes, 0);
    lab_node(t, "oneway-2");
    both = one_measure(t, 0, 1, bytes, 1);
    lab_expect(t, both.seconds > 0.98 * back.seconds,
               "both ways at once take %.3g s, the slower direction alone %.3g s: the clock runs "
               "until both have ended",
               both.seconds, back.seconds);
    /* Not LAB_MOST: the two are equal, and the limit lies as close to that as it can. */
    lab_expect(
        t, both.seconds <= 1.008 * back.seconds,
        "both ways at once take %.4g s, the slower direction alone %.4g s: the clock started "
        "while that one was still warming up",
        both.seconds, back.seconds);
    lab_node(t, "oneway-2"); /* the slower one first */
    (void)one_measure(t, 1, 0, bytes, 1);
    check_measure_large(t);
}

static void check_measure_bad(struct lab_test *t)
{
    int n = lab_gpus(t);
    struct measure_in in = {.from = {0}, .to = {n}, .bytes = {MIB}};
    refuse_measure(t, in, "p2p_measure to a GPU that is not there", LAB_ENOGPU);
    in.to[0] = 0;
    in.both[0] = 1;
    refuse_measure(t, in, "p2p_measure of GPU 0 both ways with itself", LAB_EINVAL);
    in.both[0] = 0;
    in.bytes[0] = 0;
    refuse_measure(t, in, "p2p_measure of 0 bytes", LAB_EINVAL);
    in.bytes[0] = (uint64_t)1 << 45;
    in.to[0] = 1;
    refuse_measure(t, in, "p2p_measure of 32 TiB", LAB_ENOMEM);
    in.bytes[0] = MIB;
    in.null = 1;
    refuse_measure(t, in, "p2p_measure without a result", LAB_EINVAL);
    (void)one_measure(t, 0, 1, 1, 0); /* one byte is enough */
}

/* 600 and 300 GB/s are the same wire: the source counts both directions. */
static void check_example_a_rate(struct lab_test *t)
{
    lab_node(t, "textbook-a100-2");
    struct bw one = one_measure(t, 0, 1, 1000000000, 0);
    lab_node(t, "textbook-a100-2");
    struct bw both = one_measure(t, 0, 1, 62500000, 1);
    LAB_CLOSE(t, "GB/s one way over NVLink", one.gbs, 300, 3);
    LAB_CLOSE(t, "GB/s over NVLink, both ways counted as the source does", both.gbs, 600, 6);
    LAB_CLOSE(t, "1 GB one way over NVLink, ms", 1e3 * one.seconds, 3.33, 0.05);
}

/* ---- TODO 7 ---- */

static void check_matrix(struct lab_test *t)
{
    int n = lab_gpus(t) < 4 ? lab_gpus(t) : 4;
    /* without its cache glibc sees at once what was written behind an allocation */
    lab_env(t, "GLIBC_TUNABLES", "glibc.malloc.tcache_count=0");
    /* real GPUs raise their clocks as they work: the first copy may take twice the second's time */
    check_matrix_of(t, n, MIB, lab_is_virtual(t) ? 1.01 : 3);
    if (lab_is_virtual(t)) {
        lab_node(t, "oneway-2");
        check_matrix_of(t, 2, 4 * MIB, 1.01);
    }
    struct matrix_in in = {.n = 2, .null = 1, .bytes = MIB};
    refuse_matrix(t, in, "p2p_matrix(2, 1 MiB, NULL)", LAB_EINVAL);
}

static void check_matrix_bad(struct lab_test *t)
{
    struct matrix_in in = {.n = -1, .bytes = MIB};
    in.n = lab_gpus(t) + 1;
    refuse_matrix(t, in, "p2p_matrix of more GPUs than there are", LAB_ENOGPU);
    in.n = -1;
    refuse_matrix(t, in, "p2p_matrix of -1 GPUs", LAB_EINVAL);
    in.n = INT_MAX;
    refuse_matrix(t, in, "p2p_matrix of 2^31 - 1 GPUs", LAB_ENOGPU);
    in = (struct matrix_in){.n = 0};
    refuse_matrix(t, in, "p2p_matrix of 0 GPUs and 0 bytes", LAB_EINVAL);
    in = (struct matrix_in){.n = 1, .null = 1, .bytes = MIB};
    refuse_matrix(t, in, "p2p_matrix(1, 1 MiB, NULL)", LAB_EINVAL);
    in.n = 0;
    refuse_matrix(t, in, "p2p_matrix(0, 1 MiB, NULL)", LAB_OK);
    in = (struct matrix_in){.n = 1, .bytes = UINT64_C(1) << 45, .again = 64};
    refuse_matrix(t, in, "p2p_matrix of 32 TiB", LAB_ENOMEM);
    if (!lab_is_virtual(t))
        return;
    check_matrix_of(t, 1, 1, 1.01);
    check_matrix_frees(t, 2, MIB);
    refuse_memory(t);
    check_matrix_errors(t);
}

/* ---- TODO 8 ---- */

static void check_half(struct lab_test *t)
{
    const uint64_t sizes[] = {64, 4 * KIB, 256 * KIB, MIB, 16 * MIB, 256 * MIB};
    check_half_line(t, 1.67e-6, 395.3e9, 6, sizes);
    check_half_line(t, 2.46e-6, 55.4e9, 6, sizes);
    check_half_line(t, 1e-3, 100e9, 2, sizes + 4); /* two points are a line, too */
    const uint64_t odd[] = {1000001, 123456789, 77777777777, 8888888888889};
    check_half_line(t, 0.7, 123e9, 4, odd); /* more than 2^31 bytes */
    check_half_line(t, 1e9, 0.37, 4, odd);  /* less than a byte a second */
    struct half_in in = line(1e-5, 1e9, 5, sizes);
    double best = (double)sizes[3] / in.curve[3].seconds; /* and slower again, but not by half */
    in.curve[4].seconds = (double)sizes[4] / (0.7 * best);
    check_half_of(t, &in, best / 2 * 1e-5 / (1 - best / 2e9), 1e-9);
    const uint64_t few[] = {10, 3001};
    for (int i = 1; i < 8; i++)
        check_half_line(t, i * 1e-6, 1e9, 2, few); /* to the nearest byte */
    check_half_shapes(t);
}

static void check_half_bad(struct lab_test *t)
{
    const uint64_t sizes[] = {MIB, 2 * MIB, 4 * MIB}, falling[] = {MIB, MIB};
    struct half_in in = line(1e-9, 1e9, 3, sizes);
    refuse_half(t, &in, "p2p_half of a curve that begins at full speed", LAB_ERANGE);
    in = line(1e-3, 1e9, 1, sizes);
    refuse_half(t, &in, "p2p_half of one point", LAB_EINVAL);
    in = line(1e-3, 1e9, 2, falling);
    refuse_half(t, &in, "p2p_half of sizes that do not rise", LAB_EINVAL);
    in = line(1e-3, 1e9, 3, sizes);
    in.null = 1;
    refuse_half(t, &in, "p2p_half(NULL, ...)", LAB_EINVAL);
    in.null = 2;
    refuse_half(t, &in, "p2p_half without a result", LAB_EINVAL);
    for (int point = 0; point < 3; point++) {
        in = line(1e-3, 1e9, 3, sizes);
        in.curve[point].seconds = 0;
        refuse_half(t, &in, "p2p_half of a curve with a point that took no time", LAB_EINVAL);
    }
    in = line(0, 1, 2, sizes); /* 1 byte a second, and then 2: the first point is half as fast */
    in.curve[1].seconds = in.curve[0].seconds;
    refuse_half(t, &in, "p2p_half of a curve whose first point has half of the best rate",
                LAB_ERANGE);
}

/* ---- all together ---- */

/* Measures the curve of a real pair and asks for its half. */
static double measure_half(struct lab_test *t, uint64_t *half)
{
    struct measure_in in = {.asked = 12};
    struct half_in curve = {.points = 12};
    for (int i = 0; i < in.asked; i++) {
        in.to[i] = 1;
        in.bytes[i] = (uint64_t)4 << (2 * i);
    }
    struct lab_run *run = lab_run(t, "measure", &in, sizeof in, sizeof(struct measure_out));
    const struct measure_out *out = lab_output(run);
    for (int i = 0; i < in.asked; i++) {
        expect_rc(t, "p2p_measure", out->rc[i], LAB_OK);
        expect_measure_told(t, run, &out->bw[i], 0, 1, in.bytes[i]);
        curve.curve[i] = out->bw[i];
    }
    const struct half_out *found = ASK(t, "half", &curve, half_out);
    expect_rc(t, "p2p_half", found->rc, LAB_OK);
    *half = found->half;
    return curve.curve[0].seconds * curve.curve[11].gbs * 1e9;
}

/* Half of the best rate comes about where latency x bandwidth says. Real GPUs that have just done
 * other work now and then take many times as long for a small copy: five curves, one that fits. */
static void check_curve(struct lab_test *t)
{
    uint64_t half = 0;
    double product = 0;
    bool fits = false;
    for (int left = lab_is_virtual(t) ? 1 : 5; left > 0 && !fits; left--) {
        product = measure_half(t, &half);
        fits = (double)half > product / 2 && (double)half < product * 2;
    }
    lab_expect(
        t, fits,
        "half of the best rate is reached at %llu bytes; latency x bandwidth says about %.0f",
        (unsigned long long)half, product);
    if (lab_is_virtual(t))
        lab_expect(t, half > 400000 && half < 1200000,
                   "half of the best rate is reached at %llu bytes; on this machine it is near "
                   "660,000: are small copies timed too long?",
                   (unsigned long long)half);
}

LAB_CASES = {
    {.name = "path",
     .todo = 1,
     .title = "copy_path finds the direct paths",
     .points = 3,
     .quick = true,
     .min_gpus = 1,
     .check = check_path},
    {.name = "path_shapes",
     .todo = 1,
     .title = "copy_path on machines without peer access, or with it one way only",
     .rule = "cudaDeviceCanAccessPeer(&can, a, b) tells whether a can access b's memory; the other "
             "direction is another question",
     .points = 4,
     .needs_witness = true,
     .check = check_path_shapes},
    {.name = "path_bad",
     .todo = 1,
     .title = "copy_path refuses GPUs that do not exist",
     .points = 3,
     .min_gpus = 1,
     .check = check_path_bad},
    {.name = "peer_copy",
     .todo = 2,
     .title = "copy_peer_async copies every byte, in the order of its stream, without waiting",
     .rule = "the copy comes after the work that is already in the stream, and before later work",
     .about = "too early",
     .points = 5,
     .quick = true,
     .min_gpus = 1,
     .check = check_peer_copy},
    {.name = "peer_copy_bad",
     .todo = 2,
     .title = "copy_peer_async refuses memory of another GPU than was named",
     .rule = "CUDA copies by address and ignores the two numbers, so no call notices the mistake",
     .about = "wrong number|numbers",
     .points = 3,
     .min_gpus = 2,
     .check = check_peer_copy_bad},
    {.name = "stage_create",
     .todo = 3,
     .title = "stage_create makes everything on the right GPU, stage_destroy gives it back",
     .rule = "a stream or an event belongs to the device that was current when it was made",
     .about = "is not of GPU",
     .points = 6,
     .quick = true,
     .min_gpus = 1,
     .check = check_stage_create},
    {.name = "stage_create_bad",
     .todo = 3,
     .title = "stage_create is all or nothing",
     .rule = "a caller that gets an error must have nothing to free",
     .points = 4,
     .min_gpus = 1,
     .check = check_stage_create_bad},
    {.name = "stage_copy",
     .todo = 4,
     .title = "stage_copy_async copies every byte: any size, back to back, in the stream's order",
     .rule =
         "buffer i may be filled again only after it has been drained, and drained only after it "
         "has been filled; the caller's stream waits for the last chunk",
     .about = "another chunk",
     .points = 8,
     .quick = true,
     .min_gpus = 1,
     .check = check_stage_copy},
    {.name = "stage_copy_bad",
     .todo = 4,
     .title = "stage_copy_async refuses memory of other GPUs, and no stage",
     .points = 3,
     .min_gpus = 2,
     .check = check_stage_copy_bad},
    {.name = "stage_copy_errors",
     .todo = 4,
     .title = "stage_copy_async when a CUDA call fails: its error, and nothing is left behind",
     .rule = "a function that continues after an error copies the wrong bytes, or too early",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_stage_copy_errors},
    {.name = "stage_no_wait",
     .todo = 4,
     .title = "stage_copy_async never makes the host wait",
     .rule = "cudaStreamWaitEvent makes a stream wait; everything with Synchronize makes you wait",
     .points = 4,
     .needs_witness = true,
     .check = check_stage_no_wait},
    {.name = "stage_speed",
     .todo = 4,
     .title = "both hops work at the same time: at most 1.2 times the slower one",
     .rule = "with two buffers, one is filled while the other is drained",
     .points = 5,
     .min_gpus = 1,
     .timed = true,
     .one_order = true,
     .check = check_stage_speed},
    {.name = "example_a",
     .todo = 4,
     .title = "1 GB through the host on two A100: 62.5 ms in series, at most 36 staged",
     .points = 4,
     .needs_witness = true,
     .one_order = true,
     .check = check_example_a},
    {.name = "p2p_peer",
     .todo = 5,
     .title = "p2p_copy reports PATH_PEER and copies directly",
     .rule = "even without peer access cudaMemcpyPeerAsync works, but it is slow and does not "
             "report it",
     .about = "turned peer access on 0",
     .points = 4,
     .needs_witness = true,
     .quick = true,
     .check = check_p2p_peer},
    {.name = "p2p_staged",
     .todo = 5,
     .title = "without peer access p2p_copy reports PATH_STAGED, or refuses",
     .rule = "p2p_copy never falls back silently: it reports the path that it takes",
     .about = "expected -3 (LAB_ENOPEER)|took PATH_",
     .points = 4,
     .needs_witness = true,
     .check = check_p2p_staged},
    {.name = "p2p_local",
     .todo = 5,
     .title = "p2p_copy inside one GPU needs neither peer nor stage",
     .points = 2,
     .min_gpus = 1,
     .check = check_p2p_local},
    {.name = "p2p_bad",
     .todo = 5,
     .title = "p2p_copy refuses what does not fit together",
     .points = 2,
     .min_gpus = 2,
     .check = check_p2p_bad},
    {.name = "p2p_errors",
     .todo = 5,
     .title = "p2p_copy after peer_off, with another one's stage, or when a CUDA call fails",
     .rule = "*taken is the path of a copy that was queued; after an error it must be unchanged",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_p2p_errors},
    {.name = "measure",
     .todo = 6,
     .title = "p2p_measure agrees with what the machine saw; both ways at least 1.8 times one",
     .rule = "exactly the repetitions must be between the two events",
     .about = "copies of",
     .points = 4,
     .min_gpus = 2,
     .quick = true,
     .one_order = true,
     .check = check_measure},
    {.name = "measure_bad",
     .todo = 6,
     .title = "p2p_measure refuses and leaves nothing behind",
     .points = 2,
     .min_gpus = 2,
     .check = check_measure_bad},
    {.name = "measure_errors",
     .todo = 6,
     .title = "p2p_measure when a CUDA call fails: its error, and nothing is left behind",
     .rule = "if one of the copies was refused, the time is not that of all copies",
     .points = 1,
     .needs_witness = true,
     .one_order = true,
     .check = check_measure_errors},
    {.name = "example_a_rate",
     .todo = 6,
     .title = "NVLink of two A100: the 600 GB/s of the data sheet are 300 in each direction",
     .points = 2,
     .needs_witness = true,
     .one_order = true,
     .check = check_example_a_rate},
    {.name = "matrix",
     .todo = 7,
     .title = "p2p_matrix has the rate from i to j at [i * n + j]",
     .points = 3,
     .min_gpus = 1,
     .timed = true,
     .one_order = true,
     .check = check_matrix},
    {.name = "matrix_bad",
     .todo = 7,
     .title = "p2p_matrix is all or nothing",
     .points = 1,
     .min_gpus = 1,
     .check = check_matrix_bad},
    {.name = "half",
     .todo = 8,
     .title = "p2p_half finds half of the best rate between two points",
     .rule =
         "of the sizes measured, find the first that is fast enough, wherever the best is; before "
         "it the time grows along a straight line, the rate does not; calculate in double",
     .points = 3,
     .quick = true,
     .check = check_half},
    {.name = "half_bad",
     .todo = 8,
     .title = "p2p_half refuses points that are not a curve",
     .points = 1,
     .check = check_half_bad},
    {.name = "curve",
     .title = "half of the best rate is reached near latency x bandwidth",
     .rule = "a copy of that size spends half of its time on the latency",
     .points = 3,
     .min_gpus = 2,
     .timed = true,
     .one_order = true,
     .check = check_curve},
    {0},
};

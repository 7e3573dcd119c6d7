/* SPDX-License-Identifier: MIT
 * kernel_times.c: how long kernels take that do not wait for bandwidth, by what their first block
 * did (kernel_time.h). The figures are those of bench/results/kernels-h200-2.txt.
 */
#include <string.h>

#include "image.h"
#include "kernel_time.h"
#include "unit.h"

static struct topology topology;
static struct vgpu_run_counts counts;
static struct op op;

/* A kernel of so many blocks of 256 threads that has done nothing yet. */
static void start_kernel(const char *node, uint32_t blocks)
{
    char error[512];
    EXPECT(topology_load(&topology, UNIT_ROOT "/vgpu/nodes", node, error, sizeof error) == 0, "%s",
           error);
    counts = (struct vgpu_run_counts){.blocks_fit = 8, .threads = (uint64_t)blocks * 256};
    op = (struct op){.kind = OP_KERNEL, .counts = &counts};
    for (int i = 0; i < 3; i++)
        op.u.kernel.launch.grid[i] = op.u.kernel.launch.block[i] = 1;
    op.u.kernel.launch.grid[0] = blocks;
    op.u.kernel.launch.block[0] = 256;
}

static double extra_us(void)
{
    return (double)kernel_extra_ps(&topology, &op) * 1e-6;
}

static bool is_near(double us, double measured_us)
{
    return us > 0.85 * measured_us && us < 1.15 * measured_us;
}

/* Each thread reads `each` numbers one after the other, all in all `bytes`. */
static void read_numbers(uint64_t each, uint64_t bytes)
{
    counts.work.loads = each * VGPU_WORK_ROUNDS;
    counts.work.accesses = each * 256;
    counts.accesses = counts.threads * each;
    counts.read_bytes[0] = counts.read_moved[0] = counts.read_pairs = bytes;
}

UNIT(dependent_loads_cost_their_latency)
{
    start_kernel("hgx-h200-4", 1);
    read_numbers(8192, 1 << 20);
    EXPECT(is_near(extra_us(), 1194), "8192 loads from L2 take %g us", extra_us());
}

UNIT(one_block_does_not_fill_a_gpu)
{
    start_kernel("hgx-h200-4", 33);
    read_numbers(7944, 256 << 20);
    double few = extra_us();
    start_kernel("hgx-h200-4", 1056);
    read_numbers(248, 256 << 20);
    EXPECT(is_near(few, 2911 - 61), "256 MiB by 33 blocks take %g us more", few);
    EXPECT(is_near(extra_us(), 106 - 61), "by 1056 blocks they take %g us more", extra_us());
}

UNIT(processors_take_blocks_in_turns)
{
    double us[2];
    for (int i = 0; i < 2; i++) {
        start_kernel("hgx-h200-4", i ? 2112 : 132);
        counts.work.slots = 8 * 8192 * 5 / 4;
        counts.work.chain = 8192 * 5;
        us[i] = extra_us();
    }
    EXPECT(is_near(us[0], 20.5), "132 blocks of multiplications take %g us", us[0]);
    EXPECT(is_near(us[1], 165), "2112 of them take %g us", us[1]);
}

UNIT(doubles_and_integers_have_fewer_units)
{
    double us[3];
    for (int i = 0; i < 3; i++) {
        start_kernel("hgx-h200-4", 1056);
        counts.work.slots = 8 * 4096;
        counts.work.integers = i == 1 ? counts.work.slots : 0;
        counts.work.doubles = i == 2 ? counts.work.slots : 0;
        us[i] = extra_us();
    }
    EXPECT(is_near(us[1], 2 * us[0]) && is_near(us[2], 2 * us[0]), "%g, %g and %g us", us[0], us[1],
           us[2]);
}

UNIT(blocks_begin_one_after_another)
{
    start_kernel("hgx-h200-4", 100000);
    EXPECT(is_near(extra_us(), 60.5), "100000 blocks begin within %g us", extra_us());
}

UNIT(atomics_to_one_address_wait_for_each_other)
{
    start_kernel("hgx-h200-4", 8448);
    counts.atomic_requests = 67584;
    counts.atomic_lines = 1;
    EXPECT(is_near(extra_us(), 50.2), "to one address: %g us", extra_us());
    counts.atomic_lines = 67584;
    EXPECT(extra_us() < 10, "to an address each: %g us", extra_us());
    counts.atomic_requests *= 32;
    counts.atomic_lines = 8;
    EXPECT(is_near(extra_us(), 698), "32 requests a warp, to 256 addresses: %g us", extra_us());
}

UNIT(what_fits_into_l2_is_there)
{
    double bytes[2];
    for (int i = 0; i < 2; i++) {
        start_kernel("hgx-h200-4", 1056);
        read_numbers(16, i ? 96 << 20 : 16 << 20);
        bytes[i] = kernel_weighed_bytes(&topology, &op, &counts) / (double)counts.read_moved[0];
    }
    EXPECT(bytes[0] < 0.8 && bytes[1] == 1, "a byte counts as %g and %g", bytes[0], bytes[1]);
}

UNIT(a_gpu_that_is_not_described_has_bytes_only)
{
    start_kernel("dgx1-v100", 1);
    read_numbers(8192, 1 << 20);
    EXPECT(extra_us() == 0, "%g us", extra_us());
}

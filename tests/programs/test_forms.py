# SPDX-License-Identifier: MIT
"""Both forms of kernels (docs/virtual-node.md) do the same: test_forms.py BIN, where vgpu-cc lies.

Random kernels and usual programs run once with VGPU_FORM=careful and once with fast. What they
print, what is said of them, how they end and what VGPU_TRACE has of them, virtual times and bytes
on every link, must be the same, but for the form. With PEERLAB_FULL=1 there are 10,000 kernels.
"""

import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import random_kernels
from test_usual import LIBRARIES, OPTIONS, USUAL

BIN = pathlib.Path(sys.argv[1])
FULL = bool(os.environ.get("PEERLAB_FULL"))
# Those that print the same in every run.
PROGRAMS = (
    "conjugate_gradient",
    "histogram",
    "jacobi_peer_store",
    "jacobi_single_thread",
    "managed_add",
    "nbody",
    "pipeline",
    "reduction_series",
    "scan",
    "transpose",
    "vmm_vector_add",
)
ADD = """
__global__ void add(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main()
{
    int *p;
    cudaMalloc(&p, 4096);
    cudaMemset(p, 0, 4096);
    add<<<4, 256>>>(p);
    return cudaDeviceSynchronize();
}
"""
BARRIERS = """
__global__ void rounds(int *p, int n)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = t;
    for (int k = 0; k < n; k++) {
        s[t] = v;
        __syncthreads();
        v += s[63 - t];
        __syncthreads();
    }
    p[blockIdx.x * 64 + t] = v;
}
__global__ void sort(int *p) // one barrier in two loops, and a condition of each thread's between
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = p[blockIdx.x * 64 + t] * 37 % 101;
    for (int size = 2; size <= 64; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            __syncthreads();
            int other = t ^ d;
            if (other > t && (s[t] > s[other]) == !(t & size)) {
                int x = s[t];
                s[t] = s[other];
                s[other] = x;
            }
        }
    __syncthreads();
    p[blockIdx.x * 64 + t] = s[t];
}
int main()
{
    int *p;
    cudaMalloc(&p, 2048);
    rounds<<<8, 64>>>(p, 3);
    sort<<<8, 64>>>(p);
    return cudaDeviceSynchronize();
}
"""
ROUNDS = """
#include <cstdio>
__global__ void product(float *c, const float *a, const float *b, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
__global__ void before(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = out[i];
    for (int k = 0; k < n; k++)
        sum += in[k];
    out[i + 1] = sum; // which the next thread has read, or has not
}
__global__ void rounds(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = 0; j < m; j++) {
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += in[k * n + i];
        out[i + j] = sum; // several threads store there
    }
}
__global__ void bodies(float4 *force, const float4 *body, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i], sum = {0, 0, 0, 0};
    for (int j = 0; j < n; j++) {
        float4 other = body[j];
        float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
        float near = 1.0f / sqrtf(x * x + y * y + z * z + 1e-3f), pull = other.w * near;
        sum.x += pull * x;
        sum.y += pull * y;
        sum.z += pull * z;
    }
    force[i] = sum;
}
int main()
{
    const int n = 128;
    float *p, h[3 * n * n + 8];
    for (int i = 0; i < 3 * n * n + 8; i++)
        h[i] = (float)(i % 17) / 64;
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    for (int from = 0; from < 3; from++) // apart, the output in the first operand, in the second
        product<<<dim3(n / 16, n / 4), dim3(16, 4)>>>(p + n * n * (from % 3), p + n * n,
                                                      p + 2 * n * n, n);
    product<<<dim3(n / 16, n / 4), dim3(16, 4)>>>(p + 7, p, p, n);
    before<<<4, 64>>>(p, p + n, 40);
    before<<<4, 64>>>(p, p, 40);
    rounds<<<2, 64>>>(p, p + n * n, n, 5);
    bodies<<<4, 128>>>((float4 *)p, (float4 *)(p + n * n), 4 * n);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 3 * n * n + 8; i++)
        printf("%a\\n", h[i]);
}
"""
ATOMICS = """
#include <cstdio>
__global__ void histogram(unsigned *bins, const unsigned *in, float *sum)
{
    __shared__ unsigned most;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++)
        atomicAdd(&bins[in[i + k * 1024] % 64], 1u);
    atomicMax(&most, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, (float)most / 7);
}
int main()
{
    unsigned *p, h[64 + 1 + 4096];
    for (int i = 0; i < 4096; i++)
        h[65 + i] = i * 2654435761u >> 8;
    h[64] = 0;
    cudaMalloc(&p, sizeof h);
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    histogram<<<8, 128>>>(p, p + 65, (float *)p + 64);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    for (int i = 0; i < 65; i++)
        printf("%x\\n", h[i]);
}
"""
PROMISES = """
#include <cstdio>
__global__ void behind(int *__restrict__ to, const int *__restrict__ from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i + 1] = from[i] + 1; // where the next thread reads
}
__global__ void apart(int *p, int n, int m)
{
    __shared__ int s[64];
    int t = threadIdx.x, k = 0, rounds = n, v = p[blockIdx.x * 64 + t];
    if (t % 2) {
        p[512 + t] = v;
        rounds = m;
    }
    do {
        s[t] = v;
        __syncthreads();
        v += s[(t + 1) % 64];
    } while (++k < rounds);
    p[blockIdx.x * 64 + t] = v;
}
int main()
{
    int *p, h[512];
    cudaMalloc(&p, 4096);
    cudaMemset(p, 1, 4096);
    behind<<<8, 64>>>(p, p);
    apart<<<8, 64>>>(p, 2, 3);
    printf("%d", cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < 512; i++)
        printf(" %d", h[i]);
}
"""
WARPS = """
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void reduce(int *out, const int *in)
{
    __shared__ int s[32];
    int t = threadIdx.x, w = t / 32, lane = t % 32;
    int v = in[blockIdx.x * blockDim.x + t];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (lane == 0)
        s[w] = v;
    __syncthreads();
    if (w == 0) {
        v = lane < blockDim.x / 32 ? s[lane] : 0;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(~0u, v, d);
        if (t == 0)
            out[blockIdx.x] = v;
    }
}
__global__ void votes(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    unsigned b = __ballot_sync(~0u, v % 3 == 0);
    int any = __any_sync(~0u, v == 77), all = __all_sync(~0u, v > -100);
    int c = __syncthreads_count(v & 1), o = __syncthreads_or(v == 5);
    int a = __syncthreads_and(v < 1000);
    out[i] = b + any * 3 + all * 5 + c * 7 + o * 11 + a * 13 + __activemask() * 17;
}
__global__ void scan(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
#pragma unroll 1
    for (int d = 1; d <= blockDim.x / 16; d *= 2) {
        int o = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += o;
    }
    int x = __shfl_xor_sync(~0u, v, 5, 16);
    out[i] = v + __shfl_sync(~0u, x, i % 32, 8);
}
__global__ void tiles(int *out, const int *in)
{
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    tile.sync();
    out[i] = v + tile.any(v == 9);
}
__global__ void small_tiles(int *out, const int *in)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int d = tile.size() / 2; d > 0; d /= 2)
        v += tile.shfl_xor(v, d);
    out[i] = v;
}
__global__ void more(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    v += __reduce_add_sync(~0u, v) + __match_any_sync(~0u, v);
    out[i] = v;
}
__global__ void lanes(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    if (threadIdx.x % 32 < 20)
        v += __shfl_down_sync(0xfffffu, v, 1);
    out[i] = v;
}
__global__ void teams(int *out, const int *in) // each warp goes another way
{
    __shared__ int s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
    for (int k = 0; k < threadIdx.x / 32; k++)
        v += __shfl_xor_sync(~0u, v, 1 + k);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    out[i] = v + s[7 - threadIdx.x / 32];
}
template <class Kernel> void run(Kernel kernel, int threads, int *p, int *h, int n)
{
    cudaMemset(p + n, 0, n * 4);
    kernel<<<4, threads>>>(p + n, p);
    cudaMemcpy(h, p + n, n * 4, cudaMemcpyDefault);
    for (int i = 0; i < n; i++)
        printf("%x%c", h[i], i % 16 == 15 ? '\\n' : ' ');
}
int main()
{
    const int n = 1024;
    int h[n], *p;
    cudaMalloc(&p, 2 * sizeof h);
    for (int i = 0; i < n; i++)
        h[i] = i * 37 % 101;
    cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault);
    run(reduce, 256, p, h, n);
    run(votes, 256, p, h, n);
    run(scan, 256, p, h, n);
    run(tiles, 256, p, h, n);
    run(more, 256, p, h, n);
    run(teams, 256, p, h, n);
    run(small_tiles, 256, p, h, n);
    run(lanes, 256, p, h, n);
    run(votes, 240, p, h, n);
}
"""
# Blocks one after another: random ones use what others write. Advice has conflicts of banks.
ORDERED = {"VGPU_WORKERS": "1", "VGPU_CHECK": "api,advice"}
FILES, KERNELS = (100, 100) if FULL else (2, 40)


def compile_program(source: pathlib.Path, *options: str) -> pathlib.Path:
    program = source.with_suffix("")
    subprocess.run([BIN / "vgpu-cc", "-g", "-w", *options, "-o", program, source], check=True)
    return program


class Run:
    """What a program has done in one form."""

    def __init__(
        self, form: str | None, program: pathlib.Path, *arguments: str, **more: str
    ) -> None:
        environment = {n: v for n, v in os.environ.items() if n != "VGPU_FORM"}
        if form:
            environment["VGPU_FORM"] = form
        trace = program.with_suffix(".json")
        trace.unlink(missing_ok=True)
        self.ended = subprocess.run(
            [program, *arguments],
            env=dict(
                environment,
                VGPU_NODE="hgx-h200-4",
                VGPU_NODE_ID=f"forms-{os.getpid()}",
                VGPU_TRACE=str(trace),
                **more,
            ),
            capture_output=True,
            text=True,
            timeout=300,
        )
        text = trace.read_text() if trace.exists() else '{"traceEvents": []}'
        self.forms = [
            (event["name"], event["args"]["form"])
            for event in json.loads(text)["traceEvents"]
            if "form" in event.get("args", {})
        ]
        self.trace = re.sub(r',"form":"[^"]*"', "", text)

    def all(self) -> tuple[str, str, int, str]:
        return self.ended.stdout, self.ended.stderr, self.ended.returncode, self.trace


class Forms(unittest.TestCase):
    maxDiff = 4000

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def alike(self, program: pathlib.Path, *arguments: str, **more: str) -> list[tuple[str, str]]:
        """Its kernels' forms, where it may have the fast one."""
        careful, fast = (Run(form, program, *arguments, **more) for form in ("careful", "fast"))
        for one, other in zip(careful.all(), fast.all(), strict=True):
            self.assertEqual(one, other, f"{program.name} {arguments}")
        self.assertFalse([form for _, form in careful.forms if form.startswith("fast")])
        return fast.forms

    def test_random_kernels(self) -> None:
        forms: list[str] = []
        divided: list[str] = []  # of those with barriers
        warps: list[str] = []  # with operations of warps
        for seed in range(FILES):
            source = self.folder / f"random{seed}.cu"
            text, wrong = random_kernels.source(seed, KERNELS)
            source.write_text(text)
            program = compile_program(source)
            right = [str(number) for number in range(KERNELS) if number not in wrong]
            with self.subTest(seed=seed):
                code = {f"k{k.number}": k.code for k in random_kernels.kernels(seed, KERNELS)}
                for name, form in self.alike(program, *right, **ORDERED):
                    where = warps if "lane" in code[name] else divided
                    (where if "__syncthreads" in code[name] else forms).append(form)
            for number in wrong:
                with self.subTest(seed=seed, kernel=number):
                    self.alike(program, str(number), **ORDERED)
        kinds = (
            ("without barriers", forms),
            ("with barriers", divided),
            ("with operations of warps", warps),
        )
        for which, all_of_them in kinds:
            fast = sum(form.startswith("fast") for form in all_of_them)
            print(
                f"right kernels {which}: {fast} of {len(all_of_them)} in the fast form",
                file=sys.stderr,
            )
            self.assertGreater(fast, len(all_of_them) // 2)

    def test_barriers_are_counted(self) -> None:
        """Of each block once; alike() compares the counts of all kernels in both forms."""
        source = self.folder / "barriers.cu"
        source.write_text(BARRIERS)
        program = compile_program(source)
        self.assertEqual(
            self.alike(program), [("rounds", "fast: 7 blocks"), ("sort", "fast: 7 blocks")]
        )
        for form in ("careful", "fast"):
            trace = Run(form, program).trace
            self.assertEqual(re.findall(r'"barriers":(\d+)', trace), ["48", "176"])

    def test_rounds_of_all_threads_together(self) -> None:
        """lane_split.c: where the accesses of different threads may not change places, and where
        they may."""
        source = self.folder / "rounds.cu"
        source.write_text(ROUNDS)
        forms = self.alike(compile_program(source), **ORDERED)
        self.assertTrue(all(form.startswith("fast") for _, form in forms), forms)

    @unittest.skipUnless(platform.machine() == "x86_64", "looks at this processor's code")
    def test_square_roots_of_several_threads(self) -> None:
        """The float4 of a thread is no vector: threads are one."""
        source = self.folder / "rounds.cu"
        source.write_text(ROUNDS)
        with unittest.mock.patch.dict(os.environ, VGPU_CC_IMAGES=str(self.folder / "image")):
            compile_program(source)
        code = subprocess.check_output(["objdump", "-d", self.folder / "image0"], text=True)
        self.assertTrue("vsqrtps" in code, "each thread takes its root by itself")

    def test_atomics(self) -> None:
        source = self.folder / "atomics.cu"
        source.write_text(ATOMICS)
        self.assertEqual(self.alike(compile_program(source)), [("histogram", "fast: 6 blocks")])

    def test_warps(self) -> None:
        source = self.folder / "warps.cu"
        source.write_text(WARPS)
        forms = self.alike(compile_program(source))
        all_lanes = ("reduce", "votes", "scan", "tiles", "more", "teams")
        some = "careful: only some lanes of a warp work together in it"
        self.assertEqual(
            forms,
            [(name, "fast: 3 blocks") for name in all_lanes]
            + [("small_tiles", some), ("lanes", some)]
            + [("votes", "careful: its warps are not 32 threads in a row (blockDim.x)")],
        )

    def test_the_fast_form_is_the_default(self) -> None:
        source = self.folder / "default.cu"
        source.write_text(ADD)
        self.assertEqual(Run(None, compile_program(source)).forms, [("add", "fast: 3 blocks")])

    def test_promises_that_do_not_hold(self) -> None:
        source = self.folder / "promises.cu"
        source.write_text(PROMISES)
        reason = "careful: some threads may come to other barriers than others"
        self.assertEqual(
            self.alike(compile_program(source)), [("behind", "fast: 7 blocks"), ("apart", reason)]
        )

    def test_usual_programs(self) -> None:
        sources = sorted(USUAL.glob("*.cu"))
        for source in [s for s in sources if s.stem in PROGRAMS]:
            with self.subTest(source=source.name):
                here = self.folder / source.name
                here.write_text(source.read_text())
                options = (f"-I{USUAL}", *OPTIONS.get(source.stem, ()))
                self.alike(compile_program(here, *options, *LIBRARIES.get(source.stem, ())))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])

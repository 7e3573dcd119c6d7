# SPDX-License-Identifier: MIT
"""Writes a CUDA program of random kernels: source(seed, count).

Each kernel reads a and b and writes out, of one element type, in some shape of grid, with some
index, guard, loop or condition. The program runs those named by its arguments, or all, and prints
their errors, their virtual times and what they have written. Some reach outside of their arrays,
divide by zero, use addresses that are not aligned, write where other threads of the block do, or
read what these have written: what comes of that is to be the same in both forms, too. Their memory
is that of two GPUs, pinned or managed; some run on the other GPU, or on both without an order.
"""

import random
from pathlib import Path

import random_control
import random_objects
import random_warps

TYPES = (
    "int",
    "unsigned",
    "float",
    "double",
    "short",
    "unsigned char",
    "long long",
    "float4",
    "Pair",
)
WHOLE = ("int", "unsigned", "short", "unsigned char", "long long")

HEADER = Path(__file__).with_suffix(".h")


class Kernel(random_control.Control, random_objects.Objects, random_warps.Warps):
    """One kernel: its code, its launch, and whether something may be wrong in it."""

    def __init__(self, r: random.Random, number: int) -> None:
        self.r, self.number = r, number
        self.type = r.choice(TYPES)
        self.wrong = r.random() < 0.12
        self.packed = r.random() < 0.2
        self.variables = ""
        self.shapes()
        chosen = r.choice(
            (
                self.plain,
                self.plain,
                self.looped,
                self.nested,
                self.strided,
                self.branched,
                self.neighbours,
                self.divided,
                self.gathered,
                self.stepped,
                self.left_open,
                self.counted,
                self.named,
                self.named,
                self.shared,
                self.shared,
                self.shared,
                self.warps,
                self.warps,
                self.warps,
                self.left,
                self.kept,
                self.printed,
                self.stopped,
                self.called,
                self.whiled,
                self.locked,
            )
        )
        body = chosen()
        self.parts = hasattr(random_control.Control, chosen.__name__)
        if self.wrong and r.random() < 0.3:
            body = self.shifted()
        self.code = (
            f"{self.variables}__global__ void k{number}({self.parameters()})\n"
            f"{{\n{self.unpacked()}{self.index()}"
            f"{'' if ' all = ' in body else self.guard()}{body}}}\n"
        )

    def shapes(self) -> None:
        r = self.r
        self.dims = r.choice((1, 1, 2, 3))
        self.block = {
            1: (r.choice((32, 64, 96, 128, 256, 33)), 1, 1),
            2: (r.choice((8, 16, 32, 7)), r.choice((4, 8)), 1),
            3: (8, 4, 2),
        }[self.dims]
        self.grid = {
            1: (r.choice((2, 40, 90, 200)), 1, 1),
            2: (r.choice((5, 9)), r.choice((6, 12)), 1),
            3: (5, 6, 3),
        }[self.dims]
        self.measure()

    def measure(self) -> None:
        r = self.r
        x, y, z = (g * b for g, b in zip(self.grid, self.block, strict=True))
        self.width, self.threads = x, x * y * z
        self.n = max(1, self.threads - r.choice((0, 0, 1, 17, 40)))
        self.m = r.choice((0, 1, 2, 3, 5, 8, 17))
        self.elements = self.n + 32 if not self.wrong else max(1, self.n - r.choice((1, 8, 300)))

    def index(self) -> str:
        if self.dims == 1:
            return self.r.choice(
                (
                    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                    "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n",
                    "    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n",
                    "    int i = (gridDim.x - 1 - blockIdx.x) * blockDim.x\n"
                    "        + (blockDim.x - 1 - threadIdx.x);\n",
                )
            )
        two = (
            "    int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
            "    int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
            "    int z = blockIdx.z * blockDim.z + threadIdx.z, h = gridDim.y * blockDim.y;\n"
        )
        return two + self.r.choice(
            ("    int i = (z * h + y) * w + x;\n", "    int i = x + w * (y + h * z);\n")
        )

    def guard(self) -> str:
        return self.r.choice(
            (
                "    if (i >= n) return;\n",
                "    if (i >= n) return;\n",
                "    if (!(i < n)) return;\n",
                "    if (i >= n || m < 0) return;\n",
                "    if (i + 1 > n) return;\n",
            )
        )

    def value(self, at: str = "i") -> str:
        r = self.r
        simple = (
            f"a[{at}] + b[{at}]",
            f"twice(a[{at}]) + b[{at}]",
            f"b[{at}]",
            f"a[{at}] + a[{at}]",
        )
        if self.type in ("float4", "Pair"):
            return r.choice(simple)
        number = (
            f"a[{at}] * b[{at}] + 3",
            f"(a[{at}] > b[{at}] ? a[{at}] : b[{at}])",
            f"a[{at}] - b[{at}]",
        )
        real = (
            f"sqrtf(fabsf(a[{at}])) + b[{at}]",
            f"a[{at}] / (b[{at}] + 1.5f)",
            f"fminf(a[{at}], b[{at}])",
            f"expf(a[{at}])",
            f"fmaf(a[{at}], b[{at}], 0.5f)",
            f"floorf(a[{at}] * 9)",
        )
        bits = (
            f"a[{at}] ^ b[{at}]",
            f"(a[{at}] >> 3) | (b[{at}] << 2)",
            f"a[{at}] & (b[{at}] + i)",
        )
        return r.choice(
            simple + number + (real if self.type == "float" else bits if self.type in WHOLE else ())
        )

    def plain(self) -> str:
        at = self.r.choice(
            (
                "i",
                "i",
                "n - 1 - i",
                "i / 2",
                "i ^ 1",
                "i % w",
                "(i * 5) % n",
                "i & 31",
                "i >> 1",
                "n - 1",
            )
        )
        write = self.r.choice(("i", "i", "i", "i / 2", "n - 1 - i", "i & 15"))
        return f"    out[{write}] = {self.value(at)};\n"

    def looped(self) -> str:
        loop = self.r.choice(
            (
                "for (int k = 0; k < m; k++)",
                "for (int k = 0; k < m; k += 2)",
                "for (int k = m - 1; k >= 0; k--)",
                "for (unsigned k = 0; k < (unsigned)m; k++)",
                "for (int k = 1; k <= m; k++)",
                "for (size_t k = 0; k < m; k++)",
                "for (int k = i & 3; k < m; k++)",
                "for (int k = 0; k < (int)(i % 5); k++)",
                "for (int k = 0; k != m; k++)",
                "for (int k = 0; k < 4; k++)",
                "for (int k = 0; k < 16; k += 3)",
                "for (int k = m; k > 0; k -= 3)",
            )
        )
        at = self.r.choice(("(i + k) % n", "i", "k", "i + k", "(i * m + k) % n", "k & 7"))
        stop = self.r.choice(("", "", "", f" if (positive(b[{at}])) break;", " if (k == w) break;"))
        body = f"{{ s = s + {self.value(at)};{stop} }}"
        return f"    {self.type} s = a[i];\n    {loop} {body}\n    out[i] = s;\n"

    def nested(self) -> str:
        inner = self.r.choice(("k", "m", "3", "k + 1"))
        at = self.r.choice(("(k * m + l) % n", "k + l", "(i + k * l) % n"))
        return (
            f"    {self.type} s = b[i];\n    for (int k = 0; k < m; k++)\n"
            f"        for (int l = 0; l < {inner}; l++)\n"
            f"            s = s + a[{at}];\n    out[i] = s;\n"
        )

    def strided(self) -> str:
        if self.dims != 1:
            return self.plain()
        times = self.r.choice(("1", "2"))
        return (
            f"    for (int j = i; j < n; j += gridDim.x * blockDim.x * {times})\n"
            f"        out[j] = {self.value('j')};\n"
            "    for (size_t j = i; j < n; j += 4096)\n        out[j] = out[j] + b[j];\n"
        )

    def branched(self) -> str:
        test = self.r.choice(
            (
                "positive(a[i])",
                "i % 3 == 0",
                "i & 4",
                "i < n / 2",
                "whole(b[i]) & 1",
                "threadIdx.x > 5",
                "blockIdx.x & 1",
            )
        )
        other = self.r.choice(("", f"    else\n        out[i] = {self.value('n - 1 - i')};\n"))
        return f"    if ({test})\n        out[i] = {self.value()};\n{other}"

    def neighbours(self) -> str:
        return self.r.choice(
            (
                "    if (i == 0 || i >= n - 1) return;\n    out[i] = a[i - 1] + a[i + 1];\n",
                "    if (i > 0) out[i] = out[i - 1] + b[i];\n",
                "    if (i > 3) out[i] = out[i - 4] + out[i];\n",
                "    if (i + 1 < n) out[i] = out[i + 1] + a[i];\n",
                "    if (i >= w && i < n - w) out[i] = a[i - w] + a[i + w];\n",
                "    out[i] = out[i] + a[i];\n    out[n - 1 - i] = out[n - 1 - i] + b[i];\n",
            )
        )

    def divided(self) -> str:
        by = self.r.choice(("w", "m", "(m - 1)", "3", "whole(a[i])", "(i + 1)", "-1"))
        return (
            f"    int q = (int)i / {by}, p = (int)i % {by};\n"
            "    out[i] = (q + p) & 1 ? a[i] : b[i];\n"
        )

    def gathered(self) -> str:
        other = self.r.choice(("0", "n - 1", "i"))
        return (
            f"    int j = whole(a[i]);\n    if (j < 0 || j >= n) j = {other};\n    out[i] = b[j];\n"
        )

    def stepped(self) -> str:
        step = self.r.choice(("1", "w"))
        return (
            f"    const {self.type} *p = a + i;\n    {self.type} s = b[i];\n"
            f"    for (int k = 0; k < m && p < a + n; k++, p += {step})\n"
            "        s = s + *p;\n    out[i] = s;\n"
        )

    def left_open(self) -> str:
        """Results that C++ leaves open: what turns over, does not fit, or is shifted out."""
        t, to = "threadIdx.x", self.r.choice(WHOLE)
        times = self.r.choice(("-7.0f", "3e9f", "-7e4f", "1e19f", "300.0f"))
        v = self.r.choice(
            (
                f"({to})(whole(a[i]) * {times})",
                f"({to})(whole(b[i]) % 1000 * {times} * ((int){t} - 9))",
                f"({to})((double)i * {times})",
                f"(long long)(((int){t} - 9) * 1103515245)",
                "(int)i * 77777777 + whole(a[i])",
                f"(long long)whole(a[i]) << ({t} & 127)",
                "(whole(a[i]) << (whole(b[i]) & 63)) + ((unsigned)i >> (whole(a[i]) & 63))",
            )
        )
        if self.type not in ("float4", "Pair"):
            return f"    out[i] = ({self.type})({v});\n"
        return f"    long long v = {v};\n    out[i] = v & 256 ? a[i] : v & 1 ? b[i] : out[i];\n"

    def atomic(self, memory: str) -> str:
        """On one of the first numbers there: many threads meet."""
        at = self.r.choice(("0", "threadIdx.x & 3", "i & 7", "whole(a[i % n]) & 7", "7"))
        if self.r.random() < 0.2:
            return (
                f"atomicAdd((float *){memory} + ({at}), {self.r.choice(('0.3f', '0.0f', '1e8f'))})"
            )
        name = self.r.choice(("Add", "Add", "Sub", "Max", "Min", "Or", "Xor", "And", "Exch", "Inc"))
        kind = "unsigned" if name == "Inc" else self.r.choice(("int", "unsigned"))
        value = self.r.choice(("1", "3", "whole(b[i % n])", "0", "i", "w"))
        return f"atomic{name}(({kind} *){memory} + ({at}), ({kind})({value}))"

    def counted(self) -> str:
        if self.r.random() < 0.3:
            return f"    for (int k = 0; k < m; k++)\n        {self.atomic('out')};\n"
        if self.r.random() < 0.3:
            return f"    if (((int){self.atomic('out')}) & 1)\n        out[i] = a[i];\n"
        return "".join(
            f"    {self.atomic('out')};\n" for _ in range(self.r.choice((1, 1, 2, 3, 4)))
        )

    def barrier(self) -> str:
        """Or not: what comes of that race is the same in both forms."""
        return self.r.choice(("    __syncthreads();\n",) * 7 + ("",))

    def shared(self) -> str:
        r, type_, sync = self.r, self.type, self.barrier
        dynamic = r.random() < 0.3
        variable = (
            f"extern __shared__ {type_} s{self.number}[]"
            if dynamic
            else (f"__shared__ {type_} s{self.number}[256]")
        )
        steps = {
            "turned": lambda: f"    s[t] = v;\n{sync()}    v = v + s[all - 1 - t];\n{sync()}",
            "sum": lambda: (
                f"    s[t] = v;\n{sync()}"
                f"    for (int d = all / 2; d > 0; d {r.choice(('>>= 1', '/= 2'))}) {{\n"
                f"        if (t < d) s[t] = s[t] + s[t + d];\n    {sync()}    }}\n"
                f"    v = {r.choice(('s[0]', 'v + s[t]', 's[all / 2]'))};\n{sync()}"
            ),
            "scan": lambda: (
                f"    s[t] = v;\n{sync()}    for (int d = 1; d < all; d *= 2) {{\n"
                f"        {type_} x = s[t];\n        if (t >= d) x = x + s[t - d];\n    {sync()}"
                f"        s[t] = x;\n    {sync()}    }}\n    v = s[t];\n"
            ),
            "rounds": lambda: (
                f"    for (int k = 0; k < {r.choice(('m', '3', 'w % 7'))}; k++) {{\n"
                f"        s[t] = v;\n    {sync()}"
                f"        v = v + s[(t + {r.choice(('k', '1', 'all / 2'))}) % all];\n    {sync()}"
                f"        {r.choice(('', 'if (positive(v))', 'if (k & 1)'))} v = v + v;\n    }}\n"
            ),
            "chosen": lambda: (
                f"    if ({r.choice(('m > 2', 'blockIdx.x & 1', 'w == 64 || m == 3'))}) {{\n"
                f"        s[t] = v + v;\n    {sync()}"
                "        v = s[(t ^ 1) < all ? t ^ 1 : t];\n    }\n"
            ),
            "counted": lambda: (
                f"    s[t] = v;\n{sync()}    {self.atomic('s')};\n{sync()}    v = v + s[t & 7];\n"
            ),
            "sorted": lambda: (
                f"    s[t] = v;\n    for (int size = 2; size <= all; size *= 2)\n"
                f"        for (int d = size / 2; d > 0; d /= 2) {{\n        {sync()}"
                "            int other = t ^ d;\n"
                "            if (other > t && other < all && positive(s[t]) != !(t & size)) {\n"
                f"                {type_} x = s[t];\n"
                "                s[t] = s[other];\n                s[other] = x;\n"
                f"            }}\n        }}\n{sync()}    v = s[t];\n"
            ),
            "paired": lambda: self.paired(sync),
            "some": lambda: (
                f"    if ({r.choice(('t % 3 == 0', 'positive(v)', 't < 40'))}) s[t] = v + v;\n"
                f"    else s[t] = v;\n{sync()}    v = s[all - 1 - t];\n"
            ),
        }
        chosen = "".join(steps[r.choice(list(steps))]() for _ in range(r.choice((1, 1, 2, 3))))
        leave = r.choice(("", "", "", "    if (m == 5) return;\n", "    if (i >= n) return;\n"))
        return (
            f"    {variable};\n    {type_} *s = s{self.number};\n"
            "    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
            "    int all = blockDim.x * blockDim.y * blockDim.z;\n"
            f"    {type_} v = {r.choice(('i < n ? a[i] : b[0]', 'a[i % n]'))};\n"
            f"{leave}{chosen}    if (i < n) out[i] = v;\n"
        )

    def shifted(self) -> str:
        """Addresses that are not aligned in some blocks, and not in the first."""
        return (
            f"    const {self.type} *p = (const {self.type} *)((const char *)a + blockIdx.x / 2);\n"
            "    out[i] = p[i];\n"
        )

    def launch(self) -> str:
        r = self.r
        where = [r.choice((0, 0, 0, 0, 1, 2, 3)) for _ in range(3)]
        if self.wrong and r.random() < 0.1:
            where[r.randrange(3)] = 4
        devices = r.choice((1, 1, 1, 1, 2, 3))
        shift = r.choice((1, 2, 4)) if self.wrong and r.random() < 0.4 else 0
        n = self.n if r.random() < 0.9 else max(1, self.n // 2)
        b = "out" if r.random() < 0.1 else "b"
        grid, block = (f"dim3({x}, {y}, {z})" for x, y, z in (self.grid, self.block))
        return (
            f"    RUN({self.number}, {'packed' if self.packed else 'PLAIN'}, {self.type}, "
            f"{self.elements}, "
            f"{where[0]}, {where[1]}, {where[2]}, {devices}, ({grid}), ({block}), {shift}, {b}, "
            f"256 * sizeof({self.type}), "
            f"{n}, {self.m}, {self.width})\n"
        )


def kernels(seed: int, count: int) -> list[Kernel]:
    r = random.Random(seed)
    return [Kernel(r, number) for number in range(count)]


def source(seed: int, count: int) -> tuple[str, list[int]]:
    """The program, and the numbers of the kernels in which something may be wrong."""
    all_of_them = kernels(seed, count)
    text = f'#include "{HEADER}"\n' + "".join(k.code for k in all_of_them)
    text += "int main(int argc, char **argv)\n{\n    start();\n"
    text += "".join(k.launch() for k in all_of_them) + "    return 0;\n}\n"
    return text, [k.number for k in all_of_them if k.wrong]

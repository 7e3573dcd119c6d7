# SPDX-License-Identifier: MIT
"""Of random_kernels.py: kernels with variables and constants, and structures as arguments."""

import random
from collections.abc import Callable

PREFIX = (
    "    {type} *out = pack.out;\n    const {type} *a = pack.a, *b = pack.b;\n"
    "    int n = pack.n, m = pack.m, w = pack.w;\n"
)


class Objects:
    """What is mixed into Kernel, which has the attributes."""

    r: random.Random
    number: int
    type: str
    packed: bool
    variables: str

    def parameters(self) -> str:
        if self.packed:
            return f"Pack<{self.type}> pack"
        only = self.r.choice(("", "", "__restrict__ "))
        return (
            f"{self.type} *{only}out, const {self.type} *{only}a, const {self.type} *b, "
            "int n, int m, int w"
        )

    def unpacked(self) -> str:
        return PREFIX.format(type=self.type) if self.packed else ""

    def paired(self, sync: Callable[[], str]) -> str:
        """What lane_cases.c proves, where blocks have a power of two threads."""
        r = self.r
        low = r.choice(("2 * h - (h & (d - 1))", "h / d * 2 * d + h % d"))
        next_d = r.choice((">>= 1", "/= 2", "-= all / 4"))
        more = r.choice(("0", "0", "x", "x / 2", "m"))
        return (
            "    if ((all & (all - 1)) == 0) {\n        int x = 0, h = t % (all / 2);\n"
            f"        s[t] = v;\n    {sync()}"
            f"        for (int d = all / 2; d > 0; d {next_d}) {{\n"
            f"            int low = {low};\n"
            f"            {self.type} other = s[(low + {more}) % all];\n"
            f"            x += {r.choice(('1', 'd', 'all / 2 - d'))};\n        {sync()}"
            f"            if (t < all / 2) s[{r.choice(('low', 'low + d', 'x % all'))}] = other;\n"
            f"        {sync()}        }}\n        v = v + s[t];\n    {sync()}    }}\n"
        )

    def named(self) -> str:
        """Some of its indices leave a variable, but not the page that it is in."""
        r, type_, number = self.r, self.type, self.number
        d, c, g, one = (f"{name}{number}" for name in ("table", "weight", "mine", "one"))
        self.variables = (
            f"__device__ {type_} {d}[256];\n__constant__ {type_} {c}[64];\n"
            f"__managed__ int {g}[64];\n__device__ unsigned {one};\n"
        )
        at = r.choice(("i % 256", "threadIdx.x", "(i * 7) % 250", "i & 31", "i % 260", "3"))
        steps = [
            f"    {d}[{at}] = a[i];\n    out[i] = {d}[(i + 1) % 256];\n",
            f"    out[i] = {c}[(i + m) & 63] + a[i];\n",
            f"    {type_} s = b[i];\n    for (int k = 0; k < {r.choice(('16', 'm'))}; k++)\n"
            f"        s = s + {c}[k];\n    out[i] = s;\n",
            f"    {d}[{at}] = {d}[{at}] + b[i];\n",
            f"    {g}[(i * 3) & 63] = i;\n    if ({g}[i & 63] & 1) out[i] = a[i];\n",
            f"    atomicAdd(&{one}, {r.choice(('1', '3', '(unsigned)i'))});\n",
            f"    if ({one} > 5) out[i] = b[i];\n    {one} = i;\n",
            "    const int place[4] = {3, 1, 4, 1};\n    out[i] = a[(i + place[i & 3]) % n];\n",
            f"    if (positive({d}[i & 255])) {d}[5] = a[0];\n",
        ]
        if self.packed:
            steps += [
                "    out[i] = pack.more[i & 3] + a[i];\n",
                "    out[i] = pack.more[2] + b[i];\n",
                "    if (i & 1) pack.more[i & 3] = a[i];\n    out[i] = pack.more[m & 3];\n",
            ]
        chosen = r.sample(steps, r.choice((1, 2, 2, 3)))
        return "".join(f"    {{\n{step}    }}\n" for step in chosen)

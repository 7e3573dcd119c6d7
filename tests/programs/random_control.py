# SPDX-License-Identifier: MIT
"""Of random_kernels.py: kernels whose threads part: they leave early, print, stop, call functions,
wait for a word, or keep arrays of their own.
"""

import random


class Control:
    """What is mixed into Kernel, which has the attributes."""

    r: random.Random
    number: int
    type: str
    wrong: bool
    dims: int
    variables: str

    def few(self) -> str:
        """A condition that holds for a few threads."""
        return self.r.choice(
            (
                "i == 0",
                "i % 97 == 5",
                "i + 1 == n",
                "threadIdx.x == 3 && blockIdx.x == 1",
                "i < 40 && positive(b[i])",
            )
        )

    def left(self) -> str:
        """Some threads leave: at once, in a loop, or after they have stored something."""
        r = self.r
        test = r.choice(("positive(a[i])", "whole(b[i]) & 1", "threadIdx.x & 2", "i % 5 == m"))
        stored = r.choice(("", "", f"out[i] = {self.value()}; "))
        if r.random() < 0.5:
            return f"    if ({test}) {{ {stored}return; }}\n    out[i] = {self.value()};\n"
        at = r.choice(("(i + k) % n", "k % n", "(i * 3 + k) % n"))
        return (
            f"    {self.type} s = a[i];\n    for (int k = 0; k < {r.choice(('m', '6'))}; k++) {{\n"
            f"        if ({test} && k == {r.choice(('1', 'm / 2'))}) {{ {stored}return; }}\n"
            f"        s = s + b[{at}];\n    }}\n    out[i] = s;\n"
        )

    def kept(self) -> str:
        """An array of each thread; of wrong kernels some leave it."""
        r = self.r
        size = r.choice((4, 8, 16))
        index = r.choice(
            (f"k & {size - 1}", f"(k * 3) % {size}", f"(whole(b[i]) + k) & {size - 1}")
        )
        used = r.choice((f"mine[i & {size - 1}]", f"mine[whole(a[i]) & {size - 1}]", "mine[2]"))
        rounds = r.choice((str(size), str(size), "m & 3"))
        if self.wrong and r.random() < 0.5:
            used = f"mine[(i & 31) == 7 ? {r.choice((size, size + 900, 5000000))} : 1]"
        start = r.choice((" = {}", "", ""))
        first = f"    for (int k = 0; k < {size}; k++) mine[k] = a[(i + k) % n];\n"
        return (
            f"    {self.type} mine[{size}]{start};\n"
            f"{first if not start or r.random() < 0.5 else ''}"
            f"    for (int k = 0; k < {rounds}; k++) mine[{index}] = {self.value()};\n"
            f"    out[i] = {used};\n"
        )

    def printed(self) -> str:
        """By a few threads, in an order that is the same in both forms."""
        r = self.r
        what = r.choice(
            (
                '"%d of %d\\n", (int)i, n',
                '"%d: %d\\n", (int)i, whole(a[i])',
                '"%d %g %s\\n", m, 0.5 * (int)i, "words"',
                '"100%%\\n"',
            )
        )
        more = r.choice(("", "    out[i] = out[i] + b[i];\n"))
        return (
            f"    out[i] = {self.value()};\n    if ({self.few()})\n        printf({what});\n{more}"
        )

    def stopped(self) -> str:
        """Of wrong kernels some thread stops all of it."""
        end = self.r.choice(
            ("__trap();", "assert(m < 0);", "assert(whole(b[i]) < -5);", "*(volatile int *)8 = 1;")
        )
        test = self.few() if self.wrong else "m < 0"
        return (
            f"    out[i] = {self.value()};\n    if ({test})\n        {end}\n"
            "    out[i] = out[i] + a[i];\n"
        )

    def called(self) -> str:
        """What is not inlined: recursion, pointers to functions, and plain functions."""
        r, name, type_ = self.r, f"f{self.number}", self.type
        none = "__device__ __noinline__"
        code = {
            f"{name}(a, (int)i, n)": (
                f"static {none} {type_} {name}(const {type_} *p, int i, int n)\n"
                "{\n    return p[(i * 7 + 1) % n] + p[i];\n}\n"
            ),
            f"{name}(b, (int)i, m)": (
                f"static {none} {type_} {name}(const {type_} *p, int i, int n)\n"
                f"{{\n    return n <= 0 ? p[i] : {name}(p, i, n - 1) + p[i];\n}}\n"
            ),
            f"chosen{name}[m & 1](a[i], b[i])": (
                f"static __device__ {type_} one{name}({type_} x, {type_} y) {{ return x + y; }}\n"
                f"static __device__ {type_} two{name}({type_} x, {type_} y) {{ return y + y; }}\n"
                f"static __device__ {type_} (*chosen{name}[2])({type_}, {type_}) ="
                f" {{one{name}, two{name}}};\n"
            ),
        }
        call = r.choice(list(code))
        self.variables = code[call]
        return f"    out[i] = {call};\n"

    def whiled(self) -> str:
        """Loops whose rounds come from memory, and are not too many."""
        r = self.r
        step = r.choice(("left -= 3", "left /= 2", "left >>= 1"))
        more = r.choice(("", "", "        if (left == m) continue;\n"))
        return (
            f"    {self.type} s = b[i];\n    int left = whole(a[i]) & 63;\n"
            f"    while (left > 0) {{\n        {step};\n{more}"
            f"        s = s + {r.choice(('a[i]', 'b[left > 0 ? left % n : 0]'))};\n    }}\n"
            "    out[i] = s;\n"
        )

    def locked(self) -> str:
        """By compare and swap, fences and volatile words: threads that could wait for each other,
        and sums of real numbers, whose order counts."""
        r, type_ = self.r, self.type
        word = f"word{self.number}"
        self.variables = f"__device__ unsigned {word}[8];\n__device__ double sum{self.number};\n"
        steps = (
            f"    unsigned old = {word}[i & 7], was;\n    do {{\n        was = old;\n"
            f"        old = atomicCAS(&{word}[i & 7], was, was * 3 + (unsigned)i);\n"
            "    } while (old != was);\n    if (old & 4) out[i] = a[i];\n",
            f"    atomicAdd(&sum{self.number}, 0.1 * (int)i);\n"
            f"    if (sum{self.number} > 40) out[i] = b[i];\n",
            f"    {word}[i & 7] = (unsigned)i;\n    __threadfence{r.choice(('', '_system'))}();\n"
            f"    if (*(volatile unsigned *)&{word}[(i + 1) & 7] & 2) out[i] = a[i];\n",
            f"    if (atomicInc(&{word}[0], 30) == 7) out[i] = b[i];\n"
            f"    if (atomicDec(&{word}[1], 20) & 1) out[i] = a[i];\n",
            f"    float old = atomicAdd((float *)&{word}[i & 3], 0.7f * (int)i);\n"
            "    if (old > 100) out[i] = a[i];\n",
        )
        chosen = r.sample(steps, r.choice((1, 1, 2)))
        return (
            f"    {type_} v = a[i];\n"
            + "".join(f"    {{\n{s}    }}\n" for s in chosen)
            + ("    if (positive(v)) out[i] = out[i] + v;\n")
        )

# SPDX-License-Identifier: MIT
"""Instruction by instruction: a generated program of all of them, on special and random operands,
against exact arithmetic in Python. A NaN may be any NaN.

    test_instructions.py vgpu-cc RUN --record FILE

writes where a real GPU answers otherwise (RUN is run.c, linked with NVIDIA's libcuda). What is in
RECORDED takes the place of the exact result; it must be of the very program.
"""

import hashlib
import json
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from eight_bits import add_eight_bits
from generated import MASK, SAMPLES, Program, reader, sample, signed
from halves import add_half_comparisons, add_halves, add_relu
from numbers_exact import (
    BF16,
    F16,
    F32,
    F64,
    ROUNDINGS,
    arithmetic,
    converted,
    decoded,
    encoded,
    extreme,
    flushed,
    is_nan,
    to_integer,
    to_integral,
)
from rare import add_rare
from rig import HERE, Case, main

# ---- integers ----


def add_integers(p: Program) -> None:
    for bits in (16, 32, 64):
        for kind in "us":
            t, v = f"{kind}{bits}", reader(kind, bits)
            p.add(f"add.{t} {{d}}, {{a}}, {{b}};", lambda a, b, c: a + b, bits)
            p.add(f"sub.{t} {{d}}, {{a}}, {{b}};", lambda a, b, c: a - b, bits)
            p.add(f"mul.lo.{t} {{d}}, {{a}}, {{b}};", lambda a, b, c: a * b, bits)
            p.add(
                f"mul.hi.{t} {{d}}, {{a}}, {{b}};",
                lambda a, b, c, v=v, n=bits: v(a) * v(b) >> n,
                bits,
            )
            p.add(f"mad.lo.{t} {{d}}, {{a}}, {{b}}, {{c}};", lambda a, b, c: a * b + c, bits)
            p.add(
                f"mad.hi.{t} {{d}}, {{a}}, {{b}}, {{c}};",
                lambda a, b, c, v=v, n=bits: (v(a) * v(b) >> n) + c,
                bits,
            )
            p.add(f"min.{t} {{d}}, {{a}}, {{b}};", lambda a, b, c, v=v: min(v(a), v(b)), bits)
            p.add(f"max.{t} {{d}}, {{a}}, {{b}};", lambda a, b, c, v=v: max(v(a), v(b)), bits)
            p.add(
                f"sad.{t} {{d}}, {{a}}, {{b}}, {{c}};",
                lambda a, b, c, v=v: c + abs(v(a) - v(b)),
                bits,
            )
            p.add(
                f"shr.{t} {{d}}, {{a}}, {{b}};",
                lambda a, b, c, v=v, n=bits: v(a) >> min(b, n),
                (bits, 32),
            )
            temporary = {16: "%st", 32: "%rt", 64: "%dt"}[bits]
            for name, pick in (("div", 0), ("rem", 1)):
                p.add(
                    f"and.b{bits} {temporary}, {{b}}, {31 if kind == 's' else -1}; "
                    f"or.b{bits} {temporary}, {temporary}, 3; "
                    f"{name}.{t} {{d}}, {{a}}, {temporary};",
                    lambda a, b, c, v=v, pick=pick, kind=kind: divide(
                        v(a), b | 3 if kind == "u" else b & 31 | 3
                    )[pick],
                    bits,
                )
            if bits < 64:
                p.add(
                    f"mul.wide.{t} {{d}}, {{a}}, {{b}};",
                    lambda a, b, c, v=v: v(a) * v(b),
                    bits,
                    2 * bits,
                )
                p.add(
                    f"mad.wide.{t} {{d}}, {{a}}, {{b}}, {{c}};",
                    lambda a, b, c, v=v: v(a) * v(b) + c,
                    (bits, bits, 2 * bits),
                    2 * bits,
                )
        p.add(f"neg.s{bits} {{d}}, {{a}};", lambda a, b, c: -a, bits)
        p.add(f"abs.s{bits} {{d}}, {{a}};", lambda a, b, c, n=bits: abs(signed(a, n)), bits)
        p.add(f"and.b{bits} {{d}}, {{a}}, {{b}};", lambda a, b, c: a & b, bits)
        p.add(f"or.b{bits} {{d}}, {{a}}, {{b}};", lambda a, b, c: a | b, bits)
        p.add(f"xor.b{bits} {{d}}, {{a}}, {{b}};", lambda a, b, c: a ^ b, bits)
        p.add(f"not.b{bits} {{d}}, {{a}};", lambda a, b, c: ~a, bits)
        p.add(f"cnot.b{bits} {{d}}, {{a}};", lambda a, b, c: int(a == 0), bits)
        p.add(
            f"shl.b{bits} {{d}}, {{a}}, {{b}};",
            lambda a, b, c, n=bits: a << b if b < n else 0,
            (bits, 32),
        )


def divide(a: int, b: int) -> tuple[int, int]:
    quotient = abs(a) // b * (1 if a >= 0 else -1)
    return quotient, a - quotient * b


def table(a: int, b: int, c: int, rows: int) -> int:
    picks = ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1 for i in range(32))
    return sum((rows >> row & 1) << i for i, row in enumerate(picks))


def permuted(a: int, b: int, selector: int) -> int:
    both, result = b << 32 | a, 0
    for i in range(4):
        mode = selector >> 4 * i & 15
        byte = both >> 8 * (mode & 7) & 255
        if mode & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * i
    return result


def field(a: int, at: int, count: int, bits: int, sign: bool) -> int:
    at, count = at & 255, count & 255
    value = (a >> at) & ((1 << count) - 1) if at < bits else 0
    last = min(at + count - 1, bits - 1)
    if sign and count and a >> last & 1:
        taken = min(count, max(bits - at, 0))
        value |= -1 << taken
    return value


def found(a: int, bits: int, sign: bool) -> int:
    if sign and a >> (bits - 1):
        a = ~a & MASK[bits]
    return a.bit_length() - 1


def shift_of(place: int, bits: int) -> int:
    return place if place < 0 else bits - 1 - place


def byte_differences(a: int, b: int, kind: str) -> int:
    bytes_of = [[word >> 8 * i & 255 for i in range(4)] for word in (a, b)]
    if kind == "s":
        bytes_of = [[signed(byte, 8) for byte in part] for part in bytes_of]
    return sum(abs(x - y) for x, y in zip(*bytes_of, strict=True))


def dot(a: int, b: int, c: int, first: str, second: str) -> int:
    one, two = reader(first, 8), reader(second, 8)
    return c + sum(one(a >> 8 * i) * two(b >> 8 * i) for i in range(4))


def add_bits(p: Program) -> None:
    for bits in (32, 64):
        p.add(f"popc.b{bits} {{d}}, {{a}};", lambda a, b, c: a.bit_count(), bits, 32)
        p.add(f"clz.b{bits} {{d}}, {{a}};", lambda a, b, c, n=bits: n - a.bit_length(), bits, 32)
        p.add(
            f"brev.b{bits} {{d}}, {{a}};",
            lambda a, b, c, n=bits: int(f"{a:0{n}b}"[::-1], 2),
            bits,
        )
        for kind in "us":
            p.add(
                f"bfind.{kind}{bits} {{d}}, {{a}};",
                lambda a, b, c, n=bits, k=kind: found(a, n, k == "s"),
                bits,
                32,
            )
            p.add(
                f"bfind.shiftamt.{kind}{bits} {{d}}, {{a}};",
                lambda a, b, c, n=bits, k=kind: shift_of(found(a, n, k == "s"), n),
                bits,
                32,
            )
            p.add(
                f"bfe.{kind}{bits} {{d}}, {{a}}, {{b}}, {{c}};",
                lambda a, b, c, n=bits, k=kind: field(a, b, c, n, k == "s"),
                (bits, 32, 32),
            )
        p.add(
            f"bfi.b{bits} {{d}}, {{a}}, {{b}}, 5, 9;",
            lambda a, b, c: (b & ~(0x1FF << 5)) | (a & 0x1FF) << 5,
            bits,
        )
    for rows in (0x00, 0x96, 0xE8, 0x3C, 0xFF, 0xCA):
        p.add(
            f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {rows};",
            lambda a, b, c, rows=rows: table(a, b, c, rows),
        )
    p.add("prmt.b32 {d}, {a}, {b}, {c};", permuted)
    p.add("prmt.b32 {d}, {a}, {b}, 0x5b40;", lambda a, b, c: permuted(a, b, 0x5B40))
    for side in "lr":
        for mode in ("wrap", "clamp"):
            p.add(
                f"shf.{side}.{mode}.b32 {{d}}, {{a}}, {{b}}, {{c}};",
                lambda a, b, c, left=side == "l", wrap=mode == "wrap": (
                    (b << 32 | a) << n >> 32 if left else (b << 32 | a) >> n
                    for n in (c & 31 if wrap else min(c, 32),)
                ).__next__(),
            )
    for first in "us":
        for second in "us":
            p.add(
                f"dp4a.{first}32.{second}32 {{d}}, {{a}}, {{b}}, {{c}};",
                lambda a, b, c, f=first, s=second: dot(a, b, c, f, s),
            )
    for kind in "us":
        p.add(
            f"vabsdiff4.u32.{kind}32.{kind}32.add {{d}}, {{a}}, {{b}}, {{c}};",
            lambda a, b, c, k=kind: c + byte_differences(a, b, k),
        )
    p.add(
        "szext.wrap.s32 {d}, {a}, {b};",
        lambda a, b, c: signed(a << 32 - (b & 31), 32) >> 32 - (b & 31) if b & 31 else 0,
    )
    p.add(
        "add.cc.u32 {d}, {a}, {b}; addc.u32 {d}, {b}, {c};", lambda a, b, c: b + c + (a + b >> 32)
    )
    p.add(
        "sub.cc.u64 {d}, {a}, {b}; subc.u64 {d}, {b}, {c};",
        lambda a, b, c: b - c - (a < b),
        64,
    )
    p.add(
        "mad.lo.cc.u32 {d}, {a}, {b}, {c}; madc.hi.u32 {d}, {a}, {b}, {c};",
        lambda a, b, c: (a * b >> 32) + c + ((a * b & MASK[32]) + c >> 32),
    )
    p.add(
        "add.sat.s32 {d}, {a}, {b};",
        lambda a, b, c: min(max(signed(a, 32) + signed(b, 32), -(1 << 31)), (1 << 31) - 1),
    )
    p.add("mul24.lo.u32 {d}, {a}, {b};", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF))
    p.add("mul24.hi.u32 {d}, {a}, {b};", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) >> 16)
    p.add("slct.u32.s32 {d}, {a}, {b}, {c};", lambda a, b, c: a if signed(c, 32) >= 0 else b)
    p.add("mov.b64 {d}, {{{a}, {b}}};", lambda a, b, c: b << 32 | a, 32, 64)
    p.add("mov.b64 {{%rt, {d}}}, {a};", lambda a, b, c: a >> 32, 64, 32)


COMPARISONS = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def add_comparisons(p: Program) -> None:
    for name, holds in COMPARISONS.items():
        for kind in "us":
            for bits in (16, 32, 64):
                v = reader(kind, bits)
                p.add(
                    f"setp.{name}.{kind}{bits} %p, {{a}}, {{b}}; selp.b32 {{d}}, 7, 9, %p;",
                    lambda a, b, c, v=v, holds=holds: 7 if holds(v(a), v(b)) else 9,
                    bits,
                    32,
                )
        p.add(
            f"setp.gt.u32 %p, {{a}}, {{c}}; setp.{name}.or.s32 %p|%q, {{a}}, {{b}}, %p; "
            "selp.b32 {d}, 1, 0, %p; selp.b32 %rt, 2, 0, %q; or.b32 {d}, {d}, %rt;",
            lambda a, b, c, holds=holds: (
                int(holds(signed(a, 32), signed(b, 32)) or a > c)
                + 2 * int(not holds(signed(a, 32), signed(b, 32)) or a > c)
            ),
        )
        for form in (F32, F64, F16, BF16):
            for unordered in (False, True):
                p.add(
                    f"setp.{name}{'u' * unordered}.{form.name} %p, {{a}}, {{b}}; "
                    "selp.b32 {d}, 7, 9, %p;",
                    lambda a, b, c, f=form, u=unordered, holds=holds: (
                        7
                        if (
                            u
                            if is_nan(a, f) or is_nan(b, f)
                            else holds(decoded(a, f), decoded(b, f))
                        )
                        else 9
                    ),
                    form.bits,
                    32,
                )
    p.add(
        "set.lt.f32.s32 {d}, {a}, {b};",
        lambda a, b, c: 0x3F800000 if signed(a, 32) < signed(b, 32) else 0,
    )
    p.add(
        "setp.num.f32 %p, {a}, {b}; selp.b32 {d}, 1, 0, %p;",
        lambda a, b, c: int(not is_nan(a, F32) and not is_nan(b, F32)),
    )


# ---- floating point ----

OPERANDS = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "rcp": 1, "sqrt": 1}
LISTS = {1: "{a}", 2: "{a}, {b}", 3: "{a}, {b}, {c}"}


def add_floats(p: Program) -> None:
    for form in (F32, F64):
        for name, count in OPERANDS.items():
            for mode in ROUNDINGS:
                p.add(
                    f"{name}.{mode}.{form.name} {{d}}, {LISTS[count]};",
                    lambda a, b, c, n=name, m=mode, f=form, k=count: arithmetic(
                        n, f, m, *(a, b, c)[:k]
                    ),
                    form.bits,
                    form=form,
                )
        p.add(
            f"neg.{form.name} {{d}}, {{a}};",
            lambda a, b, c, f=form: a ^ f.sign,
            form.bits,
            form=form,
        )
        p.add(
            f"abs.{form.name} {{d}}, {{a}};",
            lambda a, b, c, f=form: a & ~f.sign,
            form.bits,
            form=form,
        )
        p.add(
            f"copysign.{form.name} {{d}}, {{a}}, {{b}};",
            lambda a, b, c, f=form: a & f.sign | b & ~f.sign,
            form.bits,
            form=form,
        )
    for form in (F32, F64, F16, BF16):
        for largest in (False, True):
            p.add(
                f"{'max' if largest else 'min'}.{form.name} {{d}}, {{a}}, {{b}};",
                lambda a, b, c, f=form, largest=largest: extreme(f, largest, a, b),
                form.bits,
                form=form,
            )
    for name in ("add", "mul", "fma"):
        count = OPERANDS[name]
        p.add(
            f"{name}.rn.ftz.f32 {{d}}, {LISTS[count]};",
            lambda a, b, c, n=name, k=count: flushed(
                arithmetic(n, F32, "rn", *map(flushed, (a, b, c)[:k]))
            ),
            form=F32,
        )
        p.add(
            f"{name}.rn.sat.f32 {{d}}, {LISTS[count]};",
            lambda a, b, c, n=name, k=count: limited(arithmetic(n, F32, "rn", *(a, b, c)[:k])),
            form=F32,
        )
    for form in (F16, BF16):
        for name in ("add", "sub", "mul", "fma"):
            count = OPERANDS[name]
            p.add(
                f"{name}.rn.{form.name} {{d}}, {LISTS[count]};",
                lambda a, b, c, n=name, f=form, k=count: arithmetic(n, f, "rn", *(a, b, c)[:k]),
                16,
                form=form,
            )
        p.add(
            f"fma.rn.{form.name}x2 {{d}}, {{a}}, {{b}}, {{c}};  shr.u32 {{d}}, {{d}}, 16;",
            lambda a, b, c, f=form: arithmetic("fma", f, "rn", a >> 16, b >> 16, c >> 16),
            form=form,
        )


def limited(bits: int) -> int:
    value = decoded(bits, F32)
    return 0 if not value > 0 else bits if value < 1 else 0x3F800000


def add_conversions(p: Program) -> None:
    kinds = [(kind, bits) for bits in (8, 16, 32, 64) for kind in "us"]
    for to, size in kinds:
        for kind, bits in kinds:
            v = reader(kind, bits)
            # into 64 bits: what is narrower is extended by the sign of its type
            p.add(
                f"cvt.{to}{size}.{kind}{bits} %dd, {{a}};",
                lambda a, b, c, v=v, to=to, n=size: reader(to, n)(v(a)),
                bits,
                64,
            )
            low, high = (
                (-(1 << (size - 1)), (1 << (size - 1)) - 1) if to == "s" else (0, MASK[size])
            )
            if bits > size or (bits == size and kind != to) or (kind == "s" and to == "u"):
                p.add(  # PTX allows it only where something can be out of range
                    f"cvt.sat.{to}{size}.{kind}{bits} %dd, {{a}};",
                    lambda a, b, c, v=v, low=low, high=high: min(max(v(a), low), high),
                    bits,
                    64,
                )
    for form in (F32, F64, F16, BF16):
        for kind, bits in kinds:
            if form.bits > 16:
                for mode in ("rni", "rzi", "rmi", "rpi"):
                    p.add(
                        f"cvt.{mode}.{kind}{bits}.{form.name} %dd, {{a}};",
                        lambda a, b, c, f=form, m=mode, n=bits, k=kind: reader(k, n)(
                            to_integer(a, f, m, n, k == "s")
                        ),
                        form.bits,
                        64,
                    )
            v = reader(kind, bits)
            modes = ROUNDINGS if form.bits > 16 else ("rn",)
            for mode in modes if form is not BF16 or bits in (16, 32) else ():
                p.add(
                    f"cvt.{mode}.{form.name}.{kind}{bits} {{d}}, {{a}};",
                    lambda a, b, c, f=form, m=mode, v=v: encoded(Fraction(v(a)), f, m),
                    bits,
                    form.bits,
                    form=form,
                )
        if form.bits > 16:
            for mode in ("rni", "rzi", "rmi", "rpi"):
                p.add(
                    f"cvt.{mode}.{form.name}.{form.name} {{d}}, {{a}};",
                    lambda a, b, c, f=form, m=mode: to_integral(a, f, m),
                    form.bits,
                    form=form,
                )
    for mode in ROUNDINGS:
        p.add(
            f"cvt.{mode}.f32.f64 {{d}}, {{a}};",
            lambda a, b, c, m=mode: converted(a, F64, F32, m),
            64,
            32,
            form=F32,
        )
    for source, target in ((F16, F32), (BF16, F32), (F32, F64), (F16, F64)):
        p.add(
            f"cvt.{target.name}.{source.name} {{d}}, {{a}};",
            lambda a, b, c, s=source, t=target: converted(a, s, t, "rn"),
            source.bits,
            target.bits,
            form=target,
        )
    for source, target, modes in (
        (F32, F16, ("rn", "rz")),
        (F32, BF16, ("rn", "rz")),
        (F64, F16, ("rn",)),
    ):
        for mode in modes:
            p.add(
                f"cvt.{mode}.{target.name}.{source.name} {{d}}, {{a}};",
                lambda a, b, c, s=source, t=target, m=mode: converted(a, s, t, m),
                source.bits,
                target.bits,
                form=target,
            )
    for form in (F16, BF16):
        p.add(
            f"cvt.rn.{form.name}x2.f32 {{d}}, {{a}}, {{b}}; shr.u32 {{d}}, {{d}}, 16;",
            lambda a, b, c, f=form: converted(a, F32, f, "rn"),
            form=form,
        )


PARTS: dict[str, tuple[Callable[[Program], None], ...]] = {
    "integers": (add_integers, add_bits),
    "comparisons": (add_comparisons,),
    "floats": (add_floats,),
    "conversions": (add_conversions,),
    "halves": (add_halves, add_half_comparisons, add_relu),
    "eight_bits": (add_eight_bits,),
    "rare": (add_rare,),
}
RECORDED = HERE.parent / "recorded" / "hgx-h200-4" / "ptx.json"


class Part:
    """The program of one part, and the operands that it is run on."""

    def __init__(self, name: str) -> None:
        self.program, random_ = Program(), random.Random(5)
        for add in PARTS[name]:
            add(self.program)
        self.samples = [[sample(random_) for _ in range(3)] for _ in range(SAMPLES)]
        text = self.program.ptx() + repr(self.samples)
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def differences(self, case: Case, known: dict[str, int]) -> dict[str, int]:
        """What is not the exact result, or the known one: "LINE  of A B C" with what it is."""
        rows, count = self.program.rows, len(self.program.rows)
        words = [word for row in self.samples for x in row for word in (x & MASK[32], x >> 32)]
        module = case.write("all.ptx", self.program.ptx())
        out = case.launch(module, "kernel", 2 * count * SAMPLES, words, SAMPLES)
        found = {}
        for number, operands in enumerate(self.samples):
            for i, (line, bits, form, reference) in enumerate(rows):
                at = 2 * (number * count + i)
                have = (out[at] | out[at + 1] << 32) & MASK[max(bits, 16)]
                key = f"{line}  of {' '.join(f'{x:#x}' for x in operands)}"
                want = known[key] if key in known else reference(*operands)
                if have != want and not (form and is_nan(have, form) and is_nan(want, form)):
                    found[key] = have
        return found


class Instructions(Case):
    def check(self, name: str) -> None:
        part = Part(name)
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))[name]
        self.assertEqual(recorded["digest"], part.digest, f"{RECORDED} is of another program")
        known = recorded["differs"]
        wrong = part.differences(self, known)
        names = {key.split("  of ")[0] for key in wrong}
        listed = "\n".join(f"{key}: {have:#x}" for key, have in list(wrong.items())[:40])
        self.assertEqual(len(wrong), 0, f"{len(names)} instructions:\n{listed}")

    def test_integers(self) -> None:
        self.check("integers")

    def test_comparisons(self) -> None:
        self.check("comparisons")

    def test_floats(self) -> None:
        self.check("floats")

    def test_conversions(self) -> None:
        self.check("conversions")

    def test_halves(self) -> None:
        self.check("halves")

    def test_eight_bits(self) -> None:
        self.check("eight_bits")

    def test_rare(self) -> None:
        self.check("rare")


def record(file: Path) -> None:
    case, recorded = Instructions("test_integers"), {}
    case.setUp()
    for name in PARTS:
        part = Part(name)
        found = part.differences(case, {})
        recorded[name] = {"digest": part.digest, "differs": found}
        lines, count = {key.split("  of ")[0] for key in found}, len(part.program.rows)
        print(
            f"{name}: of {count} instructions {len(lines)} differ somewhere from the exact result"
        )
    case.doCleanups()
    file.write_text(json.dumps(recorded, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[3:4] == ["--record"]:
        record(Path(sys.argv[4]))
    else:
        main()

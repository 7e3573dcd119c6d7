# SPDX-License-Identifier: MIT
"""Instructions on two halves of a word, and what .relu makes of a number below zero, and of -0."""

from collections.abc import Callable

from generated import MASK, Program, reader, signed
from numbers_exact import BF16, F16, F32, Format, arithmetic, converted, decoded, is_nan


def by_halves(operation: Callable[[int, int], int]) -> Callable[[int, int, int], int]:
    def both(a: int, b: int, c: int) -> int:
        low, high = operation(a & MASK[16], b & MASK[16]), operation(a >> 16, b >> 16)
        return low & MASK[16] | (high & MASK[16]) << 16

    return both


def holds(word: str, a: int, b: int, form: Format) -> bool:
    if is_nan(a, form) or is_nan(b, form):
        return word in ("nan", "ltu")
    return word in ("lt", "ltu") and decoded(a, form) < decoded(b, form)


def add_half_comparisons(p: Program) -> None:
    for form, one in ((F16, 0x3C00), (BF16, 0x3F80)):
        for word in ("lt", "ltu", "nan"):
            for to, yes, bits in ((form.name, one, 16), ("u16", 0xFFFF, 16), ("u32", -1, 32)):
                p.add(
                    f"set.{word}.{to}.{form.name} {{d}}, {{a}}, {{b}};",
                    lambda a, b, c, w=word, f=form, y=yes: y if holds(w, a, b, f) else 0,
                    16,
                    bits,
                )
            for to, yes in ((f"{form.name}x2", one), ("u32", 0xFFFF)):
                p.add(
                    f"set.{word}.{to}.{form.name}x2 {{d}}, {{a}}, {{b}};",
                    by_halves(lambda a, b, w=word, f=form, y=yes: y if holds(w, a, b, f) else 0),
                )
            p.add(
                f"setp.{word}.{form.name}x2 %p|%q, {{a}}, {{b}}; "
                "selp.u32 {d}, 1, 0, %p; selp.u32 %rt, 65536, 0, %q; or.b32 {d}, {d}, %rt;",
                by_halves(lambda a, b, w=word, f=form: int(holds(w, a, b, f))),
            )


def add_halves(p: Program) -> None:
    for kind in "us":
        v = reader(kind, 16)
        p.add(f"add.{kind}16x2 {{d}}, {{a}}, {{b}};", by_halves(lambda a, b: a + b))
        for name, pick in (("min", min), ("max", max)):
            p.add(
                f"{name}.{kind}16x2 {{d}}, {{a}}, {{b}};",
                by_halves(lambda a, b, v=v, pick=pick: pick(v(a), v(b))),
            )
    for name, pick in (("min", min), ("max", max)):
        p.add(
            f"{name}.relu.s16x2 {{d}}, {{a}}, {{b}};",
            by_halves(lambda a, b, pick=pick: max(pick(signed(a, 16), signed(b, 16)), 0)),
        )
        p.add(
            f"{name}.relu.s32 {{d}}, {{a}}, {{b}};",
            lambda a, b, c, pick=pick: max(pick(signed(a, 32), signed(b, 32)), 0),
        )


def not_negative(bits: int, form: Format) -> int:
    return bits if is_nan(bits, form) or decoded(bits, form) > 0 else 0


def add_relu(p: Program) -> None:
    for form in (F16, BF16):
        p.add(
            f"cvt.rn.relu.{form.name}.f32 {{d}}, {{a}};",
            lambda a, b, c, f=form: not_negative(converted(a, F32, f, "rn"), f),
            32,
            16,
            form=form,
        )
        p.add(
            f"cvt.rn.relu.{form.name}x2.f32 {{d}}, {{a}}, {{b}}; shr.u32 {{d}}, {{d}}, 16;",
            lambda a, b, c, f=form: not_negative(converted(a, F32, f, "rn"), f),
            form=form,
        )
        p.add(
            f"fma.rn.relu.{form.name} {{d}}, {{a}}, {{b}}, {{c}};",
            lambda a, b, c, f=form: not_negative(arithmetic("fma", f, "rn", a, b, c), f),
            16,
            form=form,
        )

# SPDX-License-Identifier: MIT
"""Instructions that few programs use: modes of prmt, fns, lop3 with a predicate, .xorsign.abs, .ftz
of halves, limits of conversions, and atomics of 16 and 128 bits, by the guide to PTX."""

from collections.abc import Callable

from generated import MASK, Program, signed
from halves import by_halves, holds, not_negative
from numbers_exact import (
    BF16,
    F16,
    F32,
    Format,
    arithmetic,
    converted,
    extreme,
    flushed,
    is_nan,
)

# Bytes of b:a by the lower two bits of c, the upper byte first.
ROWS = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


def chosen_bytes(mode: str, a: int, b: int, c: int) -> int:
    all_bytes = (b << 32 | a).to_bytes(8, "little")
    return int.from_bytes(bytes(all_bytes[int(digit)] for digit in ROWS[mode][c & 3]), "big")


def nth_set(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if mask >> base & 1 else -1
    if offset == -(1 << 31):
        return 0  # on an H200, whatever the mask
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else -1


def limited(value: int, bits: int, sign: bool) -> int:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)
    return min(max(value, low), high) & ((1 << bits) - 1)


def packed(a: int, b: int, c: int, bits: int, sign: bool) -> int:
    pair = limited(signed(a, 32), bits, sign) << bits | limited(signed(b, 32), bits, sign)
    return pair | (c << 2 * bits if bits < 16 else 0)


def parity(a: int, b: int, c: int) -> int:
    return a ^ b ^ c


def add_bit_choices(p: Program) -> None:
    for mode in ROWS:
        p.add(
            f"prmt.b32.{mode} {{d}}, {{a}}, {{b}}, {{c}};",
            lambda a, b, c, m=mode: chosen_bytes(m, a, b, c),
        )
    p.add(
        "and.b32 %rt, {b}, 31; shr.s32 {d}, {c}, 27; fns.b32 {d}, {a}, %rt, {d};",
        lambda a, b, c: nth_set(a, b & 31, signed(c, 32) >> 27),
    )
    p.add(
        "and.b32 %rt, {b}, 31; not.b32 {d}, {a}; fns.b32 {d}, {d}, %rt, {c};",
        lambda a, b, c: nth_set(~a & MASK[32], b & 31, signed(c, 32)),
    )
    for word, join in (("and", lambda x, y: x and y), ("or", lambda x, y: x or y)):
        p.add(
            f"setp.gt.u32 %q, {{a}}, {{b}}; lop3.{word}.b32 {{d}}|%p, {{a}}, {{b}}, {{c}}, 0x96,"
            " %q; selp.b32 %rt, 0x55555555, 0, %p; xor.b32 {d}, {d}, %rt;",
            lambda a, b, c, join=join: (
                parity(a, b, c) ^ (0x55555555 if join(parity(a, b, c) != 0, a > b) else 0)
            ),
        )
    p.add(
        "mad24.hi.sat.s32 {d}, {a}, {b}, {c};",
        lambda a, b, c: min(
            max(
                ((signed(a << 8, 32) >> 8) * (signed(b << 8, 32) >> 8) >> 16) + signed(c, 32),
                -(1 << 31),
            ),
            (1 << 31) - 1,
        ),
    )
    for bits, rest in ((16, ""), (8, ".b32"), (4, ".b32"), (2, ".b32")):
        for kind in "us":
            p.add(
                f"cvt.pack.sat.{kind}{bits}.s32{rest} {{d}}, {{a}}, {{b}}{', {c}' * (bits < 16)};",
                lambda a, b, c, n=bits, k=kind: packed(a, b, c, n, k == "s"),
            )


# ---- floating point ----


def signless(form: Format, largest: bool, a: int, b: int, nan: bool) -> int:
    """min or max of the absolute values, with the sign of the product."""
    sign, rest = (a ^ b) & form.sign, form.sign - 1
    if nan and (is_nan(a, form) or is_nan(b, form)):
        return form.infinite | 1
    value = extreme(form, largest, a & rest, b & rest)
    return value if is_nan(value, form) else value | sign


def half_flushed(bits: int) -> int:
    return bits & 0x8000 if bits & 0x7C00 == 0 else bits


def outside_is_zero(form: Format, a: int, b: int, c: int) -> int:
    """The NaN of what is read outside of a tensor, as an H200 has it: 0x7ff7, with either sign."""
    return 0 if 0x7FF7 in (a & 0x7FFF, b & 0x7FFF) else arithmetic("fma", form, "rn", a, b, c)


def add_rare_floats(p: Program) -> None:
    for name in ("min", "max"):
        for nan in ("", ".NaN"):
            for form in (F32, F16, BF16):
                p.add(
                    f"{name}{nan}.xorsign.abs.{form.name} {{d}}, {{a}}, {{b}};",
                    lambda a, b, c, f=form, n=name, nan=nan: signless(
                        f, n == "max", a, b, nan != ""
                    ),
                    form.bits,
                    form=form,
                )
            for form in (F16, BF16):
                p.add(
                    f"{name}{nan}.xorsign.abs.{form.name}x2 {{d}}, {{a}}, {{b}};"
                    " shr.u32 {d}, {d}, 16;",
                    lambda a, b, c, f=form, n=name, nan=nan: signless(
                        f, n == "max", a >> 16, b >> 16, nan != ""
                    ),
                    form=form,
                )
        p.add(
            f"{name}.ftz.xorsign.abs.f32 {{d}}, {{a}}, {{b}};",
            lambda a, b, c, n=name: signless(F32, n == "max", flushed(a), flushed(b), False),
            form=F32,
        )
    for name, operands in (("add", "{a}, {b}"), ("mul", "{a}, {b}"), ("fma", "{a}, {b}, {c}")):
        count = operands.count(",") + 1
        p.add(
            f"{name}.rn.ftz.f16 {{d}}, {operands};",
            lambda a, b, c, n=name, k=count: half_flushed(
                arithmetic(n, F16, "rn", *map(half_flushed, (a, b, c)[:k]))
            ),
            16,
            form=F16,
        )
    for word in ("lt", "ltu", "nan"):
        p.add(
            f"setp.{word}.ftz.f16 %p, {{a}}, {{b}}; selp.b32 {{d}}, 7, 9, %p;",
            lambda a, b, c, w=word: 7 if holds(w, half_flushed(a), half_flushed(b), F16) else 9,
            16,
            32,
        )
        for form, one in ((F16, 0x3C00), (BF16, 0x3F80)):
            p.add(
                "setp.gt.u32 %q, {a}, {c}; "
                f"setp.{word}.or.{form.name}x2 %p|%q, {{a}}, {{b}}, %q;"
                " selp.u32 {d}, 1, 0, %p; selp.u32 %rt, 65536, 0, %q; or.b32 {d}, {d}, %rt;",
                lambda a, b, c, w=word, f=form: (
                    0x10001
                    if a > c
                    else by_halves(lambda x, y, w=w, f=f: int(holds(w, x, y, f)))(a, b, c)
                ),
            )
            p.add(
                f"setp.gt.u32 %q, {{a}}, {{c}}; "
                f"set.{word}.and.{form.name}x2.{form.name}x2 {{d}}, {{a}}, {{b}}, %q;",
                lambda a, b, c, w=word, f=form, y=one: (
                    by_halves(lambda x, z, w=w, f=f, y=y: y if holds(w, x, z, f) else 0)(a, b, c)
                    if a > c
                    else 0
                ),
            )
    for form in (F16, BF16):
        p.add(
            f"fma.rn.oob.{form.name} {{d}}, {{a}}, {{b}}, {{c}};",
            lambda a, b, c, f=form: outside_is_zero(f, a, b, c),
            16,
            form=form,
        )
        p.add(
            "or.b16 {d}, {a}, 0x7ff7; and.b16 {d}, {d}, 0xfff7; "
            f"fma.rn.oob.{form.name} {{d}}, {{b}}, {{d}}, {{c}};",
            lambda a, b, c, f=form: outside_is_zero(f, b, a & 0x8000 | 0x7FF7, c),
            16,
            form=form,
        )


def finite(bits: int, form: Format) -> int:
    return bits - 1 if bits & (form.sign - 1) == form.infinite else bits


TF32 = Format("tf32", 19, 10, 127)


def tf32(bits: int, mode: str) -> int:
    """The upper 19 bits of an f32; rna: of two that are as near, the one farther from 0."""
    if is_nan(bits, F32) or bits & 0x7FFFFFFF == F32.infinite:
        return bits >> 13 | (1 if is_nan(bits, F32) else 0)
    if mode == "rna":
        return bits + 0x1000 >> 13
    return converted(bits, F32, TF32, mode)


def add_limits(p: Program) -> None:
    for form in (F16, BF16):
        for mode in ("rn", "rz"):
            p.add(
                f"cvt.{mode}.satfinite.{form.name}.f32 {{d}}, {{a}};",
                lambda a, b, c, f=form, m=mode: finite(converted(a, F32, f, m), f),
                32,
                16,
                form=form,
            )
            p.add(
                f"cvt.{mode}.satfinite.relu.{form.name}x2.f32 {{d}}, {{a}}, {{b}};"
                " shr.u32 {d}, {d}, 16;",
                lambda a, b, c, f=form, m=mode: not_negative(finite(converted(a, F32, f, m), f), f),
                form=form,
            )
    for name, reference in (
        ("rna", lambda a: tf32(a, "rna")),
        ("rn", lambda a: tf32(a, "rn")),
        ("rz", lambda a: tf32(a, "rz")),
        ("rna.satfinite", lambda a: finite(tf32(a, "rna"), TF32)),
        ("rn.relu", lambda a: not_negative(tf32(a, "rn"), TF32)),
        ("rz.relu", lambda a: not_negative(tf32(a, "rz"), TF32)),
    ):
        p.add(
            f"cvt.{name}.tf32.f32 {{d}}, {{a}}; shr.u32 {{d}}, {{d}}, 13;",
            lambda a, b, c, reference=reference: reference(a),
            form=TF32,
        )


# ---- atomics: {m} is a word of the thread's own ----


def half_added(form: Format) -> Callable[[int, int], int]:
    return lambda a, b: arithmetic("add", form, "rn", a, b)


def add_atomics(p: Program) -> None:
    p.add(
        "st.global.b16 {m}, {b}; atom.global.cas.b16 {d}, {m}, {b}, {a}; ld.global.b16 %st, {m};"
        " sub.s16 {d}, {d}, %st;",
        lambda a, b, c: b - a,
        16,
    )
    p.add(
        "st.global.b16 {m}, {b}; atom.acq_rel.gpu.global.cas.b16 {d}, {m}, {c}, {a};"
        " ld.global.b16 %st, {m}; mul.lo.s16 %st, %st, 3; add.s16 {d}, {d}, %st;",
        lambda a, b, c: b + 3 * (a if b == c else b),
        16,
    )
    for form in (F16, BF16):
        added = half_added(form)
        p.add(
            f"st.global.b16 {{m}}, {{a}}; atom.global.add.noftz.{form.name} {{d}}, {{m}}, {{b}};"
            " ld.global.b16 {d}, {m};",
            lambda a, b, c, added=added: added(a, b),
            16,
            form=form,
        )
        p.add(
            "st.global.b16 {m}, {a};"
            f" red.relaxed.gpu.global.add.noftz.{form.name} {{m}}, {{b}};"
            f" atom.global.add.noftz.{form.name} {{d}}, {{m}}, {{c}};",
            lambda a, b, c, added=added: added(a, b),
            16,
            form=form,
        )
        p.add(
            f"st.global.b32 {{m}}, {{a}}; red.global.add.noftz.{form.name}x2 {{m}}, {{b}};"
            " ld.global.b32 {d}, {m}; shr.u32 {d}, {d}, 16;",
            lambda a, b, c, added=added: added(a >> 16, b >> 16),
            form=form,
        )
        for name in ("add", "min", "max"):
            p.add(
                f"st.global.b32 {{m}}, {{a}}; mov.b32 {{{{%st, %sd}}}}, {{b}};"
                f" red.global.{name}.noftz.v2.{form.name} {{m}}, {{{{%st, %sd}}}};"
                " ld.global.b32 {d}, {m}; shr.u32 {d}, {d}, 16;",
                lambda a, b, c, n=name, f=form: (
                    arithmetic("add", f, "rn", a >> 16, b >> 16)
                    if n == "add"
                    else extreme(f, n == "max", a >> 16, b >> 16)
                ),
                form=form,
            )
    p.add(
        "st.global.b64 {m}, {a}; mov.b64 {{%rd, %rt}}, {b};"
        " atom.global.v2.f32.add {{%rd, %rt}}, {m}, {{%rd, %rt}}; ld.global.b64 {d}, {m};"
        " shr.u64 {d}, {d}, 32;",
        lambda a, b, c: arithmetic("add", F32, "rn", a >> 32, b >> 32),
        64,
        form=F32,
    )
    p.add(
        "mov.b128 %quad, {{{a}, {b}}}; st.shared.b128 {q}, %quad; mov.b128 %quad, {{{c}, {a}}};"
        " atom.shared.exch.b128 %quad, {q}, %quad; mov.b128 {{{d}, %dt}}, %quad;"
        " ld.shared.b128 %quad, {q}; mov.b128 {{%at, %in}}, %quad; xor.b64 {d}, {d}, %in;"
        " add.u64 {d}, {d}, %dt; xor.b64 {d}, {d}, %at;",
        lambda a, b, c: ((a ^ a) + b) ^ c,
        64,
    )
    p.add(
        "mov.b128 %quad, {{{a}, {b}}}; st.shared.b128 {q}, %quad; and.b64 %dt, {c}, 1;"
        " add.u64 %dt, {b}, %dt; mov.b128 %like, {{{a}, %dt}}; mov.b128 %quad, {{{c}, {c}}};"
        " atom.relaxed.cta.shared.cas.b128 %quad, {q}, %like, %quad;"
        " ld.shared.b128 %quad, {q}; mov.b128 {{%at, {d}}}, %quad;",
        lambda a, b, c: b if c & 1 else c,
        64,
    )


def add_rare(p: Program) -> None:
    add_bit_choices(p)
    add_rare_floats(p)
    add_limits(p)
    add_atomics(p)

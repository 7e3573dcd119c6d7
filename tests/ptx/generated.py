# SPDX-License-Identifier: MIT
"""A generated PTX program of many instructions, with a reference for each, and their operands."""

import random
from collections.abc import Callable

from numbers_exact import BF16, F16, F32, F64, Format
from rig import HEAD

SAMPLES = 96
MASK = {8: 0xFF, 16: 0xFFFF, 32: 0xFFFFFFFF, 64: (1 << 64) - 1}

QUADS = f"""    .shared .align 16 .b8 cells[{16 * SAMPLES}];
    .reg .b128 %quad, %like;
    .reg .b64 %cell;
    mov.u64 %cell, cells;
    mul.wide.u32 %at, %who, 16;
    add.u64 %cell, %cell, %at;
"""

Reference = Callable[[int, int, int], int]


class Program:
    """Instructions with their references: {d}, {a}, {b}, {c} are registers of the given bits,
    {m} is 8 bytes of the thread's own, and {q} 16 of shared memory."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, int, Format | None, Reference]] = []
        self.text: list[str] = []
        self.quads = False

    def add(
        self,
        text: str,
        reference: Reference,
        bits: int | tuple[int, ...] = 32,
        result: int = 0,
        form: Format | None = None,
    ) -> None:
        sizes = bits if isinstance(bits, tuple) else (bits, bits, bits)
        result = result or sizes[0]
        names = {16: "s", 32: "r", 64: "d"}
        part = {
            name: f"%{names[max(size, 16)]}{name}" for name, size in zip("abc", sizes, strict=False)
        }
        place = f"[%out+{8 * len(self.rows)}]"
        self.quads |= "{q}" in text
        line = text.format(d=f"%{names[max(result, 16)]}d", m=place, q="[%cell]", **part)
        store = {16: "mov.b16 %sd, %sd; cvt.u64.u16 %dd, %sd;", 32: "cvt.u64.u32 %dd, %rd;", 64: ""}
        self.text.append(f"    {line}\n    {store[max(result, 16)]}")
        self.text.append(f"    st.global.u64 {place}, %dd;")

        def of_samples(a: int, b: int, c: int) -> int:
            cut = [x & MASK[size] for x, size in zip((a, b, c), sizes, strict=False)]
            return reference(*cut, *[0] * (3 - len(cut))) & MASK[result]

        self.rows.append((line, result, form, of_samples))

    def ptx(self) -> str:
        count = len(self.rows)
        return (
            HEAD.replace("7.0", "8.6").replace("sm_80", "sm_90")
            + ".visible .entry kernel(.param .u64 to, .param .u64 from)\n{\n"
            + "".join(
                f"    .reg .b{bits} %{name}a, %{name}b, %{name}c, %{name}d, %{name}t;\n"
                for bits, name in ((16, "s"), (32, "r"), (64, "d"))
            )
            + "    .reg .b64 %out, %in, %at;\n    .reg .b32 %who;\n    .reg .pred %p, %q;\n"
            + "    ld.param.u64 %out, [to];\n    ld.param.u64 %in, [from];\n"
            + "    mov.u32 %who, %tid.x;\n    mul.wide.u32 %at, %who, 24;\n"
            + "    add.u64 %in, %in, %at;\n"
            + f"    mul.wide.u32 %at, %who, {8 * count};\n    add.u64 %out, %out, %at;\n"
            + "    ld.global.u64 %da, [%in];\n    ld.global.u64 %db, [%in+8];\n"
            + "    ld.global.u64 %dc, [%in+16];\n"
            + "".join(
                f"    cvt.u32.u64 %r{x}, %d{x};\n    cvt.u16.u64 %s{x}, %d{x};\n" for x in "abc"
            )
            + (QUADS if self.quads else "")
            + "\n".join(self.text)
            + "\n    ret;\n}\n"
        )


def signed(value: int, bits: int) -> int:
    value &= MASK[bits]
    return value - (1 << bits) if value >> (bits - 1) else value


def reader(kind: str, bits: int) -> Callable[[int], int]:
    return (lambda x: signed(x, bits)) if kind == "s" else (lambda x: x & MASK[bits])


# ---- operands ----


def some_floats(random_: random.Random, form: Format) -> int:
    one = form.highest << form.mantissa
    special = [0, form.sign, form.infinite, form.infinite | form.sign, form.infinite | 1, 1]
    special += [
        one,
        one | form.sign,
        1 << form.mantissa,
        (1 << form.mantissa) - 1,
        form.infinite - 1,
    ]
    special += [one + 1, form.sign | 1, one + (1 << form.mantissa) * random_.randrange(9)]
    near = (form.highest + random_.randrange(-4, 40)) << form.mantissa
    near |= random_.randrange(1 << form.mantissa) | form.sign * random_.randrange(2)
    return random_.choice([random_.choice(special), near, random_.randrange(2 * form.sign)])


def sample(random_: random.Random) -> int:
    """64 bits whose lower 16 and 32 are operands, too."""
    form = random_.choice((F16, BF16, F32, F32, F64, F64, None))
    if form is None:
        small = random_.choice((0, 1, 31, 32, 33, 64, 255, 0x7FFF, 0x80000000, 0x7FFFFFFF))
        return random_.choice((small, -small, small << 32)) & MASK[64]
    bits = some_floats(random_, form)
    while form.bits * 2 <= 64 and random_.random() < 0.5 and form.bits < 32:
        return bits | random_.randrange(1 << 16) << 16 | random_.randrange(1 << 32) << 32
    return bits | random_.randrange(1 << 32) << 32 if form.bits == 32 else bits

# SPDX-License-Identifier: MIT
"""Instructions with all their qualifiers are known: a module of some thousand lines is taken, by
vgpu-cc and, where it is installed, by NVIDIA's ptxas, which shows that the lines are PTX."""

import itertools
import shutil

from rig import CC, Case, main

PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")
HEAD = """.version 8.6
.target sm_90
.address_size 64
.const .align 16 .b8 fixed[64];
.visible .entry kernel(.param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b16 %h<8>;
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    .reg .f32 %f<8>;
    .reg .f64 %g<8>;
    .reg .b128 %q<4>;
    .shared .align 16 .b8 cells[64];
    .local .align 16 .b8 own[64];
"""
TYPES = {"b8": "h", "u8": "h", "s8": "h", "b16": "h", "u16": "h", "s16": "h", "b32": "r"}
TYPES |= {"u32": "r", "s32": "r", "f32": "f", "b64": "d", "u64": "d", "s64": "d", "f64": "g"}
HALVES = {"f16": "h", "bf16": "h", "f16x2": "r", "bf16x2": "r"}
PLACES = {"": "%d7", ".global": "%d7", ".shared": "cells", ".shared::cta": "cells"}
SCOPES = ("cta", "cluster", "gpu", "sys")
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


def registers(kind: str, count: int) -> str:
    return ", ".join(f"%{kind}{i}" for i in range(count))


def vectors(width: int, kind: str) -> str:
    return f"{{{registers(kind, width)}}}"


def accesses() -> list[str]:
    lines = []
    orders = ["", ".weak", ".volatile"]
    loads = orders + [f".{o}.{s}" for o in ("relaxed", "acquire") for s in SCOPES]
    stores = orders + [f".{o}.{s}" for o in ("relaxed", "release") for s in SCOPES]
    for (space, at), (kind, reg) in itertools.product(
        PLACES.items(), (TYPES | {"b128": "q"}).items()
    ):
        lines += [f"ld{order}{space}.{kind} %{reg}0, [{at}];" for order in loads]
        lines += [f"st{order}{space}.{kind} [{at}], %{reg}0;" for order in stores]
    for space, at in PLACES.items():
        for order, width, kind in itertools.product(loads, (2, 4), ("b32", "f32", "u16", "u8")):
            lines.append(f"ld{order}{space}.v{width}.{kind} {vectors(width, TYPES[kind])}, [{at}];")
        lines += [f"st{order}{space}.v2.b64 [{at}], {vectors(2, 'd')};" for order in stores]
    for cache in ("ca", "cg", "cs", "lu", "cv", "nc", "L1::no_allocate", "L1::evict_last"):
        lines.append(f"ld.global.{cache}.b32 %r0, [%d7];")
    lines += [f"st.global.{cache}.b32 [%d7], %r0;" for cache in ("wb", "cg", "cs", "wt")]
    lines += ["ld.const.v4.b32 {%r0, %r1, %r2, %r3}, [fixed];", "ld.local.u64 %d0, [own];"]
    lines += ["ld.global.L2::cache_hint.b32 %r0, [%d7], %d1;", "ldu.global.f64 %g0, [%d7];"]
    return lines


def updates() -> list[str]:
    words = {"and": "b", "or": "b", "xor": "b", "exch": "b", "cas": "b", "add": "us"}
    words |= {"min": "us", "max": "us", "inc": "u", "dec": "u"}
    lines = []
    orders = [
        "",
        *(f".{o}.{s}" for o in ("relaxed", "acquire", "release", "acq_rel") for s in SCOPES),
    ]
    for order, (space, at), (word, kinds) in itertools.product(
        orders, PLACES.items(), words.items()
    ):
        for kind, bits in itertools.product(kinds, (32, 64)):
            reg = {32: "r", 64: "d"}[bits]
            if (word in ("inc", "dec") and bits == 64) or (word, kind, bits) == ("add", "s", 64):
                continue
            value = f"%{reg}1, %{reg}2" if word == "cas" else f"%{reg}1"
            lines.append(f"atom{order}{space}.{word}.{kind}{bits} %{reg}0, [{at}], {value};")
            if word not in ("cas", "exch") and "acq" not in order:
                lines.append(f"red{order}{space}.{word}.{kind}{bits} [{at}], {value};")
        if word == "cas":
            lines.append(f"atom{order}{space}.cas.b16 %h0, [{at}], %h1, %h2;")
            lines.append(f"atom{order}{space}.cas.b128 %q0, [{at}], %q1, %q2;")
            lines.append(f"atom{order}{space}.exch.b128 %q0, [{at}], %q1;")
    for kind, reg in HALVES.items():
        lines.append(f"atom.add.noftz.{kind} %{reg}0, [%d7], %{reg}1;")
        lines.append(f"red.global.add.noftz.{kind} [%d7], %{reg}1;")
        for word in ("add", "min", "max"):
            lines.append(f"red.global.{word}.noftz.v2.{kind} [%d7], {vectors(2, reg)};")
    return lines


def numbers() -> list[str]:
    lines = []
    compared = {"f32": "f", "ftz.f32": "f", "f64": "g", "f16": "h", "ftz.f16": "h", "bf16": "h"}
    for word in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "num", "nan"):
        for kind, reg in compared.items():
            lines.append(f"setp.{word}.{kind} %p0, %{reg}0, %{reg}1;")
            both = "%p0" if reg == "h" else "%p0|%p1"
            lines.append(f"setp.{word}.xor.{kind} {both}, %{reg}0, %{reg}1, !%p2;")
        for kind in ("f16x2", "ftz.f16x2", "bf16x2"):
            lines.append(f"setp.{word}.and.{kind} %p0|%p1, %r0, %r1, %p2;")
    for word, flags, (kind, reg) in itertools.product(
        ("min", "max"), ("", ".NaN", ".xorsign.abs", ".NaN.xorsign.abs"), HALVES.items()
    ):
        lines.append(f"{word}{flags}.{kind} %{reg}0, %{reg}1, %{reg}2;")
    for to, kind in itertools.product(INTEGERS, INTEGERS):
        lines.append(f"cvt.{to}.{kind} %{TYPES[to]}0, %{TYPES[kind]}1;")
    for mode, kind, (form, reg) in itertools.product(
        ("rn", "rz", "rm", "rp"), INTEGERS, (("f32", "f"), ("f64", "g"))
    ):
        lines.append(f"cvt.{mode}.{form}.{kind} %{reg}0, %{TYPES[kind]}1;")
        lines.append(f"cvt.{mode}i.sat.{kind}.{form} %{TYPES[kind]}0, %{reg}1;")
    for mode, flag, kind in itertools.product(
        ("rn", "rz"), ("", ".relu", ".satfinite", ".satfinite.relu"), ("f16x2", "bf16x2")
    ):
        lines.append(f"cvt.{mode}{flag}.{kind}.f32 %r0, %f0, %f1;")
    return lines


def meetings() -> list[str]:
    lines = []
    for name, aligned, (number, count) in itertools.product(
        ("bar", "barrier", "bar.cta", "barrier.cta"),
        ("", ".aligned"),
        itertools.product(("0", "7", "%r0"), ("", ", 64", ", %r1")),
    ):
        if name.startswith("bar.") or name == "bar":
            aligned = ""
        lines.append(f"{name}.sync{aligned} {number}{count};")
        lines.append(f"{name}.red.popc{aligned}.u32 %r3, {number}{count}, !%p0;")
        lines.append(f"{name}.red.and{aligned}.pred %p1, {number}{count}, %p0;")
        if count:
            lines.append(f"{name}.arrive{aligned} {number}{count};")
    for scope, order in itertools.product(SCOPES, ("sc", "acq_rel")):
        lines.append(f"fence.{order}.{scope};")
    return lines


class Known(Case):
    def check(self, lines: list[str]) -> None:
        text = f"{HEAD}    " + "\n    ".join(dict.fromkeys(lines)) + "\n    ret;\n}\n"
        module = self.write("known.ptx", text)
        done = self.run_command(CC, "-fatbin", "-o", "known.fatbin", module)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        if PTXAS:
            done = self.run_command(PTXAS, "-arch=sm_90", "-O0", module, "-o", "known.cubin")
            self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[:2000])

    def test_accesses(self) -> None:
        self.check(accesses())

    def test_updates(self) -> None:
        self.check(updates())

    def test_numbers(self) -> None:
        self.check(numbers())

    def test_meetings(self) -> None:
        self.check(meetings())


if __name__ == "__main__":
    main()

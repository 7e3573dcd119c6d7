# SPDX-License-Identifier: MIT
"""Conversions from and to floating point of eight bits, against a search of all 256 numbers."""

import math
from bisect import bisect_left

from generated import Program
from numbers_exact import F16, F32, decoded, special

MOST = {"e4m3": 0x7E, "e5m2": 0x7B}  # the largest number; what is larger becomes it
NAN = 0x7F


def value_of(byte: int, name: str) -> float:
    sign = -1.0 if byte & 0x80 else 1.0
    rest = byte & 0x7F
    if rest > MOST[name]:
        return sign * math.inf if (name, rest) == ("e5m2", 0x7C) else math.nan
    mantissa, bias = (3, 7) if name == "e4m3" else (2, 15)
    exponent, digits = rest >> mantissa, rest & ((1 << mantissa) - 1)
    if exponent:
        digits |= 1 << mantissa
    return sign * math.ldexp(digits, max(exponent, 1) - bias - mantissa)


NUMBERS = {name: [value_of(byte, name) for byte in range(most + 1)] for name, most in MOST.items()}


def nearest(value: float, name: str) -> int:
    """Its byte; of two that are as near, the even one."""
    if math.isnan(value):
        return NAN
    sign = 0x80 if math.copysign(1, value) < 0 else 0
    numbers, size = NUMBERS[name], abs(value)
    above = bisect_left(numbers, size)
    if above > MOST[name]:
        return MOST[name] | sign
    if numbers[above] == size:
        return above | sign
    below = above - 1
    distance = (size - numbers[below]) - (numbers[above] - size)
    up = distance > 0 or (distance == 0 and above % 2 == 0)
    return (above if up else below) | sign


def half_of(value: float) -> int:
    return 0x7FFF if math.isnan(value) else special(value, F16)


def no_less_than_zero(value: float) -> float:
    return 0.0 if value <= 0 else value


def add_eight_bits(p: Program) -> None:
    for name in MOST:
        for relu in ("", ".relu"):

            def kept(value: float, relu: str = relu) -> float:
                return no_less_than_zero(value) if relu else value

            def byte(bits: int, form, name: str = name, kept=kept) -> int:  # noqa: ANN001
                return nearest(kept(decoded(bits, form)), name)

            def half(bits: int, name: str = name, kept=kept) -> int:  # noqa: ANN001
                return half_of(kept(value_of(bits & 0xFF, name)))

            p.add(
                f"cvt.rn.satfinite{relu}.{name}x2.f32 {{d}}, {{a}}, {{b}};",
                lambda a, b, c, byte=byte: byte(b, F32) | byte(a, F32) << 8,
                32,
                16,
            )
            p.add(
                f"cvt.rn.satfinite{relu}.{name}x2.f16x2 {{d}}, {{a}};",
                lambda a, b, c, byte=byte: byte(a & 0xFFFF, F16) | byte(a >> 16, F16) << 8,
                32,
                16,
            )
            p.add(
                f"cvt.rn{relu}.f16x2.{name}x2 {{d}}, {{a}};",
                lambda a, b, c, half=half: half(a) | half(a >> 8) << 16,
                16,
                32,
            )

# SPDX-License-Identifier: MIT
"""Floating-point numbers in exact arithmetic: the reference for PTX's operations."""

import math
from dataclasses import dataclass
from fractions import Fraction

ROUNDINGS = ("rn", "rz", "rm", "rp")


@dataclass(frozen=True)
class Format:
    name: str
    bits: int
    mantissa: int
    highest: int  # exponent

    @property
    def lowest(self) -> int:
        return 1 - self.highest

    @property
    def infinite(self) -> int:
        return (2 * self.highest + 1) << self.mantissa

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)


F16 = Format("f16", 16, 10, 15)
BF16 = Format("bf16", 16, 7, 127)
F32 = Format("f32", 32, 23, 127)
F64 = Format("f64", 64, 52, 1023)


def decoded(bits: int, form: Format) -> float:
    """Its value, which f64 holds whatever the format."""
    bits &= 2 * form.sign - 1
    sign = -1.0 if bits & form.sign else 1.0
    bits &= form.sign - 1
    if bits > form.infinite:
        return math.nan
    if bits == form.infinite:
        return sign * math.inf
    exponent, digits = bits >> form.mantissa, bits & ((1 << form.mantissa) - 1)
    if exponent:
        digits |= 1 << form.mantissa
    return sign * math.ldexp(digits, max(exponent, 1) - 1 + form.lowest - form.mantissa)


def is_nan(bits: int, form: Format) -> bool:
    return bits & (form.sign - 1) > form.infinite


def rounded_up(rest: Fraction, whole: int, negative: bool, mode: str) -> bool:
    if mode == "rn":
        return rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    return rest > 0 and mode == ("rm" if negative else "rp")


def encoded(value: Fraction, form: Format, mode: str = "rn", zero_sign: bool = False) -> int:
    """The bits of an exact value, rounded."""
    if value == 0:
        return form.sign if zero_sign else 0
    negative, size = value < 0, abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    exponent = max(exponent, form.lowest)
    scaled = size / Fraction(2) ** (exponent - form.mantissa)
    whole = math.floor(scaled)
    whole += rounded_up(scaled - whole, whole, negative, mode)
    bits = whole + ((exponent - form.lowest) << form.mantissa)
    if bits >= form.infinite:
        to_infinity = mode == "rn" or mode == ("rm" if negative else "rp")
        bits = form.infinite if to_infinity else form.infinite - 1
    return bits | (form.sign if negative else 0)


def special(value: float, form: Format) -> int:
    """The bits of a value that is a NaN, infinite or a zero, or that the format holds."""
    if math.isnan(value):
        return form.infinite | 1
    sign = form.sign if math.copysign(1, value) < 0 else 0
    if math.isinf(value):
        return form.infinite | sign
    return encoded(Fraction(value), form, "rn", bool(sign))


def divided(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def square_root(value: Fraction, form: Format, mode: str) -> int:
    """By an integer root with more digits than any format has, and a sticky one."""
    scale = 4**600
    number = value.numerator * scale // value.denominator
    root = math.isqrt(number)
    exact = root * root == number and value.numerator * scale % value.denominator == 0
    return encoded(Fraction(2 * root + (not exact), 2 * 2**600), form, mode)


def arithmetic(name: str, form: Format, mode: str, *operands: int) -> int:
    """add, sub, mul, fma, div, rcp, sqrt"""
    value = [decoded(bits, form) for bits in operands]
    if name == "rcp":
        name, value = "div", [1.0, *value]
    if name == "sub":
        name, value = "add", [value[0], -value[1]]
    if name == "mul":
        name, value = "fma", [*value, -0.0]
        if value[0] * value[1] == 0 or not all(map(math.isfinite, value)):
            product = value[0] * value[1]
            if product == 0 and all(value[:2]):  # of a f64 that is too small
                product = 1.0
            if product == 0 or not math.isfinite(product):
                return special(product, form)
    if not all(map(math.isfinite, value)) or (name == "div" and value[1] == 0):
        if name == "add":
            return special(value[0] + value[1], form)
        if name == "fma":
            first, second = (
                x if not math.isfinite(x) or x == 0 else math.copysign(1, x) for x in value[:2]
            )
            return special(first * second + (value[2] if not math.isfinite(value[2]) else 0), form)
        if name == "div":
            return special(divided(*value), form)
        return special(value[0] if value[0] > 0 else math.nan, form)
    exact = [Fraction(x) for x in value]
    signs = [math.copysign(1, x) < 0 for x in value]
    if name == "add":
        zero = signs[0] if signs[0] == signs[1] else mode == "rm"
        return encoded(
            exact[0] + exact[1],
            form,
            mode,
            zero if not any(exact) or signs[0] != signs[1] else False,
        )
    if name == "fma":
        product = signs[0] != signs[1]
        zero = product if product == signs[2] else mode == "rm"
        return encoded(exact[0] * exact[1] + exact[2], form, mode, zero)
    if name == "div":
        return encoded(exact[0] / exact[1], form, mode, signs[0] != signs[1])
    if exact[0] < 0:
        return special(math.nan, form)
    return square_root(exact[0], form, mode) if exact[0] else special(value[0], form)


def flushed(bits: int) -> int:
    return bits & 0x80000000 if bits & 0x7F800000 == 0 else bits


def extreme(form: Format, largest: bool, a: int, b: int) -> int:
    if is_nan(a, form):
        return b
    if is_nan(b, form):
        return a
    x, y = decoded(a, form), decoded(b, form)
    if x == y:
        return (a & b) if largest else (a | b)
    return a if (x > y) == largest else b


def to_integral(bits: int, form: Format, mode: str) -> int:
    value = decoded(bits, form)
    if not math.isfinite(value):
        return bits
    exact = Fraction(value)
    whole = {
        "rni": lambda: round(exact),
        "rzi": lambda: math.trunc(exact),
        "rmi": lambda: math.floor(exact),
        "rpi": lambda: math.ceil(exact),
    }[mode]()
    return encoded(Fraction(whole), form, "rn", bool(bits & form.sign))


def to_integer(bits: int, form: Format, mode: str, size: int, signed: bool) -> int:
    """Out of range: the nearest; NaN: 0, or where f64 or 64 bits take part the highest bit."""
    low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1) if signed else (0, (1 << size) - 1)
    if is_nan(bits, form):
        return 1 << (size - 1) if 64 in (form.bits, size) else 0
    value = decoded(bits, form)
    if math.isinf(value):
        return (high if value > 0 else low) & ((1 << size) - 1)
    whole = int(decoded(to_integral(bits, form, mode), form))
    return min(max(whole, low), high) & ((1 << size) - 1)


def converted(bits: int, source: Format, target: Format, mode: str) -> int:
    value = decoded(bits, source)
    if not math.isfinite(value) or value == 0:
        return special(value, target)
    return encoded(Fraction(value), target, mode)

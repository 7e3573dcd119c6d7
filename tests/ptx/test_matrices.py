# SPDX-License-Identifier: MIT
"""mma.sync, ldmatrix, stmatrix, movmatrix and wmma as direct PTX: each lane's registers are filled
and read by the tables of PTX ISA 9.0 (chapter 9.7.14.5, "Matrix Fragments for ..."), and the
product is that of whole numbers, which no type rounds."""

import random
import struct
from collections.abc import Callable, Iterable

from rig import HEAD, RUN, Case, main

NEWER = HEAD.replace("7.0", "8.6").replace("sm_80", "sm_90a")
Place = Callable[[int, int], tuple[int, int]]  # row and column of a lane's element


# ---- the tables: g is the group, t the thread in it, i the element ----


def on(function: Callable[[int, int, int], tuple[int, int]]) -> Place:
    return lambda lane, i: function(lane >> 2, lane % 4, i)


M8 = on(lambda g, t, i: (g, 2 * t + i))
M16 = on(lambda g, t, i: (g + 8 * (i >= 2), 2 * t + (i & 1)))
# shape, type of factors: elements of a, where they are, elements of b, where; of c and d, where
TABLES: dict[tuple[str, str], tuple[int, Place, int, Place, int, Place]] = {
    ("m16n8k8", "16"): (
        4,
        on(lambda g, t, i: (g if i < 2 else g + 8, 2 * t + (i & 1))),
        2,
        on(lambda g, t, i: (2 * t + i, g)),
        4,
        M16,
    ),
    ("m16n8k16", "16"): (
        8,
        on(
            lambda g, t, i: (
                g if i in (0, 1, 4, 5) else g + 8,
                2 * t + (i & 1) + (8 if i >= 4 else 0),
            )
        ),
        4,
        on(lambda g, t, i: (2 * t + (i & 1) + (8 if i >= 2 else 0), g)),
        4,
        M16,
    ),
    ("m16n8k4", "tf32"): (
        2,
        on(lambda g, t, i: (g if i == 0 else g + 8, t)),
        1,
        on(lambda g, t, i: (t, g)),
        4,
        M16,
    ),
    ("m16n8k8", "tf32"): (
        4,
        on(lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
        2,
        on(lambda g, t, i: (t if i == 0 else t + 4, g)),
        4,
        M16,
    ),
    ("m8n8k4", "f64"): (1, on(lambda g, t, i: (g, t)), 1, on(lambda g, t, i: (t, g)), 2, M8),
    ("m16n8k8", "f64"): (
        4,
        on(lambda g, t, i: (g if i in (0, 2) else g + 8, t if i < 2 else t + 4)),
        2,
        on(lambda g, t, i: (t if i == 0 else t + 4, g)),
        4,
        M16,
    ),
    ("m8n8k16", "8"): (
        4,
        on(lambda g, t, i: (g, 4 * t + i)),
        4,
        on(lambda g, t, i: (4 * t + i, g)),
        2,
        M8,
    ),
    ("m16n8k16", "8"): (
        8,
        on(lambda g, t, i: (g if i < 4 else g + 8, 4 * t + (i & 3))),
        4,
        on(lambda g, t, i: (4 * t + i, g)),
        4,
        M16,
    ),
    ("m16n8k32", "8"): (
        16,
        on(
            lambda g, t, i: (
                g if i < 4 or 8 <= i < 12 else g + 8,
                4 * t + (i & 3) + (16 if i >= 8 else 0),
            )
        ),
        8,
        on(lambda g, t, i: (4 * t + (i & 3) + (16 if i >= 4 else 0), g)),
        4,
        M16,
    ),
    ("m16n8k32", "4"): (
        16,
        on(lambda g, t, i: (g if i < 8 else g + 8, 8 * t + (i & 7))),
        8,
        on(lambda g, t, i: (8 * t + i, g)),
        4,
        M16,
    ),
    ("m16n8k64", "4"): (
        32,
        on(
            lambda g, t, i: (
                g if i < 8 or 16 <= i < 24 else g + 8,
                8 * t + (i & 7) + (32 if i >= 16 else 0),
            )
        ),
        16,
        on(lambda g, t, i: (8 * t + (i & 7) + (32 if i >= 8 else 0), g)),
        4,
        M16,
    ),
}


# ---- numbers as bits ----


def bits(kind: str, value: int) -> int:
    if kind == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if kind == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if kind in ("f32", "tf32", "bf16"):
        word = struct.unpack("<I", struct.pack("<f", value))[0]
        return word >> 16 if kind == "bf16" else word
    if kind in ("e4m3", "e5m2"):
        half = bits("f16", value)  # of small numbers all bits but some of the fraction's are zero
        if kind == "e5m2" or half & 0x7FFF == 0:
            return half >> 8
        return (half >> 8 & 0x80) | ((half & 0x7FFF) - (8 << 10) >> 7)
    return value & {"8": 0xFF, "4": 0xF, "2": 0xFFFFFFFF}[kind[-1]]


SIZE = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8}
SIZE |= {"s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8}
REGISTER = {"f64": "b64"}


def words(kind: str, values: Iterable[int]) -> list[int]:
    """A lane's elements as words of 32 bits, the first in the lowest ones."""
    all_bits, at = 0, 0
    for value in values:
        all_bits |= bits(kind, value) << at
        at += SIZE[kind]
    return [all_bits >> i & 0xFFFFFFFF for i in range(0, at, 32)]


def matrix(random_: random.Random, rows: int, columns: int, kind: str) -> list[list[int]]:
    least, most = {"u8": (0, 255), "s8": (-128, 127), "u4": (0, 15), "s4": (-8, 7)}.get(
        kind, (-4, 4)
    )
    return [[random_.randint(least, most) for _ in range(columns)] for _ in range(rows)]


def product(a: list[list[int]], b: list[list[int]], c: list[list[int]]) -> list[list[int]]:
    return [
        [
            c[i][j] + sum(x * row[j] for x, row in zip(a[i], b, strict=True))
            for j in range(len(b[0]))
        ]
        for i in range(len(a))
    ]


# ---- kernels ----


def names(letter: str, count: int) -> str:
    return "{" + ", ".join(f"%{letter}{i}" for i in range(count)) + "}"


class Registers:
    """The registers of matrices in a kernel, and the words of memory where each lane has them."""

    def __init__(self) -> None:
        self.declared = self.loads = self.stores = ""
        self.read = self.written = 0

    def add(self, letter: str, kind: str, count: int) -> str:
        bytes_ = 8 if kind == "f64" else 4
        self.declared += f"    .reg .b{8 * bytes_} %{letter}<{count}>;\n"
        for i in range(count):
            if letter == "d":
                self.stores += f"    st.global.b{8 * bytes_} [%out+{self.written}], %d{i};\n"
                self.written += bytes_
            else:
                self.loads += f"    ld.global.b{8 * bytes_} %{letter}{i}, [%in+{self.read}];\n"
                self.read += bytes_
        return names(letter, count)

    def kernel(self, body: str, extra: str = "") -> str:
        return (
            NEWER
            + ".visible .entry kernel(.param .u64 to, .param .u64 from)\n{\n"
            + self.declared
            + extra
            + "    .reg .b64 %out, %in, %at;\n    .reg .b32 %who;\n"
            + "    ld.param.u64 %out, [to];\n    ld.param.u64 %in, [from];\n"
            + "    mov.u32 %who, %tid.x;\n"
            + f"    mul.wide.u32 %at, %who, {self.read};\n    add.u64 %in, %in, %at;\n"
            + f"    mul.wide.u32 %at, %who, {self.written};\n    add.u64 %out, %out, %at;\n"
            + self.loads
            + body
            + self.stores
            + "    ret;\n}\n"
        )


def dimensions(shape: str) -> tuple[int, int, int]:
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


class Products(Case):
    def check(self, shape: str, table: str, d: str, a: str, b: str, c: str, more: str = "") -> None:
        m, n, k = dimensions(shape)
        of_a, place_a, of_b, place_b, of_c, place_c = TABLES[shape, table]
        random_ = random.Random(f"{shape} {a} {b} {c}")
        left, right = matrix(random_, m, k, a), matrix(random_, k, n, b)
        sums = matrix(random_, m, n, "s32")
        registers = Registers()
        counts = [max(count * SIZE[kind] // 32, 1) for count, kind in ((of_a, a), (of_b, b))]
        if a == "f64":
            counts = [of_a, of_b]
        count_c, count_d = (of_c // 2 if kind == "f16" else of_c for kind in (c, d))
        parts = [
            registers.add("d", d, count_d),
            registers.add("a", a, counts[0]),
            registers.add("b", b, counts[1]),
            registers.add("c", c, count_c),
        ]
        line = f"mma.sync.aligned.{shape}.row.col{more}.{d}.{a}.{b}.{c} {', '.join(parts)};"
        module = self.write("mma.ptx", registers.kernel(f"    {line}\n"))
        given: list[int] = []
        for lane in range(32):
            for kind, whole, count, place in (
                (a, left, of_a, place_a),
                (b, right, of_b, place_b),
                (c, sums, of_c, place_c),
            ):
                places = (place(lane, i) for i in range(count))
                given += words(kind, (whole[row][column] for row, column in places))
        want = product(left, right, sums)
        expected: list[int] = []
        for lane in range(32):
            places = (place_c(lane, i) for i in range(of_c))
            expected += words(d, (want[row][column] for row, column in places))
        self.assertEqual(self.launch(module, "kernel", len(expected), given, 32), expected, line)

    def test_halves(self) -> None:
        for shape in ("m16n8k8", "m16n8k16"):
            for d, c in (("f32", "f32"), ("f16", "f16")):
                self.check(shape, "16", d, "f16", "f16", c)
            self.check(shape, "16", "f32", "bf16", "bf16", "f32")

    def test_tf32_and_f64(self) -> None:
        for shape in ("m16n8k4", "m16n8k8"):
            self.check(shape, "tf32", "f32", "tf32", "tf32", "f32")
        for shape in ("m8n8k4", "m16n8k8"):
            self.check(shape, "f64", "f64", "f64", "f64", "f64")

    def test_integers(self) -> None:
        for shape in ("m8n8k16", "m16n8k16", "m16n8k32"):
            for a, b in (("s8", "s8"), ("u8", "u8"), ("u8", "s8"), ("s8", "u8")):
                self.check(shape, "8", "s32", a, b, "s32")
        for shape in ("m16n8k32", "m16n8k64"):
            for a, b in (("s4", "s4"), ("u4", "s4")):
                self.check(shape, "4", "s32", a, b, "s32", ".satfinite")

    def test_floats_of_8_bits(self) -> None:
        for a, b in (("e4m3", "e4m3"), ("e5m2", "e4m3")):
            self.check("m16n8k32", "8", "f32", a, b, "f32")

    def sum_of_one(self, line: str, a: int, b: int, c: int) -> int:
        """Element 0 of lane 0 where all lanes have the same registers."""
        registers = Registers()
        for letter, count in (("d", 4), ("a", 4), ("b", 2), ("c", 4)):
            registers.add(letter, "s32", count)
        module = self.write("one.ptx", registers.kernel(f"    {line}\n"))
        return self.launch(module, "kernel", 128, ([a] * 4 + [b] * 2 + [c] * 4) * 32, 32)[0]

    def test_saturation_and_cut_fractions(self) -> None:
        registers = f"{names('d', 4)}, {names('a', 4)}, {names('b', 2)}, {names('c', 4)};"
        integer = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " + registers
        bounded = integer.replace("col.", "col.satfinite.")
        most = 0x7FFFFFFF
        ones = 0x01010101
        self.assertEqual(self.sum_of_one(bounded, ones, ones, most - 3), most)
        self.assertEqual(self.sum_of_one(integer, ones, ones, most - 3), 0x80000000 + 28)
        tf32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 " + registers
        one = 0x3F800000
        self.assertEqual(self.sum_of_one(tf32, one | 0x1FFF, one, 0), bits("f32", 8))
        half = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + registers
        infinite, nan = 0x7C007C00, 0x7E007E00
        self.assertEqual(self.sum_of_one(half, infinite, 0x3C003C00, 0), 0x7F800000)
        self.assertEqual(self.sum_of_one(half, nan, 0x3C003C00, 0) & 0x7F800000, 0x7F800000)
        self.assertEqual(self.sum_of_one(half, 0x00010001, 0x3C003C00, 0), bits("f32", 2**-20))

    def test_refused(self) -> None:
        for line in (
            "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c};",
            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {d}, {a}, {b}, {c};",
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c}, %who, 0;",
            "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 {d}, {a}, {b}, {c};",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {b};",
            "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32 {d}, {a}, {b}, {c};",
            "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {d}, [%who];",
        ):
            registers = Registers()
            parts = {
                letter: registers.add(letter, "s32", count)
                for letter, count in (("d", 4), ("a", 4), ("b", 2), ("c", 4))
            }
            said = self.refused(registers.kernel("    " + line.format(**parts) + "\n"))
            self.assertIn(line.split()[0], said)


# ---- wmma: which lane has what does not show ----


def packed(whole: list[list[int]], kind: str, by_rows: bool) -> list[int]:
    """The matrix in memory, as words."""
    lines = whole if by_rows else [list(column) for column in zip(*whole, strict=True)]
    return words(kind, (value for line in lines for value in line))


class Fragments(Case):
    def check(self, shape: str, layouts: str, a: str, c: str, d: str, counts: list[int]) -> None:
        m, n, k = dimensions(shape)
        random_ = random.Random(f"{shape} {layouts} {a}")
        left, right = matrix(random_, m, k, a), matrix(random_, k, n, a)
        sums = matrix(random_, m, n, "s32")
        by_rows = [layout == "row" for layout in layouts.split(".")]
        parts = [
            packed(left, a, by_rows[0]),
            packed(right, a, by_rows[1]),
            packed(sums, c, True),
        ]
        registers = Registers()
        for letter, kind, count in zip("wxyz", (a, a, c, d), counts, strict=True):
            wide = 64 if kind == "f64" else 32
            registers.declared += f"    .reg .b{wide} %{letter}<{count}>;\n"
        w, x, y, z = (names(letter, count) for letter, count in zip("wxyz", counts, strict=True))
        leading = [k if by_rows[0] else m, n if by_rows[1] else k, n]
        at, body = 0, ""
        for letter, to, row, kind, step, part in zip(
            "abc", (w, x, y), [*by_rows, True], (a, a, c), leading, parts, strict=True
        ):
            layout = "row" if row else "col"
            body += f"    add.u64 %at, %in, {4 * at};\n    wmma.load.{letter}.sync.aligned"
            body += f".{layout}.{shape}.global.{kind} {to}, [%at], {step};\n"
            at += len(part)
        types = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{a}.{c}"
        line = f"wmma.mma.sync.aligned.{layouts}.{shape}.{types} {z}, {w}, {x}, {y};"
        body += f"    {line}\n    wmma.store.d.sync.aligned.col.{shape}.{d} [%out], {z}, {m};\n"
        module = self.write("wmma.ptx", registers.kernel(body))
        want = packed(product(left, right, sums), d, False)
        given = [word for part in parts for word in part]
        self.assertEqual(self.launch(module, "kernel", len(want), given, 32), want, line)

    def test_all_shapes(self) -> None:
        for shape, of_bytes in (
            ("m16n16k16", (2, 2)),
            ("m32n8k16", (4, 1)),
            ("m8n32k16", (1, 4)),
        ):
            halves = [2 * of_bytes[0], 2 * of_bytes[1]]
            for layouts in ("row.col", "col.row"):
                self.check(shape, layouts, "f16", "f32", "f32", [8, 8, 8, 8])
                self.check(shape, layouts, "f16", "f16", "f32", [8, 8, 4, 8])
                self.check(shape, layouts, "f16", "f16", "f16", [8, 8, 4, 4])
                self.check(shape, layouts, "bf16", "f32", "f32", [*halves, 8, 8])
                self.check(shape, layouts, "s8", "s32", "s32", [*of_bytes, 8, 8])
                self.check(shape, layouts, "u8", "s32", "s32", [*of_bytes, 8, 8])
        for layouts in ("row.col", "row.row", "col.col"):
            self.check("m16n16k8", layouts, "tf32", "f32", "f32", [4, 4, 8, 8])
            self.check("m8n8k4", layouts, "f64", "f64", "f64", [1, 1, 2, 2])

    def findings_in_place(self, product_line: str) -> str:
        """Of a kernel that reads c by rows and stores d to the same memory by columns."""
        registers = Registers()
        registers.declared = "    .reg .b32 %w<8>, %y<8>;\n"
        whole, load = names("y", 8), "    wmma.load.{}.sync.aligned.row.m16n16k16.global"
        body = "    add.u64 %at, %out, 0;\n"
        body += load.format("a") + f".f16 {names('w', 8)}, [%in], 16;\n"
        body += load.format("c") + f".f32 {whole}, [%at], 16;\n"
        body += product_line.format(c=whole, a=names("w", 8))
        body += f"    wmma.store.d.sync.aligned.col.m16n16k16.f32 [%at], {whole}, 16;\n"
        module = self.write("place.ptx", registers.kernel(body))
        command = ("env", "VGPU_CHECK=kernels", RUN, module, "kernel", 1, 32, 256)
        return self.run_command(*command, words="0\n" * 128).stderr

    def test_a_product_orders_what_lanes_read_and_store(self) -> None:
        line = "    wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {c}, {a}, {a}, {c};\n"
        self.assertNotIn("kernels.warp-race", self.findings_in_place(line))
        self.assertIn("kernels.warp-race", self.findings_in_place(""))


# ---- matrices in shared memory ----

SHARED = "    .shared .align 16 .b8 tile[512];\n    .reg .b32 %row, %base, %place;\n"
MINE = """    mov.u32 %base, tile;
    shl.b32 %place, %who, 4;
    add.u32 %row, %base, %place;
"""


def halves_of(tile: list[list[int]], lane: int, transposed: bool) -> int:
    """Lane's two elements of 8 x 8: of its group's row, the places of its own."""
    pair = [(lane >> 2, 2 * (lane % 4) + j) for j in range(2)]
    low, high = (tile[c][r] if transposed else tile[r][c] for r, c in pair)
    return low | high << 16


class Moves(Case):
    def tiles(self) -> list[list[list[int]]]:
        random_ = random.Random("tiles")
        return [
            [[random_.randrange(1 << 16) for _ in range(8)] for _ in range(8)] for _ in range(4)
        ]

    def rows(self) -> list[int]:
        """Lane l has row l % 8 of tile l / 8, in four words."""
        return [
            row[2 * i] | row[2 * i + 1] << 16
            for tile in self.tiles()
            for row in tile
            for i in range(4)
        ]

    def test_ldmatrix(self) -> None:
        for count in (1, 2, 4):
            for mode, space in (("", ".shared"), (".trans", ".shared::cta"), (".trans", "")):
                registers = Registers()
                to, own = registers.add("d", "s32", count), registers.add("a", "s32", 4)
                generic = "    .reg .b64 %wide;\n"
                widen = "    cvt.u64.u32 %wide, %row;\n    cvta.shared.u64 %wide, %wide;\n"
                line = f"ldmatrix.sync.aligned.m8n8.x{count}{mode}{space}.b16 {to}, "
                body = (
                    MINE
                    + f"    st.shared.v4.b32 [%row], {own};\n    bar.sync 0;\n{widen}"
                    + f"    {line}[{'%row' if space else '%wide'}];\n"
                )
                module = self.write("ld.ptx", registers.kernel(body, SHARED + generic))
                got = self.launch(module, "kernel", 32 * count, self.rows(), 32)
                want = [
                    halves_of(tile, lane, mode != "")
                    for lane in range(32)
                    for tile in self.tiles()[:count]
                ]
                self.assertEqual(got, want, line)

    def test_stmatrix(self) -> None:
        for mode in ("", ".trans"):
            registers = Registers()
            to, own = registers.add("d", "s32", 4), registers.add("a", "s32", 4)
            line = f"stmatrix.sync.aligned.m8n8.x4{mode}.shared.b16 [%row], {own};"
            body = f"{MINE}    {line}\n    bar.sync 0;\n    ld.shared.v4.b32 {to}, [%row];\n"
            module = self.write("st.ptx", registers.kernel(body, SHARED))
            given = [
                halves_of(tile, lane, mode != "") for lane in range(32) for tile in self.tiles()
            ]
            self.assertEqual(self.launch(module, "kernel", 128, given, 32), self.rows(), line)

    def test_movmatrix(self) -> None:
        registers = Registers()
        to, own = registers.add("d", "s32", 1), registers.add("a", "s32", 1)
        line = f"    movmatrix.sync.aligned.m8n8.trans.b16 {to[1:-1]}, {own[1:-1]};\n"
        module = self.write("move.ptx", registers.kernel(line))
        tile = self.tiles()[0]
        given, want = ([halves_of(tile, lane, by) for lane in range(32)] for by in (False, True))
        self.assertEqual(self.launch(module, "kernel", 32, given, 32), want)


if __name__ == "__main__":
    main()

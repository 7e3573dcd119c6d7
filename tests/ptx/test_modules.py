# SPDX-License-Identifier: MIT
"""Whole PTX modules: control flow, what is refused and where, containers of nvcc, the cache."""

import shutil
import struct
import subprocess
import unittest

from rig import CC, HEAD, HERE, RUN, Case, main

ADD = (
    HEAD
    + """
.visible .entry kernel(.param .u64 out, .param .u64 in)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [in];
    ld.global.u32 %r1, [%rd2];
    ld.global.u32 %r2, [%rd2+4];
    add.u32 %r3, %r1, %r2;
    st.global.u32 [%rd1], %r3;
    ret;
}
"""
)

PTX, CUBIN, LZ4, ZSTD = 1, 2, 0x2000, 0x8000


def entry(kind: int, data: bytes, flags: int = 0, unpacked: int = 0, arch: int = 75) -> bytes:
    filled = data + bytes(-len(data) % 8)
    head = struct.pack(
        "<HHIQIIHHIIIQQQ",
        *(kind, 0x101, 64, len(filled), len(data) if flags else 0, 64, 0, 9, arch, 0, 0),
        *(flags, 0, unpacked),
    )
    return head + filled


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def lz4(data: bytes) -> bytes:
    """Literals, then a run of the last byte, then literals: what every decoder must take."""
    head, tail = data[:300], data[300:]
    out = bytes([0xF0, 255, 300 - 15 - 255]) + head
    if len(tail) > 100 and len(set(tail[:40])) == 1 and tail[0] == head[-1]:
        out = out[:0] + bytes([0xFF, 255, 300 - 15 - 255]) + head + b"\x01\x00" + bytes([40 - 19])
        tail = tail[40:]
    else:
        raise ValueError("the text must repeat a character there")
    count = len(tail) - 15
    return out + bytes([0xF0]) + b"\xff" * (count // 255) + bytes([count % 255]) + tail


class Modules(Case):
    def test_control_flow(self) -> None:
        numbers = [3, 1, 4, 1, 5, 9, 2, 6]
        expected = []
        for i, other in enumerate(reversed(numbers)):
            value = (100, other * 2, other * 2, other * (other + 1) // 2)[i % 4]
            expected.append(value + (1100 if i > 5 else 0) + other)
        self.assertEqual(self.launch(HERE / "control.ptx", "kernel", 8, numbers, 8), expected)

    def test_a_kernel_without_numbers(self) -> None:
        text = HEAD + ".visible .entry kernel()\n{\n    bar.sync 0;\n    ret;\n}\n"
        done = self.run_command(CC, "-fatbin", self.write("none.ptx", text), "-o", "none.fatbin")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_launch_bounds(self) -> None:
        done = self.run_command(RUN, HERE / "control.ptx", "kernel", 1, 16, 8, words="0")
        self.assertIn("cuLaunchKernel", done.stdout)

    def test_spaces_of_generic_addresses(self) -> None:
        """Bits: global, shared, local, const, param; of a constant, shared memory, a local
        variable, a kernel's parameter."""
        lines = []
        for i, address in enumerate(("table", "mine", "own", "in")):
            space = ("const", "shared", "local", "param")[i]
            lines += [f"mov.u64 %a, {address};", f"cvta.{space}.u64 %a, %a;", "mov.b32 %r, 0;"]
            for bit, asked in enumerate(("global", "shared", "local", "const", "param")):
                lines += [f"isspacep.{asked} %p, %a;", f"@%p or.b32 %r, %r, {1 << bit};"]
            lines.append(f"st.global.u32 [%o+{4 * i}], %r;")
        text = HEAD.replace("7.0", "7.7") + ".const .b32 table[4] = {1, 2, 3, 4};\n"
        text += ".visible .entry kernel(.param .u64 out, .param .u64 in)\n{\n.reg .pred %p;\n"
        text += ".reg .b32 %r; .reg .b64 %a; .reg .b64 %o; .shared .b32 mine; .local .b32 own;\n"
        text += "ld.param.u64 %o, [out];\n" + "\n".join(lines) + "\nret;\n}\n"
        module = self.write("spaces.ptx", text)
        self.assertEqual(self.launch(module, "kernel", 4, []), [1, 2, 4, 4])

    def test_refused_by_name_and_line(self) -> None:
        for line, said in (
            ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f1, %f2}];", "tex.2d"),
            ("tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d, {%r1, %r2}];", "tex.2d.v4.f32.s32"),
            ("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d, %d, {%f1, %f2}];", "tex.2d"),
            ("txq.channel_order.b32 %r1, [%d];", "txq.channel_order"),
            ("suld.p.2d.b32.trap {%r1}, [%d, {%r1, %r2}];", "suld.p"),
            ("sured.b.add.2d.u32.trap [%d, {%r1, %r2}], %r3;", "sured"),
            ("mov.u32 %r1, %is_explicit_cluster;", "%is_explicit_cluster"),
            ("mapa.u32 %r1, %r2, %r3;", "mapa.u32"),
            ("barrier.cluster.arrive.acquire;", "barrier.cluster.arrive.acquire"),
            ("st.async.shared::cluster.u32 [%r1], %r2, [%r3];", "st.async"),
            ("isspacep.tensor %p, %d;", "isspacep.tensor"),
            ("alloca.u64 %d, 16;", "alloca"),
            ("cp.reduce.async.bulk.tensor.1d.add [%d], [%r1];", "cp.reduce.async.bulk.tensor"),
            ("wgmma.fence.sync.aligned;", "wgmma.fence"),
            ("add.u32 %r1, %r2, %r99;", "%r99"),
            ("add.rn.u32 %r1, %r2, %r3;", "add.rn.u32"),
            ("bra nowhere;", "nowhere"),
            ("call missing, (%r1);", "missing"),
        ):
            with self.subTest(line=line):
                text = HEAD + ".entry k()\n{\n.reg .b32 %r<4>;\n"
                text += ".reg .f32 %f<5>; .reg .b64 %d;\n" + line + "\nret;\n}\n"
                answer = self.refused(text)
                self.assertIn(said, answer)
                if "nowhere" not in line:
                    self.assertIn("bad.ptx:8:1: error:", answer)
        text = HEAD + ".entry k()\n{\nwgmma.fence.sync.aligned;\nret;\nsured.b;\n}\n"
        self.assertRegex(self.refused(text), r"(?s)bad.ptx:6:.*wgmma.*bad.ptx:8:.*sured")
        self.assertIn(".tex", self.refused(HEAD + ".tex .u32 t;\n"))
        self.assertIn("32 bits", self.refused(HEAD.replace("64", "32")))

    def test_an_mbarrier_of_a_cluster_is_for_its_blocks(self) -> None:
        program = self.folder / "cluster"
        done = self.run_command(CC, "-std=c++17", "-o", program, HERE / "cluster.cu")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_command("env", "VGPU_CHECK=kernels", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("kernels.scope", done.stderr)

    def test_what_the_runtime_says(self) -> None:
        bad = self.write("bad.ptx", ADD.replace("add.u32 %r3", "frob.u32 %r3"))
        done = self.run_command(RUN, bad, "kernel", 1, 1, 1, words="1 2")
        self.assertIn("CUDA_ERROR_INVALID_PTX", done.stdout)
        self.assertIn("frob.u32", done.stderr)
        self.assertIn("module.ptx:13:1", done.stderr)

    def test_second_load_is_from_the_cache(self) -> None:
        module = self.write("add.ptx", ADD)
        self.assertEqual(self.launch(module, "kernel", 1, [40, 2]), [42])
        (kept,) = (self.folder / "cache").iterdir()
        before = kept.stat().st_mtime_ns
        self.assertEqual(self.launch(module, "kernel", 1, [40, 3]), [43])
        self.assertEqual([path.stat().st_mtime_ns for path in kept.parent.iterdir()], [before])
        whole = kept.read_bytes()
        kept.write_bytes(whole[: len(whole) // 2])  # a damaged one is made again
        self.assertEqual(self.launch(module, "kernel", 1, [40, 4]), [44])


def clang_result(i: int, numbers: list[int]) -> int:
    """What kernel() of clang.cu stores."""
    other, by = numbers[7 - i], numbers[0]
    result = by + (i + by) * 2 + (other - by)
    result += int((sum(other + k for k in range(4)) * 0.5 / 4) * 100)
    weights = (1, 10, 100, 1000)
    return (
        lambda x: x + weights[i & 3],
        lambda x: x - 3,
        lambda x: x * 5,
        lambda x: x ^ 0x55,
        lambda x: x + 7,
        lambda x: x << 2,
        lambda x: -x,
        lambda x: -x,
    )[numbers[i] & 7](result)


class Clang(Case):
    @unittest.skipIf(shutil.which("clang++") is None, "there is no clang++ here")
    def test_clangs_ptx(self) -> None:
        clang = shutil.which("clang++")
        options = "-x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -S -w"
        for level in ("-O0", "-O2"):
            with self.subTest(level=level):
                made = self.folder / "clang.ptx"
                command = [clang, *options.split(), level, HERE / "clang.cu", "-o", made]
                done = self.run_command(*command)
                self.assertEqual(done.returncode, 0, done.stderr)
                numbers = [3, 8, 17, 26, 35, 44, 53, 62]
                want = [clang_result(i, numbers) & 0xFFFFFFFF for i in range(8)]
                self.assertEqual(self.launch(made, "kernel", 8, numbers, 8), want)


class Containers(Case):
    def check(self, data: bytes) -> None:
        module = self.write("module.fatbin", data)
        self.assertEqual(self.launch(module, "kernel", 1, [40, 2]), [42])

    def test_plain(self) -> None:
        other = ADD.replace("add.u32 %r3", "sub.u32 %r3").encode()
        self.check(
            container(
                entry(PTX, other, arch=70), entry(CUBIN, b"\177ELF"), entry(PTX, ADD.encode())
            )
        )

    def test_lz4(self) -> None:
        text = (HEAD + "//" + "-" * 600 + ADD[len(HEAD) :]).encode()
        self.check(container(entry(PTX, lz4(text), LZ4, len(text))))

    @unittest.skipIf(shutil.which("zstd") is None, "there is no zstd here")
    def test_zstd(self) -> None:
        packed = subprocess.run(["zstd", "-c"], input=ADD.encode(), capture_output=True).stdout
        self.check(container(entry(PTX, packed, ZSTD, len(ADD))))

    def test_machine_code_only(self) -> None:
        module = self.write("module.fatbin", container(entry(CUBIN, b"\177ELF....")))
        done = self.run_command(RUN, module, "kernel", 1, 1, 1, words="1 2")
        self.assertIn("CUDA_ERROR_NO_BINARY_FOR_GPU", done.stdout)
        self.assertIn("code=compute_75", done.stderr)

    def test_damaged(self) -> None:
        whole = container(entry(PTX, lz4((HEAD + "//" + "-" * 600).encode()), LZ4, 9999))
        for data in (whole, whole[:60], whole[:16]):
            path = self.write("module.ptx", data)
            done = self.run_command(CC, "-fatbin", path, "-o", "x.fatbin")
            self.assertEqual(done.returncode, 1, done.stderr)


if __name__ == "__main__":
    main()

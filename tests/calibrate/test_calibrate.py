# SPDX-License-Identifier: MIT
"""`./lab calibrate` against machines that are known: test_calibrate.py PROGRAM ROOT SMI.

PROGRAM is truth-calibrate. NAME.txt beside this file is what it printed on the virtual node NAME;
the description that is fitted to it, with NAME taken out of the gallery, must be the original. The
recorded answers of four H200 must
give figures near those of `hgx-h200-4`, which were fitted by hand.
"""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

PROGRAM, ROOT, SMI = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
sys.path.insert(0, str(ROOT))

from grader.calibrate import command, refine  # noqa: E402
from grader.calibrate.answers import Answers, read  # noqa: E402
from grader.calibrate.curve import Curve, fit  # noqa: E402
from grader.calibrate.describe import Description  # noqa: E402
from grader.calibrate.gallery import nearest  # noqa: E402
from grader.calibrate.links import HostLinks, PeerLinks  # noqa: E402
from grader.calibrate.table import Row, rows  # noqa: E402

NODES, HERE = ROOT / "vgpu" / "nodes", Path(__file__).parent
H200 = ROOT / "tests" / "recorded" / "hgx-h200-4"
LIVE = ("call", "kernel", "host", "copies", "pair", "peers", "graph")  # groups that take seconds

# of a fit to recorded answers: field, what hgx-h200-4 has, how far another day's machine may be off
FIGURES = (
    ("nvlink.port_gbs", 397, 0.02),
    ("pcie.gbs", 55.5, 0.02),
    ("pcie.both_gbs", 100, 0.04),
    ("copies.h2d_pinned.latency_us", 2.45, 0.06),
    ("copies.d2h_pinned.gbs", 55.4, 0.02),
    ("copies.local.gbs", 2120, 0.03),
    ("copies.staged.gbs", 38.1, 0.03),
    ("copies.peer.default_issue_us", 2.8, 0.25),
    ("edges.stream.other_gpu_us", 5.2, 0.08),
    ("edges.graph.other_gpu_us", 4.8, 0.2),
    ("kernel.peer_gbs", 374, 0.02),
    ("kernel.write_weight", 1.257, 0.1),
    ("calls.malloc_us", 161.7, 0.03),
)


def fitted(answers: Answers, without: str = "") -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        gallery = Path(folder, "nodes")
        shutil.copytree(NODES, gallery)
        (gallery / f"{without}.json").unlink(missing_ok=True)
        return Description(answers, nearest(gallery, answers), "fitted").make()


def at(node: dict[str, Any], field: str) -> float:
    return float(
        functools.reduce(lambda inner, key: inner.get(key, {}), field.split("."), node) or 0
    )


def near(one: float, other: float, share: float, what: str) -> None:
    assert abs(one - other) <= share * abs(other) + 1e-9, f"{what}: {one}, and {other} is right"


def check_virtual(name: str) -> dict[str, Any]:
    """Links exactly, copies and calls within 1 %."""
    node = fitted(read((HERE / f"{name}.txt").read_text()), without=name)
    right = json.loads((NODES / f"{name}.json").read_text())
    for section in ("peers", "peers_refused", "native_atomics", "nvlink", "pcie"):
        assert node.get(section) == right.get(section), f"{section}: {node.get(section)}"
    assert node["sockets"]["groups"] == right["sockets"]["groups"], node["sockets"]
    for path in ("h2d_pinned", "d2h_pinned", "local", "staged"):
        assert node["copies"][path].keys() == right["copies"][path].keys(), path
        for key, value in right["copies"][path].items():
            near(node["copies"][path][key], value, 0.01, f"{path}.{key}")
    assert node["calls"].keys() == right["calls"].keys(), node["calls"]
    for key, value in right["calls"].items():
        near(node["calls"][key], value, 0.01, key)
    least = sum(right["kernel"][key] for key in ("delay_us", "floor_us"))
    near(node["kernel"]["delay_us"] + node["kernel"]["floor_us"], least, 0.01, "a kernel's least")
    return node


def check_h200() -> dict[str, Any]:
    node = fitted(read((H200 / "calibrate.txt").read_text()))
    assert node["peers"] == "all", node["peers"]
    assert node["nvlink"]["kind"] == "switch", node["nvlink"]
    assert node["nvlink"]["label"] == "NV18", node["nvlink"]
    assert "switches" not in node["pcie"], node["pcie"]
    for field, value, share in FIGURES:
        near(at(node, field), value, share, field)
    return node


def check_all() -> None:
    check_virtual("pcie-4090-2")
    check_virtual("dgx1-v100")
    check_h200()


FULL = os.environ.get("PEERLAB_FULL") == "1"


def sixteen() -> dict[str, Any]:
    """dgx-h100 with eight more GPUs behind the same NVSwitches."""
    node: dict[str, Any] = json.loads((NODES / "dgx-h100.json").read_text())
    node["name"] = "sixteen"
    del node["nccl"], node["sources"]["nccl"]
    for gpu in list(node["gpus"]):
        pci, uuid = gpu["pci"].replace("0000:", "0001:"), gpu["uuid"][:-1] + "x"
        node["gpus"].append(gpu | {"pci": pci, "uuid": uuid.replace("x", "0")})
    node["sockets"]["groups"] = [[*range(4), *range(8, 12)], [*range(4, 8), *range(12, 16)]]
    return node


MADE_UP = {"wait_us": 0.3, "wait_gpu_us": 2.3, "graph_engine_us": 3.1, "graph_wait_us": 0.9,
           "graph_gpu_us": 1.7, "graph_kernel_us": 0.6, "message_us": 11.5, "found_us": 0.4,
           "record_shared_us": 1.9, "wait_shared_us": 1.6, "timed_event_us": 2.2}  # fmt: skip


def made_up() -> dict[str, Any]:
    """hgx-h200-4 on a host of another kind."""
    node: dict[str, Any] = json.loads((NODES / "hgx-h200-4.json").read_text())
    del node["calls"]["graph_copy_us"]
    node["name"] = "made-up"
    node["calls"] |= MADE_UP
    node["pcie"]["staged_gbs"] = 51.0
    node["edges"]["graph"] = {"other_gpu_us": 3.7, "other_kind_us": 1.9}
    return node


def ask(node: str | Path, groups: tuple[str, ...]) -> Answers:
    extra = {"VGPU_NODE": str(node), "VGPU_NODE_ID": f"calibrate-{os.getpid()}-{Path(node).stem}"}
    extra["PATH"] = f"{SMI.parent}{os.pathsep}{os.environ['PATH']}"
    return read(command.run(PROGRAM, 150, extra, groups))


class Fit(unittest.TestCase):
    def test_virtual_machines_are_found_again(self) -> None:
        for name in ("pcie-4090-2", "dgx1-v100"):
            check_virtual(name)

    def test_the_h200s_are_near_what_was_fitted_by_hand(self) -> None:
        check_h200()

    def test_what_was_not_measured_says_where_it_is_from(self) -> None:
        node = check_virtual("dgx1-v100")
        self.assertIn("h2d_pageable: as pcie-gen3-4: not measured", node["sources"]["copies"])
        node = check_h200()
        self.assertIn("l2_gbs: as hgx-h200-4", node["sources"]["kernel"])
        self.assertIn("as hgx-h200-4", node["sources"]["nccl"])

    def test_forms_of_curves(self) -> None:
        sizes = [16 << (2 * n) for n in range(12)]
        for right in (
            Curve(3.0, 25.0),
            Curve(2.0, 395.0, ramp=(1 << 20, 313.0)),
            Curve(2.9, 2120.0, bands=[(1 << 22, 4000.0)]),
        ):
            found = fit([(size, right.us(size)) for size in sizes])
            for size in sizes:
                near(found.us(size), right.us(size), 0.03, f"{right}, {size} bytes")

    def test_memory_of_a_model_of_processors_is_refined(self) -> None:
        node = check_h200()
        self.assertTrue(refine.wants(node))
        machine = read((H200 / "calibrate.txt").read_text())
        slow = {f"memory.read[{g}].gbs": 3740.0 for g in range(4)} | {"kernel.nothing.us": 1.3032}
        before = node["parts"]["nvidia-h200"]["memory_gbs"]
        refine.refine(node, machine, Answers(slow, {}))
        after = node["parts"]["nvidia-h200"]["memory_gbs"]
        self.assertGreater(after, before)
        near(after, 4388, 0.02, "memory_gbs")  # as by hand
        refine.refine(node, machine, machine)
        self.assertEqual(node["parts"]["nvidia-h200"]["memory_gbs"], after)


class Again(unittest.TestCase):
    """A virtual node as the machine, and another with what was fitted to its answers."""

    def test_the_fitted_node_answers_the_same(self) -> None:
        saved = read((HERE / "pcie-4090-2.txt").read_text())
        machine = ask("pcie-4090-2", LIVE)
        for name, value in machine.figures.items():
            self.assertEqual(value, saved.figures[name], f"{name}: pcie-4090-2.txt is old")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "fitted.json")
            path.write_text(command.written(fitted(saved, without="pcie-4090-2")))
            found = rows(machine, ask(path, LIVE), {})
        self.assertGreater(len(found), 40)
        for row in found:
            self.assertLess(abs(row.error), 0.02, row)

    def test_a_host_of_another_kind(self) -> None:
        right = made_up()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "made-up.json")
            path.write_text(command.written(right))
            groups = ("call", "kernel", "copy", "alone", "staged", "message", "graph", "host")
            node = fitted(ask(path, groups))
        for key, value in MADE_UP.items():
            near(node["calls"][key], value, 0.02, key)
        self.assertNotIn("graph_copy_us", node["calls"])
        near(node["pcie"]["staged_gbs"], 51.0, 0.02, "staged_gbs")
        for key, value in right["edges"]["graph"].items():
            near(node["edges"]["graph"][key], value, 0.15, key)
        near(node["calls"]["wake_us"], right["calls"]["wake_us"], 0.02, "wake_us")

    def test_a_machine_of_sixteen_gpus(self) -> None:
        right = sixteen()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "sixteen.json")
            path.write_text(command.written(right))
            machine = ask(path, ("copy", "host", "pair", "peers"))
            self.assertEqual((machine.gpus, machine.facts["found"]), (16, "16"))
            node = fitted(machine)
            self.assertEqual(len(node["gpus"]), 16)
            self.assertEqual(node["peers"], right["peers"])
            self.assertEqual(node["pcie"].keys(), right["pcie"].keys())
            near(node["pcie"]["both_gbs"], right["pcie"]["both_gbs"], 0.01, "both_gbs")
            self.assertEqual(node["sockets"]["groups"], right["sockets"]["groups"])
            near(node["nvlink"]["port_gbs"], right["nvlink"]["port_gbs"], 0.02, "port_gbs")
            if FULL:
                path.write_text(command.written(node))
                for row in rows(machine, ask(path, ("pair", "peers")), {}):
                    self.assertLess(abs(row.error), 0.03, row)

    def test_a_description_holds_its_own_gpus(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "own.json")
            node = check_virtual("dgx1-v100")
            node["parts"]["tesla-v100-sxm2-32gb"]["name"] = "A GPU of its own"
            path.write_text(command.written(node))
            environment = os.environ | {
                "VGPU_NODE": str(path),
                "VGPU_NODE_ID": f"own-{os.getpid()}",
            }
            done = subprocess.run(
                [SMI, "-L"], env=environment, capture_output=True, text=True, timeout=60
            )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("A GPU of its own"), 8, done.stdout)


class Mutants(unittest.TestCase):
    """Fits with a mistake, which the checks above must see."""

    def rejects(self, owner: type, name: str, mistaken: object) -> None:
        with mock.patch.object(owner, name, mistaken), self.assertRaises(AssertionError):
            check_all()

    def test_the_right_fit_passes(self) -> None:
        check_all()

    def test_latency_ignored(self) -> None:
        self.rejects(Curve, "overhead", lambda curve, size: 0.0)
        right = Curve.described
        self.rejects(Curve, "described", lambda curve: right(curve) | {"latency_us": 0.0})

    def test_both_ways_not_measured(self) -> None:
        self.rejects(HostLinks, "both_ways", lambda links: None)

    def test_a_mesh_taken_for_a_switch_and_the_other_way_round(self) -> None:
        self.rejects(PeerLinks, "is_switch", lambda links, linked: True)
        self.rejects(PeerLinks, "is_switch", lambda links, linked: False)

    def test_pcie_switches_not_seen(self) -> None:
        self.rejects(HostLinks, "together", lambda links, gpus: [[gpu] for gpu in gpus])

    def test_all_gpus_at_one_socket(self) -> None:
        def one(links: HostLinks, close: list[int], far: list[int], rates: object) -> None:
            links.found.groups = [sorted(close + far)]

        self.rejects(HostLinks, "sockets", one)


class Table(unittest.TestCase):
    def test_rates_of_small_copies_are_compared_as_of_large_ones(self) -> None:
        curves = {"peer": Curve(2.5, 400.0)}
        large, small = 64 << 20, 8 << 20
        name = "pair.one_way[0,1].gbs"

        def gbs(size: int) -> float:
            return size / curves["peer"].us(size) * 1e-3

        machine = Answers({name: gbs(large)}, {"virtual": "0", "gpus": "2"})
        virtual = Answers({name: gbs(small)}, {"virtual": "1", "gpus": "2"})
        self.assertGreater(Row(name, gbs(large), gbs(small)).error, 0.05)
        self.assertLess(abs(rows(machine, virtual, curves)[0].error), 1e-6)


class Refused(unittest.TestCase):
    def refuse(self, text: str, sentence: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "answers.txt")
            path.write_bytes(text.encode("latin-1"))
            words = [ROOT / "lab", "calibrate", "--answers", path, "--out", Path(folder, "x.json")]
            done = subprocess.run(words, capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(sentence, done.stdout + done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_bad_answers(self) -> None:
        text = (HERE / "pcie-4090-2.txt").read_text()
        self.refuse("", "no line `calibrate: 1`")
        self.refuse(text.replace("calibrate: 1", "calibrate: 2"), "format 2")
        self.refuse(text.replace("gpus: 2", "gpus: 0"), "a machine without a GPU")
        self.refuse(
            text.replace("gpu[1].clock_khz", "x"), "no line gpu[1].clock_khz. Were they cut?"
        )
        self.refuse(text[: text.index("copy.d2h")], "no copies by size of d2h_pinned, local")
        self.refuse(text.replace("gpus: 2", "gpus: 50000"), "has 16 GPUs at most")
        self.refuse(text.replace("gpus: 2", "gpus: \xb2"), "cannot be read")
        for line, why in (("sms: many", "a whole number"), ("sms: 0", "too small")):
            wrong = re.sub(r"^gpu\[1\].sms:.*", f"gpu[1].{line}", text, flags=re.MULTILINE)
            self.refuse(wrong, f"line `gpu[1].{line}`: ")
            self.refuse(wrong, why)

    def test_of_several_runs_the_median_counts(self) -> None:
        text = (HERE / "pcie-4090-2.txt").read_text()
        slow = re.sub(r"^call.launch.us .*", "call.launch.us 9", text, flags=re.MULTILINE)
        one = read(text)
        self.assertEqual(read(text + slow + text).figures, one.figures)
        self.assertEqual(read(slow + text + slow).get("call.launch.us"), 9)
        self.assertEqual(read(text + slow).labels(), one.labels())

    def test_gpus_beyond_sixteen_are_said_to_be_left_out(self) -> None:
        text = (HERE / "pcie-4090-2.txt").read_text().replace("found: 2", "found: 20")
        answers = read(text)
        made = Description(answers, nearest(NODES, answers), "cut")
        made.make()
        self.assertIn("18 of the 20 GPUs here are left out", " ".join(made.assumed))

    def test_answers_that_end_anywhere(self) -> None:
        text = (H200 / "calibrate.txt").read_text()
        lines = text.splitlines()
        for most in range(0, len(lines), 5):
            try:
                answers = read("\n".join(lines[:most]))
                node = Description(answers, nearest(NODES, answers), "cut").make()
            except (ValueError, KeyError) as error:
                self.assertLess(
                    most,
                    next(n for n, line in enumerate(lines) if "copy.local.4096" in line) + 9,
                    error,
                )
            else:
                self.assertGreater(at(node, "pcie.gbs"), 50)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)

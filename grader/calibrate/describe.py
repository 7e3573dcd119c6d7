# SPDX-License-Identifier: MIT
"""Makes a node description of a machine's answers. What was not measured is taken from the
nearest node of the gallery, and `sources` says so."""

import hashlib
import re
import statistics
from typing import TypeVar

from grader.calibrate.answers import PART_NUMBERS, Answers
from grader.calibrate.calls import (
    SPIN,
    differs,
    fit_calls,
    idle_us,
    median_of,
    step_us,
    timed_event_us,
)
from grader.calibrate.curve import Curve, fit, rounded
from grader.calibrate.gallery import Nearest, Node
from grader.calibrate.links import LIMITS, HostLinks, HostSide, PeerLinks, PeerSide
from grader.calibrate.pageable import to_gpu, to_host

T = TypeVar("T")
SEEN_NS = 20  # a load that takes less does not wait for memory
RING_BYTES = 64 << 10  # as calibrate_graphs.cu copies them
TRANSFER = 64 << 10  # bytes to the host between kernels, as calibrate_calls.cu copies them


class Description:
    def __init__(self, answers: Answers, nearest: Nearest, name: str) -> None:
        self.answers, self.nearest, self.name = answers, nearest, name
        self.borrowed: list[tuple[str, str]] = []  # field, where its value comes from
        self.assumed: list[str] = []
        self.sources: dict[str, str] = {}
        self.curves: dict[str, Curve] = {}

    def borrow(self, field: str, value: T, why: str) -> T:
        if field not in dict(self.borrowed):
            self.borrowed.append((field, f"as {self.nearest.name}: {why}"))
        return value

    def figure(self, name: str, otherwise: float = 0.0) -> float:
        return self.answers.get(name, otherwise)

    def make(self) -> Node:
        half = int(self.answers.gpu(0, "l2_bytes")) // 2
        for path in ("h2d_pinned", "d2h_pinned", "local", "peer", "staged"):
            points = self.answers.by_size(f"copy.{path}")
            if path == "staged":
                points = self.of_all_pairs(points)
            if len(points) > 2:
                self.curves[path] = fit(points, [half] if path == "local" else [])
        missing = [
            path for path in ("h2d_pinned", "d2h_pinned", "local") if path not in self.curves
        ]
        if missing:
            raise ValueError(
                f"the answers have no copies by size of {', '.join(missing)}: was it stopped?"
            )
        host = HostLinks(self.answers, self.curves).find()
        peers = PeerLinks(self.answers, self.curves, host.lane).find()
        self.assumed = host.assumed + peers.assumed + self.left_out()
        calls, kernel = self.calls(), self.kernel()
        copies = self.copies(peers, calls, kernel)
        parts, gpus = self.gpus()
        node: Node = {
            "name": self.name,
            "about": self.about(peers),
            "sources": self.sources,
            "driver": int(self.answers.facts["driver"]),
            "parts": parts,
            "gpus": gpus,
            "peers": peers.peers,
        }
        if peers.peers != "all" and self.answers.gpus > 1:
            node["peers_refused"] = self.answers.refusal()
        node["native_atomics"] = any(
            fact.endswith(" 1") for name, fact in self.answers.facts.items() if "peer[" in name
        )
        if peers.nvlink:
            node["nvlink"] = peers.nvlink
        node |= {"pcie": self.pcie(host, peers), "sockets": self.sockets(host), "copies": copies}
        if edges := self.edges(kernel):
            node["edges"] = edges
            if most := self.carried(edges):
                copies["h2d_pinned"]["carried_bytes"] = most
        node |= {"kernel": kernel, "calls": calls}
        self.not_measured(node)
        self.tell_sources(node)
        return node

    def of_all_pairs(self, points: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Small copies through the host take another time for each pair of GPUs, by chance: the
        median of all pairs counts, at least."""
        us = median_of(self.answers, "staged.small")
        return [(size, max(us, told) if size > 1024 else us or told) for size, told in points]

    def left_out(self) -> list[str]:
        """A description has no more than 16 GPUs."""
        found = int(self.answers.facts.get("found", self.answers.gpus))
        more = found - self.answers.gpus
        return (
            [f"{more} of the {found} GPUs here are left out; a node has at most 16"] if more else []
        )

    def about(self, peers: PeerSide) -> str:
        names = [self.answers.gpu(g, "name") for g in range(self.answers.gpus)]
        kinds = [f"{names.count(name)} {name}" for name in dict.fromkeys(names)]
        by = (
            "NVSwitch"
            if peers.nvlink and peers.nvlink["kind"] == "switch"
            else "NVLinks"
            if peers.nvlink
            else "PCIe"
        )
        return f"{', '.join(kinds)}, connected by {by}. Measured by ./lab calibrate."

    # ---- GPUs ----

    def gpus(self) -> tuple[Node, list[Node]]:
        parts: Node = {}
        gpus: list[Node] = []
        rates: dict[str, list[float]] = {}
        for g in range(self.answers.gpus):
            word = re.sub(r"[^a-z0-9]+", "-", self.answers.gpu(g, "name").lower()).strip("-")
            rates.setdefault(word, []).append(self.memory_gbs(g))
            parts.setdefault(word, self.part(g))
            made = hashlib.sha256(f"{self.name} {g}".encode()).hexdigest()
            gpu: Node = {
                "part": word,
                "pci": self.answers.gpu(g, "pci").lower(),
                "numa": max(0, int(self.answers.gpu(g, "numa"))),
            }
            if cpus := self.answers.gpu(g, "cpus") or self.affinity(g):
                gpu["cpus"] = cpus
            gpu["uuid"] = f"GPU-{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:32]}"
            gpus.append(gpu)
        for word, found in rates.items():
            parts[word]["memory_gbs"] = rounded(sorted(found)[len(found) // 2])
        return parts, gpus

    def affinity(self, g: int) -> str:
        cells = self.answers.labels()[g]
        found = [
            cell
            for cell in cells[self.answers.gpus :]
            if re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", cell)
        ]
        return found[0] if found else ""

    def memory_gbs(self, g: int) -> float:
        gbs = self.figure(f"memory.read[{g}].gbs")
        if not gbs:
            return float(
                str(
                    self.borrow("gpus: memory_gbs", self.nearest.part["memory_gbs"], "not measured")
                )
            )
        size = 128 << 20
        return size / (size / gbs - self.figure("kernel.nothing.us") * 1e3)

    def part(self, g: int) -> Node:
        part: Node = {
            "about": f"{self.answers.gpu(g, 'name')}, as its driver describes it; "
            "memory_gbs: a sum, by ./lab calibrate",
            "name": self.answers.gpu(g, "name"),
            "capability": [int(word) for word in self.answers.gpu(g, "capability").split()],
        }
        part |= {key: int(self.answers.gpu(g, key)) for key in PART_NUMBERS}
        part |= {"memory_gbs": 0, "ecc": self.answers.gpu(g, "ecc") == "1"}
        if processor := self.processor():
            part["processor"] = processor
        return part

    def processor(self) -> Node | None:
        model = self.nearest.part.get("processor")
        near, far = self.figure("load.l2.ns"), self.figure("load.memory.ns")
        if near < SEEN_NS:
            return None
        if not model:
            return None
        told = dict(model)
        told["about"] = (
            f"l2_ns, memory_ns: loads that wait for each other, by ./lab calibrate; "
            f"the others: as {self.nearest.name}"
        )
        told["l2_ns"] = rounded(near)
        if far > 1.2 * near:
            told["memory_ns"] = rounded(far)
        field = "gpus: processor but l2_ns, memory_ns"
        if field not in dict(self.borrowed):
            self.borrow(field, None, self.nearest.why)
        return told

    # ---- links ----

    def pcie(self, host: HostSide, peers: PeerSide) -> Node:
        label = peers.label or "NODE"
        if not peers.label and self.answers.gpus > 1:
            self.assumed.append("pcie's label, which nvidia-smi shows for no pair")
        pcie: Node = {"gbs": rounded(host.lane)}
        if host.both:
            pcie["both_gbs"] = rounded(host.both)
        if host.switches:
            pcie |= {"switches": host.switches, "switch_gbs": rounded(host.switch)}
        if host.root:
            pcie["root_gbs"] = rounded(host.root)
        if both := self.staged_both_gbs():
            pcie["staged_gbs"] = rounded(both)
        return pcie | {"label": label}

    def staged_both_gbs(self) -> float:
        """What copies between two GPUs through the host share in both directions; 0: nothing."""
        gbs, path = self.figure("staged.both_ways.gbs"), self.curves.get("staged")
        if not gbs or not path:
            return 0.0
        size = self.answers.rate_bytes
        us = 2 * size / gbs * 1e-3
        if us < LIMITS * path.us(size):
            return 0.0
        own = us - path.latency_us
        slow, at_most = path.ramp or (0, 0.0)
        if slow and size / own * 1e-3 > at_most:  # the first bytes have a limit of their own
            size, own = size - slow, own - slow / at_most * 1e-3
        return 2 * size / own * 1e-3

    def sockets(self, host: HostSide) -> Node:
        between: object = rounded(host.between)
        if not host.between:
            between = self.borrow(
                "sockets: gbs", self.nearest.node["sockets"]["gbs"], "nothing here shows its limit"
            )
        sockets: Node = {"groups": host.groups, "gbs": between}
        for key, gbs in (
            ("memory", host.memory),
            ("memory_written", host.written),
            ("memory_read", host.read),
        ):
            if gbs:
                sockets[f"{key}_gbs"] = rounded(gbs)
        return sockets

    # ---- calls and kernels ----

    def calls(self) -> Node:
        self.sources["calls"] = "measured: call.*, graph.*.call and message of ./lab calibrate"
        return fit_calls(self.answers)

    def kernel(self) -> Node:
        get = self.figure
        cycles = [get(f"kernel.spin_{us}.cycles") for us in (SPIN, 2 * SPIN)]
        us = [get(f"kernel.spin_{us}.us") for us in (SPIN, 2 * SPIN)]
        nothing = get("kernel.nothing.us")
        delay = 0.0
        if us[1] > us[0] and cycles[1] > cycles[0]:
            delay = us[0] - cycles[0] * (us[1] - us[0]) / (cycles[1] - cycles[0])
        delay = min(max(delay, 0.0), nothing)
        kernel: Node = {"delay_us": rounded(delay), "floor_us": rounded(nothing - delay)}
        if idle := idle_us(self.answers):
            kernel["idle_us"] = rounded(idle)
        one, many = get("graph.kernels_1.us"), get("graph.kernels_21.us")
        following = (many - one) / 20
        if one and differs(one, nothing):
            kernel["graph_first_us"] = rounded(one)
        if one and many and differs(following, nothing):
            kernel["graph_next_us"] = rounded(following)
        size = 128 << 20
        if peer := max(get("kernel.push.gbs"), get("kernel.pull.gbs")):
            far = self.curves["peer"].latency_us if "peer" in self.curves else 0.0
            kernel["peer_gbs"] = rounded(size / (size / peer - (nothing + far) * 1e3))
        memory = self.memory_gbs(0)
        if memory * 1.1 < get("memory.l2.gbs") < memory * 3:
            kernel["l2_gbs"] = rounded(get("memory.l2.gbs"))
        elif self.nearest.same_gpu and "l2_gbs" in self.nearest.node["kernel"]:
            kernel["l2_gbs"] = self.borrow(
                "kernel: l2_gbs", self.nearest.node["kernel"]["l2_gbs"], "not measured, or in L1"
            )
        if copied := get("memory.copied.gbs"):
            weight = (2 * size / copied - nothing * 1e3) * memory / size - 1
            if weight > 1.02:
                kernel["write_weight"] = rounded(weight)
        self.sources["kernel"] = "measured: kernel.*, memory.* and graph.* of ./lab calibrate"
        return kernel

    def edges(self, kernel: Node) -> Node:
        get, own = self.figure, self.figure("kernel.nothing.us")
        first = self.curves["d2h_pinned"].us(TRANSFER)
        following = kernel.get("graph_next_us", own)
        alone, in_graph = get("kernel.between_transfers.us"), get("graph.between_transfers_10.us")
        found = {
            "stream": {
                "other_gpu_us": get("kernel.turns.two_gpus.us") / 2 - own,
                "other_kind_us": (alone - own - first) / 2,
            },
            "graph": self.graph_edges(following)
            or {
                "other_gpu_us": (get("graph.turns_11.us") - get("graph.turns_1.us")) / 20
                - following,
                "other_kind_us": (in_graph / 10 - following - first) / 2,
            },
        }
        kept = {
            k: {name: rounded(us) for name, us in one.items() if us > 0.1}
            for k, one in found.items()
        }
        self.sources["edges"] = (
            "measured: kernel.turns, kernel.between_transfers and graph.* of ./lab calibrate"
        )
        near = self.nearest.node.get("edges", {})
        for k, asked in (("stream", alone), ("graph", in_graph)):
            if not asked and (us := near.get(k, {}).get("other_kind_us")):
                kept[k]["other_kind_us"] = self.borrow(
                    f"edges: {k}.other_kind_us", us, "not measured"
                )
        return {k: one for k, one in kept.items() if one}

    def graph_edges(self, following: float) -> Node:
        """By the steps of rings of copies, which adding makes longer by the kernel and by two
        waits between kernels and copies. Empty: not measured."""
        found: dict[str, list[float]] = {}
        kernel = following + 3 * RING_BYTES / self.memory_gbs(0) * 1e-3
        if "peer" not in self.curves:
            return {}
        copy = self.curves["peer"].us(RING_BYTES)
        steps = {kind: step_us(self.answers, kind) for kind in ("pass", "ring")}
        for gpus in steps["pass"].keys() & steps["ring"].keys():
            passing, adding = steps["pass"][gpus], steps["ring"][gpus]
            found.setdefault("other_gpu_us", []).append(passing - copy)
            found.setdefault("other_kind_us", []).append((adding - passing - kernel) / 2)
        return {key: statistics.median(some) for key, some in found.items()}

    # ---- copies ----

    def local_in_graph(self, told: Node, kernel: Node) -> None:
        """A graph of ten kernels, each with a small copy after it."""
        if not (pairs := self.figure("graph.between_copies_10.us")):
            return
        nothing = kernel["delay_us"] + kernel["floor_us"]
        first = kernel.get("graph_first_us", nothing)
        us = max((pairs - first - 9 * kernel.get("graph_next_us", nothing)) / 10, 0.0)
        if differs(us, told["latency_us"]):
            told["graph_us"] = rounded(us)

    def copies(self, peers: PeerSide, calls: Node, kernel: Node) -> Node:
        copies: Node = {}
        for path, call in (
            ("h2d_pinned", "to_device"),
            ("d2h_pinned", "to_host"),
            ("local", "inside"),
        ):
            copies[path] = self.path(path, f"call.{call}.us", calls)
        self.local_in_graph(copies["local"], kernel)
        copies["h2d_pageable"] = self.pageable("h2d", calls)
        copies["d2h_pageable"] = self.pageable("d2h", calls)
        for path in ("peer", "staged"):
            if path in self.curves:
                row = "call.peer_row.us" if path == "peer" else "call.staged.us"
                copies[path] = self.path(path, row, calls)
            else:
                why = "no pair here has peer access" if path == "peer" else "there is no second GPU"
                copies[path] = self.borrow(
                    f"copies: {path}", self.nearest.node["copies"][path], why
                )
        if "peer" in self.curves:
            self.fastest_peer(copies["peer"], peers)
            self.default_stream(copies["peer"])
        copies["host"] = self.borrow(
            "copies: host",
            self.nearest.node["copies"]["host"],
            "copies inside the host are not measured",
        )
        pageable = ["h2d_pageable", "d2h_pageable"]
        order = ["h2d_pinned", "d2h_pinned", *pageable, "local", "peer", "staged", "host"]
        copies = {path: copies[path] for path in order}
        if 0 < self.figure("copies.first_of_two") < 1.5:
            copies["at_once"] = 1
        self.sources["copies"] = (
            "measured: copy.*, alone.*, copies.first_of_two and pair.* of ./lab calibrate"
        )
        return copies

    def path(self, path: str, call: str, calls: Node) -> Node:
        told: Node = {}
        issue = self.figure(call) or self.figure(f"call.{path}.us")
        if issue and differs(issue, calls["enqueue_us"]):
            told["issue_us"] = rounded(issue)
        begins = max(issue or calls["enqueue_us"], timed_event_us(self.answers))
        idle = [
            us - begins - self.curves[path].us(size)
            for size, us in self.answers.by_size(f"alone.{path}")
            if size <= 1 << 16
        ]
        if idle and min(idle) > 0.1:
            told["idle_us"] = rounded(sum(idle) / len(idle))
        return told | self.curves[path].described()

    def fastest_peer(self, told: Node, peers: PeerSide) -> None:
        """The pair with the curve may have fewer links than the fastest."""
        if peers.gbs > 1.1 * told["gbs"]:
            told["gbs"] = rounded(peers.gbs)
            told.pop("ramp", None)
            told.pop("bands", None)

    def default_stream(self, told: Node) -> None:
        get = self.figure
        issue = get("call.peer.default.us") - get("call.peer.us")
        later = get("call.peer_and_wait.default.us") - get("call.peer_and_wait.us") - issue
        for key, us in (("default_issue_us", issue), ("default_us", later)):
            if us > 0.1:
                told[key] = rounded(us)

    def pageable(self, way: str, calls: Node) -> Node:
        called = self.answers.by_size(f"alone_call.{way}_pageable")
        ended = self.answers.by_size(f"alone.{way}_pageable")
        both = {size for size, _ in called} & {size for size, _ in ended}
        called, ended = ([one for one in some if one[0] in both] for some in (called, ended))
        if len(both) < 6:
            path = f"{way}_pageable"
            return self.borrow(f"copies: {path}", self.nearest.node["copies"][path], "not measured")
        return to_gpu(called, ended, calls) if way == "h2d" else to_host(called, calls)

    def carried(self, edges: Node) -> int:
        """The most bytes from the host after which a kernel waits for no copy engine."""
        edge = edges.get("stream", {}).get("other_kind_us", 0.0)
        own, path = self.figure("kernel.nothing.us"), self.curves["h2d_pinned"]
        measured = self.answers.by_size("kernel.after_transfer")
        return max((n for n, us in measured if us - own - path.us(n) < edge), default=0)

    # ---- the rest ----

    def not_measured(self, node: Node) -> None:
        """NCCL and first calls, where the nearest node has the same GPUs and links."""
        other = self.nearest.node
        alike = self.nearest.same_gpu and ("nvlink" in other) == ("nvlink" in node)
        for section in ("cold", "nccl"):
            if section in other and alike and self.answers.gpus > 1:
                node[section] = self.borrow(section, other[section], "not measured")
                self.sources[section] = f"as {self.nearest.name}: {other['sources'][section]}"

    def tell_sources(self, node: Node) -> None:
        said = "measured by ./lab calibrate"
        self.sources |= {
            "gpus": "as the driver describes them; the uuids are made up",
            "peers": "as the driver answers",
        }
        self.sources |= {"pcie": f"{said}: host.*", "sockets": f"{said}: host.*"}
        if "nvlink" in node:
            self.sources["nvlink"] = f"{said}: pair.*, peers.*"
        for field, origin in self.borrowed:
            section, _, rest = field.partition(": ")
            if rest:
                self.sources[section] += f"; {rest}: {origin}"
        for words in self.assumed:
            self.sources["sockets"] += f"; assumed: {words}"
        if "edges" not in node:
            self.sources.pop("edges", None)

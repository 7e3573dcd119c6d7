# SPDX-License-Identifier: MIT
"""Finds out from rates of copies at the same time which links GPUs share: PCIe switches and root
ports, the link between two sockets, host memory, NVLinks."""

import re
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.calibrate.answers import Answers, pairs
from grader.calibrate.curve import Curve, rounded

SHARES = 1.15  # two that take so much longer together than alone share something
LIMITS = (
    1.04  # and a set that takes so much longer than its links explain is limited by something more
)
SAME = 0.07  # rates that differ by less are those of one kind of link
UP, DOWN = "up", "down"
Flows = Sequence[tuple[str, int]]  # UP or DOWN, GPU


@dataclass
class HostSide:
    """PCIe, the sockets and host memory; rates in GB/s, 0: nothing limits there."""

    lane: float = 0.0
    both: float = 0.0
    switches: list[list[int]] = field(default_factory=list)
    switch: float = 0.0
    root: float = 0.0
    groups: list[list[int]] = field(default_factory=list)
    between: float = 0.0
    written: float = 0.0
    read: float = 0.0
    memory: float = 0.0
    assumed: list[str] = field(default_factory=list)


class HostLinks:
    def __init__(self, answers: Answers, curves: dict[str, Curve]) -> None:
        self.answers, self.curves = answers, curves
        self.paths = {UP: curves["d2h_pinned"], DOWN: curves["h2d_pinned"]}
        self.found = HostSide()

    def us(self, name: str, flows: int) -> float:
        """Microseconds of one copy of each flow; 0: not measured."""
        gbs = self.answers.get(f"host.{name}.gbs")
        return self.answers.rate_bytes * flows / gbs * 1e-3 if gbs else 0.0

    def gbs(self, name: str, flows: int, way: str) -> float:
        """Of all flows together, without what the copies need beside their bytes."""
        us = self.us(name, flows)
        own = us - self.paths[way].overhead(self.answers.rate_bytes)
        return self.answers.rate_bytes * flows / own * 1e-3 if us and own > 0 else 0.0

    def alone(self, gpu: int, way: str) -> float:
        return self.gbs(f"{way}[{gpu}]", 1, way)

    def share(self, i: int, j: int) -> bool:
        def shares(way: str) -> bool:
            longest = max(self.us(f"{way}[{i}]", 1), self.us(f"{way}[{j}]", 1))
            return longest > 0 and self.us(f"{way}[{i},{j}]", 2) > SHARES * longest

        return shares(UP) and shares(DOWN)

    def together(self, gpus: Sequence[int]) -> list[list[int]]:
        """Those that share something, by groups."""
        group = {gpu: gpu for gpu in gpus}
        for i in gpus:
            for j in gpus:
                if i < j and self.share(i, j):
                    old, new = group[j], group[i]
                    group = {g: new if at == old else at for g, at in group.items()}
        parts: dict[int, list[int]] = defaultdict(list)
        for gpu, at in group.items():
            parts[at].append(gpu)
        return list(parts.values())

    def pair_gbs(self, group: Sequence[int]) -> float:
        i, j = sorted(group)[:2]
        return max(self.gbs(f"{way}[{i},{j}]", 2, way) for way in (UP, DOWN))

    def find(self) -> HostSide:
        side, count = self.found, self.answers.gpus
        rates = {gpu: max(self.alone(gpu, UP), self.alone(gpu, DOWN)) for gpu in range(count)}
        fastest = max(rates.values())
        far = [gpu for gpu in rates if rates[gpu] < (1 - SAME) * fastest]
        near = [gpu for gpu in rates if gpu not in far]
        twice = [self.gbs(f"{way}_twice", 2, way) for way in (UP, DOWN)]
        side.lane = max(fastest, self.paths[UP].gbs, self.paths[DOWN].gbs, *twice)
        self.sockets(near, far, rates)
        self.switches(side.groups[0])
        self.both_ways()
        self.memory()
        return side

    def sockets(self, near: list[int], far: list[int], rates: dict[int, float]) -> None:
        side = self.found
        numa = {gpu: self.answers.gpu(gpu, "numa") for gpu in near + far}
        if far:
            side.groups = [near, far]
            side.between = max(rates[gpu] for gpu in far)
            if len(self.together(far)) > 1:
                side.assumed.append(
                    "GPUs with slower links that share nothing: taken for those of a second socket"
                )
        elif len(set(numa.values())) == 2:  # more would not be sockets
            side.groups = [
                [g for g in near if (numa[g] == numa[0]) == first] for first in (True, False)
            ]
        else:
            side.groups = [near]

    def switches(self, near: list[int]) -> None:
        """On the first socket; what another one's link hides is assumed to be the same."""
        side, count = self.found, self.answers.gpus
        groups = [group for group in self.together(near) if len(group) > 1]
        pix = self.by_label(range(count))
        if (
            groups
            and len(groups[0]) == len(near)
            and groups != [g for g in pix if set(g) <= set(near)]
        ):
            side.root = self.pair_gbs(groups[0])
            groups = [group for group in pix if set(group) <= set(near)]
            if groups:
                side.switch = side.root
        elif groups:
            side.switch = max(self.pair_gbs(group) for group in groups)
        side.switches = groups
        later = side.groups[1] if len(side.groups) > 1 else []
        if groups and later:
            told = [group for group in pix if set(group) <= set(later)]
            if not told and len(later) == len(near):
                told = [[later[near.index(gpu)] for gpu in group] for group in groups]
                side.assumed.append(
                    "the second socket's PCIe switches: as the first's, its link hides them"
                )
            side.switches = groups + told

    def by_label(self, gpus: Sequence[int]) -> list[list[int]]:
        found: list[list[int]] = []
        for gpu in gpus:
            for group in found:
                if self.answers.label(gpu, group[0]) == "PIX":
                    group.append(gpu)
                    break
            else:
                found.append([gpu])
        return [group for group in found if len(group) > 1]

    def both_ways(self) -> None:
        alone = max(self.us("up[0]", 1), self.us("down[0]", 1))
        if alone and self.us("both[0]", 2) > LIMITS * alone:
            self.found.both = self.gbs("both[0]", 2, UP)

    # ---- host memory: what links do not explain ----

    def explained_us(self, flows: Flows) -> float:
        """How long the most loaded of the links found so far takes."""
        side = self.found
        load: dict[tuple[object, ...], int] = defaultdict(int)
        rate: dict[tuple[object, ...], float] = {}

        def use(gbs: float, *link: object) -> None:
            if gbs > 0:
                rate[link] = gbs
                load[link] += 1

        for way, gpu in flows:
            use(min(side.lane, self.paths[way].gbs), "flow", gpu, way)
            use(side.both, "both", gpu)
            at = [n for n, group in enumerate(side.switches) if gpu in group]
            socket = next(n for n, group in enumerate(side.groups) if gpu in group)
            if at:
                use(side.switch, "switch", at[0], way)
            use(side.root, "root", socket, way)
            use(side.between if socket else 0, "sockets", way)
            use(side.written if way == UP else side.read, "memory", way)
            use(side.memory, "memory")
        size = self.answers.rate_bytes
        longest = max(size * load[link] / rate[link] * 1e-3 for link in load)
        return longest + max(self.paths[way].overhead(size) for way, _ in flows)

    def limit(self, name: str, flows: Flows) -> float:
        if self.us(name, len(flows)) > LIMITS * self.explained_us(flows):
            return self.gbs(name, len(flows), flows[0][0])
        return 0.0

    def memory(self) -> None:
        count, side = self.answers.gpus, self.found

        def first(ways: Sequence[str], name: str) -> float:
            """The largest set counts: more of them gain most of what there is."""
            limits = [
                self.limit(f"{name}[{n}]", [(way, gpu) for gpu in range(n) for way in ways])
                for n in range(2, count + 1)
                if self.us(f"{name}[{n}]", 1)
            ]
            return limits[-1] if limits else 0.0

        written, read = first([UP], "up_first"), first([DOWN], "down_first")
        if count == 2:
            written = self.limit("up[0,1]", [(UP, 0), (UP, 1)])
            read = self.limit("down[0,1]", [(DOWN, 0), (DOWN, 1)])
        side.written, side.read = written, read
        side.memory = first([UP, DOWN], "both_first")


# ---- between GPUs ----


@dataclass
class PeerSide:
    peers: object = "none"  # as in a description
    nvlink: dict[str, object] | None = None
    gbs: float = 0.0  # of the fastest pair
    label: str = ""  # PCIe's, of two GPUs without a switch
    assumed: list[str] = field(default_factory=list)


LINK_GBS = {70: 25.0, 80: 25.0, 86: 14.06, 90: 25.0, 100: 50.0}  # of one NVLink, by data sheet


class PeerLinks:
    def __init__(self, answers: Answers, curves: dict[str, Curve], lane: float) -> None:
        self.answers, self.lane = answers, lane
        self.path = curves.get("peer", curves.get("staged", curves["local"]))
        self.curves = curves
        self.found = PeerSide()

    def us(self, name: str, flows: int) -> float:
        gbs = self.answers.get(f"{name}.gbs")
        return self.answers.rate_bytes * flows / gbs * 1e-3 if gbs else 0.0

    def gbs(self, name: str, flows: int = 1) -> float:
        us = self.us(name, flows)
        own = us - self.path.overhead(self.answers.rate_bytes)
        return self.answers.rate_bytes * flows / own * 1e-3 if us and own > 0 else 0.0

    def pair(self, i: int, j: int) -> float:
        return self.gbs(f"pair.one_way[{i},{j}]")

    def find(self) -> PeerSide:
        side, count = self.found, self.answers.gpus
        reached = [(i, j) for i, j in pairs(count) if self.answers.access(i, j)]
        side.gbs = max((self.pair(i, j) for i, j in reached), default=0.0)
        linked = [(i, j) for i, j in reached if self.has_nvlink(i, j)]
        if len(reached) == count * (count - 1):
            side.peers = "all"
        elif reached and reached == linked:
            side.peers = "nvlink"
        elif reached:
            side.peers = [list(pair) for pair in reached]
        if linked:
            side.nvlink = self.switch(linked) if self.is_switch(linked) else self.mesh(linked)
        self.labels()
        return side

    def has_nvlink(self, i: int, j: int) -> bool:
        label = self.answers.label(i, j)
        return label.startswith("NV") if label else self.pair(i, j) > 1.3 * self.lane

    def is_switch(self, linked: list[tuple[int, int]]) -> bool:
        """All pairs alike, and two copies into one GPU share its port."""
        count = self.answers.gpus
        rates = [self.pair(i, j) for i, j in linked]
        if len(linked) < count * (count - 1) or min(rates) < 0.8 * max(rates):
            return False
        return all(
            self.us(f"peers.in[{i}]", 2) > 1.3 * self.us(f"pair.one_way[{(i + 1) % count},{i}]", 1)
            for i in range(count)
            if count > 2
        )

    def links(self, i: int, j: int, unit: float) -> int:
        found = re.fullmatch(r"NV(\d+)", self.answers.label(i, j))
        return int(found[1]) if found else max(1, round(self.pair(i, j) / unit))

    def switch(self, linked: list[tuple[int, int]]) -> dict[str, object]:
        count = self.answers.gpus
        several = [self.gbs(f"peers.{way}[{i}]", 2) for way in ("in", "out") for i in range(count)]
        port = statistics.median([self.pair(i, j) for i, j in linked])
        if several := [gbs for gbs in several if gbs]:
            port = max(port, statistics.median(several))
        port = max(port, self.gbs("peers.same_way", 2))
        number = self.links(*linked[0], self.unit(linked[0]))
        return {"kind": "switch", "port_gbs": rounded(port), "label": f"NV{number}"}

    def unit(self, pair: tuple[int, int]) -> float:
        capability = int(self.answers.gpu(0, "capability").replace(" ", ""))
        if not self.answers.label(*pair):
            self.found.assumed.append(
                "the number of NVLinks, where nvidia-smi does not say: from the data sheet's rate"
            )
        return 0.93 * LINK_GBS.get(capability, 25.0)

    def mesh(self, linked: list[tuple[int, int]]) -> dict[str, object]:
        unit = min(self.pair(i, j) for i, j in linked)
        number = {(i, j): self.links(i, j, unit) for i, j in linked if i < j}
        least = min(number.values())
        one = statistics.median(self.pair(i, j) / n for (i, j), n in number.items() if n == least)
        if number.get((0, 1)):
            one = max(one, self.gbs("peers.same_way", 2) / number[0, 1])
        links = [[i, j, n] for (i, j), n in number.items()]
        return {"kind": "mesh", "link_gbs": rounded(one), "links": links}

    def labels(self) -> None:
        words = [self.answers.label(i, j) for i, j in pairs(self.answers.gpus)]
        seen = [word for word in ("NODE", "PHB", "PXB") if word in words]
        self.found.label = seen[0] if seen else ""

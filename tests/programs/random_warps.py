# SPDX-License-Identifier: MIT
"""Of random_kernels.py: kernels with operations of warps, and barriers that count votes."""

import random


class Warps:
    """What is mixed into Kernel, which has the attributes."""

    r: random.Random
    number: int
    type: str
    wrong: bool
    dims: int

    def whole_warps(self) -> None:
        """A shape whose warps are 32 threads in a row, as most are."""
        if self.r.random() < 0.15:
            return
        x = self.r.choice((32, 32, 64, 96, 128, 256) if self.dims == 1 else (32, 32, 64))
        self.block = (x, *((1, 1) if self.dims == 1 else (2, 1) if self.dims == 2 else (2, 2)))
        self.measure()

    def shuffle(self, value: str = "v", lane: str = "") -> str:
        r = self.r
        width = r.choice(("", "", "", ", 8", ", 16", ", 32"))
        lane = lane or r.choice(("1", "5", "m", "lane / 2", "31", "whole(v)", "-3", "i & 40"))
        if self.type in ("float4", "Pair"):
            value = f"whole({value})"
        kind = r.choice(("shfl", "shfl_up", "shfl_down", "shfl_xor"))
        return f"__{kind}_sync(~0u, {value}, {lane}{width})"

    def joined(self, number: str) -> str:
        """v, changed by a number of threads that have told each other something."""
        if self.type in ("float4", "Pair"):
            return f"if ({number} > {self.r.choice(('0', '7', '20'))}) v = v + v;"
        return f"v = v + ({self.type})({number});"

    def vote(self, block: bool = True) -> str:
        test = self.r.choice(("positive(v)", "lane < m", "whole(v) & 1", "i < n"))
        return self.r.choice(
            (
                f"__any_sync(~0u, {test})",
                f"__all_sync(~0u, {test})",
                f"__popc(__ballot_sync(~0u, {test}))",
                f"(__ballot_sync(~0u, {test}) >> lane & 1)",
                "(__activemask() & 3)",
                "__reduce_add_sync(~0u, whole(v) & 255)",
                "__popc(__match_any_sync(~0u, whole(v) & 3))",
                "tile.any(positive(v))",
                "tile.shfl_down(whole(v) & 63, 4)",
                "small.shfl_xor(whole(v) & 63, 1)",
                *(
                    (
                        f"__syncthreads_count({test})",
                        f"__syncthreads_or({test})",
                        f"__syncthreads_and({test})",
                    )
                    if block
                    else ()
                ),
            )
        )

    def team(self) -> str:
        """A condition that is the same in all lanes of a warp; most of the time."""
        return self.r.choice(
            (
                "threadIdx.x / 32 == 0",
                "threadIdx.x < 64",
                "threadIdx.x >= 32",
                "threadIdx.y == 0",
                "blockIdx.x & 1",
                "m > 2",
                "i / 32 % 2",
                "(int)threadIdx.x / 32 == m",
                "__any_sync(~0u, positive(v))",
                *(("lane < 20", "positive(v)") if self.wrong else ()),
            )
        )

    def warps(self) -> str:
        r = self.r
        self.whole_warps()
        team, name = self.team, f"s{self.number}"
        steps = {
            "shuffled": lambda: f"    {self.joined(self.shuffle())}\n",
            "sum": lambda: (
                f"    for (int d = 16; d > 0; d {r.choice(('>>= 1', '/= 2'))})\n"
                f"        {self.joined(self.shuffle(lane='d'))}\n"
            ),
            "rounds": lambda: (
                "#pragma unroll 1\n"
                f"    for (int k = 0; k < {r.choice(('m', '3', 'w % 5'))}; k++) {{\n"
                f"        {self.joined(self.shuffle(lane=r.choice(('k', '1 << k', 'lane + k'))))}\n"
                f"    {self.barrier() if r.random() < 0.4 else ''}"
                f"        {r.choice(('', 'if (positive(v))', 'if (k & 1)'))} v = v + v;\n    }}\n"
            ),
            "voted": lambda: f"    {self.joined(self.vote())}\n",
            "some": lambda: (
                f"    if ({team()}) {{\n        {self.joined(self.shuffle())}\n"
                f"        {self.joined(self.vote(block=False))}\n    }}\n"
                if not self.wrong
                else f"    if ({team()}) {{\n        {self.joined(self.shuffle())}\n    }}\n"
            ),
            "kept": lambda: (
                f"    s[t] = v;\n{r.choice(('    __syncwarp();', '    __syncthreads();', ''))}\n"
                f"    v = v + s[t ^ {r.choice(('1', '7'))}];\n"
                f"{r.choice(('    __syncwarp();', '    __syncthreads();'))}\n"
            ),
            "added": lambda: (
                f"    if (lane == 0)\n        {self.atomic('out')};\n"
                f"    {self.joined(self.shuffle())}\n"
            ),
            "total": lambda: (
                f"    {self.joined(self.shuffle(lane='16'))}\n"
                f"    if (lane == 0) s[threadIdx.x / 32] = v;\n{self.barrier()}"
                f"    if (threadIdx.x / 32 == 0) {{\n        v = s[lane & 7];\n"
                f"        {self.joined(self.shuffle())}\n    }}\n{self.barrier()}"
            ),
        }
        chosen = "".join(steps[r.choice(list(steps))]() for _ in range(r.choice((1, 2, 2, 3))))
        leave = r.choice(("", "", "", "    if (m == 5) return;\n", "    if (i >= n) return;\n"))
        tiles = {"tile": 32, "small": r.choice((4, 8, 16))}
        return (
            f"    __shared__ {self.type} {name}[1024];\n    {self.type} *s = {name};\n"
            "    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n"
            "    int all = blockDim.x * blockDim.y * blockDim.z, lane = t % 32;\n"
            "    s[all - 1 - t] = b[0];\n    __syncthreads();\n"
            + "".join(
                f"    auto {name} = cg::tiled_partition<{size}>(cg::this_thread_block());\n"
                for name, size in tiles.items()
                if f"{name}." in chosen
            )
            + f"    {self.type} v = {r.choice(('i < n ? a[i] : b[0]', 'a[i % n]'))};\n"
            f"{leave}{chosen}    if (i < n) out[i] = v;\n"
        )

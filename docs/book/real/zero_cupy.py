# SPDX-License-Identifier: MIT
"""CuPy and NCCL: steps of ZeRO stage 1. Each GPU sums and updates its shard, then all gather them.

python3 zero_cupy.py
"""

from collections.abc import Iterator
from contextlib import contextmanager

import cupy
from cupy.cuda import nccl

gpus = cupy.cuda.runtime.getDeviceCount()
parameters, steps = 100_000_003, 3
shard = -(-parameters // gpus)  # every shard has the same size: the last is filled up
FLOAT16, SUM = nccl.NCCL_FLOAT16, nccl.NCCL_SUM

adam = cupy.ElementwiseKernel(
    "float16 gradient, float32 rate",
    "float16 weight, float32 master, float32 mean, float32 square",
    """float g = gradient;
    mean = 0.9f * mean + 0.1f * g;
    square = 0.999f * square + 0.001f * g * g;
    master -= rate * mean / (sqrtf(square) + 1e-8f);
    weight = master;""",
    "adam",
)


@contextmanager
def on(gpu: int) -> Iterator[None]:
    with cupy.cuda.Device(gpu), streams[gpu]:
        yield


def rate(step: int) -> float:
    """The learning rate, with Adam's correction of the first steps."""
    return 0.01 * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step)


def gradient(gpu: int, step: int) -> cupy.ndarray:
    """In place of a backward pass: multiples of 1/64, so that every order gives the same sum."""
    i = cupy.arange(parameters, dtype=cupy.int32)
    return ((i % 255 * 7 + gpu * 13 + step * 31) % 255 - 127).astype(cupy.float16) / 64


def first_weights(count: int) -> cupy.ndarray:
    i = cupy.arange(count, dtype=cupy.int32)
    return (i % 201 - 100).astype(cupy.float16) / 128


def mine(whole: list[cupy.ndarray], gpu: int) -> cupy.ndarray:
    return whole[gpu][gpu * shard : (gpu + 1) * shard]


def zeros(count: int) -> cupy.ndarray:
    return cupy.zeros(count, dtype=cupy.float32)


def used() -> float:
    """Bytes that the current GPU holds for each parameter."""
    return cupy.get_default_memory_pool().used_bytes() / parameters


streams, weights, gradients, masters, means, squares = [], [], [], [], [], []
for gpu in range(gpus):
    with cupy.cuda.Device(gpu):
        streams.append(cupy.cuda.Stream(non_blocking=True))
    with on(gpu):
        weights.append(first_weights(gpus * shard))
        gradients.append(cupy.zeros(gpus * shard, dtype=cupy.float16))
        masters.append(mine(weights, gpu).astype(cupy.float32))
        means.append(zeros(shard))
        squares.append(zeros(shard))
comms = nccl.NcclCommunicator.initAll(list(range(gpus)))

for step in range(1, steps + 1):
    for gpu in range(gpus):
        with on(gpu):
            gradients[gpu][:parameters] = gradient(gpu, step)
    # book: zero
    nccl.groupStart()
    for gpu in range(gpus):  # in place: the sum of a GPU's shard lands where its own part was
        send, own = gradients[gpu].data.ptr, mine(gradients, gpu).data.ptr
        comms[gpu].reduceScatter(send, own, shard, FLOAT16, SUM, streams[gpu].ptr)
    nccl.groupEnd()
    for gpu in range(gpus):
        with on(gpu):  # masters, means, squares: a shard of each, and no GPU has more
            state = masters[gpu], means[gpu], squares[gpu]
            adam(mine(gradients, gpu), rate(step), mine(weights, gpu), *state)
    nccl.groupStart()
    for gpu in range(gpus):
        own, whole = mine(weights, gpu).data.ptr, weights[gpu].data.ptr
        comms[gpu].allGather(own, whole, shard, FLOAT16, streams[gpu].ptr)
    nccl.groupEnd()
    # book: end
for stream in streams:
    stream.synchronize()

with on(0):  # the same steps without any sharding
    sharded = used()
    weight = first_weights(parameters)
    total = cupy.zeros(parameters, dtype=cupy.float16)
    state = weight.astype(cupy.float32), zeros(parameters), zeros(parameters)
    unsharded = used() - sharded
    for step in range(1, steps + 1):
        total[:] = sum(gradient(gpu, step) for gpu in range(gpus))
        adam(total, rate(step), weight, *state)
    wanted = cupy.asnumpy(weight).view("uint16")
    moved = int((weight != first_weights(parameters)).sum())
differ = [int((cupy.asnumpy(w)[:parameters].view("uint16") != wanted).sum()) for w in weights]
print(f"{parameters} parameters, {gpus} GPUs, {steps} steps moved {moved} of them")
print(f"bytes for each on GPU 0: {unsharded:.2f} unsharded, {sharded:.2f} with a shard")
print(f"bits unlike those of the unsharded steps: {differ} parameters on each GPU")

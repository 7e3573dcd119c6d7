# SPDX-License-Identifier: MIT
"""CuPy and NCCL: an all-reduce over all GPUs of one process, driven by one thread.

python3 allreduce_cupy.py
"""

import cupy
from cupy.cuda import nccl

gpus = cupy.cuda.runtime.getDeviceCount()
data, streams = [], []
for gpu in range(gpus):
    with cupy.cuda.Device(gpu):
        data.append(cupy.full(1 << 20, gpu + 1, dtype=cupy.float32))
        streams.append(cupy.cuda.Stream(non_blocking=True))
        cupy.cuda.Device(gpu).synchronize()

# book: allreduce
comms = nccl.NcclCommunicator.initAll(list(range(gpus)))
nccl.groupStart()  # one thread for all ranks: without the group the first call never returns
for comm, x, stream in zip(comms, data, streams, strict=True):
    comm.allReduce(x.data.ptr, x.data.ptr, x.size, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream.ptr)
nccl.groupEnd()
for stream in streams:
    stream.synchronize()
# book: end
wanted = gpus * (gpus + 1) / 2
print(f"{gpus} GPUs, all right: {all(bool((cupy.asnumpy(x) == wanted).all()) for x in data)}")

# SPDX-License-Identifier: MIT
# ruff: noqa: ANN001, ANN201
"""A kernel of Numba on two GPUs. Numba makes machine code of its PTX, which no virtual GPU runs:
`ptx_of` has it load the PTX (docs/ptx.md)."""

import numpy
from cuda.core import ObjectCode
from numba import cuda
from numba.cuda import codegen


def ptx_of(library: codegen.CUDACodeLibrary, cc: tuple[int, int] | None = None) -> ObjectCode:
    return ObjectCode.from_ptx(library.get_asm_str(cc=cc).encode(), name=library.name)


codegen.CUDACodeLibrary.get_cubin = ptx_of


@cuda.jit
def axpy(result, a, x, y):
    i = cuda.grid(1)
    if i < result.size:
        result[i] = a * x[i] + y[i]


n = 1000
for gpu in range(2):
    with cuda.gpus[gpu]:
        x = cuda.to_device(numpy.arange(n, dtype=numpy.float32))
        y = cuda.to_device(numpy.full(n, gpu, dtype=numpy.float32))
        result = cuda.device_array(n, numpy.float32)
        axpy[(n + 127) // 128, 128](result, numpy.float32(2), x, y)
        print(gpu, result.copy_to_host()[-1])

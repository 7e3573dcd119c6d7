# SPDX-License-Identifier: MIT
"""CuPy on two GPUs: a RawKernel and a RawModule's template, which NVRTC compiles, kernels that CuPy
writes itself, and a copy between the GPUs. The runtime is inside of CuPy's extensions. Started
with CUPY_ACCELERATORS= (docs/ptx.md)."""

import cupy
import numpy

SCALE = """
template <class T> __device__ T twice(T x) { return x + x; }
extern "C" __global__ void scale(float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = twice(x[i]) * a;
}
template <class T> __global__ void fill(T *x, T value) { x[threadIdx.x] = value; }
"""

n = 1000
scale = cupy.RawKernel(SCALE, "scale")
module = cupy.RawModule(code=SCALE, name_expressions=["fill<double>"])
x = []
for gpu in range(2):
    with cupy.cuda.Device(gpu):
        x.append(cupy.arange(n, dtype=cupy.float32))
        scale((8,), (128,), (x[gpu], numpy.float32(gpu + 1), numpy.int32(n)))
        few = cupy.empty(4, cupy.float64)
        module.get_function("fill<double>")((1,), (4,), (few, numpy.float64(gpu)))
        print(gpu, x[gpu][-1], few.get())
with cupy.cuda.Device(0):
    there = x[0] + cupy.asarray(x[1]) * 2  # the copy, and two kernels of CuPy's
    print(there[-1], there.sum(), cupy.where(there > 3000, 1, 0)[-3:])

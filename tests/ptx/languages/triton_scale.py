# SPDX-License-Identifier: MIT
# ruff: noqa: ANN001, ANN201
"""A kernel of Triton as PTX, on two GPUs by the driver's calls: Triton would load machine code."""

import ctypes

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

N, BLOCK = 1000, 256


@triton.jit
def scale(x, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * a, mask=at < n)


signature = {"x": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=scale, signature=signature, constexprs={(3,): BLOCK})
compiled = triton.compile(source, target=GPUTarget("cuda", 80, 32))
driver = ctypes.CDLL("libcuda.so.1")


def call(name: str, *arguments: object) -> None:
    error = getattr(driver, name)(*arguments)
    assert error == 0, f"{name}: error {error}"


call("cuInit", 0)
for gpu in range(2):
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    memory, none = ctypes.c_uint64(), ctypes.c_uint64()
    numbers = (ctypes.c_float * N)(*range(N))
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), gpu)
    call("cuCtxSetCurrent", context)
    call("cuModuleLoadData", ctypes.byref(module), compiled.asm["ptx"].encode())
    call("cuModuleGetFunction", ctypes.byref(function), module, b"scale")
    size = ctypes.c_size_t(ctypes.sizeof(numbers))
    call("cuMemAlloc_v2", ctypes.byref(memory), size)
    call("cuMemcpyHtoD_v2", memory, numbers, size)
    values = (memory, ctypes.c_float(gpu + 2), ctypes.c_int(N), none, none)
    arguments = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    grid, block = (-(-N // BLOCK), 1, 1), (32 * compiled.metadata.num_warps, 1, 1)
    call("cuLaunchKernel", function, *grid, *block, compiled.metadata.shared, None, arguments, None)
    call("cuMemcpyDtoH_v2", numbers, memory, size)
    print(gpu, numbers[N - 1])

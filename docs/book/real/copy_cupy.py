# SPDX-License-Identifier: MIT
"""CuPy on several GPUs: a device is a context, and a copy between two is an assignment.

python3 copy_cupy.py
"""

import cupy

gpus = cupy.cuda.runtime.getDeviceCount()
print(f"{gpus} GPUs")

# book: copy
with cupy.cuda.Device(0):
    a = cupy.arange(1 << 24, dtype=cupy.float32)
with cupy.cuda.Device(1):
    b = cupy.asarray(a)  # another device is current: a copy to it
same = bool((cupy.asnumpy(a) == cupy.asnumpy(b)).all())
# book: end
print(f"a is on {a.device}, b on {b.device}, the same: {same}")

# book: sum
bounds = [i * a.size // gpus for i in range(gpus + 1)]
host, parts = cupy.asnumpy(a), []
for gpu in range(gpus):  # start all
    with cupy.cuda.Device(gpu):
        part = cupy.asarray(host[bounds[gpu] : bounds[gpu + 1]])
        parts.append(part.sum(dtype=cupy.float64))  # not waited for here
total = sum(float(part) for part in parts)  # float() waits
# book: end
print(f"the sum over {gpus} GPUs: {total:.0f}, expected {host.sum(dtype='float64'):.0f}")

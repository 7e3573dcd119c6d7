# SPDX-License-Identifier: MIT
"""PyTorch in one process: a copy between GPUs, and a sum over all of them.

python3 basics_torch.py
"""

import torch

gpus = torch.cuda.device_count()
print(f"{gpus} GPUs, peer access 0 to 1: {torch.cuda.can_device_access_peer(0, 1)}")

# book: copy
a = torch.arange(1 << 24, dtype=torch.float32, device="cuda:0")
b = a.to("cuda:1", non_blocking=True)  # a copy; GPU 1's stream waits for it
# book: end
print(f"a is on {a.device}, b on {b.device}, the same: {bool((a.cpu() == b.cpu()).all())}")

# book: sum
parts = [chunk.to(f"cuda:{gpu}") for gpu, chunk in enumerate(a.cpu().tensor_split(gpus))]
sums = [part.sum(dtype=torch.float64) for part in parts]  # started on all, waited for on none
total = sum(part.item() for part in sums)  # item() waits
# book: end
print(f"the sum over {gpus} GPUs: {total:.0f}, expected {a.sum(dtype=torch.float64).item():.0f}")

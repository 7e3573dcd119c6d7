# SPDX-License-Identifier: MIT
"""PyTorch's FSDP is ZeRO stage 3: what each GPU holds of a model with Adam, replicated and sharded.

torchrun --standalone --nproc-per-node=2 fsdp_torch.py
"""

import os

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

rank = int(os.environ["RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
ranks, width, layers = dist.get_world_size(), 4096, 16


def network() -> torch.nn.Sequential:
    torch.manual_seed(0)
    return torch.nn.Sequential(*[torch.nn.Linear(width, width, bias=False) for _ in range(layers)])


# book: fsdp
def sharded() -> torch.nn.Module:
    model = network().cuda()
    for layer in model:
        fully_shard(layer)  # a unit: gathered before its use, dropped after
    return fully_shard(model)


# book: end
def step(model: torch.nn.Module) -> tuple[float, float]:
    """A step of Adam: its loss, and the gigabytes that stay allocated after it."""
    adam = torch.optim.Adam(model.parameters(), lr=1e-5)
    loss = model(torch.ones(8, width, device="cuda")).square().mean()
    loss.backward()
    adam.step()
    torch.cuda.synchronize()
    return loss.item(), torch.cuda.memory_allocated() / 1e9


before = torch.cuda.memory_allocated()
whole_loss, whole = step(network().cuda())
torch.cuda.empty_cache()
shard_loss, shard = step(sharded())
parameters = layers * width * width
if rank == 0:
    print(
        f"{parameters / 1e6:.0f} M parameters in 32 bits with Adam: {16 * parameters / 1e9:.2f} GB"
    )
    print(f"replicated: {whole:.2f} GB on each GPU; sharded over {ranks}: {shard:.2f} GB")
    print(f"the same loss: {abs(whole_loss - shard_loss) < 1e-6 * abs(whole_loss) + 1e-9}")
dist.destroy_process_group()

# SPDX-License-Identifier: MIT
"""PyTorch: one process a GPU; an all-reduce, and steps of DistributedDataParallel whose gradients
are those of one process on the whole batch.

    torchrun --standalone --nproc-per-node=2 allreduce_torch.py
"""

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

rank = int(os.environ["RANK"])  # torchrun says who I am
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
ranks = dist.get_world_size()

# book: allreduce
x = torch.full((1 << 20,), float(rank + 1), device="cuda")
dist.all_reduce(x)  # the sum, everywhere
right = bool((x == ranks * (ranks + 1) / 2).all())
# book: end

# book: ddp
torch.manual_seed(1)  # the same data everywhere; DDP broadcasts rank 0's weights
data = TensorDataset(torch.randn(512, 64), torch.randn(512, 1))
sampler = DistributedSampler(data, shuffle=True)
loader = DataLoader(data, batch_size=512 // ranks, sampler=sampler)
whole = torch.nn.Linear(64, 1).cuda()
model = DistributedDataParallel(torch.nn.Linear(64, 1).cuda(), device_ids=[rank])
whole.load_state_dict(model.module.state_dict())
for epoch in range(2):
    sampler.set_epoch(epoch)  # or every epoch has the same order
    for inputs, wanted in loader:
        model.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs.cuda()), wanted.cuda())
        loss.backward()  # buckets are all-reduced meanwhile
# book: end
loss = torch.nn.functional.mse_loss(whole(data.tensors[0].cuda()), data.tensors[1].cuda())
loss.backward()
difference = (whole.weight.grad - model.module.weight.grad).abs().max().item()
if rank == 0:
    print(f"{ranks} ranks; all-reduce right: {right}")
    print(f"largest difference to one process's gradients: {difference:.1e}")
dist.destroy_process_group()

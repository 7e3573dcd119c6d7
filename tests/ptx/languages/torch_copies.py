# SPDX-License-Identifier: MIT
"""PyTorch on two GPUs, as far as it needs no kernel: those of PyTorch are machine code only
(docs/ptx.md). Memory, copies, streams, events, a graph, and what a kernel's launch says."""

import torch

print(torch.cuda.device_count(), torch.cuda.can_device_access_peer(0, 1))
a = torch.arange(1 << 16, dtype=torch.float32)
x = torch.empty(1 << 16, device="cuda:1")
x.copy_(a.pin_memory(), non_blocking=True)
y = x.to("cuda:0", non_blocking=True)  # GPU to GPU
print(x.device, y.device, torch.equal(y.cpu(), a), torch.cuda.memory_allocated(1))

stream = torch.cuda.Stream(0)
begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
with torch.cuda.stream(stream):
    begin.record()
    z = x.to("cuda:0", non_blocking=True)
    end.record()
end.synchronize()
z.record_stream(stream)
print(begin.elapsed_time(end) > 0, z[-1].item(), torch.zeros(3, device="cuda:1").cpu().tolist())

graph, target = torch.cuda.CUDAGraph(), torch.zeros(4, device="cuda:0")
source = a[1:5].to("cuda:0")
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    target.copy_(source)
graph.replay()
torch.cuda.synchronize()
print(target.cpu().tolist())
try:
    torch.full((4,), 1.0, device="cuda:0")
except RuntimeError as error:
    print(str(error).splitlines()[0])

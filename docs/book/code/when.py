# SPDX-License-Identifier: MIT
"""When the kernels of a trace ran, counted from the first one's start.

python3 when.py trace.json
"""

import json
import sys
from pathlib import Path

read = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
events = read["traceEvents"] if isinstance(read, dict) else read
kernels = [e for e in events if e.get("ph") == "X" and e.get("cat") == "kernel"]
first = min(e["ts"] for e in kernels)
gpus = {pid: number for number, pid in enumerate(sorted({e["pid"] for e in kernels}))}
for e in kernels:
    start = e["ts"] - first
    print(f"GPU {gpus[e['pid']]} {e['name']} {start:7.1f} to {start + e['dur']:7.1f} us")

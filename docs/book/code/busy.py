# SPDX-License-Identifier: MIT
"""How long each GPU of a trace was busy, and with what.

python3 busy.py trace.json
"""

import collections
import json
import sys
from pathlib import Path

read = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
events = read["traceEvents"] if isinstance(read, dict) else read
# book: busy
names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
busy: collections.Counter[tuple[str, str]] = collections.Counter()
for event in events:
    row = rows.get((event["pid"], event.get("tid")), "")
    if event.get("ph") == "X" and "stream" in row:  # copies stand in their engine's row, too
        busy[names.get(event["pid"], str(event["pid"])), event["name"]] += event["dur"]
for (who, what), us in sorted(busy.items()):
    print(f"{who:<16} {what:<28} {us:9.1f} us")
# book: end

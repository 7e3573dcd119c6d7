# SPDX-License-Identifier: MIT
"""Runs submissions in a sandbox. docs/security.md has the threats that it stops.

    best = tier()
    outcome = run(Request(argv=("/usr/bin/cc", "-c", "x.c"), read_write=(work,), folder=work), best)

    with prepare(Request(argv=(), read_only=(runner,), node=True), best) as launch:
        capture([verifier, "--runner", runner, *launch.options], env=launch.environment)

The second form is for a verifier: it stays outside and starts the runner through `launch`; its node
starts the processes that run kernels the same way. Nothing of the caller's environment is passed
in.
"""

from grader.sandbox.launch import Launch, prepare, sweep
from grader.sandbox.readback import Refused, read_back
from grader.sandbox.request import Limits, Outcome, Request, SandboxError, Tier
from grader.sandbox.supervise import run
from grader.sandbox.tiers import tier

__all__ = [
    "Launch",
    "Limits",
    "Outcome",
    "Refused",
    "Request",
    "SandboxError",
    "Tier",
    "prepare",
    "read_back",
    "run",
    "sweep",
    "tier",
]

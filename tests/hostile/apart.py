# SPDX-License-Identifier: MIT
"""Slots for one group of hostile submissions, as long as it is graded.

They are claimed as every grader claims them, so that nobody else's submission has their uids. Whose
turn it is, public tests or hidden ones, is agreed among them alone: other graders of this machine
would wait for attacks that wait for their deadlines, and these for them.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue
from unittest import mock

from grader.sandbox import Tier, slots

JOBS = 4  # most attacks wait for a deadline


@contextmanager
def own_slots(folder: Path, tier: Tier) -> Iterator[frozenset[int]]:
    """Until the context ends, this process's graders have these slots and agree in that folder."""
    most = tier.slots(slots.MOST)
    free: SimpleQueue[int] = SimpleQueue()
    with ExitStack() as held:
        mine = [held.enter_context(slots.claim(most)) for _ in range(tier.slots(JOBS))]
        for slot in mine:
            free.put(slot)

        @contextmanager
        def claim(_most: int = most) -> Iterator[int]:
            slot = free.get()
            try:
                yield slot
            finally:
                free.put(slot)

        folder.mkdir(mode=0o700)
        held.enter_context(mock.patch.object(slots, "claim", claim))
        held.enter_context(mock.patch.object(slots, "_folder", lambda: folder))
        yield frozenset(mine)

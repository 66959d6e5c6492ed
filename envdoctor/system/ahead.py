"""Make items in a thread while the earlier ones are used."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterator[Item], depth: int) -> Iterator[Item]:
    """Yield items, of which at most so many are made before they are asked for; what making one raises is raised.

    Worth it where making an item leaves the interpreter alone: zlib, zstd and hashlib do, for whole blocks.
    """
    with ThreadPoolExecutor(1) as thread:
        coming = deque(thread.submit(next, items, None) for _ in range(depth))
        while (item := coming.popleft().result()) is not None:
            coming.append(thread.submit(next, items, None))
            yield item

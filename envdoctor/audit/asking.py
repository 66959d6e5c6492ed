"""Ask for many things at once, and stop when the time is over."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from envdoctor.errors import described
from envdoctor.system.web import UnreadError

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
WORKERS = 8


def ask(
    wanted: Iterable[Asked], one: Callable[[Asked], Answer], ends: float, workers: int = WORKERS
) -> Mapping[Asked, Answer | UnreadError]:
    """Call `one` for each, several at a time, until `ends` (monotonic); what has no answer by then is left out.

    An UnreadError is an answer. A call that hangs is left behind in a thread that keeps nobody from ending.
    """
    waiting: queue.SimpleQueue[Asked] = queue.SimpleQueue()
    answers: queue.SimpleQueue[tuple[Asked, Answer | UnreadError]] = queue.SimpleQueue()
    count = 0
    for item in wanted:
        waiting.put(item)
        count += 1

    def work() -> None:
        while time.monotonic() < ends:
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            answers.put((item, _answer(one, item)))

    for _ in range(min(workers, count)):
        threading.Thread(target=work, daemon=True).start()
    found: dict[Asked, Answer | UnreadError] = {}
    while len(found) < count and (left := ends - time.monotonic()) > 0:
        try:
            item, answer = answers.get(timeout=left)
        except queue.Empty:
            break
        found[item] = answer
    return found


def _answer(one: Callable[[Asked], Answer], item: Asked) -> Answer | UnreadError:
    try:
        return one(item)
    except UnreadError as error:
        return error
    except Exception as error:  # noqa: BLE001 - one answer that breaks us must not take the others with it
        return UnreadError(f"the doctor failed here, please report it: {described(error)}")

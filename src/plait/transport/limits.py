"""How long a call may take, and how often it is tried."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from plait.errors import PlaitError


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds; None waits without end.

    Attributes:
        connect: for a connection, and for each write of the request
        first_event: from the start of an attempt to the first event of its answer; of a call that is not
            streamed, to the whole answer
        idle: between two events, while one is waited for. Only what belongs to the answer counts: pings,
            comments and keep-alives do not
        total: for the whole call, with all its attempts and the waits between them
    """

    connect: float | None = 10.0
    first_event: float | None = 600.0
    idle: float | None = 300.0
    total: float | None = None

    def __post_init__(self) -> None:
        for name in ("connect", "first_event", "idle", "total"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"Timeouts: {name}: expected seconds above 0, or None, got {value!r}")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is tried again, and after what wait. Only before its first event was handed out.

    Attributes:
        limit: attempts after the first; 0 never tries again
        first_wait: seconds before the second attempt, at most; each further wait is twice as long
        longest_wait: seconds that a wait never exceeds, unless the provider asks for more
        longest_asked: the longest wait that is granted when the provider asks (`retry-after`); when it asks
            for more, its error is raised at once
        jitter: the part of a wait that is left to chance, so that callers do not come back all at once
    """

    limit: int = 2
    first_wait: float = 0.5
    longest_wait: float = 8.0
    longest_asked: float = 60.0
    jitter: float = 0.5

    def wait(
        self, attempt: int, asked: float | None, chance: Callable[[], float] = random.random
    ) -> float | None:
        """Seconds to wait after this attempt (the first is 1); None: it is not to be tried again."""
        if attempt > self.limit:
            return None
        if asked is not None:
            return asked if asked <= self.longest_asked else None
        longest: float = min(self.longest_wait, self.first_wait * 2.0 ** min(attempt - 1, 30))
        return longest * (1 - self.jitter * chance())


@dataclass(frozen=True, slots=True)
class Retry:
    """What `on_retry` is told: an attempt failed, and another will be made.

    Attributes:
        attempt: the attempt that failed, the first is 1
        wait: seconds until the next
        error: why it failed
    """

    attempt: int
    wait: float
    error: PlaitError

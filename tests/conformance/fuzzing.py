"""How long the fuzz tests look: `PLAIT_FUZZ_EXAMPLES` examples per test and wire."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

LONG = int(os.environ.get("PLAIT_FUZZ_EXAMPLES", "0"))


def fuzz(examples: int) -> settings:
    """Always the same examples, this many; or with `PLAIT_FUZZ_EXAMPLES` new ones."""
    return settings(
        max_examples=LONG or examples,
        derandomize=not LONG,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )

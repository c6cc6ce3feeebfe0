"""All checks, in order of cost: `python -m tests.checks`. Exit status 1 when any of them fails.

Every check runs, so that one run shows all that is wrong.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHECKS: dict[str, list[str]] = {
    "lint": ["ruff", "check", "."],
    "format": ["ruff", "format", "--check", "."],
    "types": ["mypy"],
    "tests": ["pytest", "-n", "auto", "--durations=5"],
}


def main() -> int:
    """Run all checks; print what failed last."""
    failed = []
    for name, command in CHECKS.items():
        print(f"--- {name}: {' '.join(command)}", flush=True)
        start = time.monotonic()
        status = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
        print(
            f"--- {name}: {'ok' if status == 0 else f'FAILED ({status})'}, {time.monotonic() - start:.0f} s"
        )
        if status != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

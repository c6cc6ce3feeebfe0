"""What importing costs, each time in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from .streams import stream

_BODY = stream("openai-chat", "text", 20).body

BASELINE = "httpx, pydantic"

STATEMENTS: dict[str, str] = {
    BASELINE: "import httpx, pydantic",
    "plait": "import plait",
    "plait, and a stream read": f"import plait; list(plait.parse({_BODY!r}, 'openai-chat'))",
    "plait, and its message": (
        f"import plait; p = plait.parser('openai-chat'); p.feed({_BODY!r}); p.close(); p.message.text"
    ),
    "openai, and a client": "import openai; openai.OpenAI(api_key='none').chat.completions",
    "anthropic, and a client": "import anthropic; anthropic.Anthropic(api_key='none').messages",
    "litellm": "import litellm",
    "pydantic_ai, and its OpenAI models": "import pydantic_ai.direct, pydantic_ai.models.openai",
    "langchain_openai": "import langchain_openai",
    "lm15": "import lm15",
}

_TIMED = (
    "import sys, time; start = time.process_time(); {}; print(time.process_time() - start, len(sys.modules))"
)


@dataclass(frozen=True)
class Imported:
    """Milliseconds of CPU and the modules that are loaded then, the interpreter's own included."""

    name: str
    milliseconds: float | None = None
    modules: int | None = None
    note: str = ""


def imports(rounds: int) -> list[Imported]:
    """What each statement costs: the best of `rounds` processes, one of each per round."""
    best: dict[str, tuple[float, int]] = {}
    notes: dict[str, str] = {}
    for _round in range(rounds):
        for name in STATEMENTS.keys() - notes.keys():
            command = [sys.executable, "-W", "ignore", "-c", _TIMED.format(STATEMENTS[name])]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                last = (done.stderr.strip().splitlines() or ["no output"])[-1]
                absent = last.startswith("ModuleNotFoundError") and "plait" not in last
                notes[name] = "not installed" if absent else f"failed: {last[:150]}"
                continue
            seconds, modules = done.stdout.split()[-2:]
            best[name] = min(best.get(name, (float("inf"), 0)), (float(seconds), int(modules)))
    return [
        Imported(name, best[name][0] * 1e3, best[name][1])
        if name in best
        else Imported(name, note=notes[name])
        for name in STATEMENTS
    ]

"""Imports go down only, and the hot path imports nothing that is slow or does I/O."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import plait

ROOT = Path(plait.__file__).parent

LAYERS = [
    {"cli"},
    {"integrations"},
    {"conformance"},
    {"agent"},
    {"cassettes"},
    {"guard", "telemetry", "transport"},
    {"providers"},
    {"wire"},
    {"framing"},
    {"messages"},
    {"files"},
    {"content_coding", "errors", "events", "inline_data", "json_text", "media_types"},
]
"""Top to bottom, as in the design. The modules of the lowest layer may import each other."""

LEVEL = {name: len(LAYERS) - place for place, names in enumerate(LAYERS) for name in names}

PURE = ("events", "errors", "inline_data", "json_text", "media_types", "messages", "framing", "wire")
"""What does no I/O and reads no clock. `files` does: a part asks it, inside the method its user called."""

IMPURE = {
    "aiohttp", "asyncio", "datetime", "http", "httpx", "io", "logging", "os", "pathlib", "random",
    "requests", "secrets", "select", "selectors", "signal", "socket", "ssl", "subprocess", "sys", "tempfile",
    "threading", "time", "urllib",
}  # fmt: skip


def imports(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, those inside functions included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names} if module == "plait" else {module}
    return found


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


MODULES = [path for path in sorted(ROOT.rglob("*.py")) if path.parent != ROOT or layer(path) in LEVEL]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_every_layer_is_known() -> None:
    """A new top-level package or module takes a place in the layers (or is the package's own surface)."""
    assert set() == {layer(path) for path in ROOT.rglob("*.py")} - LEVEL.keys() - {"__init__", "__main__"}


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_go_down(path: Path) -> None:
    """A module imports from its own layer or a lower one, but for type checking."""
    own = LEVEL[layer(path)]
    ours = {module.split(".")[1] for module in imports(path) if module.startswith("plait.")}
    assert set() == {
        other for other in ours if other in LEVEL and LEVEL[other] > own and not _typing(path, other)
    }


def _typing(path: Path, other: str) -> bool:
    """Whether `other` is imported for type checking only."""
    tree = ast.parse(path.read_text("utf-8"))
    guarded = [
        node.module or ""
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    ]
    everywhere = [
        node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"plait.{other}")
    ]
    return bool(everywhere) and all(
        everywhere.count(module) == guarded.count(module) for module in everywhere
    )


@pytest.mark.parametrize("path", [path for path in MODULES if layer(path) in PURE], ids=name)
def test_reading_is_pure(path: Path) -> None:
    """Events, messages, framing and wires import no HTTP library, clock, logging or operating system."""
    assert set() == {module.split(".")[0] for module in imports(path)} & IMPURE


def loaded_after(code: str, *modules: str) -> list[str]:
    """Which of `modules` a fresh interpreter has loaded after running `code`."""
    script = f"{code}\nimport sys\nprint(*[name for name in {modules!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


PARSE = """
import plait
body = (
    b'data: {"type":"message_start","message":{"id":"m","model":"c"}}\\n\\n'
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\\n\\n'
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}\\n\\n'
    b'data: {"type":"content_block_stop","index":0}\\n\\n'
    b'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}\\n\\n'
    b'data: {"type":"message_stop"}\\n\\n'
)
events = list(plait.parse(body, "anthropic-messages"))
assert len(events) == 5, events
"""


@pytest.mark.parametrize("code", ["import plait", PARSE], ids=["import", "parse a stream"])
def test_hot_path_is_light(code: str) -> None:
    """Neither `import plait` nor parsing a whole stream loads pydantic, httpx, asyncio or logging."""
    assert [] == loaded_after(code, "pydantic", "httpx", "asyncio", "logging", "yaml", "plait.messages")


def test_messages_load_when_asked_for() -> None:
    """The message classes are there on first use, and only they bring pydantic."""
    assert ["pydantic", "plait.messages"] == loaded_after(
        "import plait; plait.AssistantMessage", "pydantic", "httpx", "plait.files", "plait.messages"
    )


def test_names_exist() -> None:
    """Each name of `__all__` is there, an unknown one is an AttributeError."""
    assert [] == [name for name in plait.__all__ if not hasattr(plait, name)]
    with pytest.raises(AttributeError, match="module 'plait' has no attribute 'nothing'"):
        plait.nothing  # noqa: B018

"""Every Python snippet of the README and docs runs, from the repository's root, without a network."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from tables import render

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def snippets(page: Path) -> list[tuple[int, str]]:
    """The ```python blocks of a page with the line each begins at."""
    text = page.read_text("utf-8")
    return [
        (text.count("\n", 0, found.start()) + 1, found.group(1))
        for found in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(line, code, id=f"{page.relative_to(ROOT)}:{line}")
        for page in PAGES
        for line, code in snippets(page)
    ],
)
def test_snippet_runs(line: int, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snippet is a whole program: it runs by itself."""
    monkeypatch.chdir(ROOT)
    script = tmp_path / f"snippet_{line}.py"
    script.write_text(code, "utf-8")
    runpy.run_path(str(script), run_name="__main__")


def test_every_page_is_read() -> None:
    """The README has at least one runnable example; a renamed fence would silently empty this module."""
    assert snippets(ROOT / "README.md")


def test_ci_runs_the_command_of_the_readme() -> None:
    """`.ci/run` installs and checks with the commands the README gives a newcomer, in its own environment."""
    readme = (ROOT / "README.md").read_text("utf-8")
    ci = (ROOT / ".ci" / "run").read_text("utf-8")
    assert "'.[dev]'" in readme
    assert "'.[dev]'" in ci
    assert "python -m tests.checks" in readme
    assert 'python" -m tests.checks' in ci


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_are_those_of_the_code(page: Path) -> None:
    """A table that comes from the code is what the code says; `python -m tests.tables` rewrites it."""
    text = page.read_text("utf-8")
    assert text == render(text)

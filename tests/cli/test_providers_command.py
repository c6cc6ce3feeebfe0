"""`plait providers`: what there is, which keys are set, and never a key."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import plait

from plait.providers import CATALOGUE

KEYS = {name: "MARKER-secret-value" for row in CATALOGUE.values() for name in row.key_names}


def test_table() -> None:
    """Every provider, with its wire formats, URL, documentation, and what can be asked for."""
    done = plait("providers", COLUMNS="300")
    assert 0 == done.returncode
    assert b"" == done.stderr
    shown = done.stdout.decode()
    for row in CATALOGUE.values():
        assert row.name in shown
        assert row.docs in shown
        assert row.checked in shown
        assert row.address(row.endpoints[0]) in shown
        for at in row.endpoints:
            assert at.wire in shown
        for name in row.key_names:
            assert f"{name}: " in shown
    assert "tools, forced tools, JSON schema" in shown
    assert "depends on the server" in shown


def test_narrow_terminal() -> None:
    """Nothing is cut in a narrow one."""
    done = plait("providers", COLUMNS="60")
    assert 0 == done.returncode
    assert "…" not in done.stdout.decode()
    assert max(map(len, done.stdout.decode().splitlines())) <= 60


@pytest.mark.parametrize("arguments", [[], ["--json"], ["anthropic"], ["anthropic", "--json"]])
def test_keys_are_told_of_and_not_shown(arguments: list[str]) -> None:
    """Whether a variable is set, and not what it holds."""
    without = plait("providers", *arguments, COLUMNS="300", ANTHROPIC_API_KEY="").stdout.decode()
    done = plait("providers", *arguments, stdin=b"", COLUMNS="300", **KEYS).stdout.decode()
    assert "MARKER" not in done
    assert without != done
    if "--json" not in arguments:
        assert "ANTHROPIC_API_KEY: not set" in without
        assert "ANTHROPIC_API_KEY: set" in done


def test_json() -> None:
    """A list of all providers, each as data."""
    found = json.loads(plait("providers", "--json", GROQ_API_KEY="k", OLLAMA_HOST="not an address").stdout)
    assert list(CATALOGUE) == [row["name"] for row in found]
    groq = next(row for row in found if row["name"] == "groq")
    assert [{"name": "GROQ_API_KEY", "set": True}] == groq["key_env"]
    (endpoint,) = groq["endpoints"]
    assert "https://api.groq.com/openai/v1/chat/completions" == endpoint["stream_url"]
    assert ("openai-chat", "groq") == (endpoint["wire"], endpoint["dialect"])
    assert ["image"] == endpoint["capabilities"]["media"]


def test_one_in_detail() -> None:
    """All its endpoints, settings and variables."""
    done = plait("providers", "bedrock", COLUMNS="200", AWS_REGION="eu-west-1")
    assert 0 == done.returncode
    shown = done.stdout.decode()
    assert "https://bedrock-runtime.{region}.amazonaws.com/model/{model}/converse-stream" in shown
    assert "https://bedrock-runtime.{region}.amazonaws.com/model/{model}/invoke" in shown
    assert "AWS_REGION: set; AWS_DEFAULT_REGION: " in shown
    assert "bedrock-converse" in shown
    data = json.loads(plait("providers", "bedrock", "--json").stdout)
    assert ["profile", "region"] == [setting["name"] for setting in data["settings"]]


def test_unknown() -> None:
    """Exit status 2, and the names there are."""
    done = plait("providers", "nobody")
    assert 2 == done.returncode
    assert b"" == done.stdout
    assert "unknown provider 'nobody'; the providers are openai, azure" in done.stderr.decode()


def test_packages(tmp_path: Path) -> None:
    """What packages add is listed with the rest; one that cannot be loaded is told of, with exit status 1."""
    (tmp_path / "acme_plait.py").write_text(
        "import plait\n"
        "url = 'https://acme.example/v1?key=MARKER'\n"
        "row = plait.Provider('acme', 'openai-chat', url, key_env='ACME_KEY')\n"
    )
    info = tmp_path / "acme_plait-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme_plait\nVersion: 1.0\n")
    points = info / "entry_points.txt"
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH")]))
    points.write_text("[plait.providers]\nacme = acme_plait:row\n")
    done = plait("providers", PYTHONPATH=path, COLUMNS="300")
    assert 0 == done.returncode
    assert "https://acme.example/v1" in done.stdout.decode()
    assert "MARKER" not in done.stdout.decode()
    points.write_text("[plait.providers]\nacme = acme_plait:row\nbroken = acme_plait:nothing\n")
    done = plait("providers", PYTHONPATH=path, COLUMNS="300")
    assert 1 == done.returncode
    assert "https://acme.example/v1" in done.stdout.decode()
    assert "the entry point 'broken'" in done.stderr.decode()
    assert 2 == plait("providers", "broken", PYTHONPATH=path).returncode
    assert 0 == plait("providers", "acme", PYTHONPATH=path).returncode

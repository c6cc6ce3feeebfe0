"""Providers from outside: registered in the process, or added by an installed package's entry points."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asked
import pytest
from asked import credentials, sent

import plait
from plait import providers as layer
from plait.errors import ConfigurationError, UnknownWireError
from plait.providers import Provider, find_provider, installed, providers, register_provider, target

clean = asked.clean

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test registers or installs is gone after it."""
    monkeypatch.setattr(layer, "_registered", {})
    layer.forget_installed()
    yield
    layer.forget_installed()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution, as a package manager does: its module and its metadata on the path."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    made: list[str] = []

    def install(name: str, code: str, **points: str) -> None:
        made.append(name)
        (site / f"{name}.py").write_text(code, "utf-8")
        info = site / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", "utf-8")
        lines = [f"{point} = {value}" for point, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join(["[plait.providers]", *lines, ""]), "utf-8")
        layer.forget_installed()

    yield install
    for name in made:
        sys.modules.pop(name, None)


ACME = """
import plait
acme = plait.Provider("acme", wire="openai-chat", base_url="https://acme.example/v1", key_env="ACME_API_KEY")
"""


def test_register_by_name() -> None:
    """A name and the fields of the row are enough; it is then asked like any other."""
    row = register_provider(
        "acme", wire="openai-chat", base_url="https://acme.example/v1", key_env="ACME_KEY"
    )
    assert row is find_provider("acme")
    assert row is providers()["acme"]
    request = sent("acme/some/model", api_key="KEY-KEY-KEY")
    assert "https://acme.example/v1/chat/completions" == str(request.url)
    assert {"authorization": "Bearer KEY-KEY-KEY"} == credentials(request)
    assert ("openai-chat", None, "some/model") == target("acme/some/model")


def test_register_a_row() -> None:
    """A row with a setting of its own, of a wire format with a path of its own."""
    row = Provider(
        "acme.eu",
        wire="gemini",
        dialect="google",
        base_url="https://{zone}.acme.example",
        settings={"zone": plait.Setting("the zone", ("ACME_ZONE",), default="a1")},
    )
    assert row is plait.register_provider(row)
    assert "https://a1.acme.example/models/m:generateContent" == str(
        sent("acme.eu/m", whole=True, api_key="KEY-KEY-KEY").url
    )
    assert "b2.acme.example" == sent("acme.eu/m", api_key="KEY-KEY-KEY", zone="b2").url.host
    with pytest.raises(ConfigurationError, match=r"acme\.eu: zone: expected letters"):
        plait.Model("acme.eu/m", zone="evil.com/")


def test_replacing() -> None:
    """A row with a name that is taken comes in its place; the last one counts."""
    register_provider("openai", wire="openai-chat", base_url="https://one.example/v1")
    register_provider("openai", wire="openai-chat", base_url="https://two.example/v1")
    assert "two.example" == sent("openai/m", api_key="KEY-KEY-KEY").url.host
    assert 1 == list(providers()).count("openai")


@pytest.mark.parametrize("name", ["", "Acme", "a/b", "a b", "-a", "acme\n", "ä", "a:b", "../x"])
def test_names_that_cannot_be(name: str) -> None:
    """A name stands before the slash of PROVIDER/MODEL."""
    with pytest.raises(ConfigurationError, match="a provider's name is"):
        register_provider(name, wire="openai-chat", base_url="https://acme.example/v1")
    assert name not in providers()


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"wire": "telepathy"}, id="wire"),
        pytest.param({"wire": "telepathy", "dialect": "x"}, id="wire with a dialect"),
        pytest.param({"wire": "openai-chat", "dialect": "nobody"}, id="dialect"),
        pytest.param({"wire": "openai-chat", "also": (plait.Endpoint("telepathy"),)}, id="another wire"),
        pytest.param({"wire": "openai-chat", "also": (plait.Endpoint("gemini", "groq"),)}, id="its dialect"),
    ],
)
def test_unknown_wires_and_dialects(fields: dict[str, Any]) -> None:
    """A row for a wire format or dialect that Plait does not have is refused, and not kept."""
    with pytest.raises(UnknownWireError):
        register_provider("acme", base_url="https://acme.example/v1", **fields)
    assert "acme" not in providers()


def test_what_is_no_row() -> None:
    """Anything else than a row is refused; a row and fields are one too many."""
    with pytest.raises(TypeError, match=r"expected a plait\.Provider, got dict"):
        register_provider({"name": "acme"})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got both"):
        register_provider(Provider("acme", "openai-chat"), base_url="https://acme.example")


def test_unknown_provider() -> None:
    """The error lists the providers and says how to reach another one."""
    with pytest.raises(ConfigurationError, match=r"unknown provider 'nobody'.*groq.*openai-compatible/MODEL"):
        plait.Model("nobody/m")


@pytest.mark.parametrize("name", ["openai", "/m", "openai/", ""])
def test_not_provider_and_model(name: str) -> None:
    """Both halves are needed."""
    with pytest.raises(ConfigurationError, match="expected PROVIDER/MODEL"):
        plait.Model(name)


@pytest.mark.parametrize(
    ("code", "value"),
    [
        pytest.param(ACME, "acme_plait:acme", id="a row"),
        pytest.param(
            ACME + "def rows(): return [acme]", "acme_plait:rows", id="a function that gives several"
        ),
        pytest.param(ACME + "def row(): return acme", "acme_plait:row", id="a function that gives one"),
        pytest.param(ACME + "rows = (acme,)", "acme_plait:rows", id="several"),
    ],
)
def test_installed_package(code: str, value: str, install: Install) -> None:
    """An installed distribution adds providers by its entry points, whatever these are named."""
    install("acme_plait", code, anything=value)
    assert "acme.example" == sent("acme/m", api_key="KEY-KEY-KEY").url.host
    assert {"acme", "openai"} <= set(providers())


def test_installed_package_is_read_once(install: Install) -> None:
    """Its code runs at the first question, and not again."""
    install("acme_plait", ACME + "import sys\nsys.acme = getattr(sys, 'acme', 0) + 1", acme="acme_plait:acme")
    for _ in range(3):
        find_provider("acme")
    assert 1 == sys.__dict__.pop("acme")


def test_installed_package_replaces_a_row(install: Install) -> None:
    """A package's row comes before the catalogue's, and a registered one before that."""
    install("acme_plait", ACME.replace('"acme"', '"groq"'), groq="acme_plait:acme")
    assert "https://acme.example/v1" == find_provider("groq").base_url
    assert "https://acme.example/v1" == providers()["groq"].base_url
    register_provider("groq", wire="openai-chat", base_url="https://mine.example")
    assert "https://mine.example" == find_provider("groq").base_url


BROKEN = [
    pytest.param(
        "raise ImportError('no such lib')", "broken_plait:row", "ImportError: no such lib", id="import"
    ),
    pytest.param("", "broken_plait:row", "AttributeError", id="no such name"),
    pytest.param("", "nowhere_plait:row", "ModuleNotFoundError", id="no such module"),
    pytest.param("row = 7", "broken_plait:row", "TypeError", id="a number"),
    pytest.param("row = ['acme']", "broken_plait:row", "expected a plait.Provider, got str", id="text"),
    pytest.param(
        "def row(): return 1 / 0", "broken_plait:row", "ZeroDivisionError", id="a function that fails"
    ),
    pytest.param(
        "import plait\nrow = plait.Provider('x', wire='telepathy')",
        "broken_plait:row",
        "UnknownWireError",
        id="an unknown wire",
    ),
    pytest.param(
        "import plait\nrow = plait.Provider('x', wire='openai-chat', dialect='nobody')",
        "broken_plait:row",
        "UnknownWireError",
        id="an unknown dialect",
    ),
]


@pytest.mark.parametrize(("code", "value", "words"), BROKEN)
def test_broken_package(code: str, value: str, words: str, install: Install) -> None:
    """The error names the entry point, its group and what is wrong with it."""
    install("broken_plait", code, broken=value)
    for ask in (providers, lambda: find_provider("broken"), lambda: find_provider("nobody")):
        with pytest.raises(ConfigurationError) as caught:
            ask()
        assert "'broken'" in str(caught.value)
        assert "plait.providers" in str(caught.value)
        assert value in str(caught.value)
        assert words in str(caught.value)


@pytest.mark.parametrize(("code", "value", "words"), BROKEN)
def test_broken_package_leaves_the_others_alone(code: str, value: str, words: str, install: Install) -> None:
    """The catalogue, and what healthy packages add, can be asked as before."""
    install("broken_plait", code, broken=value)
    install("acme_plait", ACME, acme="acme_plait:acme")
    assert "api.openai.com" == sent("openai/m", api_key="KEY-KEY-KEY").url.host
    assert "acme.example" == sent("acme/m", api_key="KEY-KEY-KEY").url.host
    assert {"broken"} == set(installed().faults)


def test_broken_package_of_a_known_name(install: Install) -> None:
    """A package that would replace a provider and cannot is not passed over in silence."""
    install("broken_plait", "raise ImportError('no such lib')", groq="broken_plait:row")
    with pytest.raises(ConfigurationError, match="the entry point 'groq'"):
        find_provider("groq")
    register_provider("groq", wire="openai-chat", base_url="https://mine.example")
    assert "https://mine.example" == find_provider("groq").base_url


def test_two_packages_of_one_name(install: Install) -> None:
    """The second one is a fault: which of them counts would be left to chance."""
    install("acme_plait", ACME, first="acme_plait:acme", second="acme_plait:acme")
    assert "https://acme.example/v1" == find_provider("acme").base_url
    with pytest.raises(ConfigurationError, match=r"'second'.*another package has added 'acme'"):
        providers()


def test_package_that_asks_while_it_is_loaded(install: Install) -> None:
    """A package may build on a row of the catalogue, and register rows itself."""
    code = """
import dataclasses
import plait
from plait.providers import find_provider
acme = dataclasses.replace(find_provider("groq"), name="acme")
plait.register_provider("side", wire="openai-chat", base_url="https://side.example")
"""
    install("acme_plait", code, acme="acme_plait:acme")
    assert "https://api.groq.com/openai/v1" == find_provider("acme").base_url
    assert "https://side.example" == find_provider("side").base_url


def test_threads(install: Install) -> None:
    """Threads that ask first at the same time all get the package's row."""
    install("acme_plait", "import time\ntime.sleep(0.02)" + ACME, acme="acme_plait:acme")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(find_provider("acme").name), name=f"asks-{number}")
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ["acme"] * 8 == found

"""Headers and addresses that cannot be: refused with an error that says so, and shows no secret."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from asking import END, HELLO, ask, both_modes, local
from checking import sse

from local_server import Answer, LocalServer
from plait import ConfigurationError, Model, TransportError

SECRET = "s3cr3t-value"

VALUES: dict[str, Any] = {
    "not ASCII": f"{SECRET}é",
    "beyond Latin-1": f"{SECRET}€",
    "a line end": f"{SECRET}\nx-more: yes",
    "a carriage return": f"{SECRET}\r",
    "a tab and a line end": f"{SECRET}\t\n",
    "a null": f"{SECRET}\0",
    "an escape": f"\x1b[1m{SECRET}",
    "a delete": f"{SECRET}\x7f",
    "no text": SECRET.encode(),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_that_no_header_has(value: Any) -> None:
    """The error names the header and keeps its value."""
    with pytest.raises(ConfigurationError, match="expected printable ASCII text for 'x-mine'") as caught:
        Model("mock/any", headers={"x-mine": value})
    assert SECRET not in repr(caught.value) + str(caught.value)
    assert None is caught.value.__cause__ is caught.value.__context__


@pytest.mark.parametrize("name", ["", "x y", "x:", "x\n", f"{SECRET}\r\ny", "é", "x€", b"x", None])
def test_names_that_no_header_has(name: Any) -> None:
    """The error does not repeat it: it may be the value, in the wrong place."""
    with pytest.raises(ConfigurationError, match="a name that no header can have") as caught:
        Model("mock/any", headers={name: SECRET})
    assert SECRET not in repr(caught.value) + str(caught.value)


@both_modes
@pytest.mark.parametrize("value", [f" {SECRET}", f"{SECRET} "], ids=["before", "behind"])
def test_spaces_around_a_value(value: str, mode: str) -> None:
    """What the HTTP library refuses only when it sends is the same error, and it keeps the value, too."""
    with LocalServer(Answer(HELLO + END)) as server:
        answered = ask(mode, local(server.url, headers={"x-mine": value}))
    assert isinstance(answered.error, ConfigurationError), answered.error
    assert SECRET not in repr(answered.error) + str(answered.error)


@both_modes
@pytest.mark.parametrize("value", ["", "a b", "a\tb", "~!"], ids=["empty", "a space", "a tab", "signs"])
def test_values_that_headers_have(value: str, mode: str) -> None:
    """They are sent as they are."""
    with LocalServer(Answer(HELLO + END)) as server:
        assert None is ask(mode, local(server.url, headers={"X-Mine": value})).error
        assert value == server.requests[0].headers["x-mine"]


REFUSED = ["http://", "http://[::1", "http://a b", "http://h:99999", "localhost:1", "ftp://h", "unix:///h"]
UNSENT = ["http://xn--", "http://\N{SNOWMAN}.test"]
NOBODY = ["http://a..b", f"http://{'a' * 64}.test", "http://.test"]


@both_modes
@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_are_none(address: str, mode: str) -> None:
    """They are refused before anything is sent."""
    with pytest.raises(ConfigurationError, match="base_url: expected a URL such as"):
        ask(mode, local(address))


@both_modes
@pytest.mark.parametrize("address", UNSENT)
def test_addresses_that_cannot_be_sent_to(address: str, mode: str) -> None:
    """Only the HTTP library knows what is wrong with them: the stream raises the same class."""
    assert isinstance(ask(mode, local(address)).error, ConfigurationError)


@both_modes
@pytest.mark.parametrize("address", [*NOBODY, "http://127.0.0.1:9", "https://127.0.0.1:9"])
def test_addresses_where_nobody_is(address: str, mode: str) -> None:
    """A name that cannot be looked up, or a port that is closed: an error of ours, not one of a codec."""
    answered = ask(mode, local(address))
    assert isinstance(answered.error, ConfigurationError | TransportError), answered.error
    assert [] == answered.events


KEY = "gsk_InventedKeyForTests0123456789"
REPEATED: dict[str, dict[str, Any]] = {
    "a field's name": {"choices": [], KEY: 1},
    "a nested field's name": {"choices": [{"index": 0, "delta": {f"x-{KEY}-y": {KEY: 1}}}]},
    "a value": {"choices": [{"index": 0, "delta": {}, "finish_reason": KEY}]},
    "a value that is cut": {"choices": [{"index": 0, "delta": {}, "finish_reason": "x" * 80 + KEY}]},
}


@both_modes
@pytest.mark.parametrize("frame", REPEATED.values(), ids=REPEATED)
def test_a_key_that_the_provider_repeats_is_not_logged(
    frame: dict[str, Any], mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What is not understood is logged by name, and the name may be the key, or its start."""
    with (
        LocalServer(Answer((HELLO[0], sse(frame), HELLO[1], *END))) as server,
        caplog.at_level(logging.DEBUG, "plait"),
    ):
        ask(mode, local(server.url, api_key=KEY, reading={"count_fields": True}))
    assert f"Bearer {KEY}" == server.requests[0].headers["authorization"]
    told = [record.getMessage() for record in caplog.records if record.name == "plait.wire"]
    assert 1 == len(told)
    assert told[0].startswith("openai-chat: not understood: {")
    assert "***" in told[0]
    assert KEY[:8] not in caplog.text

"""Plait's parser keeps the laws on bodies of every kind, and the ways to ask agree."""

from __future__ import annotations

import pytest
from bodies import BODIES, STREAM, WHOLE, WIRE

import plait
from plait import conformance
from plait.conformance import Breach


@pytest.mark.parametrize("law", conformance.LAWS)
@pytest.mark.parametrize("body", BODIES.values(), ids=list(BODIES))
def test_law_holds(law: str, body: bytes) -> None:
    """Complete or cut, an error or no stream at all: the law holds for what came."""
    assert conformance.LAWS[law](WIRE, body) == []


def test_check_runs_all_laws_but_the_slow_ones() -> None:
    """Without names, `check` leaves out what takes long."""
    broken = Breach("cost", "")
    assert conformance.LAWS["cost"].slow
    assert conformance.check(WIRE, STREAM) == []
    assert broken.law not in {law.name for law in conformance.LAWS.values() if not law.slow}


def test_check_takes_names_of_laws() -> None:
    """Only the named laws are checked; a name that is none is an error, not a law that holds."""
    assert conformance.check(WIRE, STREAM, ["text", "cost"]) == []
    with pytest.raises(KeyError, match="texts"):
        conformance.check(WIRE, STREAM, ["texts"])


def test_unknown_wire_is_an_error() -> None:
    """A wire that Plait does not know is not a wire whose laws hold."""
    with pytest.raises(plait.UnknownWireError, match="no-such-wire"):
        conformance.text("no-such-wire", STREAM)


def test_stream_and_json_of_one_response() -> None:
    """Law 7 for two bodies: equal messages are no breach, and a field that differs is named."""
    compact = STREAM.replace(b'{\\"city\\": ', b'{\\"city\\":')
    assert conformance.same_message(WIRE, compact, WHOLE) == []
    other = WHOLE.replace(b'"output_tokens": 9', b'"output_tokens": 8')
    (breach,) = conformance.same_message(WIRE, compact, other)
    assert breach.law == "one_reading"
    assert breach.message.startswith("token_usage is ")


def test_breach_reads_as_a_sentence() -> None:
    """`str` of a breach is what a terminal shows."""
    assert str(Breach("text", "2 TextDone")) == "text: 2 TextDone"


def test_every_law_says_what_it_asks() -> None:
    """The words of each law are its docstring; the numbers are those of DESIGN.md."""
    assert all(law.__doc__ for law in conformance.LAWS.values())
    assert [law.number for law in conformance.LAWS.values()] == [1, 2, 3, 4, 5, None, 6, 7, 9, 10, 11]

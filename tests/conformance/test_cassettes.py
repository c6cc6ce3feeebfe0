"""The laws on every cassette of the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait import cassettes, conformance
from plait.cassettes import Interaction

ROOT = Path(__file__).resolve().parents[2] / "cassettes"

INTERACTIONS = [
    pytest.param(interaction, id=f"{path.relative_to(ROOT).with_suffix('')}-{number}")
    for path in sorted(ROOT.rglob("*.yaml"))
    for number, interaction in enumerate(cassettes.load(path).interactions)
]


@pytest.mark.parametrize("interaction", INTERACTIONS)
def test_cassette_obeys_the_laws(interaction: Interaction) -> None:
    """Every law, the slow ones too, holds for what the repository itself shows."""
    assert interaction.wire is not None, "the cassette does not say its wire"
    breaches = conformance.check(
        interaction.wire, interaction.response.body, conformance.LAWS, dialect=interaction.dialect
    )
    assert breaches == [], "\n".join(map(str, breaches))

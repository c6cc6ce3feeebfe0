"""Recordings of provider responses: VCR YAML files, read and written.

A cassette written here is a file that plain vcrpy replays. Beside each `request` and `response` it may hold
a `plait:` mapping, which vcrpy ignores:

    plait:
      wire: anthropic-messages            # the wire format of the response's body
      dialect: vertex                     # only where shapes conflict
      provenance: {kind: synthesized, source: <the specification it follows>, date: '2026-11-30'}
      expect: OverloadedError             # the error that ends it, when one does
      chunks: [[120, 512], [180, 77]]     # [milliseconds since the response began, bytes], as they arrived

Reading needs PyYAML, which comes with `pip install 'plait[cli]'`.
"""

from __future__ import annotations

from plait.cassettes.model import Cassette, Interaction, Provenance, Request, Response
from plait.cassettes.reading import MAX_CASSETTE, is_cassette_start, load, loads
from plait.cassettes.writing import KEPT_HEADERS, dump, save
from plait.wire.guessing import guess_wire

__all__ = [
    "KEPT_HEADERS",
    "MAX_CASSETTE",
    "Cassette",
    "Interaction",
    "Provenance",
    "Request",
    "Response",
    "dump",
    "guess_wire",
    "is_cassette_start",
    "load",
    "loads",
    "save",
]

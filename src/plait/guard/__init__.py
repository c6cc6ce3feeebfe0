"""A transport that does not let half an answer pass for a whole one, for clients that are not Plait's.

    client = openai.OpenAI(http_client=openai.DefaultHttpxClient(transport=GuardTransport()))

`GuardTransport` and `AsyncGuardTransport` wrap a transport of `httpx` or of `httpx2`. Every byte passes
through as it came and when it came, while a parser reads along. Where a streamed response of a known wire
ends before its terminal event, the transport raises instead of ending.

What it raises is an `IncompleteStreamError` of Plait's and a `RemoteProtocolError` of the library's at the
same time. Importing this package imports neither library: the first request says which one is in use.
"""

from __future__ import annotations

from plait.errors import IncompleteStreamError
from plait.guard.transports import AsyncGuardTransport, GuardTransport

__all__ = ["AsyncGuardTransport", "GuardTransport", "IncompleteStreamError"]

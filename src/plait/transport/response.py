"""What a response says beside its body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plait.wire.http_errors import REQUEST_ID_HEADERS

_KEPT_BACK = frozenset(
    {"set-cookie", "set-cookie2", "authorization", "proxy-authenticate", "www-authenticate"}
)


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """Status and headers of an HTTP response.

    Attributes:
        status: the HTTP status
        headers: its headers by lower-case name, without cookies
        request_id: the provider's id of the request, for a support ticket
        attempts: which attempt it answers, the first is 1
    """

    status: int
    headers: Mapping[str, str]
    request_id: str | None = None
    attempts: int = 1

    @property
    def rate_limits(self) -> Mapping[str, str]:
        """The headers that tell of rate limits, such as `x-ratelimit-remaining-requests`."""
        return {
            name: value
            for name, value in self.headers.items()
            if "ratelimit" in name or "rate-limit" in name or name.startswith("retry-after")
        }


def response_info(status: int, headers: Mapping[str, str], attempts: int) -> ResponseInfo:
    """Of a client's response; of several headers with one name the client gives all, joined by commas."""
    kept = {name.lower(): value for name, value in headers.items() if name.lower() not in _KEPT_BACK}
    request_id = next((kept[name] for name in REQUEST_ID_HEADERS if kept.get(name)), None)
    return ResponseInfo(status, kept, request_id, attempts)

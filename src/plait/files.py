"""Files and URLs -> bytes: the only I/O that a message part can ask for, and only when its user asks.

A URL is fetched as a server must fetch what a stranger names: over http or https only, from public addresses
only, at the very address that was checked (a second look-up could give another one), each redirect checked
again, with bounds on size and time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from plait import media_types
from plait.errors import FetchError, InvalidDataError

if TYPE_CHECKING:
    import httpx

MAX_REDIRECTS = 5
"""How many redirects are followed: files move once or twice; more is a loop."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream"})
_CREDENTIALS = ("Authorization", "Cookie")
_ANYWHERE: list[str | None] = [None]
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: an IPv4 address behind a translator
_PLATFORM = frozenset({ip_address("168.63.129.16")})
"""Public by number, yet the platform's own: Azure's (learn.microsoft.com: "What is 168.63.129.16?")."""

StrPath: TypeAlias = str | PathLike[str]


class Client(Protocol):
    """What is used of an `httpx.Client` (or httpx2's)."""

    def build_request(
        self, method: str, url: str, *, headers: Any = ..., timeout: Any = ..., extensions: Any = ...
    ) -> Any:
        """A request with the client's own headers."""

    def send(
        self, request: Any, *, stream: bool = False, auth: Any = ..., follow_redirects: Any = ...
    ) -> Any:
        """The response, its body unread."""


class AsyncClient(Protocol):
    """What is used of an `httpx.AsyncClient` (or httpx2's)."""

    def build_request(
        self, method: str, url: str, *, headers: Any = ..., timeout: Any = ..., extensions: Any = ...
    ) -> Any:
        """A request with the client's own headers."""

    async def send(
        self, request: Any, *, stream: bool = False, auth: Any = ..., follow_redirects: Any = ...
    ) -> Any:
        """The response, its body unread."""


class Content(NamedTuple):
    """The bytes of a file, what it is called, and its media type where that is known."""

    data: bytes
    name: str
    media_type: str | None


def read(path: StrPath, max_bytes: int) -> Content:
    """A file, read once.

    Raises:
        InvalidDataError: it is empty, or has more than `max_bytes` bytes
        OSError: it cannot be read
    """
    name = Path(path).name
    with open(path, "rb") as file:
        data = file.read(max_bytes + 1)
    if not data:
        raise InvalidDataError(f"{name}: the file is empty")
    if len(data) > max_bytes:
        raise InvalidDataError(f"{name}: the file has more than {max_bytes:,} bytes (`max_bytes`)")
    return Content(data, name, media_types.of_file(name, data))


def fetch(url: str, client: Client | None, *, max_bytes: int, allow_private: bool, timeout: float) -> Content:
    """What the URL gives.

    Args:
        url: http or https
        client: an `httpx.Client`, or another with its methods; None: one for this call
        max_bytes: the most bytes the content may have, once decompressed
        allow_private: also fetch from private, loopback and link-local addresses; the host is then looked up
            by the client itself
        timeout: seconds for the whole

    Raises:
        FetchError: the URL must not be fetched, or could not be; the message says why
    """
    import httpx

    fetching = _Fetching(url, max_bytes, timeout)
    own = httpx.Client() if client is None else None
    sender: Client = own or client  # type: ignore[assignment]
    try:
        while True:
            addresses = _ANYWHERE if allow_private else _public(fetching, _look_up(fetching))
            response = _send(sender, fetching, addresses)
            try:
                if fetching.is_redirected(response):
                    continue
                for piece in response.iter_bytes():
                    fetching.received(piece)
                return fetching.content(response)
            finally:
                response.close()
    except Exception as error:
        raise fetching.fault(error) from error
    finally:
        if own is not None:
            own.close()


async def afetch(
    url: str, client: AsyncClient | None, *, max_bytes: int, allow_private: bool, timeout: float
) -> Content:
    """As `fetch`, with an `httpx.AsyncClient`."""
    import httpx

    fetching = _Fetching(url, max_bytes, timeout)
    own = httpx.AsyncClient() if client is None else None
    sender: AsyncClient = own or client  # type: ignore[assignment]
    try:
        while True:
            addresses = _ANYWHERE if allow_private else _public(fetching, await _alook_up(fetching))
            response = await _asend(sender, fetching, addresses)
            try:
                if fetching.is_redirected(response):
                    continue
                async for piece in response.aiter_bytes():
                    fetching.received(piece)
                return fetching.content(response)
            finally:
                await response.aclose()
    except Exception as error:
        raise fetching.fault(error) from error
    finally:
        if own is not None:
            await own.aclose()


class _Fetching:
    """One fetch: where it is, what came, and what it may not do."""

    def __init__(self, url: str, max_bytes: int, timeout: float) -> None:
        self.max_bytes = max_bytes
        self.timeout = timeout
        self.deadline = time.monotonic() + timeout
        self.redirects = 0
        self.pieces: list[bytes] = []
        self.size = 0
        self.shown = "the URL"
        self._go(url)
        self.first = self.url

    def _go(self, url: str | httpx.URL) -> None:
        import httpx

        try:
            self.url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise FetchError(f"{self.shown}: malformed: {error}") from None
        # Neither the query nor the user information: links to files are often signed in them.
        self.shown = f"{self.url.scheme}://{self.url.netloc.decode('ascii')}{self.url.path}"[:200]
        if self.url.scheme not in ("http", "https") or not self.url.host:
            raise FetchError(f"{self.shown}: only http and https URLs are fetched")

    @property
    def host(self) -> str:
        return self.url.raw_host.decode("ascii").strip("[]")

    @property
    def port(self) -> int:
        return self.url.port or (443 if self.url.scheme == "https" else 80)

    def options(self, address: str | None) -> tuple[str, dict[str, Any]]:
        """The URL and options of the request that asks for it at this address."""
        headers = {
            "Host": self.url.netloc.decode("ascii"),
            "Accept": "*/*",
            "Accept-Encoding": "identity",
        }
        options: dict[str, Any] = {"headers": headers, "timeout": max(self._left(), 0.001)}
        if address is None:
            return str(self.url), options
        if address != self.host:
            options["extensions"] = {"sni_hostname": self.host}
        return str(self.url.copy_with(host=address)), options

    def prepared(self, client: Client | AsyncClient, address: str | None) -> tuple[Any, dict[str, Any]]:
        """The request, and how it is sent. Another host gets no credentials of the client's."""
        url, options = self.options(address)
        request = client.build_request("GET", url, **options)
        sending: dict[str, Any] = {"stream": True, "follow_redirects": False}
        same = (self.url.scheme, self.url.netloc) == (self.first.scheme, self.first.netloc)
        if not same:
            sending["auth"] = None
            for name in _CREDENTIALS:
                request.headers.pop(name, None)
        return request, sending

    def is_redirected(self, response: Any) -> bool:
        """Whether to ask elsewhere; raises when the answer is neither that nor the file."""
        location = response.headers.get("location")
        if response.status_code in _REDIRECTS and location:
            self.redirects += 1
            if self.redirects > MAX_REDIRECTS:
                raise FetchError(f"{self.shown}: more than {MAX_REDIRECTS} redirects")
            self._go(self.url.join(location))
            return True
        if response.status_code != 200:
            status = response.status_code
            raise FetchError(f"{self.shown}: expected status 200, got {status}", status=status)
        length = response.headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length[:20]) > self.max_bytes:
            raise self._too_large()
        return False

    def received(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size > self.max_bytes:
            raise self._too_large()
        if self._left() < 0:
            raise FetchError(f"{self.shown}: not read within {self.timeout:g} seconds")
        self.pieces.append(piece)

    def content(self, response: Any) -> Content:
        data = b"".join(self.pieces)
        if not data:
            raise FetchError(f"{self.shown}: the content is empty")
        name = self.url.path.rpartition("/")[2]
        said = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        shown = media_types.by_content(data[:32])
        if said in _VAGUE or (media_types.is_image(said) and media_types.is_image(shown)):
            said = media_types.of_file(name, data) if said in _VAGUE else shown
        return Content(data, name, said)

    def fault(self, error: Exception) -> Exception:
        """The same as a FetchError when it is the network's fault, else as it is."""
        if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in ("httpx", "httpx2"):
            return FetchError(f"{self.shown}: could not be fetched: {type(error).__name__}: {error}")
        return error

    def _too_large(self) -> FetchError:
        return FetchError(f"{self.shown}: the content has more than {self.max_bytes:,} bytes (`max_bytes`)")

    def _left(self) -> float:
        return self.deadline - time.monotonic()


def _send(client: Client, fetching: _Fetching, addresses: list[str | None]) -> Any:
    for address in addresses[:-1]:
        request, sending = fetching.prepared(client, address)
        try:
            return client.send(request, **sending)
        except Exception as error:
            if not _is_unreachable(error):
                raise
    request, sending = fetching.prepared(client, addresses[-1])
    return client.send(request, **sending)


async def _asend(client: AsyncClient, fetching: _Fetching, addresses: list[str | None]) -> Any:
    for address in addresses[:-1]:
        request, sending = fetching.prepared(client, address)
        try:
            return await client.send(request, **sending)
        except Exception as error:
            if not _is_unreachable(error):
                raise
    request, sending = fetching.prepared(client, addresses[-1])
    return await client.send(request, **sending)


def _is_unreachable(error: Exception) -> bool:
    return type(error).__name__ in ("ConnectError", "ConnectTimeout")


def _look_up(fetching: _Fetching) -> list[Any]:
    return socket.getaddrinfo(fetching.host, fetching.port, type=socket.SOCK_STREAM)


async def _alook_up(fetching: _Fetching) -> list[Any]:
    import anyio

    return await anyio.getaddrinfo(fetching.host, fetching.port, type=socket.SOCK_STREAM)


def _public(fetching: _Fetching, found: Iterable[Any]) -> list[str | None]:
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not addresses:
        raise FetchError(f"{fetching.shown}: the host has no address")
    for address in addresses:
        if not is_public(address):
            raise FetchError(
                f"{fetching.shown}: {address} is not a public address, and such are fetched only with "
                "`allow_private=True`"
            )
    return [*addresses]


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet's.

    An IPv6 address that stands for an IPv4 one (mapped, 6to4, NAT64) is judged by that one.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        ip = _embedded(ip) or ip
        if isinstance(ip, IPv6Address) and ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and ip not in _PLATFORM


def _embedded(ip: IPv6Address) -> IPv4Address | None:
    return ip.ipv4_mapped or ip.sixtofour or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)

"""Fetching what a URL in a message gives: only when asked, from public addresses, bounded."""

from __future__ import annotations

import asyncio
import hashlib
import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import httpx2
import pytest

from plait import FetchError, InvalidDataError, files
from plait.messages import DataSource, FilePart, ImagePart

PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)
PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"
NAMES: dict[str, list[str]] = {
    "a.example": [PUBLIC],
    "b.example": [OTHER],
    "two.example": [PUBLIC, OTHER],
    "six.example": ["2606:2800:220:1::1"],
    "mixed.example": [PUBLIC, "10.0.0.1"],
    "inside.example": ["127.0.0.1"],
}

Handler = Callable[[httpx.Request], httpx.Response]
Fetch = Callable[..., Any]


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are looked up in a table of ours."""
    real = socket.getaddrinfo

    def look_up(host: Any, port: Any, *args: Any, **options: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        if name.replace(".", "").isdigit() or ":" in name:
            return real(host, port, *args, **options)
        if name not in NAMES:
            raise socket.gaierror("unknown name")
        return [(None, None, None, "", (address, port)) for address in NAMES[name]]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def by_sync(part: ImagePart | FilePart, handler: Handler, **options: Any) -> Any:
    with httpx.Client(transport=httpx.MockTransport(handler)) as client:
        return part.resolve(client, **options)


def by_async(part: ImagePart | FilePart, handler: Handler, **options: Any) -> Any:
    async def run() -> Any:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as client:
            return await part.aresolve(client, **options)

    return asyncio.run(run())


@pytest.fixture(params=[by_sync, by_async], ids=["sync", "async"])
def resolve(request: pytest.FixtureRequest) -> Fetch:
    fetch: Fetch = request.param
    return fetch


def image(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, content=PNG, headers={"content-type": "image/png"})


def refuse(_request: httpx.Request) -> httpx.Response:
    raise AssertionError("nothing may be fetched")


def test_image(resolve: Fetch) -> None:
    """An image by URL becomes one with data; all else stays."""
    part = ImagePart.from_url("https://a.example/b.png", detail="low")
    expected = ImagePart.from_bytes(PNG, detail="low")
    assert expected == resolve(part, image)


def test_file(resolve: Fetch) -> None:
    """A file has the name of its URL, the type that was said, and its digest is checked."""
    digest = hashlib.sha256(b"a,b").hexdigest()

    def csv(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=b"a,b", headers={"content-type": "text/csv; charset=utf-8"})

    part = FilePart.from_url("https://a.example/x/data?k=1", sha256=digest)
    expected = {
        "type": "file",
        "data": {"type": "data", "data": "YSxi"},
        "filename": "data",
        "media_type": "text/csv",
        "sha256": digest,
    }
    assert expected == resolve(part, csv).to_dict()
    with pytest.raises(InvalidDataError, match="sha256: the content has another digest"):
        resolve(FilePart.from_url("https://a.example/x", sha256="0" * 64), csv)


def test_data_is_given_back(resolve: Fetch) -> None:
    """A part that has its data is not fetched."""
    part = ImagePart.from_bytes(PNG)
    assert part is resolve(part, refuse)


def test_connects_to_the_checked_address(resolve: Fetch) -> None:
    """The request goes to the address that was checked; host and certificate name stay the URL's."""
    seen: list[tuple[str, str, Any]] = []

    def look(request: httpx.Request) -> httpx.Response:
        seen.append((str(request.url), request.headers["host"], request.extensions.get("sni_hostname")))
        return image(request)

    resolve(ImagePart.from_url("https://a.example:8443/b.png?k=1"), look)
    resolve(ImagePart.from_url("https://six.example/b.png"), look)
    assert [
        (f"https://{PUBLIC}:8443/b.png?k=1", "a.example:8443", "a.example"),
        ("https://[2606:2800:220:1::1]/b.png", "six.example", "six.example"),
    ] == seen


def test_tries_the_next_address(resolve: Fetch) -> None:
    """A host with two addresses is asked at the second when the first cannot be reached."""

    def second_only(request: httpx.Request) -> httpx.Response:
        if request.url.host == PUBLIC:
            raise httpx.ConnectError("unreachable")
        return image(request)

    assert isinstance(resolve(ImagePart.from_url("http://two.example/b.png"), second_only).image, DataSource)


@pytest.mark.parametrize(
    ("reason", "url"),
    [
        ("127.0.0.1 is not a public address", "https://inside.example/a.png"),
        ("10.0.0.1 is not a public address", "https://mixed.example/a.png"),
        ("169.254.169.254 is not a public address", "http://169.254.169.254/latest/meta-data"),
        ("::1 is not a public address", "http://[::1]:8080/a.png"),
        ("only http and https URLs are fetched", "ftp://a.example/a.png"),
        ("only http and https URLs are fetched", "file:///etc/passwd"),
        ("could not be fetched: gaierror", "https://nowhere.example/a.png"),
    ],
    ids=["loopback", "one of two", "metadata service", "IPv6", "ftp", "file", "unknown name"],
)
def test_refused(reason: str, url: str, resolve: Fetch) -> None:
    """What must not be fetched is not: nothing is sent."""
    with pytest.raises(FetchError) as caught:
        resolve(ImagePart.from_url(url), refuse)
    assert reason in str(caught.value)


def test_private_when_asked(resolve: Fetch) -> None:
    """With `allow_private` the client looks the host up itself."""
    part = ImagePart.from_url("http://localhost:9/a.png")
    assert isinstance(resolve(part, image, allow_private=True).image, DataSource)


def redirects(*targets: str) -> Handler:
    places: Iterator[str] = iter(targets)

    def answer(request: httpx.Request) -> httpx.Response:
        target = next(places, None)
        return image(request) if target is None else httpx.Response(302, headers={"location": target})

    return answer


def test_redirect(resolve: Fetch) -> None:
    """Redirects are followed, relative ones too."""
    part = ImagePart.from_url("https://a.example/x/a")
    assert isinstance(resolve(part, redirects("b", "https://b.example/c")).image, DataSource)


@pytest.mark.parametrize(
    ("reason", "targets"),
    [
        ("127.0.0.1 is not a public address", ["https://inside.example/a"]),
        ("only http and https URLs are fetched", ["file:///etc/passwd"]),
        ("more than 5 redirects", ["/a"] * 6),
    ],
    ids=["inside", "scheme", "many"],
)
def test_redirect_is_checked(reason: str, targets: list[str], resolve: Fetch) -> None:
    """A redirect gets nowhere that the URL itself could not."""
    with pytest.raises(FetchError, match=reason):
        resolve(ImagePart.from_url("https://a.example/a"), redirects(*targets))


def test_credentials_stay_with_their_host() -> None:
    """The client's credentials do not follow a redirect to another host."""
    seen: list[tuple[str, str | None, str | None]] = []

    def look(request: httpx.Request) -> httpx.Response:
        headers = request.headers
        seen.append((headers["host"], headers.get("authorization"), headers.get("cookie")))
        return (
            httpx.Response(302, headers={"location": "https://b.example/"})
            if len(seen) == 1
            else image(request)
        )

    transport = httpx.MockTransport(look)
    with httpx.Client(transport=transport, auth=("u", "p"), headers={"Cookie": "c=1"}) as client:
        ImagePart.from_url("https://a.example/").resolve(client)
    assert [("a.example", "Basic dTpw", "c=1"), ("b.example", None, None)] == seen


@pytest.mark.parametrize(
    ("reason", "response"),
    [
        ("expected status 200, got 404", httpx.Response(404)),
        ("the content is empty", httpx.Response(200)),
        ("more than 40 bytes", httpx.Response(200, content=b"x" * 41)),
        ("more than 40 bytes", httpx.Response(200, content=iter([b"x" * 30] * 2))),
        ("text/html is not an image", httpx.Response(200, html="<p>Log in</p>")),
    ],
    ids=["status", "empty", "length", "no length", "page"],
)
def test_answers(reason: str, response: httpx.Response) -> None:
    """What does not answer with the image, or with too much, is an error without the URL's query."""
    with pytest.raises(FetchError) as caught:
        by_sync(ImagePart.from_url("https://u:p@a.example/b?sig=SECRET"), lambda _: response, max_bytes=40)
    assert reason in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert (404 if response.status_code == 404 else None) == caught.value.status


def test_network_faults(resolve: Fetch) -> None:
    """A fault of the network is a FetchError too."""

    def broken(_request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow")

    with pytest.raises(FetchError, match="could not be fetched: ReadTimeout: slow"):
        resolve(ImagePart.from_url("https://a.example/b"), broken)


def test_deadline() -> None:
    """The time counts for the whole, however steadily it drips."""

    def drip(_request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=iter([b"x"] * 3))

    with pytest.raises(FetchError, match="not read within -1 seconds"):
        by_sync(ImagePart.from_url("https://a.example/b"), drip, timeout=-1)


def test_httpx2() -> None:
    """An httpx2 client will do, its errors too."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/slow":
            raise httpx2.ReadTimeout("slow")
        return httpx2.Response(200, content=PNG)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
        assert ImagePart.from_bytes(PNG) == ImagePart.from_url("https://a.example/b").resolve(client)
        with pytest.raises(FetchError, match="ReadTimeout"):
            ImagePart.from_url("https://a.example/slow").resolve(client)


def test_own_client() -> None:
    """Without a client there is one for the call: here nobody listens."""
    with pytest.raises(FetchError, match="could not be fetched: ConnectError"):
        ImagePart.from_url("http://127.0.0.1:1/a.png").resolve(allow_private=True)
    with pytest.raises(FetchError, match="could not be fetched: ConnectError"):
        asyncio.run(ImagePart.from_url("http://127.0.0.1:1/a.png").aresolve(allow_private=True))


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "168.63.129.16", "169.254.169.254", "172.16.0.1",
        "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::7f00:1", "2002:7f00:1::", "64:ff9b::a00:1", "64:ff9b:1::1",
        "2001:db8::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
    ],
)  # fmt: skip
def test_not_public(address: str) -> None:
    """Private, loopback, link-local, shared, multicast, reserved; and IPv6 that stands for such an IPv4."""
    assert not files.is_public(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", PUBLIC, "2606:2800:220:1::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"],
)
def test_public(address: str) -> None:
    """The public internet's, mapped and translated addresses included."""
    assert files.is_public(address)

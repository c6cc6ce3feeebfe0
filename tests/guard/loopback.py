"""A server on the loopback interface that answers every request with one body, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar, Literal

Delivery = Literal["chunked", "close-delimited"]
"""How the body's end is told: by a last chunk, or (HTTP/1.0's way) by closing the connection."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    frames: ClassVar[tuple[bytes, ...]]
    headers_sent: ClassVar[dict[str, str]]
    delivery: ClassVar[Delivery]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        for name, value in self.headers_sent.items():
            self.send_header(name, value)
        chunked = self.delivery == "chunked"
        self.send_header(*(("transfer-encoding", "chunked") if chunked else ("connection", "close")))
        self.end_headers()
        for frame in self.frames:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(frame), frame) if chunked else frame)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = not chunked

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(
    frames: tuple[bytes, ...], content_type: str, delivery: Delivery, **headers: str
) -> Iterator[str]:
    """The base URL of a server that sends `frames`; it ends with the block."""
    sent = {
        "content-type": content_type,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    handler = type("Handler", (_Handler,), {"frames": frames, "headers_sent": sent, "delivery": delivery})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

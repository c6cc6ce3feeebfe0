"""A server that is scripted below HTTP: what it does with a connection is a function's choice."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeAlias

from asking import END, HELLO

Script: TypeAlias = Callable[[socket.socket], None]
"""Given a connection whose request has come; afterwards the connection is closed."""

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
WHOLE_ANSWER = HEAD + b"connection: close\r\n\r\n" + b"".join(HELLO + END)


class RawServer:
    """Serves while its `with` block runs. The nth connection gets the nth script, further ones the last."""

    def __init__(self, *scripts: Script) -> None:
        self._scripts = scripts
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._threads: list[threading.Thread] = []
        self.asked = threading.Event()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> RawServer:
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # which ends `accept`
        self._listening.close()
        self._accepting.join(5)
        for thread in self._threads:
            thread.join(5)
            assert not thread.is_alive(), "the client has not left"

    @property
    def connections(self) -> int:
        """How many there were."""
        return len(self._threads)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                script = self._scripts[min(len(self._threads), len(self._scripts) - 1)]
                thread = threading.Thread(target=self._serve, args=(connection, script), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket, script: Script) -> None:
        with connection, suppress(OSError):
            found = b""
            while b"\r\n\r\n" not in found or not found.rstrip().endswith(b"}"):
                chunk = connection.recv(65536)
                if not chunk:
                    return
                found += chunk
            self.asked.set()
            script(connection)


def hold(connection: socket.socket) -> None:
    """Say nothing, until the client leaves."""
    connection.recv(1)


def reset(connection: socket.socket) -> None:
    """Reset the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def say(*parts: bytes, then: Script = lambda connection: None) -> Script:
    """Send these bytes."""

    def script(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        then(connection)

    return script


def drip(parts: Iterable[bytes], pause: float) -> Script:
    """Send a part after each pause, until the client leaves."""

    def script(connection: socket.socket) -> None:
        connection.settimeout(pause)
        for part in parts:
            connection.sendall(part)
            with suppress(TimeoutError):
                if not connection.recv(1):
                    return

    return script

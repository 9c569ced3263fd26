"""The server: an application on a socket, until a signal comes.

In:  an application and an address.
Out: the end of the process's work; on SIGTERM what was accepted is answered first.
"""

import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from limbeck.errors import ConfigError

BACKLOG = 2_048
# The engine's thread must get back into Python between two requests' parsing; at the default of
# 5 ms it would wait for that longer than a small batch takes.
SWITCH_SECONDS = 0.000_5


def open_socket(host: str, port: int) -> socket.socket:
    """Take the address before bundles are loaded, so that a taken one is told at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        opened = socket.socket(family, kind, protocol)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as failure:
        raise ConfigError(f"--host {host} --port {port}: {failure.strerror}") from failure
    return opened


def address_of(opened: socket.socket) -> str:
    """The URL that leads to a socket."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run_server(
    make: Callable[[Callable[[], bool]], ASGIApp], opened: socket.socket, *, seconds: float
) -> None:
    """Serve until SIGTERM or SIGINT; `make` gets a way to ask whether one has come."""
    servers: list[uvicorn.Server] = []
    app = make(lambda: servers[0].should_exit)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            lifespan="on",
            log_level="warning",
            access_log=False,  # neither texts nor who sent them
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=int(seconds) + 1,
        )
    )
    servers.append(server)
    # uvicorn raises the signal again once all is done; that is no failure here
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _ignore)
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        server.run(sockets=[opened])
    finally:
        sys.setswitchinterval(before)


def _ignore(_signal: int, _frame: FrameType | None) -> None:
    """The signal has done its work."""

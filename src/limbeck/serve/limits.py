"""Limits: what one request and all that wait may take; and where the server may be reached.

In:  numbers and an address, from the command line.
Out: frozen settings that have been checked. Knows no HTTP.
"""

import ipaddress
from dataclasses import dataclass, fields

from limbeck.errors import ConfigError

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
MIN_TOKEN_LETTERS = 16  # 16 random letters of 64 are 96 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may ask for; over it, the answer names the limit."""

    body_bytes: int = 1_048_576  # some 180,000 words
    texts: int = 1_024  # of one request, after sentences were cut
    pieces: int = 2_048  # of one text; the scores of all its arcs take 4 bytes x words squared
    waiting: int = 1_536  # texts of all requests that wait for the engine: 4 s of a 6x384 student
    seconds: float = 30.0  # from the first byte of a request to its answer

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ConfigError(f"limit {field.name}: must be more than 0")
        if self.waiting < self.texts:
            raise ConfigError(
                f"the queue holds {self.waiting} texts and a request may have {self.texts}",
                hint="let the queue hold at least one such request",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may ask."""

    token: str | None  # None: everybody who reaches the port
    hosts: frozenset[str] | None  # names in the Host header that are answered; None: any


def decide_access(
    host: str, *, token: str | None, is_insecure: bool, more_hosts: frozenset[str] = frozenset()
) -> Access:
    """Refuse what would open the server by accident.

    Without a token only names of this machine are answered: else any web page could reach the
    server through its visitor's browser, by a name of its own that points to 127.0.0.1.
    """
    if token is not None and len(token) < MIN_TOKEN_LETTERS:
        raise ConfigError(
            f"LIMBECK_TOKEN has {len(token)} letters, at least {MIN_TOKEN_LETTERS} are needed",
            hint="openssl rand -base64 24",
        )
    if token is not None and not (token.isascii() and token.isprintable()):
        raise ConfigError("LIMBECK_TOKEN has letters that no header can hold")
    if token is None and not is_loopback(host) and not is_insecure:
        raise ConfigError(
            f"--host {host} can be reached from other machines and there is no token",
            hint="set LIMBECK_TOKEN, or pass --insecure if something else guards the port",
        )
    if token is not None or (is_insecure and not is_loopback(host)):
        return Access(token=token, hosts=more_hosts or None)
    return Access(token=None, hosts=LOOPBACK_NAMES | more_hosts)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name may point anywhere
        return False

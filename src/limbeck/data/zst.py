"""Zstandard streams that say so when they are cut short.

In:  an open binary file.
Out: a raw byte stream over all its frames. `zstandard`'s own reader takes the end of a truncated
file for the end of the text, which would lose lines in silence; hence this one.
"""

import io
from typing import Any, BinaryIO

# What is unpacked at once: a few bytes can stand for 128 kB, so a large chunk of a hostile file
# would fill memory.
CHUNK_BYTES = 1 << 11


class ZstFrames(io.RawIOBase):
    """Frames one after another; an end inside one raises EOFError, damage raises OSError."""

    def __init__(self, file: BinaryIO) -> None:
        import zstandard

        self._file = file
        self._decompressor = zstandard.ZstdDecompressor()
        self._error: type[Exception] = zstandard.ZstdError
        self._frame: Any = None  # an untyped library's object; None between frames
        self._packed = b""
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._packed:
                self._packed = self._file.read(CHUNK_BYTES)
                if not self._packed:
                    if self._frame is not None:
                        raise EOFError("the archive ends inside a frame")
                    return 0
            self._unpack()
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n

    def _unpack(self) -> None:
        frame = self._frame or self._decompressor.decompressobj()
        try:
            self._ready = memoryview(frame.decompress(self._packed))
        except self._error as failure:
            raise OSError(str(failure)) from failure
        self._packed = frame.unused_data if frame.eof else b""
        self._frame = None if frame.eof else frame

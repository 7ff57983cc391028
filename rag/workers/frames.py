"""How parent and worker talk: frames of one status byte, a length and that many bytes."""

import struct

HEADER = struct.Struct("<BI")
DONE = 0
FAILED = 1  # the function raised; the bytes say what


def frame(status: int, body: bytes) -> bytes:
    return HEADER.pack(status, len(body)) + body

"""Lossless compression of arrays and files: `compress` and `decompress` of arrays, and two commands."""

from fabricmark.codec.memory import compress, decompress

__all__ = ["compress", "decompress"]

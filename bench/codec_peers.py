"""Lossless compressors of floating-point fields from PyPI, on planes of float32.

    PYTHON_WITH_THEM bench/codec_peers.py FILE CHANNELS COLUMNS REPETITIONS

FILE has cells of so many channels, row by row; peers get each channel as a plane of its own, which suits them
better. Prints ratio and best rates as JSON, as bench_codec does, on one thread.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import blosc2
import fpzip
import numpy
import zfpy
from pcodec import ChunkConfig, standalone

Planes = numpy.ndarray  # [channels][rows][columns]


def fpzip_pair() -> tuple[Callable, Callable]:
    return (
        lambda planes: fpzip.compress(planes[:, None], precision=0, order="C"),
        lambda coded: fpzip.decompress(coded, order="C"),
    )


def zfp_pair() -> tuple[Callable, Callable]:
    return (
        lambda planes: [zfpy.compress_numpy(plane) for plane in planes],
        lambda coded: numpy.stack([zfpy.decompress_numpy(one) for one in coded]),
    )


def pcodec_pair(level: int) -> tuple[Callable, Callable]:
    configuration = ChunkConfig(compression_level=level)
    return (
        lambda planes: standalone.simple_compress(planes.ravel(), configuration),
        lambda coded: standalone.simple_decompress(coded),
    )


def blosc2_pair(codec: blosc2.Codec) -> tuple[Callable, Callable]:
    filters = [blosc2.Filter.SHUFFLE]
    return (
        lambda planes: blosc2.compress2(
            planes, codec=codec, clevel=5, filters=filters, nthreads=1, typesize=4
        ),
        lambda coded: numpy.frombuffer(blosc2.decompress2(coded, nthreads=1), numpy.float32),
    )


PEERS = {
    "fpzip": fpzip_pair(),
    "zfp reversible": zfp_pair(),
    "pcodec 4": pcodec_pair(4),
    "pcodec 8": pcodec_pair(8),
    "blosc2 lz4": blosc2_pair(blosc2.Codec.LZ4),
    "blosc2 zstd": blosc2_pair(blosc2.Codec.ZSTD),
}


def best(repetitions: int, call: Callable[[], object]) -> tuple[float, object]:
    """Least seconds, and what the call gave."""
    least, made = float("inf"), None
    for _ in range(repetitions):
        start = time.perf_counter()
        made = call()
        least = min(least, time.perf_counter() - start)
    return least, made


def measured(compress: Callable, decompress: Callable, planes: Planes, repetitions: int) -> dict[str, float]:
    encoding, coded = best(repetitions, lambda: compress(planes))
    decoding, back = best(repetitions, lambda: decompress(coded))
    if numpy.asarray(back).tobytes() != planes.tobytes():
        sys.exit("a bit got lost")
    length = sum(map(len, coded)) if isinstance(coded, list) else len(coded)
    return {
        "ratio": planes.nbytes / length,
        "encode": planes.nbytes / encoding,
        "decode": planes.nbytes / decoding,
    }


def main() -> None:
    file, channels, columns, repetitions = sys.argv[1], *map(int, sys.argv[2:5])
    blosc2.set_nthreads(1)
    cells = numpy.fromfile(file, numpy.float32).reshape(-1, columns, channels)
    planes = numpy.ascontiguousarray(cells.transpose(2, 0, 1))
    print(json.dumps({name: measured(*pair, planes, repetitions) for name, pair in PEERS.items()}))


if __name__ == "__main__":
    main()

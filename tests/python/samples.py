"""Sample documents for the tests: what the programs would write, made from raw times."""

import statistics

CPU = "Sample CPU"
DEVICE = {
    "platform": "Sample Platform",
    "platform_version": "OpenCL 3.0",
    "name": "sample-cpu",
    "vendor": "Nobody",
    "driver": "1.0",
    "class": "cpu",
    "platform_index": 0,
    "device_index": 0,
    "compute_units": 2,
    "global_memory_bytes": 1 << 34,
    "max_allocation_bytes": 1 << 32,
    "local_memory_bytes": 1 << 18,
    "emulated": False,
}
STREAMS = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "host_to_device": 1, "device_to_host": 1}
SIZE = 1 << 25


def measurement(operation="triad", per_rank=((0.01, 0.012, 0.011),), kind="measured", size=SIZE):
    """One bandwidth, worked out from the raw times [s] of each rank."""
    amount = size * 4 * STREAMS[operation] * len(per_rank)
    rates = [amount / max(times) / 1e9 for times in zip(*per_rank, strict=True)]
    return {
        "name": "bandwidth",
        "axes": {"operation": operation},
        "unit": "GB/s",
        "better": "higher",
        "kind": kind,
        "best": max(rates),
        "median": statistics.median(rates),
        "mean": statistics.fmean(rates),
        "minimum": min(rates),
        "maximum": max(rates),
        "standard_deviation": statistics.pstdev(rates),
        "work": {"amount": amount, "unit": "B"},
        "samples": {"unit": "s", "per_rank": [list(times) for times in per_rank]},
    }


def verdict(status="passed"):
    """The check of array a."""
    failed = {"rank": 0, "place": "a[17]", "expected": 30.0, "actual": "nan"}
    return {
        "name": "array a",
        "status": status,
        "error": {"passed": 0.0, "failed": 0.5, "skipped": None}[status],
        "threshold": None if status == "skipped" else 1e-6,
        "measure": "largest relative error",
        "checked": SIZE,
        "worst": failed if status == "failed" else None,
    }


def result(
    ranks=1, kind="measured", status="passed", device=DEVICE, operations=tuple(STREAMS), variant="base"
):
    """A whole result document of STREAM."""
    per_rank = [(0.01 + rank / 1e4, 0.012, 0.011) for rank in range(ranks)]
    placement = [
        {"rank": rank, "host": "here", "device_index": 0, "device": device["name"], "compute_units": 2}
        for rank in range(ranks)
    ]
    return {
        "schema": "fabricmark-result/1",
        "run": {
            "program": "fm_stream",
            "benchmark": "stream",
            "variant": variant,
            "version": "0.1.0",
            "git": "abc123",
            "class": "base",
            "complete": True,
            "started": "2026-11-21T01:02:03Z",
            "duration_seconds": 1.2,
            "command": ["fm_stream"],
            "exit_code": 1 if status == "failed" else 0,
        },
        "environment": {
            "host": {
                "name": "here",
                "cpu": CPU,
                "logical_cores": 2,
                "memory_bytes": 1 << 34,
                "operating_system": "Debian 12",
                "kernel": "6.1",
            },
            "ranks": {
                "count": ranks,
                "kind": "single" if ranks == 1 else "in-process",
                "mpi_library": None,
                "placement": placement,
            },
            "device": dict(device),
            "toolchain": {"compiler": "g++ 12.2.0", "build_type": "Release"},
            "variables": {"FPGA_MAPPING": None},
        },
        "parameters": {
            "data_type": "float",
            "size": SIZE,
            "vector_width": 16,
            "unroll": 1,
            "buffer_size": 4096,
            "replications": 2,
        },
        "repetitions": {"count": 3, "warmup": 1, "min_time_seconds": None},
        "measurements": [measurement(operation, per_rank, kind) for operation in operations],
        "verdicts": [verdict(status)],
        "notes": [],
    }


def calibration(device=DEVICE):
    """A calibration document: 30 GB/s with one thread, 50 GB/s with two."""
    return {
        "schema": "fabricmark-calibration/1",
        "created": "2026-11-21T01:02:03Z",
        "host": {"name": "here", "cpu": CPU, "logical_cores": 2},
        "host_copy": [
            {"threads": 1, "bytes_per_second": 30e9},
            {"threads": 2, "bytes_per_second": 50e9},
        ],
        "device": {key: device[key] for key in ("platform", "name", "driver", "class")},
        "launch_seconds": 2e-5,
        "device_copy_bytes_per_second": 45e9,
        "write_bytes_per_second": 20e9,
        "read_bytes_per_second": 22e9,
    }


KERNEL_TOML = """
benchmark = "stream"
summary = "Memory bandwidth of four vector operations"

[variants.base]
file = "base.cl"
entry_points = ["stream"]
style = "single-work-item"

[[variants.base.arguments]]
name = "in1"
kind = "buffer"
access = "read"
bank = "replication"

[parameters.vector_width]
type = "int"
values = [1, 2, 4, 8, 16]
default = 4
stage = "build"
meaning = "elements in one vector"

[parameters.buffer_size]
type = "int"
range = [1, 65536]
default = { cpu = 4096, fpga = 4096 }
stage = "build"
unit = "elements"
meaning = "elements of the local buffer"

[parameters.replications]
type = "int"
range = [1, 64]
default = { cpu = "cores", gpu = 1, fpga = "banks", emulator = 2 }
stage = "run"
meaning = "copies of the kernel"

[[constraints]]
expression = "buffer_size % vector_width == 0"
meaning = "the buffer holds whole vectors"
"""

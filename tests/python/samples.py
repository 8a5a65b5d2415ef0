"""Sample documents for the tests: what the programs would write, made from raw times.

Nothing of the package is imported with it: a stand-in for a program imports this at each of its starts.
"""

import copy
import math

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


def spans(entry):
    """Time of each repetition of a metric [s]: of all ranks."""
    return _spans(entry["samples"]["per_rank"], entry["samples"].get("starts"))


def _spans(per_rank, starts):
    if starts is None:
        return [max(times) for times in zip(*per_rank, strict=True)]
    from fabricmark.results import windows

    return windows.spans(per_rank, starts)


def spread(values):
    """What a measurement says of its values beside the best one."""
    import statistics  # here: a stand-in that only lists devices starts in three quarters of the time

    return {
        "median": statistics.median(values),
        "mean": mean(values),
        "minimum": min(values),
        "maximum": max(values),
        "standard_deviation": statistics.pstdev(values),
    }


def mean(values):
    return math.fsum(values) / len(values)


def measurement(operation="triad", per_rank=((0.01, 0.012, 0.011),), kind="measured", size=SIZE, starts=None):
    """One bandwidth, worked out from the raw times [s] of each rank."""
    amount = size * 4 * STREAMS[operation] * len(per_rank)
    rates = [amount / seconds / 1e9 for seconds in _spans(per_rank, starts)]
    return {
        "name": "bandwidth",
        "axes": {"operation": operation},
        "unit": "GB/s",
        "better": "higher",
        "kind": kind,
        "best": max(rates),
        **spread(rates),
        "work": {"amount": amount, "unit": "B"},
        "samples": {"kind": kind, "unit": "s", "per_rank": [list(times) for times in per_rank]},
    }


def of_version_1(document):
    """The same as programs wrote it before schema 2: samples do not say of which kind of time they are."""
    old = copy.deepcopy({**document, "schema": "fabricmark-result/1"})
    for entry in old["measurements"]:
        del entry["samples"]["kind"]
    return old


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
    ranks=1, kind="measured", status="passed", device=DEVICE, operations=tuple(STREAMS), variant="base",
    devices=1,
):  # fmt: skip
    """A whole result document of STREAM; the ranks take the devices of the host in turn."""
    per_rank = [(0.01 + rank / 1e4, 0.012, 0.011) for rank in range(ranks)]
    placement = [
        {
            "rank": rank,
            "host": "here",
            "device_index": rank % devices,
            "device": device["name"],
            "compute_units": 2,
        }
        for rank in range(ranks)
    ]
    return {
        "schema": "fabricmark-result/2",
        "run": {
            "program": "fm_stream",
            "benchmark": "stream",
            "variant": variant,
            "version": "0.1.0",
            "git": "abc123",
            "class": "base",
            "kernel": {"file": f"{variant}.cl", "digest": "0" * 32, "origin": "shipped"},
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


def memory_rates(bytes_per_second):
    """Working sets of memory and caches, with both mixes of reads and writes."""
    return [
        {"mix": mix, "bytes": size, "bytes_per_second": bytes_per_second * factor}
        for mix in ("copy", "triad")
        for size, factor in ((1 << 14, 8), (1 << 24, 8), (1 << 25, 1), (1 << 28, 1))
    ]


def calibration(device=DEVICE):
    """A calibration document: 30 GB/s with one thread, 50 GB/s with two; 200 GFLOP/s of floats.

    Caches, up to 16 MiB, are eight times as fast as the memory.
    """
    return {
        "schema": "fabricmark-calibration/3",
        "created": "2026-11-21T01:02:03Z",
        "passes": 2,
        "host": {"name": "here", "cpu": CPU, "logical_cores": 2},
        "host_copy": [
            {"threads": 1, "bytes_per_second": 30e9},
            {"threads": 2, "bytes_per_second": 50e9},
        ],
        "host_memory": memory_rates(50e9),
        "host_arithmetic": [{"data_type": "float", "flops_per_second": 180e9}],
        "device": {key: device[key] for key in ("platform", "name", "driver", "class")},
        "launch_seconds": 2e-5,
        "device_copy_bytes_per_second": 45e9,
        "device_copy": {"seconds": 7e-6, "bytes_per_second": 22e9},
        "write_bytes_per_second": 20e9,
        "read_bytes_per_second": 22e9,
        "link": {"to_device_bytes_per_second": 25e9, "from_device_bytes_per_second": 26e9},
        "device_memory": memory_rates(45e9),
        "peak": [
            {"data_type": "float", "flops_per_second": 200e9},
            {"data_type": "double", "flops_per_second": 100e9},
        ],
        "random_updates": [
            {"table_bytes": 1 << 20, "updates_per_second": 8e8},
            {"table_bytes": 1 << 28, "updates_per_second": 1e8},
        ],
    }


KERNEL_TOML = """
benchmark = "stream"
summary = "Memory bandwidth of four vector operations"

[variants.base]
file = "base.cl"
entry_points = ["stream"]
style = "single-work-item"

[variants.base.arguments]
stream = [{ name = "first", kind = "buffer", access = "read", bank = "replica" }]

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


def metric(
    name, axes, unit="us", per_rank=((1e-5, 1.2e-5, 1.1e-5),), better="lower", work=None, kind="measured"
):
    """One metric of any name, from the raw times [s] of each rank: a time, or with `work` [B] a rate."""
    slowest = [max(times) for times in zip(*per_rank, strict=True)]
    scale = {"s": 1, "ms": 1e3, "us": 1e6}.get(unit)
    values = [work / time / 1e9 for time in slowest] if work else [time * scale for time in slowest]
    return {
        "name": name,
        "axes": dict(axes),
        "unit": unit,
        "better": better,
        "kind": kind,
        "best": max(values) if better == "higher" else min(values),
        **spread(values),
        "work": {"amount": work, "unit": "B"} if work else None,
        "samples": {"kind": kind, "unit": "s", "per_rank": [list(times) for times in per_rank]},
    }


def with_inner(inner=((1e-6, 3e-6, 2e-6), (4e-6, 2e-6, 3e-6))):
    """A latency [us] on one rank from all single times [s] of each repetition."""
    entry = metric("latency", {"operation": "exchange"}, per_rank=[[mean(one) for one in inner]])
    every = sorted(time * 1e6 for times in inner for time in times)
    picked = {f"p{share}": every[math.ceil(share * len(every) / 100) - 1] for share in (50, 90, 99)}
    samples = {**entry["samples"], "inner": [[list(times) for times in inner]]}
    return {**entry, "percentiles": {**picked, "largest": every[-1]}, "samples": samples}


def derived(best, median, name="effective_bandwidth", unit="GB/s", kind="measured"):
    """A metric that follows from others and has no samples of its own."""
    plain = {
        "name": name,
        "axes": {},
        "unit": unit,
        "better": "higher",
        "kind": kind,
        "derived": "mean over the sizes of the best",
    }
    values = {"best": best, "median": median, "mean": median, "minimum": median, "maximum": best}
    samples = {"kind": kind, "unit": "s", "per_rank": []}
    return {**plain, **values, "standard_deviation": 0.0, "work": None, "samples": samples}


def _benchmark(document, name, measurements, **parameters):
    document["run"].update(program=f"fm_{name}", benchmark=name)
    document.update(measurements=measurements, parameters=parameters)
    return document


def b_eff(ranks=2, transport="host", sizes=tuple(2**power for power in range(21)), kind="measured"):
    """A document like fm_b_eff's: bandwidth and latency of each message size, and the host path's steps."""
    measurements = []
    slow = 3.0 if transport == "host" else 1.0
    for number, size in enumerate(sizes):
        seconds = slow * (2e-6 + size / 8e9)
        drift = [seconds * (1 + 0.02 * ((number + i) % 5)) for i in range(5)]
        times = [[value * (1 + rank / 100) for value in drift] for rank in range(ranks)]
        axes = {"operation": "exchange", "message_bytes": size}
        work = 2 * size * ranks
        measurements.append(metric("bandwidth", axes, "GB/s", times, "higher", work, kind))
        measurements.append(metric("latency", axes, "us", times, kind=kind))
        for step, share in (("kernel", 0.3), ("read", 0.1), ("message", 0.2), ("write", 0.1)):
            parts = [[share * value for value in rank] for rank in times]
            axes = {"operation": step, "message_bytes": size}
            measurements.append(metric("latency", axes, "us", parts, kind=kind))
    rates = [entry for entry in measurements if entry["name"] == "bandwidth"]
    means = (mean([entry[key] for entry in rates]) for key in ("best", "median"))
    measurements.append(derived(*means, kind=kind))
    document = result(ranks=ranks, operations=())
    document["repetitions"]["count"] = 5
    return _benchmark(document, "b_eff", measurements, transport=transport, chunk_bytes=65536)


def host_transfer(methods=("blocking", "queued"), memories=("pageable", "pinned"), buffers=(1, 4)):
    """A document like fm_host_transfer's."""
    measurements = []
    for direction in ("to_device", "from_device", "both"):
        for method in methods:
            for memory in memories:
                for size in (2**power for power in range(10, 27, 4)):
                    for count in buffers:
                        axes = {"direction": direction, "method": method, "memory": memory}
                        axes |= {"bytes": size, "buffers": count}
                        rate = (12e9 if memory == "pinned" else 7e9) * (2 if direction == "both" else 1)
                        seconds = 1e-5 * count + size * count / rate
                        times = ((seconds, 1.1 * seconds, 1.05 * seconds),)
                        entry = metric("bandwidth", axes, "GB/s", times, "higher", size * count)
                        measurements.append(entry)
    return _benchmark(result(operations=()), "host_transfer", measurements, size=2**26)


def gemm(ranks=1, variant="throughput"):
    """A document like fm_gemm's: n = 2048 at some 150 GFLOP/s."""
    per_rank = [[0.11, 0.12, 0.115]] * ranks
    work = 2 * 2048**3 * ranks
    measured = metric("performance", {"operation": "gemm"}, "GFLOP/s", per_rank, "higher", work)
    document = _benchmark(
        result(ranks, operations=(), variant=variant), "gemm", [measured], size=2048, data_type="float",
        block_size=256, gemm_size=8, unroll=8, replications=2, alpha=0.5, beta=2.0,
    )  # fmt: skip
    return document


def fft(ranks=1):
    """A document like fm_fft's: batches of 2^10."""
    measurements = []
    for operation in ("forward", "inverse"):
        per_rank = [[0.02, 0.021, 0.022]] * ranks
        axes = {"operation": operation}
        flops, moved = 5 * 10 * 2**24 * ranks, 16 * 2**24 * ranks
        measurements.append(metric("performance", axes, "GFLOP/s", per_rank, "higher", flops))
        measurements.append(metric("bandwidth", axes, "GB/s", per_rank, "higher", moved))
    document = result(ranks, operations=(), variant="throughput")
    parameters = {"scope": "batched", "data_type": "float", "log_size": 10, "batch": 2**14, "replications": 1}
    return _benchmark(document, "fft", measurements, **parameters)


def random_access(ranks=1):
    """A document like fm_random_access's: 2^24 words a rank."""
    per_rank = [[0.8, 0.9, 0.85]] * ranks
    work = 4 * 2**24 * ranks
    measured = metric("updates", {"operation": "update"}, "GUOP/s", per_rank, "higher", work)
    document = result(ranks, operations=(), variant="throughput")
    parameters = {"scope": "star", "log_size": 24, "replications": 2, "buffer_size": 1, "log_rngs": 0}
    return _benchmark(document, "random_access", [measured], **parameters)


def timeline(repetitions=3, ranks=1, replications=2, operations=("copy", "scale", "add", "triad")):
    """Kernels that run one operation after the other, the replications of each at the same time."""
    events = []
    for repetition in range(repetitions):
        for place, operation in enumerate(operations):
            start = (repetition * len(operations) + place) * 2e-3
            for rank in range(ranks):
                for replication in range(replications):
                    begin = start + 1e-4 * (rank + replication)
                    events.append(
                        {"rank": rank, "repetition": repetition, "operation": operation}
                        | {"replication": replication, "kernel": "stream", "queued": start}
                        | {"submitted": start + 1e-5, "started": begin + 2e-5, "ended": begin + 1.5e-3}
                    )
    return events


def energy(watts=40.0, seconds=2.0, repetitions=3, domain="package-0", source="rapl", peak=1.25):
    """The energy of one domain, whose power has been `peak` times the mean."""
    return {
        "domain": domain,
        "source": source,
        "joules": watts * seconds,
        "seconds": seconds,
        "watts": watts,
        "peak_watts": peak * watts,
        "joules_per_repetition": watts * seconds / repetitions,
        "samples": {"unit": "W", "seconds": [-0.01, 0.5 * seconds], "values": [watts, peak * watts]},
    }


def scaling(mode="weak", speed_ups=(1.0, 1.9, 3.4), files=(), kind="measured"):
    """A scaling.json: Triad on 1, 2, 4, ... ranks."""
    ranks = [2**power for power in range(len(speed_ups))]
    rates = [10.0 * up for up in speed_ups]
    shares = [up / count for up, count in zip(speed_ups, ranks, strict=True)]
    nothing = [None] * len(ranks)
    triad = {
        "mode": mode, "benchmark": "stream", "operation": "triad", "name": "bandwidth",
        "axes": {"operation": "triad"}, "unit": "GB/s", "better": "higher", "kind": kind,
        "ranks": ranks, "values": nothing, "verdicts": ["valid"] * len(ranks),
        "files": list(files) or [f"{mode}-{count}.json" for count in ranks],
        "best": rates, "median": rates, "speed_up": list(speed_ups), "efficiency": shares,
        "per_replication": [rate / 2 for rate in rates], "per_bank": nothing, "per_100_mhz": nothing,
        "per_replication_100_mhz": nothing, "per_bank_100_mhz": nothing,
    }  # fmt: skip
    return {
        "schema": "fabricmark-scaling/1", "benchmark": "stream", "created": "2026-11-21T01:02:03Z",
        "parameter": "size", "ranks_kind": "in-process", "runtime": "system", "device": DEVICE["name"],
        "banks": None, "kernel_mhz": None, "series": [triad],
    }  # fmt: skip

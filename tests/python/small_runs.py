"""Runs of programs, with messages of each kind, that are over at once: for tests and bench of failures."""

SMALL_RUNS = {
    "stream": ("--size", "1000"),
    "ptrans": ("--size", "64", "--block-size", "16"),
    "hpl": ("--size", "128", "--block-size", "32"),
    "fft": ("--scope", "distributed", "--variant", "throughput", "--vector-bytes", "16", "--log-size", "10"),
}

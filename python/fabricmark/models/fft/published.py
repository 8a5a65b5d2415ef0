"""Published rows of FFT."""

from fabricmark.models._published import Published, by_operation, group, of_bitstreams

DATA_BYTES = 2**31  # of Table 3.6 (section 3.2.3)
VALUE_BYTES = 8


def batch(one, parameters) -> dict[str, object]:
    return {"scope": "batched", "batch": DATA_BYTES // (VALUE_BYTES * 2 ** parameters["log_size"])}


PUBLISHED = Published(
    {"fft_gflops": ("performance", "forward")},
    lambda row, parameters: {"scope": "batched", "batch": 4096},
    printed=by_operation("performance", {"performance": "forward"}),
    printed_size=batch,
    groups=(group("fft", "520n", *of_bitstreams(["fft"], "fitted.pipeline_efficiency")),),
)

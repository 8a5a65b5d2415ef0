"""Published rows of FFT."""

from fabricmark.models._published import Published, group, of_bitstreams

PUBLISHED = Published(
    {"fft_gflops": ("performance", "forward")},
    lambda row, parameters: {"scope": "batched", "batch": 4096},
    (group("fft", "520n", *of_bitstreams(["fft"], "fitted.pipeline_efficiency")),),
)

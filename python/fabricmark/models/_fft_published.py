"""Published rows of FFT."""

from fabricmark.models._published import FitGroup, Published, of_bitstreams

PUBLISHED = Published(
    {"fft_gflops": ("performance", "forward")},
    lambda row, parameters: {"scope": "batched", "batch": 4096},
    (FitGroup("fft", "520n", of_bitstreams(["fft"], "fitted.pipeline_efficiency")),),
)

"""Numbers with a unit: what is read, what is refused, and that what is written is read back."""

import pytest
from fabricmark.base import quantities
from fabricmark.validate.metrics import FACTORS

READ = {
    "16 KiB": ("bytes", 16384.0),
    "1 GiB/s": ("bytes_per_second", 2.0**30),
    "40 Gbit/s": ("bytes_per_second", 5e9),
    "1.2 PFLOP/s": ("flops_per_second", 1.2e15),
    "2 TFLOP/s": ("flops_per_second", 2e12),
    "300 MHz": ("hertz", 3e8),
    "60us": ("seconds", 60e-6),
    "0.1 GUOP/s": ("updates_per_second", 1e8),
}


@pytest.mark.parametrize("text", READ)
def test_units_of_each_dimension(text):
    dimension, value = READ[text]
    assert quantities.parse(text, dimension) == value


NO_RATES = {
    "12": "no unit",
    "GB/s": "begin with a number",
    "1 GB": "not a unit of bytes_per_second",
    "1 gb/s": "not a unit of bytes_per_second",
    "-1 GB/s": "negative",
    "1e999 GB/s": "not finite",
}


@pytest.mark.parametrize("text", NO_RATES)
def test_what_is_no_rate(text):
    with pytest.raises(ValueError, match=NO_RATES[text]):
        quantities.parse(text, "bytes_per_second")


@pytest.mark.parametrize("dimension", quantities.PREFERRED)
@pytest.mark.parametrize("value", [1.0, 2.5e-9, 0.0, 3.25e8, 19.2e9, 1.25e15])
def test_what_is_written_is_read_back(value, dimension):
    text = quantities.written(value, dimension)
    assert quantities.parse(text, dimension) == pytest.approx(value, rel=1e-4, abs=0)


def test_published_rows_and_predictions_have_the_same_units():
    kinds = {
        "B/s": "bytes_per_second",
        "FLOP/s": "flops_per_second",
        "UOP/s": "updates_per_second",
        "s": "seconds",
    }
    assert {kind for kind, _ in FACTORS.values()} == set(kinds)
    for unit, (kind, factor) in FACTORS.items():
        assert quantities.parse(f"1 {unit}", kinds[kind]) == factor

"""tools/write_fitted.py changes the numbers of a fit and nothing else."""

import pytest
import write_fitted

TEXT = """name = "x"

[host]
page = { fitted = "4 KiB", inferred = "seen" }
read_bandwidth = { value = "6 GB/s", source = "Meyer 2024, Table 1" }

[memory]
banks = 4

[bitstreams.fft]
fitted.pipeline_efficiency = { fitted = 0.5, inferred = "a fit" }

[bitstreams.hpl]
clock = "1 MHz"
"""


@pytest.mark.parametrize(
    "table, name, number, old, new",
    [
        ((), "host.page", '"8 KiB"', '"4 KiB"', '"8 KiB"'),
        (
            (), "host.read_bandwidth", '"5 GB/s"', "Table 1\" }",
            "Table 1\", fitted = \"5 GB/s\", inferred = \"why\" }",
        ),
        (
            (), "host.page_latency", '"1 us"', "Table 1\" }\n",
            "Table 1\" }\npage_latency = { fitted = \"1 us\", inferred = \"why\" }\n",
        ),
        (("bitstreams", "fft"), "fitted.pipeline_efficiency", "0.75", "fitted = 0.5", "fitted = 0.75"),
        (
            ("bitstreams", "hpl"), "fitted.panel_efficiency", "0.25", 'clock = "1 MHz"\n',
            'clock = "1 MHz"\nfitted.panel_efficiency = { fitted = 0.25, inferred = "why" }\n',
        ),
    ],
)  # fmt: skip
def test_a_number_is_written_where_it_belongs(tmp_path, table, name, number, old, new):
    assert TEXT.count(old) == 1
    path = tmp_path / "file.toml"
    path.write_text(TEXT)
    write_fitted.write(path, table, name, number, "why")
    assert path.read_text() == TEXT.replace(old, new)

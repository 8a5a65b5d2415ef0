"""Error bars of a measured machine: what short runs that are left out are off by."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest
import samples
from fabricmark import systems
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import left_out
from fabricmark.measure.fitted import Finished
from fabricmark.models import Prediction, _error_bars
from fabricmark.models._measured import Run
from fabricmark.models.machine import Bitstream, ErrorBars
from fabricmark.systems import calibration, text

KINDS = ("stream", "throughput")
SIZES = (2**24, 3 * 2**23)


@dataclass(frozen=True)
class Entry:
    best: float
    axes: dict
    name: str = "bandwidth"
    unit: str = "GB/s"
    kind: str = "measured"


@dataclass
class Machine:
    """STREAM at so many GB/s in each pass, at each size `by_size` times that."""

    passes: tuple
    by_size: tuple = (1.0, 1.0)
    link: tuple = ()
    board: object = field(default_factory=lambda: calibration.board(samples.calibration()))

    def done(self):
        """What short runs found."""
        return {KINDS: [
            self._run(number, rate * by, size, link)
            for number, (rate, link) in enumerate(zip(self.passes, self.link or self.passes, strict=True), 1)
            for size, by in zip(SIZES, self.by_size, strict=True)
        ]}  # fmt: skip

    def _run(self, number, rate, size, link):
        document = samples.result()
        parameters = {**document["parameters"], "variant": "throughput", "size": size, "replications": 1}
        found = [Entry(rate, {"operation": one}) for one in ("copy", "scale", "add", "triad")]
        found += [Entry(link, {"operation": one}) for one in ("host_to_device", "device_to_host")]
        run = Run(parameters, self.board, 1, found)
        return Finished(run, SimpleNamespace(document=document), f"{size}", {"size": size}, number)

    def bars(self):
        (found,) = left_out.error_bars(self.done(), "sample").values()
        return {kind: one.shares[0] for kind, one in found.items()}


def test_a_steady_machine_is_sure():
    assert Machine((10.0, 10.0)).bars()["bandwidth"] < 0.01


def test_passes_that_differ_widen_the_bars():
    """Two passes, 1.2 times apart: each is off by ln 1.2 from the other, and sqrt 3/4 of it counts."""
    wide = Machine((10.0, 12.0)).bars()["bandwidth"]
    assert 0.15 < wide < 0.6
    assert Machine((10.0, 11.0)).bars()["bandwidth"] < 0.6 * wide


def test_a_model_that_is_wrong_at_other_sizes_is_noticed_in_one_pass():
    assert Machine((10.0,)).bars()["bandwidth"] < 0.01 < Machine((10.0,), (1.0, 1.2)).bars()["bandwidth"]


def test_copies_over_the_link_have_their_own():
    found = Machine((10.0, 10.0), link=(5.0, 8.0)).bars()
    assert found["bandwidth"] < found["bandwidth_over_link"]


def test_what_ran_once_has_none():
    done = {KINDS: Machine((10.0,)).done()[KINDS][:1]}
    assert left_out.error_bars(done, "sample") == {}


def test_of_a_message_by_its_bytes():
    bars = ErrorBars((1024.0, 1048576.0), (0.4, 0.1))
    kernel = Bitstream("x", "b_eff", "", "base", "none", {}, error_bars={"bandwidth": bars})
    found = [
        _error_bars.error_bar(kernel, "bandwidth", {"message_bytes": size}) for size in (1, 32768, 2**30)
    ]
    assert found == [0.4, pytest.approx(0.25), 0.1]
    assert _error_bars.error_bar(kernel, "latency", {"message_bytes": 1}) is None
    assert _error_bars.error_bar(kernel, "bandwidth", {"operation": "host_to_device"}) is None
    assert _error_bars.error_bar(None, "bandwidth", {}) is None


def test_only_what_is_predicted_has_one():
    kernel = Bitstream("x", "stream", "", "base", "none", {}, error_bars={"rate": ErrorBars((1.0,), (0.2,))})
    known = Prediction("rate", {}, 1.0, "GB/s", None, "", "")
    unknown = Prediction("rate", {}, None, "GB/s", None, "", "")
    found = _error_bars.with_error_bars([known, unknown], kernel)
    assert [one.error_bar for one in found] == [0.2, None]
    assert _error_bars.with_error_bars([known], None) == [known]


def written(folder, bars):
    """The file of a machine whose STREAM has these."""
    kernel = Bitstream("one", "stream", "me", "throughput", "none", {}, error_bars=bars)
    kernel = kernel.with_measured({"efficiency": 0.5})
    entry = {"board": "me", "source": "here", "per_node": 1, "most": 1, "bitstreams": ["me"]}
    parts = {
        "boards/me.toml": text.board(calibration.board(samples.calibration()), "a", "b"),
        "bitstreams/me.toml": text.bitstreams("me", "kernels", [(kernel, "measured")]),
        "my.toml": text.system("my", "mine", [entry]),
    }
    for name, content in parts.items():
        folder.joinpath(name).parent.mkdir(exist_ok=True)
        folder.joinpath(name).write_text(content, encoding="utf-8")
    return folder / "my.toml"


def test_they_are_written_and_read(tmp_path):
    bars = {"bandwidth": ErrorBars((1024.0, 4096.0), (0.25, 0.125)), "latency": ErrorBars((1.0,), (0.5,))}
    (found,) = systems.load(written(tmp_path, bars)).bitstreams
    assert found.error_bars == bars


@pytest.mark.parametrize("wrong", ["bytes = [1]", "shares = [0]", "shares = [1, 2]", "shares = [1e9]"])
def test_wrong_ones_are_refused(tmp_path, wrong):
    file = written(tmp_path, {"bandwidth": ErrorBars((1.0,), (0.25,))})
    part = tmp_path / "bitstreams" / "me.toml"
    right = "bytes = [1], shares = [0.25]"
    key = wrong.split()[0]
    changed = wrong if key == "bytes" else f"bytes = [1], {wrong}"
    content = part.read_text(encoding="utf-8")
    assert right in content
    part.write_text(content.replace(right, changed), encoding="utf-8")
    with pytest.raises(FabricmarkError, match="error_bars"):
        systems.load(file)


def test_predict_shows_them(predict, tmp_path):
    file = written(tmp_path, {"bandwidth": ErrorBars((1.0,), (0.25,))})
    done = predict("stream", "--system", file)
    assert "25.0 %" in done.stdout and "short runs on the machine that had no part in a fit" in done.stdout
    done = predict("stream", "--system", file, "--set", "board.memory.banks=2")
    assert "50.0 %" in done.stdout and "wider by once" in done.stdout, done
    done = predict("stream", "--system", written(tmp_path, {}))
    assert "error bar: none, as no short run tells" in done.stdout

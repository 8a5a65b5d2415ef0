"""Ranks on different runtimes: a process on the device that there is, and one on Intel's FPGA emulator.

Each reaches the memory of its device in its own way; they have to understand each other's messages all the
same. Skipped where the emulator is not installed.
"""

import pytest
from fabricmark import results
from fabricmark.base import runtimes
from stream_program import devices, mpirun, on_a_device, one_error

pytestmark = [pytest.mark.programs, pytest.mark.full]
EMULATOR = "fpga-emulator"
# Parameters whose defaults differ by device class are given, as all ranks have to be asked the same.
PROGRAMS = {
    "b_eff": ("--largest", 16, "--repetitions", 2),
    "ptrans": ("--size", 512, "--block-size", 64, "--replications", 1, "--repetitions", 2),
    "hpl": (
        *("--size", 256, "--block-size", 32, "--replications", 1, "--group-side", 1),
        *(
            "--launch-items",
            4,
            "--register-block",
            8,
            "--tile-rows",
            4,
            "--tile-vectors",
            4,
            "--repetitions",
            2,
        ),
    ),
}
CASES = [("b_eff", "cpu"), ("b_eff", "host"), ("ptrans", "cpu"), ("ptrans", "host"), ("hpl", "host")]


def in_turns(factory, name, words):
    """A program on the device that there is, and the launcher that starts another one on the emulator."""
    if not runtimes.find(EMULATOR).installed():
        pytest.skip(f"no emulator (`fabricmark runtimes install {EMULATOR}`)")
    made = on_a_device(factory, name)
    if devices(made)[0]["class"] == "emulator":
        pytest.skip("the device that there is is the emulator")
    emulated = runtimes.environment(EMULATOR, made.environment)
    changed = [f"{key}={value}" for key, value in emulated.items() if made.environment.get(key) != value]
    return made, [*mpirun(1), "env", *changed, made.program, *words, ":", "-n", "1"]


@pytest.mark.parametrize("name, transport", CASES)
def test_ranks_on_different_runtimes_exchange_validly(tmp_path_factory, name, transport):
    path = tmp_path_factory.mktemp("mixed") / "result.json"
    words = (*PROGRAMS[name], "--variant", "base", "--transport", transport, "--json", path)
    made, launcher = in_turns(tmp_path_factory, name, words)
    done = made.start(*words, launcher=launcher)
    assert done.code == 0, done.errors
    found = results.load(path).document
    assert len({rank["device"] for rank in found["environment"]["ranks"]["placement"]}) == 2
    assert {measurement["kind"] for measurement in found["measurements"]} == {"emulated"}
    assert {verdict["status"] for verdict in found["verdicts"]} == {"passed"}


@pytest.mark.parametrize("fault", ["blank@0", "blank@1", "half@1"])
def test_a_wrong_message_between_them_is_found(tmp_path_factory, fault):
    words = (*PROGRAMS["ptrans"], "--variant", "base", "--transport", "host", "--inject-fault", fault)
    made, launcher = in_turns(tmp_path_factory, "ptrans", words)
    assert made.start(*words, launcher=launcher).code == 1


def test_ranks_whose_defaults_differ_say_so(tmp_path_factory):
    words = ("--variant", "base", "--repetitions", 1)
    made, launcher = in_turns(tmp_path_factory, "ptrans", words)
    line = one_error(made.start(*words, launcher=launcher), codes=(2,))
    assert "were not asked the same" in line

"""The dry-run device computes nothing: every benchmark runs on it to the end, and claims nothing."""

import pytest
from stream_program import PROGRAM, Stream, devices, one_error

pytestmark = pytest.mark.programs
SMALL = {
    "stream": ("--size", 10000),
    "random_access": ("--log-size", 12),
    "fft": ("--log-size", 6, "--batch", 4),
    "gemm": ("--size", 128, "--block-size", 64),
    "ptrans": ("--size", 256, "--block-size", 64),
    "hpl": ("--size", 128, "--block-size", 32),
    "b_eff": ("--largest", 12),
    "host_transfer": ("--largest", 14),
}
ON_DRY_RUN = ("--platform", "dry-run", "--repetitions", 2)


def dry_run(factory, name):
    return Stream(factory.mktemp(name), PROGRAM.with_name(f"fm_{name}"))


@pytest.mark.parametrize("name", SMALL)
def test_each_benchmark_runs_and_claims_nothing(tmp_path_factory, name):
    done = dry_run(tmp_path_factory, name).run(*SMALL[name], *ON_DRY_RUN)
    assert done.code == 0, done.errors
    assert done.document["environment"]["device"]["platform"] == "dry-run"
    assert done.document["environment"]["device"]["emulated"] is True
    assert {one["kind"] for one in done.document["measurements"]} == {"emulated"}
    assert {verdict["status"] for verdict in done.document["verdicts"]} == {"skipped"}
    assert any("nothing was computed" in note for note in done.document["notes"])


def test_boards_exchange_whole_messages_by_default(tmp_path_factory):
    """Eq. 4.2 of Meyer 2024 is of whole messages; CPUs and GPUs take what is fastest there."""
    b_eff = dry_run(tmp_path_factory, "b_eff")
    done = b_eff.run(*SMALL["b_eff"], *ON_DRY_RUN, "--ranks", 2)
    assert done.document["parameters"]["chunk_bytes"] == 0
    done = b_eff.run("--largest", 4, "--messages", 2, "--repetitions", 1, "--sub-steps", "false")
    assert done.document["parameters"]["chunk_bytes"] == -1


@pytest.mark.parametrize("name", ["b_eff", "ptrans", "hpl"])
def test_ranks_exchange_all_their_messages(tmp_path_factory, name):
    done = dry_run(tmp_path_factory, name).run(*SMALL[name], *ON_DRY_RUN, "--ranks", 4)
    assert done.code == 0, done.errors


def test_it_is_offered_to_who_asks_for_it_only(tmp_path_factory):
    stream = dry_run(tmp_path_factory, "stream")
    assert all(device["platform"] != "dry-run" for device in devices(stream))
    asked = stream.start("--list-devices", "--platform", "dry-run")
    assert asked.code == 0 and "dry-run FPGA" in asked.output


def test_a_fault_there_would_show_nothing(tmp_path_factory):
    done = dry_run(tmp_path_factory, "stream").start(
        *SMALL["stream"], *ON_DRY_RUN, "--inject-fault", "element"
    )
    assert "computes nothing" in one_error(done, codes=(2,))

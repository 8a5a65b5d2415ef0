"""Shell completion, and what may be chosen in the help of options."""

import subprocess
import sys

import pytest


def completed(place, *words, **more):
    """What bash would offer for the last word."""
    variables = {
        "_FABRICMARK_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(["fabricmark", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return place.run(**variables, **more).stdout.split()


def test_names_are_completed(place, of_the_repository):
    assert completed(place, "run", "s") == ["stream"]  # the one benchmark of the stand-in
    assert completed(place, "run", "a") == ["all"]
    assert "systems" in completed(place, "sys")
    assert completed(place, "predict", "stream", "--scaling", "w") == ["weak"]
    assert completed(place, "ab", "a", "b", "--statistic", "m") == ["median"]
    assert completed(place, "run", "stream", "--runtime", "fpga") == ["fpga-emulator"]
    for command in ("run", "scale"):
        assert completed(place, command, "stream", "--launcher", "s") == ["srun"]


def test_baselines_are_completed(place):
    (place.folder / "history/baselines").mkdir(parents=True)
    (place.folder / "history/baselines/spring.json").write_text("")
    variables = {"FABRICMARK_HISTORY": str(place.folder / "history")}
    assert completed(place, "baseline", "list", "s", **variables) == ["spring"]


def test_systems_are_completed(place):
    (place.root / "systems").mkdir()
    (place.root / "systems" / "mine.toml").write_text("")
    for command in ("predict", "run"):
        assert completed(place, command, "stream", "--system", "m") == ["mine"]


def test_nothing_is_offered_where_nothing_is_found(place):
    (place.root / "kernels" / "stream").rename(place.folder / "gone")
    assert completed(place, "list", "s") == []


@pytest.mark.parametrize(
    "words, choices",
    [
        (["run"], "[system|intel-cpu|fpga-emulator|sycl|all]"),
        (["scale"], "[weak|strong|both]"),
        (["scale"], "[per-rank|total]"),
        (["predict"], "[fitted|published]"),
        (["compare"], "[median|quartile|best]"),
        (["systems", "show"], "[fitted|published]"),
    ],
)
def test_choices_are_in_the_help(place, words, choices):
    assert choices in place.run(*words, "--help").stdout


def test_the_script_for_a_shell_is_printed(place):
    # Typer looks, when it is loaded, whether to look for a shell among the processes that have started this
    # one, of which there may be none.
    variables = {**place.environment, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    words = [sys.executable, "-m", "fabricmark", "--show-completion", "bash"]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, timeout=60)
    assert "complete -o default" in done.stdout, done.stderr

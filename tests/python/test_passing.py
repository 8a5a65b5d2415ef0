"""Options that `fabricmark run` hands on to programs: with ` -- ` to any, without to applications."""

from pathlib import Path

import pytest
from fabricmark import cli, models
from fabricmark.measure import launch
from fabricmark.measure.launch import Job
from typer.testing import CliRunner

APPLICATION = next(name for name in models.names() if models.traits(name).is_application)
WITH_FIELDS = next(name for name in models.names() if models.traits(name).fields_with)


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs `fabricmark run words...` up to the jobs: (its result, words for the program)."""
    words = []
    monkeypatch.setattr(cli.running, "jobs", lambda *given: words.extend(given[-1]) or [])

    def call(*arguments):
        words.clear()
        return CliRunner().invoke(cli.app, ["run", "--output", str(tmp_path), *arguments]), list(words)

    return call


def test_an_application_takes_its_options_as_they_are(run):
    result, words = run(APPLICATION, "--mesh", "bay:9", "--ranks", "2", "--order=1")
    assert (result.exit_code, words) == (0, ["--mesh", "bay:9", "--order=1"])
    result, words = run(APPLICATION, "--order", "1", "--device", "0", "--", "--steps", "3")
    assert (result.exit_code, words) == (0, ["--order", "1", "--steps", "3", "--device", "0"])


def test_a_benchmark_takes_them_behind_two_dashes(run):
    result, words = run("stream", "--", "--size", "4")
    assert (result.exit_code, words) == (0, ["--size", "4"])
    result, words = run("stream", "--size", "4", "--", "--repetitions", "1")
    assert (result.exit_code, words) == (2, [])
    assert "No such option: --size" in result.output


def test_a_mistyped_option_is_named_with_the_nearest(run):
    result, _ = run("stream", "--rank", "4")
    assert result.exit_code == 2
    assert "Did you mean --ranks?" in result.output


def test_fields_lie_beside_the_result_where_their_option_is_given():
    def option(*extra):
        return launch.fields_option(
            Job(WITH_FIELDS, "system", None, 1, None, Path(), extra), Path("r/a.json")
        )

    wanted = models.traits(WITH_FIELDS).fields_with
    assert option(wanted, "2") == ["--fields", "r/a-fields"]
    assert option() == option(wanted, "2", "--fields", "here") == []

"""The answer of a report: right or wrong, how near to the limits, what to look at, and commands that run."""

import io
import json
import re
import shlex
import socket
from types import SimpleNamespace

import pytest
import samples
from campaign_support import write
from fabricmark.base import paths
from fabricmark.report import answer, answer_view, groups, next_steps
from fabricmark.report.answer import KINDS, LIMIT, MODEL, NOISE, UNKNOWN, WRONG
from fabricmark.report.inputs import find, read
from fabricmark.results import failures, load
from rich.console import Console

MAKERS = (samples.b_eff, samples.fft, samples.gemm, samples.host_transfer, samples.random_access)
NOISY = ((0.01, 0.04, 0.05, 0.045),)


def named(document, benchmark):
    document["run"].update(program=f"fm_{benchmark}", benchmark=benchmark)
    return document


def here(document, command=()):
    """The same as a run of this host, which can be repeated."""
    document["environment"]["host"]["name"] = socket.gethostname()
    document["run"]["command"] = [document["run"]["program"], *command]
    return document


def many(place):
    """More than a screen holds: benchmarks with and without a model, on two devices."""
    for number in range(2):
        device = {**samples.DEVICE, "name": f"device {number}, of a long name"}
        for maker in (*MAKERS, samples.result):
            document = maker()
            document["environment"]["device"] = device
            place.write(f"{number}-{maker.__name__}.json", document)
        for letter in "abcdefghijkl":
            document = named(samples.result(device=device), f"micro_{letter}")
            place.write(f"{number}-{letter}.json", document)


def made(place, order="importance"):
    found = read(find([place.results]))
    return answer.make(groups.make(found.results), found.failures, len(found.errors), order)


def shown(place, *words, **variables):
    done = place.run("report", "results", *words, COLUMNS="80", **variables)
    return done, done.stdout.splitlines()


def commands(lines):
    """The words of each command among the lines, as a shell would take them."""
    text = "\n".join(lines).replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line.startswith("   ")]


def test_twenty_five_lines_of_eighty_columns_whatever_there_is(calibrated):
    many(calibrated)
    wrong = samples.result(status="failed")
    wrong["verdicts"][0]["name"] = "a check with a name of many words " * 9
    for number in range(4):
        wrong = json.loads(json.dumps(wrong))
        wrong["parameters"]["size"] = number
        calibrated.write(f"wrong{number}.json", wrong)
    done, lines = shown(calibrated, "--html", "page.html")
    assert done.returncode == 1
    assert len(lines) <= answer_view.MOST_LINES, done.stdout
    names = ["a long name"]  # no name is cut
    assert all(len(line) <= 80 or any(name in line for name in names) for line in lines), done.stdout
    assert lines[0].startswith("FAILED: 4 INVALID of 40 results")
    assert re.fullmatch(r"=+ 36 valid, 4 invalid, 0 failed, 0 skipped in 48\.0 s =+", lines[-1])
    assert "page: page.html" in lines and any(line.endswith("results --full") for line in lines)


def test_every_headline_says_its_share_and_verdict_or_why_not(calibrated):
    for number, maker in enumerate((*MAKERS, samples.result)):
        calibrated.write(f"{number}.json", maker())
    calibrated.write("micro.json", named(samples.result(), "micro"))
    calibrated.write("emulated.json", named(samples.result(kind="emulated"), "another"))
    done, _ = shown(calibrated)
    for share in made(calibrated).shares:
        name = share.headline.benchmark
        line = next(line for line in done.stdout.splitlines() if re.search(rf"(^|: |, ){name}( |,|$)", line))
        assert ("%" in line) == (share.share is not None)
        assert share.share is not None or "no limit" in line
        assert "valid" in line
    assert "valid, no limit (no model): micro" in done.stdout
    assert "valid, no limit (emulated time): another" in done.stdout


def test_a_bar_is_as_long_as_its_share(calibrated):
    calibrated.write("one.json", samples.result(operations=("triad",)))
    (share,) = made(calibrated).shares
    for encoding, (full, empty) in (("utf-8", answer_view.BLOCKS), ("latin-1", answer_view.LETTERS)):
        file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        out = Console(file=file, width=80)
        text = "\n".join(line.plain for line in answer_view.lines(made(calibrated), out, []))
        text.encode(encoding)
        bar = re.search(f"[{full}{empty}]{{6,}}", text)[0]
        assert bar.count(full) == round(share.share * len(bar)) < len(bar)


def slower(document, factor):
    """The same, of which every repetition took so many times as long."""
    for entry in document["measurements"]:
        taken = entry["samples"]["per_rank"]
        entry["samples"]["per_rank"] = [[time * factor for time in times] for times in taken]
        for key in ("best", "median", "mean", "minimum", "maximum", "standard_deviation"):
            entry[key] = entry[key] / factor
    return document


def test_a_model_that_is_far_off_is_named_beside_a_green_valid(calibrated):
    calibrated.write("good.json", slower(samples.result(operations=("triad",)), 0.8))
    assert made(calibrated).off == {}
    assert "far from the model: none of 1 row" in shown(calibrated)[0].stdout
    calibrated.write("good.json", slower(samples.result(operations=("triad",)), 14.17))
    found = made(calibrated)
    assert found.off["stream"] > 9 and found.off_rows == 1
    assert MODEL in [worry.kind for worry in found.worries]
    done, lines = shown(calibrated)
    percent = f"+{100 * found.off['stream']:.0f} %"
    (row,) = (line for line in lines if line.startswith("stream "))
    assert percent in row and row.endswith("valid, model off")
    assert f"far from the model: 1 of 1 row, at most stream {percent}" in done.stdout
    assert f"model {percent}" in done.stdout


def test_three_of_different_kinds_and_wrong_ones_first(calibrated):
    slow = slower(samples.gemm(), 20)
    calibrated.write("slow.json", slow)
    noisy = samples.result(operations=("triad",))
    noisy["measurements"] = [samples.measurement(per_rank=NOISY)]
    noisy["repetitions"]["count"] = len(NOISY[0])
    calibrated.write("noisy.json", noisy)
    calibrated.write("fine.json", samples.host_transfer())
    found = made(calibrated)
    assert len(found.worries) == 3 and {LIMIT, NOISE} <= {worry.kind for worry in found.worries}
    assert {worry.about.split(",")[0] for worry in found.worries} >= {"gemm", "stream"}
    calibrated.write("wrong.json", named(samples.result(status="failed"), "wrong"))
    assert made(calibrated).worries[0].kind == WRONG
    incomplete = named(samples.result(), "cut")
    incomplete["run"]["complete"] = False
    calibrated.write("cut.json", incomplete)
    calibrated.write("skipped.json", named(samples.result(status="skipped"), "skipped"))
    kinds = [(worry.kind, worry.about.split(",")[0]) for worry in made(calibrated).worries]
    assert kinds == [(WRONG, "wrong"), (WRONG, "cut"), (WRONG, "skipped")]
    assert set(KINDS) == {WRONG, UNKNOWN, LIMIT, MODEL, NOISE}


@pytest.mark.parametrize(
    ("changed", "counts", "words"),
    [
        ({}, (1, 0, 0, 0), "PASSED: the result is valid"),
        ({"status": "failed"}, (0, 1, 0, 0), "FAILED: 1 INVALID of 1 result"),
        ({"status": "skipped"}, (0, 0, 0, 1), "NOT CHECKED: no result was compared with what is right"),
    ],
    ids=["valid", "invalid", "skipped"],
)
def test_the_verdict_and_the_closing_line(place, changed, counts, words):
    place.write("one.json", samples.result(**changed))
    _, lines = shown(place)
    found = made(place).counts
    assert (found.valid, found.invalid, found.failed, found.skipped) == counts
    assert lines[0].startswith(words)
    assert found.closing() in lines[-1]


def test_files_that_cannot_be_read_and_unfinished_runs_have_failed(place):
    place.write("good.json", samples.result())
    place.write("damaged.json", "")
    incomplete = samples.result()
    incomplete["run"]["complete"] = False
    place.write("cut.json", incomplete)
    done, lines = shown(place)
    assert done.returncode == 2
    assert lines[0].startswith("FAILED: 2 failed of 3 results")
    assert "1 valid, 0 invalid, 2 failed, 0 skipped" in lines[-1]


def test_commands_run_as_they_are_printed(calibrated):
    wrong = here(
        samples.result(status="failed", ranks=2), ("--platform", "0", "--device", "0", "--size", "2^20")
    )
    calibrated.write("wrong.json", wrong)
    skipped = here(named(samples.result(status="skipped"), "stream"), ("--skip-validation", "--size=64"))
    calibrated.write("skipped.json", skipped)
    noisy = here(samples.result(operations=("triad",), variant="base"), ("--repetitions", "4"))
    noisy["measurements"] = [samples.measurement(per_rank=NOISY)]
    noisy["repetitions"]["count"] = 4
    noisy["parameters"]["size"] = 7
    calibrated.write("noisy.json", noisy)
    _, lines = shown(calibrated)
    found = commands(lines)
    assert found[0] == ["fabricmark", "run", "stream", "--ranks", "2", "--", "--size", "2^20"]
    assert found[1] == ["fabricmark", "run", "stream", "--", "--size=64"]
    _, lines = shown(calibrated, "--filter", "size=7")
    found += commands(lines)
    more = [line.partition(": ")[2] for line in lines if line.startswith("all tables: ")]
    found += [shlex.split(line) for line in more]
    assert {words[1] for words in found} == {"run", "report"} and len(found) >= 4
    for words in found:
        done = calibrated.run(*words[1:])
        assert done.returncode in (0, 1) and "error" not in done.stderr, (words, done.stderr)


def test_what_is_far_from_its_limit_leads_to_the_kernel_for_speed_then_to_tuning(calibrated, monkeypatch):
    tuned = {"size": {"cpu": [1, 2]}}
    variants = {"base": {"tuned": {}}, "throughput": {"tuned": tuned}}
    monkeypatch.setattr(next_steps.kernels, "kernel", lambda _: SimpleNamespace(variants=variants))

    def tried(document, devices=1):
        return next_steps.faster(load(calibrated.write("one.json", document)), devices)

    why, words = tried(here(samples.result(), ("--size", "9", "--variant", "base", "--repetitions=3")))
    assert "throughput" in why and words == ("run", "stream", "--", "--size", "9", "--variant", "throughput")
    assert tried(here(samples.result(variant="throughput")))[1] == ("tune", "--kernels", "stream")
    tuned["size"] = {"gpu": [1, 2]}
    table = ("report", str(calibrated.results), "--benchmark", "stream")
    assert tried(here(samples.result(variant="throughput"))) == ("", table)
    assert tried(samples.result()) == ("", table)  # of another host
    own = here(samples.result())
    own["run"]["class"] = "optimized"
    assert tried(own) == ("", table)
    assert tried(here(samples.host_transfer()))[0] == ""  # no kernel has a part in it


def test_two_kernels_are_compared_on_the_same_ranks_and_sizes_alone(calibrated):
    optimized = slower(samples.result(variant="throughput"), 0.8)
    calibrated.write("two-ranks.json", samples.result(ranks=2))  # faster than one, whatever the kernel
    calibrated.write("optimized.json", optimized)
    assert made(calibrated).kernels == ""
    calibrated.write("design.json", samples.result())
    found = made(calibrated)
    (share,) = found.shares
    assert share.headline.group.fields["ranks"] == 2
    bests = [
        max(entry["best"] for entry in document["measurements"] if entry["axes"]["operation"] == "triad")
        for document in (samples.result(), optimized)
    ]
    assert [metric.row.best for metric in share.headline.by_kernel] == bests
    assert found.kernels.endswith(f"stream {bests[0]:.3g} / {bests[1]:.3g} GB/s")


@pytest.mark.parametrize("other", ["size", "data type", "work", "device", "verdict", "launch"])
def test_kernels_that_ran_something_else_are_not_compared(calibrated, other):
    document = samples.result(
        device={**samples.DEVICE, "name": "another"} if other == "device" else samples.DEVICE,
        status="failed" if other == "verdict" else "passed",
    )
    if other == "work":  # of triad, twice as much in twice the time
        document = slower(document, 2)
        for entry in document["measurements"]:
            entry["work"]["amount"] *= 2
            for key in ("best", "median", "mean", "minimum", "maximum", "standard_deviation"):
                entry[key] *= 2
    document["parameters"] |= {"size": {"size": 7}, "data type": {"data_type": "double"}}.get(other, {})
    if other == "launch":
        document["environment"]["ranks"]["kind"] = "mpi"
    calibrated.write("design.json", document)
    calibrated.write("optimized.json", samples.result(variant="throughput"))
    assert made(calibrated).kernels == ""
    calibrated.write("design.json", samples.result())
    assert made(calibrated).kernels != ""


def test_results_of_other_hosts_lead_to_their_tables(calibrated):
    calibrated.write("wrong.json", samples.result(status="failed"))
    _, lines = shown(calibrated)
    assert commands(lines) == [["fabricmark", "report", "results", "--benchmark", "stream"]]
    done = calibrated.run(*commands(lines)[0][1:])
    assert done.returncode == 1 and "failed: array a" in done.stdout


def test_one_of_several_devices_is_named_in_its_command(calibrated):
    other = {**samples.DEVICE, "name": "other", "platform_index": 1}
    name = "stream-20261130T073051452850Z-fpga-emulator-1.0-other-1r.json"
    calibrated.write("one.json", here(samples.result()))
    document = here(samples.result(status="failed", device=other), ("--platform", "1", "--device", "0"))
    calibrated.write(name, document)
    (words, *_) = commands(shown(calibrated)[1])
    assert words[3:] == ["--runtime", "fpga-emulator", "--platform", "1", "--device", "0"]


def test_a_device_without_limits_is_to_be_measured(place):
    place.write("one.json", here(samples.result()))
    place.write("two.json", here(samples.gemm()))
    assert [worry.kind for worry in made(place).worries] == [UNKNOWN]
    assert commands(shown(place)[1]) == [["fabricmark", "systems", "new"]]


def test_a_long_command_is_broken_as_a_shell_takes_it():
    words = ["run", "stream", "--", *(f"--option-{number}=a value" for number in range(9))]
    lines = answer_view.command(words, 80)
    assert len(lines) > 1 and all(len(line) <= 80 for line in lines)
    assert commands(lines) == [["fabricmark", *words]]


def test_one_benchmark_or_a_text_leaves_the_others_out(place, one_error_line):
    place.write("stream.json", samples.result(ranks=2))
    place.write("gemm.json", samples.gemm())
    done = place.run("report", "results", "--benchmark", "gemm")
    assert "gemm, throughput kernel" in done.stdout and "stream" not in done.stdout
    assert done.stdout.splitlines()[-1].strip("= ").startswith("1 valid, 0 invalid")
    done = place.run("report", "results", "--filter", "2 RANKS", "--csv", "some.csv")
    assert "stream" in done.stdout and "gemm" not in done.stdout + (place.folder / "some.csv").read_text()
    line = one_error_line(place.run("report", "results", "--benchmark", "fft"), 2)
    assert "these files have no result of it; use one of" in line
    assert "no result has this text" in one_error_line(place.run("report", "results", "--filter", "x y"), 2)
    assert "there is no order" in one_error_line(place.run("report", "results", "--sort", "size"), 2)


@pytest.mark.parametrize("order", list(answer.ORDERS))
def test_what_comes_first(calibrated, order):
    for number, maker in enumerate((samples.result, samples.gemm, samples.host_transfer)):
        calibrated.write(f"{number}.json", maker())
    found = [share.headline.benchmark for share in made(calibrated, order).shares]
    _, lines = shown(calibrated, "--sort", order)
    assert [line.split(" ")[0] for line in lines[2 : 2 + len(found)]] == found
    tables = calibrated.run("report", "results", "--full", "--sort", order).stdout
    if order == "name":
        assert found == sorted(found)
        assert sorted(found, key=lambda name: tables.index(f"{name}, ")) == found
    if order == "share":
        known = [share.share for share in made(calibrated, order).shares if share.share is not None]
        assert known == sorted(known, reverse=True)


def test_names_cannot_move_the_cursor(calibrated):
    device = {**samples.DEVICE, "name": "[red]x[/red]\x1b[2J"}
    calibrated.write("one.json", samples.result(status="failed", device=device))
    calibrated.write("two.json", samples.result())
    done, _ = shown(calibrated)
    assert "[red]x[/red]\\x1b[2J" in done.stdout and "\x1b" not in done.stdout


def test_several_runs_end_with_the_answer_and_one_with_its_table(place):
    gpu = {**samples.DEVICE, "name": "gpu", "class": "gpu", "platform_index": 1}
    both = {"FAKE_DEVICES": json.dumps([samples.DEVICE, gpu])}
    done = place.run("run", "stream", **both)
    assert done.stdout.splitlines()[0].startswith("PASSED: all 2 results are valid")
    assert "2 valid, 0 invalid" in done.stdout.splitlines()[-1] and "triad" not in done.stdout
    assert "triad" in place.run("run", "stream", "--full", **both).stdout
    done = place.run("run", "stream")
    assert "triad" in done.stdout and "1 valid, 0 invalid" in done.stdout.splitlines()[-1]


def test_runs_without_a_result_are_counted_until_they_have_one(place, one_error_line):
    (place.root / "kernels" / "another").mkdir()
    (place.root / "kernels" / "another" / "kernel.toml").write_text(samples.KERNEL_TOML)
    done = place.run("run", "all")  # `another` is not built
    assert done.returncode == 3
    assert done.stdout.splitlines()[0].startswith("FAILED: 1 failed of 2 results")
    done, lines = shown(place)
    assert done.returncode == 3 and "1 valid, 0 invalid, 1 failed" in lines[-1]
    assert "another on sample-cpu, 1 rank: failed with exit code 3, the program" in done.stdout
    device = ["--runtime", "system", "--platform", "0", "--device", "0"]
    assert commands(lines)[0] == ["fabricmark", "run", "another", *device]
    (file,) = place.results.glob(f"*{failures.ENDING}")
    assert json.loads(file.read_text())["schema"] == failures.SCHEMA
    # What ran later, under the same name but for its time, makes up for it.
    later = re.sub(r"\d{8}T\d+Z", "20991231T000000Z", file.name).replace(failures.ENDING, ".json")
    place.write(later, named(samples.result(), "another"))
    assert shown(place)[0].returncode == 0
    (place.results / later).unlink()
    (place.results / file.name).write_text("{}")
    line = one_error_line(place.run("report", file), 2)
    assert "not a fabricmark-result file" in line
    for result in place.results.glob("stream*.json"):
        result.unlink()
    file.write_text(
        json.dumps(failures.document(failures.Failure(file, "a", "a, 1 rank", "why", 3, ["list"])))
    )
    done, lines = shown(place)
    assert done.returncode == 3 and lines[0].startswith("FAILED: 1 failed of 1 result")
    assert place.run("report", "results", "--html", "page.html").returncode == 3


def test_points_of_a_campaign_without_a_result_are_counted(place):
    file = write(place)
    codes = {"--vector-width=2": 3}
    done = place.run("run", str(file), FAKE_EXIT_FOR=json.dumps(codes))
    lines = done.stdout.splitlines()
    assert (
        lines[0].startswith("FAILED: 4 failed of 12 results") and "8 valid, 0 invalid, 4 failed" in lines[-2]
    )
    assert commands(lines)[0] == ["fabricmark", "run", str(file)]
    done = place.run("run", str(file))
    assert done.stdout.splitlines()[0].startswith("PASSED: all 12 results are valid")


def test_the_answer_as_a_picture(calibrated):
    many(calibrated)
    assert calibrated.run("report", "results", "--svg", "answer.svg").returncode == 0
    picture = (calibrated.folder / "answer.svg").read_text()
    assert picture.startswith("<svg") and "url(" not in picture.replace("url(#", "")
    assert "PASSED:" in picture.replace("&#160;", " ") and "triad" not in picture
    assert picture.count("clip-path=") <= 3 * answer_view.MOST_LINES


def test_how_the_command_was_called_is_how_it_is_printed(place, monkeypatch, tmp_path):
    called = tmp_path / ".venv" / "bin" / "fabricmark"
    paths.write_atomically(called, "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [".venv/bin/fabricmark"])
    assert answer_view.command(["systems", "new"], 80) == ["   .venv/bin/fabricmark systems new"]
    monkeypatch.setattr("sys.argv", [str(called)])
    assert answer_view.command(["systems", "new"], 80) == ["   .venv/bin/fabricmark systems new"]
    monkeypatch.setattr("sys.argv", ["/site-packages/fabricmark/__main__.py"])
    assert answer_view.command(["list"], 80)[0].endswith(" -m fabricmark list")
    monkeypatch.setattr("sys.argv", ["/site-packages/pytest/__main__.py"])
    assert answer_view.command(["list"], 80) == ["   fabricmark list"]
    monkeypatch.setattr("sys.argv", [str(called)])
    called.chmod(0o755)
    monkeypatch.setenv("PATH", str(called.parent))
    assert answer_view.command(["systems", "new"], 80) == ["   fabricmark systems new"]


def test_both_kernels_stand_side_by_side_where_both_were_run(calibrated):
    """Best of each, in one sentence; neither what kernels have no part in, nor one's own or a wrong one."""
    calibrated.write("fast.json", samples.gemm())
    calibrated.write("link.json", samples.host_transfer())
    assert "optimized kernel" not in shown(calibrated)[0].stdout
    slower = samples.gemm(variant="base")
    axes = {"operation": "gemm"}
    half = samples.metric("performance", axes, "GFLOP/s", [[0.22, 0.24, 0.23]], "higher", 2 * 2048**3)
    slower["measurements"] = [half]
    calibrated.write("base.json", slower)
    own = samples.gemm(variant="base")
    own["run"]["class"] = "optimized"
    calibrated.write("own.json", own)
    done, lines = shown(calibrated)
    said = f"{answer.KERNELS}: gemm 78.1 / 156 GFLOP/s"
    assert said in " ".join(lines) and len(lines) <= answer_view.MOST_LINES
    assert all(len(line) <= 80 for line in lines), done.stdout
    shown(calibrated, "--html", "page.html")
    assert said in (calibrated.folder / "page.html").read_text()
    slower["verdicts"][0]["status"] = "failed"
    calibrated.write("base.json", slower)
    assert "optimized kernel" not in shown(calibrated)[0].stdout

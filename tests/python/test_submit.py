"""Campaigns as arrays of jobs: what Slurm is told, what a task runs, what becomes of each point.

Slurm's commands are stand-ins; docs/sites.md says with which Slurm this was tried.
"""

import json
import re
import shlex
import subprocess

import pytest
import samples
from campaign_support import TWELVE, started, write
from campaign_support import files as files_of
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import submit
from fabricmark.measure.submit import Wanted

pytestmark = pytest.mark.programs  # fabricmark-describe, which reads kernel.toml

FOUR = (
    TWELVE.replace("[1, 2, 4]", "[1, 2]").replace("[16, 32, 64, 128]", "[16, 32]").replace("twelve", "four")
)
SBATCH = """
import pathlib
jobs = pathlib.Path({folder!r})
number = 100 + len(list(jobs.glob("*.sh")))
(jobs / f"{{number}}.sh").write_text(sys.stdin.read())
print(number)
"""


def files(place):
    return files_of(place, "four")


@pytest.fixture
def slurm(place):
    """A place with an sbatch that keeps scripts, and a squeue that prints a file."""
    jobs, programs = place.folder / "jobs", place.folder / "slurm-bin"
    jobs.mkdir()
    place.add_program(programs / "sbatch", SBATCH.format(folder=str(jobs)))
    place.add_program(programs / "squeue", f"print(open({str(jobs / 'queue')!r}).read(), end='')")
    (jobs / "queue").write_text("")
    place.environment["PATH"] = f"{programs}:{place.environment['PATH']}"
    place.jobs = jobs
    place.campaign = write(place, FOUR)
    return place


def task(place, job, number):
    """Run a task of a job, as Slurm would."""
    return subprocess.run(
        ["bash", place.jobs / f"{job}.sh"], cwd="/", text=True, capture_output=True, timeout=120,
        env={**place.environment, "SLURM_ARRAY_TASK_ID": str(number)},
    )  # fmt: skip


def task_here(place, job, number):
    """The same command in this process, which is quicker."""
    words = shlex.split((place.jobs / f"{job}.sh").read_text().splitlines()[-1])
    first = words.index("campaign")
    listed = re.search(r"^POINTS=\((.*)\)$", (place.jobs / f"{job}.sh").read_text(), re.MULTILINE)[1]
    return place.run(*words[first:-1], *shlex.split(listed)[number].split())


def test_the_tasks_of_an_array_run_every_point_once(slurm):
    done = slurm.run("campaign", "submit", "c.toml", "--tasks", "2")
    assert done.returncode == 0 and done.stdout == "job 100: 4 points in 2 tasks, into results/four\n"
    script = (slurm.jobs / "100.sh").read_text()
    assert "#SBATCH --array=0-1\n" in script and "#SBATCH --ntasks=1\n" in script
    for number in range(2):
        ran = task(slurm, 100, number)
        assert ran.returncode == 0, ran.stderr
    assert len(files(slurm)) == 4
    assert sorted(started(slurm)) == [(1, 16), (1, 32), (2, 16), (2, 32)]
    assert slurm.run("campaign", "status", "c.toml").stdout == "4 points: 4 finished\n"
    assert slurm.run("campaign", "submit", "c.toml").stdout == "all 4 points have a result\n"
    assert "4 already there" in slurm.run("run", "c.toml").stdout


def test_what_was_cancelled_is_told_and_submitted_again(slurm):
    slurm.run("campaign", "submit", "c.toml", "--tasks", "4")
    task_here(slurm, 100, 2)
    (slurm.jobs / "queue").write_text("100_0 RUNNING\n100_1 PENDING\n777_3 RUNNING\n")
    done = slurm.run("campaign", "status", "c.toml")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "4 points: 1 PENDING, 1 RUNNING, 1 finished, 1 lost"
    assert "results/four/slurm/100_3.out" in done.stdout
    again = slurm.run("campaign", "submit", "c.toml", "--tasks", "1")
    assert again.stdout == "job 101: 3 points in 1 task, into results/four\n"
    assert task_here(slurm, 101, 0).returncode == 0
    assert slurm.run("campaign", "status", "c.toml").stdout == "4 points: 4 finished\n"


def test_a_wrong_result_is_named_and_keeps_no_other_from_running(slurm):
    slurm.run("campaign", "submit", "c.toml", "--tasks", "1")
    task_here(slurm, 100, 0)
    for file in files(slurm)[:1]:
        made = json.loads(file.read_text())
        made["run"]["exit_code"] = 1
        made["verdicts"] = [samples.verdict("failed")]
        file.write_text(json.dumps(made))
    done = slurm.run("campaign", "status", "c.toml")
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "4 points: 1 INVALID, 3 finished"


def test_each_node_has_the_whole_campaign_in_a_folder_of_its_own(slurm):
    done = slurm.run("campaign", "submit", "c.toml", "--nodes", "n1,n2", "--output", "night")
    assert done.stdout.splitlines() == [
        "job 100 on n1: 4 points in 1 task, into night/n1/four",
        "job 101 on n2: 4 points in 1 task, into night/n2/four",
    ]
    assert "#SBATCH --nodelist=n2\n" in (slurm.jobs / "101.sh").read_text()
    task_here(slurm, 101, 0)
    status = slurm.run("campaign", "status", "c.toml", "--nodes", "n1,n2", "--output", "night")
    assert status.stdout.splitlines()[-1] == "8 points: 4 finished, 4 lost"


def test_options_go_to_sbatch_and_nothing_else_does(slurm):
    words = ("--sbatch=--partition=fpga", "--sbatch=--comment=a b", "--at-once", "2", "--dry-run")
    script = slurm.run("campaign", "submit", "c.toml", *words).stdout
    assert "#SBATCH --partition=fpga\n" in script and '#SBATCH --comment="a b"\n' in script
    assert "#SBATCH --array=0-3%2\n" in script and not list(slurm.jobs.glob("*.sh"))
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0


def test_a_point_that_another_job_runs_is_left_to_it(slurm):
    from fabricmark.measure import campaign, campaign_run, lock

    slurm.run("campaign", "submit", "c.toml", "--tasks", "4")
    record = submit.submitted(slurm.results / "four")
    identity = record[0]["tasks"][0][0]
    with lock.exclusive(slurm.results / "four" / campaign_run.LOCKS / identity, "this"):
        ran = task_here(slurm, 100, 0)
    assert ran.returncode == 3 and "is already being run by" in ran.stderr and not files(slurm)
    assert task_here(slurm, 100, 0).returncode == 0 and len(files(slurm)) == 1
    assert campaign.load(slurm.campaign).points[0].identity == identity


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("submit", "none.toml"), 2), (("submit", "c.toml", "--sbatch=array"), 2),
        (("submit", "c.toml", "--nodes", "a/b"), 2), (("points", "c.toml", "0123"), 2),
        (("status", "none.toml"), 2),
    ],
)  # fmt: skip
def test_bad_use_has_one_line(slurm, one_error_line, words, code):
    one_error_line(slurm.run("campaign", *words), code)


def test_without_slurm_there_is_one_line(place, one_error_line):
    write(place, FOUR)
    line = one_error_line(place.run("campaign", "submit", "c.toml", PATH="/nowhere"), 3)
    assert "there is no sbatch here" in line


def test_what_sbatch_says_no_to_is_one_line(slurm, one_error_line):
    slurm.add_program(slurm.folder / "slurm-bin/sbatch", "sys.exit('sbatch: error: invalid partition')")
    line = one_error_line(slurm.run("campaign", "submit", "c.toml"), 3)
    assert "invalid partition" in line and not (slurm.results / "four" / submit.RECORD).exists()


def test_a_damaged_record_is_refused(slurm, one_error_line):
    (slurm.results / "four").mkdir(parents=True)
    (slurm.results / "four" / submit.RECORD).write_text('[{"job": 1}]')
    one_error_line(slurm.run("campaign", "status", "c.toml"), 2)
    with pytest.raises(FabricmarkError):
        submit.submitted(slurm.results / "four")
    assert Wanted(slurm.results).tasks == submit.MOST_TASKS

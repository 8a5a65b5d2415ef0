"""PBS and Flux: the command lines and scripts that they get, and what is made of their answers.

Their commands are stand-ins that answer as their manuals say (OpenPBS: qsub(1B), qstat(1B); Flux:
flux-batch(1), flux-jobs(1)): neither is in Debian or on PyPI. Slurm's are in test_submit.py.
"""

import json
import random
import shlex
import subprocess

import pytest
from campaign_support import TWELVE, write
from campaign_support import files as files_of
from fabricmark.base.errors import FabricmarkError
from fabricmark.measure import schedulers, submit
from test_submit import FOUR

pytestmark = pytest.mark.programs  # fabricmark-describe, which reads kernel.toml

QSUB = """
import pathlib
jobs, text = pathlib.Path({folder!r}), sys.stdin.read()
number = 100 + len(list(jobs.glob("*.sh")))
(jobs / f"{{number}}.sh").write_text(text)
print(f"{{number}}{{'[]' if '#PBS -J ' in text else ''}}.pbs01")
"""
QSTAT = """
import json, pathlib
assert sys.argv[1:6] == ["-x", "-t", "-f", "-F", "json"], sys.argv
told = json.loads((pathlib.Path({folder!r}) / "queue").read_text()).get(sys.argv[6])
if told is None:
    sys.stderr.write(f"qstat: Unknown Job Id {{sys.argv[6]}}\\n")
    sys.exit(153)
print(json.dumps({{"timestamp": 1, "pbs_version": "23.06.06", "pbs_server": "pbs01", "Jobs": told}}))
"""
FLUX = """
import pathlib
jobs, words = pathlib.Path({folder!r}), sys.argv[1:]
if words == ["batch"]:
    number = 100 + len(list(jobs.glob("*.sh")))
    (jobs / f"{{number}}.sh").write_text(sys.stdin.read())
    print(f"ƒ{{number}}")
elif words == ["jobs", "-n", "-c", "0", "-o", "{{id.f58}} {{state}}"]:
    print((jobs / "queue").read_text(), end="")
elif words[0] == "cancel":
    (jobs / "cancelled").open("a").write(words[1] + "\\\\n")
else:
    sys.exit(f"flux: unknown command {{words}}")
"""
CANCEL = """
import pathlib
(pathlib.Path({folder!r}) / "cancelled").open("a").write(sys.argv[1] + "\\n")
"""


def with_commands(place, queue, **commands):
    """A place with these stand-ins in PATH."""
    jobs, programs = place.folder / "jobs", place.folder / "commands"
    jobs.mkdir()
    for name, text in commands.items():
        place.add_program(programs / name, text.format(folder=str(jobs)))
    (jobs / "queue").write_text(queue)
    place.environment["PATH"] = f"{programs}:{place.environment['PATH']}"
    place.jobs = jobs
    write(place, FOUR)
    return place


@pytest.fixture
def pbs(place):
    return with_commands(place, "{}", qsub=QSUB, qstat=QSTAT, qdel=CANCEL)


@pytest.fixture
def flux(place):
    return with_commands(place, "", flux=FLUX.replace("\\\\n", "\\n"))


def script_of(place, job):
    return (place.jobs / f"{job}.sh").read_text()


def task(place, job, **variables):
    """Run a task of a job, as the scheduler would."""
    return subprocess.run(
        ["bash", place.jobs / f"{job}.sh"], cwd="/", text=True, capture_output=True, timeout=120,
        env={**place.environment, **variables},
    )  # fmt: skip


def test_an_array_of_pbs_runs_and_is_resumed(pbs):
    done = pbs.run("campaign", "submit", "c.toml", "--tasks", "2", "--at-once", "1", "--option=-q fpga")
    assert done.stdout == "job 100[].pbs01: 4 points in 2 tasks, into results/four\n", done.stderr
    script = script_of(pbs, 100)
    for line in (
        "-N fabricmark-four",
        "-J 0-1%1",
        "-l select=1:ncpus=1:mpiprocs=1",
        "-j oe",
        "-V",
        "-q fpga",
    ):
        assert f"#PBS {line}\n" in script
    ran = task(pbs, 100, PBS_JOBID="100[1].pbs01", PBS_ARRAY_INDEX="1", PBS_O_WORKDIR=str(pbs.folder))
    assert ran.returncode == 0 and ran.stdout == ran.stderr == ""
    log = pbs.results / "four/pbs/100_1.out"
    assert "2 points: 2 run" in log.read_text() and len(files_of(pbs, "four")) == 2

    queue = {"100[].pbs01": {"100[].pbs01": {"job_state": "B"}, "100[0].pbs01": {"job_state": "R"}}}
    (pbs.jobs / "queue").write_text(json.dumps(queue))
    status = pbs.run("campaign", "status", "c.toml")
    assert status.returncode == 0 and status.stdout.endswith("4 points: 2 RUNNING, 2 finished\n")
    busy = pbs.run("campaign", "submit", "c.toml", "--resume")
    assert busy.stdout == "all 4 points have a result or are in progress\n"
    assert (
        pbs.run("campaign", "cancel", "c.toml").stdout == "job 100[].pbs01: cancelled, 1 task had not ended\n"
    )
    assert (pbs.jobs / "cancelled").read_text() == "100[].pbs01\n"

    queue["100[].pbs01"]["100[0].pbs01"] = {"job_state": "X", "Exit_status": 271}
    (pbs.jobs / "queue").write_text(json.dumps(queue))
    lost = pbs.run("campaign", "status", "c.toml")
    assert lost.returncode == 1 and "2 finished, 2 lost" in lost.stdout and "pbs/100_0.out" in lost.stdout
    again = pbs.run("campaign", "submit", "c.toml", "--tasks", "1", "--resume")
    assert again.stdout == "job 101.pbs01: 2 points in 1 task, into results/four\n"
    assert "-J" not in script_of(pbs, 101)  # PBS refuses an array of one
    ran = task(pbs, 101, PBS_JOBID="101.pbs01", PBS_O_WORKDIR=str(pbs.folder))
    assert ran.returncode == 0 and len(files_of(pbs, "four")) == 4
    assert pbs.run("campaign", "cancel", "c.toml").stdout == "no job of this campaign waits or runs\n"


def test_each_task_is_a_job_of_flux(flux):
    words = ("--tasks", "3", "--at-once", "2", "--option=--setattr=user.note=a b")
    done = flux.run("campaign", "submit", "c.toml", *words)
    assert done.stdout == "3 jobs, ƒ100 to ƒ102: 4 points in 3 tasks, into results/four\n", done.stderr
    script = script_of(flux, 102)
    assert "#flux: --dependency=afterany:ƒ100\n" in script and "--dependency" not in script_of(flux, 101)
    assert "#flux: --nslots=1\n" in script and f"#flux: --output={flux.results}/four/flux/2_0.out\n" in script
    assert "#flux: '--setattr=user.note=a b'\n" in script
    ran = task(flux, 100)
    assert ran.returncode == 0 and "2 points: 2 run" in ran.stdout, ran.stderr
    (flux.jobs / "queue").write_text("f101 RUN\nƒ999 RUN\n")  # in ASCII where the locale is C
    status = flux.run("campaign", "status", "c.toml")
    assert status.returncode == 1 and status.stdout.endswith("4 points: 1 RUN, 2 finished, 1 lost\n")
    again = flux.run("campaign", "submit", "c.toml", "--resume")
    assert again.stdout == "job ƒ103: 1 point in 1 task, into results/four\n"
    assert flux.run("campaign", "cancel", "c.toml").stdout == "job ƒ101: cancelled, 1 task had not ended\n"
    assert (flux.jobs / "cancelled").read_text() == "ƒ101\n"
    assert task(flux, 101).returncode == task(flux, 103).returncode == 0
    assert flux.run("campaign", "status", "c.toml").stdout == "4 points: 4 finished\n"


def test_processes_of_mpi_get_the_places_of_the_job(pbs):
    write(pbs, FOUR.replace('runtime = "system"', 'runtime = "system"\nmpi = 2'))
    pbs.run("campaign", "submit", "c.toml", "--tasks", "1", "--nodes", "n1")
    script = script_of(pbs, 100)
    assert "#PBS -l select=2:ncpus=1:mpiprocs=1:host=n1\n" in script
    nodes = pbs.folder / "nodes"
    nodes.write_text("n1\n")
    more = {"PBS_JOBID": "100.pbs01", "PBS_O_WORKDIR": str(pbs.folder), "PBS_NODEFILE": str(nodes)}
    assert task(pbs, 100, **more).returncode == 3
    log = (pbs.results / "n1/four/pbs/100_0.out").read_text()
    assert log.count("\n") == 1 and f"PBS gave 1 places in {nodes} to 2 processes" in log
    nodes.write_text("n1\nn1\n")
    shown = script.replace("exec /", "env; exit 0; exec /", 1)
    (pbs.jobs / "100.sh").write_text(shown)
    assert task(pbs, 100, **more).returncode == 0
    assert f"OMPI_MCA_orte_default_hostfile={nodes}" in (pbs.results / "n1/four/pbs/100_0.out").read_text()


@pytest.mark.parametrize("name", ["pbs", "flux", "slurm"])
def test_each_script_is_bash_and_names_its_node(place, name):
    write(place, FOUR)
    done = place.run("campaign", "submit", "c.toml", "--scheduler", name, "--nodes", "n7", "--dry-run")
    checked = subprocess.run(["bash", "-n"], input=done.stdout, text=True, capture_output=True, check=False)
    assert checked.returncode == 0 and "n7" in done.stdout.partition("POINTS")[0]


def test_the_scheduler_that_is_here_is_taken(place):
    assert schedulers.choose("pbs", {}).name == "pbs"
    for name in ("sbatch", "flux"):
        place.add_program(place.folder / "bin" / name, "")
    here = {"PATH": str(place.folder / "bin")}
    assert schedulers.choose(None, here).name == "slurm"
    assert schedulers.choose(None, {**here, "FLUX_URI": "local:///run/flux"}).name == "flux"
    with pytest.raises(FabricmarkError, match="no scheduler 'lsf'"):
        schedulers.choose("lsf", here)


def test_bad_states_have_one_line(pbs, one_error_line):
    hosts = TWELVE.replace('runtime = "system"', 'runtime = "system"\nmpi = 2\nhosts = ["n1", "n2"]')
    write(pbs, hosts, "hosts.toml")
    line = one_error_line(pbs.run("campaign", "submit", "hosts.toml", "--nodes", "n1"), 2)
    assert "hosts has n2, but --nodes runs it on n1 alone" in line
    assert "is no option of qsub" in one_error_line(pbs.run("campaign", "submit", "c.toml", "--option=x"), 2)
    assert "lsf" in one_error_line(pbs.run("campaign", "submit", "c.toml", "--scheduler", "lsf"), 2)
    assert "there is no flux here" in one_error_line(
        pbs.run("campaign", "submit", "c.toml", "--scheduler", "flux", PATH=f"{pbs.folder}/commands"), 3
    )
    pbs.run("campaign", "submit", "c.toml")
    for broken in ("print('no json')", 'print(\'{"Jobs": {"1": 5}}\')', "print('[]')"):
        pbs.add_program(pbs.folder / "commands/qstat", broken)
        assert "printed something else" in one_error_line(pbs.run("campaign", "status", "c.toml"), 3)
    pbs.add_program(pbs.folder / "commands/qstat", "sys.exit('qstat: cannot connect to server pbs01')")
    assert "cannot connect" in one_error_line(pbs.run("campaign", "cancel", "c.toml"), 3)
    pbs.add_program(pbs.folder / "commands/qsub", "")
    assert "told no number" in one_error_line(pbs.run("campaign", "submit", "c.toml"), 3)


def test_whatever_qstat_prints_is_a_state_or_one_error():
    random.seed(44)
    good = json.dumps({"Jobs": {"1[0].a": {"job_state": "R"}, "1[1].a": {"job_state": "Q"}}})
    assert schedulers.Pbs().states(good) == {"1[0]": "RUNNING", "1[1]": "PENDING"}
    for _ in range(500):
        at = random.randrange(len(good))
        text = good[:at] + random.choice('{}[]",:x1') + good[at + random.randrange(3) :]
        try:
            schedulers.Pbs().states(text)
        except FabricmarkError as error:
            assert error.exit_code == 3


def test_a_record_of_another_scheduler_is_refused(pbs, one_error_line):
    (pbs.results / "four").mkdir(parents=True)
    record = [{"job": "1", "tasks": [], "scheduler": "lsf"}]
    (pbs.results / "four" / submit.RECORD).write_text(json.dumps(record))
    one_error_line(pbs.run("campaign", "status", "c.toml"), 2)
    assert shlex.split(schedulers.Flux().quoted("--a=b c")) == ["--a=b c"]

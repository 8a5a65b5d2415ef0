"""Campaigns on several hosts: command lines of srun and of the kinds of mpirun, noted by stand-ins."""

import json
import os

from campaign_support import is_alive, start, wait_for, write

FORKING_LAUNCHER = """
import json, os, subprocess
if "--version" in sys.argv:
    print("mpirun (Open MPI) 4.1.4"); sys.exit(0)
with open(os.environ["FAKE_LOG"] + ".mpi", "a") as file:
    file.write(json.dumps(sys.argv) + "\\n")
words = sys.argv[1:]
start = next(i for i, word in enumerate(words) if word.endswith("fm_stream"))
tasks = [word.partition("=")[2] for word in words if word.startswith("--ntasks=")]
os.environ["FAKE_RANKS"] = words[start - 1] if words[start - 2] == "-n" else tasks[0]
sys.exit(subprocess.call(words[start:]))
"""
MPI = """
name = "mpi"
[[runs]]
benchmark = "stream"
mpi = [2, 4]
"""


def with_launcher(place, name, body=FORKING_LAUNCHER):
    place.add_program(place.folder / "tools" / name, body)
    return {"PATH": str(place.folder / "tools")}


def launched(place):
    return [json.loads(line) for line in (place.folder / "log.jsonl.mpi").read_text().splitlines()]


def test_a_launcher_and_its_children_end_together(place):
    variables = with_launcher(place, "mpirun")
    process = start(place, "run", write(place, MPI), FAKE_DELAY="60", **variables)
    wait_for(lambda: len(place.started()) >= 1)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 143
    wait_for(lambda: not is_alive(place.started()[0]["process"]), 5)


def test_mpirun_with_hosts(place):
    text = MPI + 'hosts = ["node1", "node2"]\nranks_per_host = 2\n'
    done = place.run("run", str(write(place, text)), **with_launcher(place, "mpirun"))
    assert done.returncode == 0, done.stderr
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    assert launched(place)[1][1:-2] == [
        "--oversubscribe", "--bind-to", "none", *root, "--host", "node1,node2", "--map-by", "ppr:2:node",
        "-n", "4", str(place.programs / "fm_stream"),
    ]  # fmt: skip


def test_another_mpi_with_hosts(place):
    body = FORKING_LAUNCHER.replace("mpirun (Open MPI) 4.1.4", "HYDRA build details")
    text = MPI + 'hosts = ["node1", "node2"]\nranks_per_host = 2\n'
    place.run("run", str(write(place, text)), **with_launcher(place, "mpiexec", body))
    assert launched(place)[0][1:7] == ["-hosts", "node1,node2", "-ppn", "2", "-n", "2"]


def test_srun(place):
    variables = with_launcher(place, "srun")
    with_launcher(place, "mpirun")
    text = MPI + 'hosts = ["node1", "node2"]\nranks_per_host = 2\n'
    done = place.run("run", str(write(place, text)), SLURM_JOB_ID="7", **variables)
    assert done.returncode == 0, done.stderr
    hosts = ["--nodes=2", "--nodelist=node1,node2", "--ntasks-per-node=2"]
    program = str(place.programs / "fm_stream")
    assert [command[1:6] for command in launched(place)] == [
        ["--ntasks=2", *hosts, program],
        ["--ntasks=4", *hosts, program],
    ]
    assert all(command[0].endswith("/srun") for command in launched(place))
    assert "stream mpi=2:" in done.stderr
    plain = place.run(
        "run", str(write(place, MPI.replace('"mpi"', '"plain"'))), SLURM_JOB_ID="7", **variables
    )
    assert plain.returncode == 0
    assert launched(place)[2][1:3] == ["--ntasks=2", program]


def test_no_launcher(place):
    done = place.run("run", str(write(place, MPI)), PATH=str(place.folder))
    assert done.returncode == 3
    assert "no MPI launcher" in done.stderr
    assert done.stdout == "2 points: 0 run, 0 already there, 2 failed\n"

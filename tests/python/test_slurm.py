"""Campaigns with a real Slurm: a controller and four `slurmd` on this machine (Debian: slurm-wlm).

Programs are stand-ins, so that only what Slurm does takes time.
"""

import os
import shutil
import socket
import subprocess
import time

import pytest
from campaign_support import files as files_of
from campaign_support import wait_for, write
from fabricmark import results
from reframe_support import generated, make_wrong
from test_submit import FOUR

pytestmark = [
    pytest.mark.programs,
    pytest.mark.full,
    pytest.mark.skipif(
        os.geteuid() != 0 or not all(map(shutil.which, ("slurmctld", "slurmd", "sbatch"))),
        reason="no slurm-wlm here, or not root",
    ),
]
NODES = ("n1", "n2", "n3", "n4")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SlurmdParameters=config_overrides
NodeName=n[1-4] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{first}-{last}] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""
SETTINGS = """
partition = {"name": "all", "scheduler": "squeue", "launcher": "srun", "environs": ["builtin"]}
site_configuration = {
    "systems": [{"name": "here", "hostnames": [".*"], "partitions": [partition]}],
    "environments": [{"name": "builtin", "cc": "", "cxx": "", "ftn": ""}],
}
"""


def free_ports(count):
    """The first of so many in a row that nobody listens on."""
    for first in range(20000, 60000, 97):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for at, one in enumerate(sockets):
                one.bind(("127.0.0.1", first + at))
            return first
        except OSError:
            continue
        finally:
            for one in sockets:
                one.close()
    raise AssertionError("no free ports")


@pytest.fixture
def slurm(place):
    """A place with a cluster of four nodes, and a campaign of four points."""
    folder = place.folder / "cluster"
    (folder / "state").mkdir(parents=True)
    port = free_ports(5)
    text = CONFIGURATION.format(
        host=socket.gethostname(), folder=folder, port=port, first=port + 1, last=port + 4
    )
    (folder / "slurm.conf").write_text(text)
    place.environment["SLURM_CONF"] = str(folder / "slurm.conf")
    commands = [["slurmctld", "-D"], *(["slurmd", "-D", "-N", node] for node in NODES)]
    running = [
        subprocess.Popen(command, env=place.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        wait_for(lambda: asked(place, "sinfo", "-h", "-t", "idle", "-o", "%D").stdout.strip() == "4")
        write(place, FOUR)
        yield place
    finally:
        asked(place, "scancel", "--user", "root")
        time.sleep(1)
        for process in running:
            process.terminate()
        for process in running:
            process.wait(30)


def asked(place, *words):
    return subprocess.run(words, env=place.environment, capture_output=True, text=True, check=False)


def queue_is_empty(place):
    done = asked(place, "squeue", "--noheader")
    return done.returncode == 0 and not done.stdout.strip()


def test_a_campaign_is_submitted_cancelled_and_resumed(slurm):
    stand_in = slurm.programs / "fm_stream"
    kept = stand_in.read_text()
    lines = kept.splitlines()
    stand_in.write_text(
        "\n".join([lines[0], "import sys, time", "time.sleep(60 * ('--json' in sys.argv))", *lines[1:]])
    )
    done = slurm.run("campaign", "submit", "c.toml", "--at-once", "2")
    assert done.returncode == 0 and "4 points in 4 tasks" in done.stdout, done.stderr

    def told():
        return slurm.run("campaign", "status", "c.toml").stdout.splitlines()[-1]

    wait_for(lambda: told() == "4 points: 2 PENDING, 2 RUNNING")
    busy = slurm.run("campaign", "submit", "c.toml", "--resume").stdout
    assert busy == "all 4 points have a result or are in progress\n"
    assert "cancelled, 4 tasks had not ended" in slurm.run("campaign", "cancel", "c.toml").stdout
    wait_for(lambda: queue_is_empty(slurm))
    assert told() == "4 points: 4 lost" and not files_of(slurm, "four")

    stand_in.write_text(kept)
    assert slurm.run("campaign", "submit", "c.toml", "--resume", "--tasks", "2").returncode == 0
    wait_for(lambda: told() == "4 points: 4 finished")
    wait_for(lambda: queue_is_empty(slurm))
    assert len(files_of(slurm, "four")) == 4
    assert slurm.run("campaign", "cancel", "c.toml").stdout == "no job of this campaign waits or runs\n"


def test_scancel_leaves_valid_partial_results_and_a_failed_task_no_other_harmed(slurm):
    """One point fails, one hangs until scancel: the two others stand, and --resume ends all."""
    stand_in = slurm.programs / "fm_stream"
    kept = stand_in.read_text()
    lines = kept.splitlines()
    trouble = [
        "import sys, time",
        "is_point = {'--json', '--buffer-size=32'} <= set(sys.argv)",
        "if is_point and '--vector-width=1' in sys.argv: sys.exit(3)",
        "time.sleep(60 * (is_point and '--vector-width=2' in sys.argv))",
    ]
    stand_in.write_text("\n".join([lines[0], *trouble, *lines[1:]]))
    assert slurm.run("campaign", "submit", "c.toml").returncode == 0

    def told():
        return slurm.run("campaign", "status", "c.toml").stdout.splitlines()[-1]

    wait_for(lambda: told() == "4 points: 1 RUNNING, 2 finished, 1 lost")
    named = slurm.run("campaign", "status", "c.toml").stdout.splitlines()
    assert any("vector_width=1 buffer_size=32" in line and "lost" in line for line in named)
    asked(slurm, "scancel", "--user", "root")
    wait_for(lambda: queue_is_empty(slurm))
    status = slurm.run("campaign", "status", "c.toml")
    assert status.returncode == 1 and told() == "4 points: 2 finished, 2 lost", status.stdout
    assert {results.load(file).verdict() for file in files_of(slurm, "four")} == {"valid"}
    stand_in.write_text(kept)
    assert "2 points" in slurm.run("campaign", "submit", "c.toml", "--resume").stdout
    wait_for(lambda: told() == "4 points: 4 finished")


def test_reframe_runs_the_generated_tests_over_slurm(slurm, with_programs):
    """Where ReFrame is installed: by sbatch and srun on a node, and a wrong result is a test that failed."""
    tests, run = generated(with_programs)
    (with_programs.folder / "settings.py").write_text(SETTINGS)
    for code in (0, 1):
        done = run("-C", "settings.py")
        assert done.returncode == code and "here:all" in done.stdout, done.stdout[-3000:]
        make_wrong(tests)


def test_each_node_runs_the_campaign_and_a_site_asks_for_nodes(slurm):
    nodes = ",".join(NODES)
    assert slurm.run("campaign", "submit", "c.toml", "--nodes", nodes).returncode == 0
    wait_for(lambda: queue_is_empty(slurm))
    status = slurm.run("campaign", "status", "c.toml", "--nodes", nodes).stdout
    assert status == "16 points: 16 finished\n"
    write(
        slurm,
        'name = "here"\n[allocations.fpga]\nboards_per_node = 1\nsetup = ["echo on $SLURM_NODELIST"]\n',
        "site.toml",
    )
    write(slurm, FOUR.replace('"four"', '"two"').replace('runtime = "system"', 'runtime = "system"\nmpi = 2'))
    words = ("campaign", "submit", "c.toml", "--site", "site.toml", "--tasks", "1")
    assert slurm.run(*words).returncode == 0
    wait_for(lambda: queue_is_empty(slurm))
    log = next((slurm.results / "two" / "slurm").glob("*.out")).read_text()
    # srun starts two of the stand-in, which knows no MPI: no result counts as one of two ranks.
    assert "asked for 2 ranks" in log
    assert "on n[1-2]\n" in log and "4 points" in log


def test_what_slurm_refuses_is_one_line(slurm, one_error_line):
    line = one_error_line(slurm.run("campaign", "submit", "c.toml", "--option=--partition=none"), 3)
    assert "Invalid partition" in line
    line = one_error_line(slurm.run("campaign", "submit", "c.toml", "--nodes", "n9"), 3)
    assert "node" in line.lower()

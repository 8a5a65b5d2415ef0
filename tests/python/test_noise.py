"""What disturbs a run while it measures: the host's counters, what is made of them, and where it is said.

The counters are files of the test's own; tests of other things see none (conftest.py).
"""

import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from datetime import UTC, datetime

import pytest
import samples
from conftest import REPOSITORY
from fabricmark import results
from fabricmark.measure import noise
from fabricmark.results import disturbances
from fabricmark.sites import changes, history

TICKS = os.sysconf("SC_CLK_TCK")
START = 1_000_000.0
SMI = """
import pathlib
print(pathlib.Path({file!r}).read_text())
"""


class Host:
    """A folder with the files of a host of two CPUs, whose counters go up as a test says."""

    def __init__(self, root):
        self.root, self.now = root, START
        self.busy = self.steal = self.own = 0.0
        self.stall = self.pages = self.throttled = self.gpu = 0
        self.kilohertz = 3_000_000
        self.write()

    def write(self):
        idle = (self.now - START) * 2 - self.busy - self.steal
        ticks = [round(one * TICKS) for one in (self.busy, 0, 0, idle, 0, 0, 0, self.steal, 0, 0)]
        line = " ".join(map(str, ticks))
        own = " ".join(["0"] * 10 + [str(round(self.own * TICKS)), "0", "0", "0"] + ["0"] * 30)
        for name, text in {
            "proc/stat": f"cpu  {line}\ncpu0 {line}\ncpu1 {line}\nintr 5\n",
            "proc/77/stat": f"77 (fm stream) S {own}\n",
            "proc/pressure/memory": f"some avg10=0.00 total={round(self.stall * 1e6)}\nfull total=0\n",
            "proc/vmstat": f"pgpgin 9\npswpin {self.pages}\npswpout 0\n",
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": f"{self.kilohertz}\n",
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": f"{self.throttled}\n",
            "gpu": f"{self.gpu}, 0, 0",
        }.items():
            file = self.root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def later(self, seconds, **counters):
        self.now += seconds
        for name, value in counters.items():
            setattr(self, name, value if name == "kilohertz" else getattr(self, name) + value)
        self.write()


@pytest.fixture
def host(tmp_path, monkeypatch):
    made = Host(tmp_path / "host")
    monkeypatch.setattr(noise.time, "time", lambda: made.now)
    monkeypatch.setattr(noise, "_of_children", lambda: made.own)
    return made


def document(inputs=1.0, repetitions=2.0):
    """Of a run that took a second for its inputs, measured for two, and took another one to check."""
    return {
        "run": {
            "started": datetime.fromtimestamp(START, UTC).isoformat(),
            "steps": [
                {"name": "inputs", "seconds": inputs}, {"name": "repetitions", "seconds": repetitions},
                {"name": "check", "seconds": 1.0},
            ],
        }
    }  # fmt: skip


def watched(host, steps, **how):
    """What a watch finds of four seconds, in each of which these counters go up."""
    watch = noise.Watch(root=host.root, **how)
    watch.begin(77)
    for counters in steps[:-1]:
        host.later(1.0, **counters)
        watch.look()
    host.later(1.0, **steps[-1])
    watch.end()
    return watch.found(document())


def test_only_what_came_while_measuring_counts(host):
    quiet, loud = {"busy": 1.0, "own": 1.0}, {"busy": 1.5, "own": 1.0, "steal": 0.1}
    found = watched(host, [loud, quiet, quiet, loud])
    assert found["seconds"] == 2.0 and found["cpus"] == 2
    assert found["other_load"] == found["stolen"] == found["swapped_bytes"] == 0
    assert disturbances.found({"noise": found}) == []


@pytest.mark.parametrize(
    ("counters", "key", "value", "said"),
    [
        ({"steal": 0.1}, "stolen", 0.05, "other virtual machines took 5 % of the CPUs (steal time); measure"),
        ({"busy": 1.0}, "other_load", 0.5, "other programs took 50 % of the CPUs; end them"),
        ({"stall": 0.2}, "memory_stalls", 0.2, "waited for memory for 20 % of the time; free memory"),
        ({"pages": 1000}, "swapped_bytes", 2000 * os.sysconf("SC_PAGE_SIZE"), "MB were swapped; choose"),
        ({"throttled": 3}, "throttled", 12, "throttled by heat or power 12 times; look at cooling"),
    ],
)
def test_each_disturbance_is_found_and_says_what_to_do(host, counters, key, value, said):
    found = watched(host, [counters] * 4)
    assert found[key] == pytest.approx(value)
    (one,) = disturbances.found({"noise": found})
    assert said in one.sentence


def test_a_clock_that_falls_is_told(host):
    found = watched(host, [{}, {"kilohertz": 3_000_000}, {"kilohertz": 2_400_000}, {}])
    assert found["lowest_clock_hz"] == found["highest_clock_hz"]  # one look was within
    host.later(0, kilohertz=3_000_000)
    watch = noise.Watch(root=host.root)
    watch.begin(77)
    for kilohertz in (3_000_000, 3_000_000, 2_400_000, 3_000_000, 3_000_000):
        host.later(1.0, kilohertz=kilohertz)
        watch.look()
    watch.end()
    long = document(1.0, 4.0)
    long["run"]["started"] = datetime.fromtimestamp(START + 4, UTC).isoformat()
    (one,) = disturbances.found({"noise": watch.found(long)})
    assert "went between 2.4 and 3 GHz" in one.what and "cpupower" in one.remedy


def test_a_gpu_that_was_throttled_is_told(host, tmp_path, monkeypatch):
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\n{SMI.format(file=str(host.root / 'gpu'))}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    found = watched(host, [{"gpu": 250_000}] * 4, has_gpu=True)
    assert found["gpu_throttled_seconds"] == pytest.approx(1.0)
    assert "the GPU was throttled" in disturbances.found({"noise": found})[0].what
    program.write_text("#!/bin/sh\nexit 9\n")
    assert "gpu_throttled_seconds" not in watched(host, [{}] * 4, has_gpu=True)


def test_processes_elsewhere_make_no_other_load(host):
    """srun's are no children of ours: what they take would be taken for others'."""
    assert "other_load" not in watched(host, [{"busy": 1.0}] * 4, is_local=False)


def test_short_repetitions_say_nothing(host):
    watch = noise.Watch(root=host.root)
    watch.begin(77)
    host.later(0.3, steal=0.3)
    watch.end()
    assert watch.found(document(0.1, 0.1)) == {}


def test_a_host_without_such_files_says_nothing(tmp_path, host):
    host.root = tmp_path / "none"
    watch = noise.Watch(root=tmp_path / "nowhere")
    watch.begin(77)
    watch.end()
    assert watch.found(document()) == {}
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document()))
    watch.add_to(file, "n1")
    assert json.loads(file.read_text()) == document()


def test_damaged_counters_never_end_a_run(host):
    random.seed(44)
    files = [file for file in host.root.rglob("*") if file.is_file()]
    for _ in range(100):
        file = random.choice(files)
        text = file.read_bytes()
        at = random.randrange(len(text) + 1)
        file.write_bytes(text[:at] + random.choice([b"x", b"\xff", b"-", b" ", b""]) + text[at + 1 :])
        watch = noise.Watch(root=host.root)
        watch.begin(77)
        host.now += 4
        watch.end()
        disturbances.found({"noise": watch.found(document())})
        file.write_bytes(text)


def test_a_real_program_is_watched(tmp_path):
    """The counters of this machine, whatever they say."""
    watch = noise.Watch(root=noise.Path("/"))
    begun = datetime.now(UTC).timestamp()
    work = "import time; end = time.process_time() + 0.7\nwhile time.process_time() < end: pass"
    process = subprocess.Popen([sys.executable, "-c", work])
    watch.begin(process.pid)
    while process.poll() is None:
        watch.look()
        noise.time.sleep(0.05)
    watch.end()
    said = document(0.0, 0.7)
    said["run"]["started"] = datetime.fromtimestamp(begun, UTC).isoformat()
    found = watch.found(said)
    assert found["seconds"] >= 0.7 and 0 <= found["stolen"] <= 1 and 0 <= found["other_load"] <= 1


DISTURBED = {"host": "n1", "seconds": 4.0, "cpus": 2, "stolen": 0.12, "other_load": 0.34}


def test_a_file_gets_what_was_read(host, tmp_path):
    watch = noise.Watch(root=host.root)
    watch.begin(77)
    host.later(4.0, steal=1.0)
    watch.end()
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document(), indent=2) + "\n")
    watch.add_to(file, "n1")
    made = json.loads(file.read_text())
    assert made.pop("noise")["stolen"] == pytest.approx(0.125) and made == document()
    assert re.search(r'^  "noise": \{$', file.read_text(), re.MULTILINE)


def test_it_is_said_beside_the_figure(place):
    """In the answer, in the full table and on the page; a result of a quiet host says nothing."""
    for name, more in (("quiet", {}), ("loud", {"noise": DISTURBED})):
        folder = place.folder / name
        folder.mkdir()
        (folder / "stream.json").write_text(json.dumps({**samples.result(), **more}))
    said = "other programs took 34 % of the CPUs; end them (`top` names them), or ask for the node alone"
    for words in ((), ("--full",)):
        loud, quiet = (
            re.sub(r"\s+", " ", place.run("report", name, *words).stdout) for name in ("loud", "quiet")
        )
        assert "valid, disturbed" in loud and "disturbed: other programs took 34 %" in loud
        assert "disturbed" not in quiet
    assert "took 12 % of the CPUs (steal time)" in loud and said in loud
    place.run("report", "loud", "--html", "page.html")
    page = (place.folder / "page.html").read_text()
    assert re.search(r'class="doubt"[^>]*>valid, disturbed', page) and said.split(";")[0] in page
    (place.folder / "loud" / "again.json").write_text(json.dumps(samples.result()))
    assert "valid, 1 of 2 disturbed" in place.run("report", "loud").stdout
    assert results.load(place.folder / "loud" / "stream.json").disturbances[0].share == 0.34


def test_every_host_of_the_ranks_is_told_and_named():
    """What `fabricmark` read of its own host goes before what the program did; one host needs no name."""
    quiet, loud = ({"host": host, "seconds": 2.0, "cpus": 8, "stolen": 0.0} for host in ("n1", "n2"))
    loud["other_load"] = 0.25
    (one,) = disturbances.found({"noise_of_hosts": [quiet, loud]})
    assert one.sentence.startswith("disturbed: on n2 other programs took 25 % of the CPUs; end them")
    (one,) = disturbances.found({"noise_of_hosts": [loud]})
    assert one.told == "other programs took 25 % of the CPUs"
    seen = {"host": "n2", "seconds": 2.1, "other_load": 0.01, "lowest_clock_hz": 2e9, "highest_clock_hz": 3e9}
    (one,) = disturbances.found({"noise_of_hosts": [quiet, loud], "noise": seen})
    assert one.told == "on n2 the CPUs' clock went between 2 and 3 GHz"
    started_elsewhere = {"host": "n2", "seconds": 2.1, "stolen": 0.0}  # by srun: it has no load of its own
    assert disturbances.found({"noise_of_hosts": [quiet, loud], "noise": started_elsewhere})[0].share == 0.25


@pytest.mark.programs
def test_a_program_that_was_started_by_hand_tells_what_its_host_did(with_programs):
    """The counters of this machine, beside a process that takes a CPU; and none of a folder without them."""
    place = with_programs
    program = REPOSITORY / "build/release/bin/fm_stream"
    words = [program, "--size", "2000000", "--min-time", "0.6", "--json", place.folder / "r.json"]
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        for root, count in (("/", 1), ("/nowhere", 0)):
            environment = {**place.environment, noise.ROOT: root}
            subprocess.run(words, env=environment, check=True, capture_output=True, timeout=120)
            document = results.load(place.folder / "r.json").document
            assert len(document.get("noise_of_hosts", [])) == count and "noise" not in document
            if count:
                (read,) = document["noise_of_hosts"]
                assert read["seconds"] >= 0.5 and 0 < read["other_load"] <= 1 and 0 <= read["stolen"] <= 1
                assert disturbances.found(document)
    finally:
        busy.kill()
        busy.wait()


@pytest.mark.programs
@pytest.mark.full
def test_every_host_of_an_mpi_run_is_in_the_file(with_programs):
    """Two ranks, of which one is in a namespace of another host name; each sees the other as load."""
    place = with_programs
    tools = [shutil.which(name) for name in ("mpirun", "unshare")]
    if os.geteuid() != 0 or None in tools:
        pytest.skip("no MPI or no namespaces here")
    words = [str(REPOSITORY / "build/release/bin/fm_stream"), "--size", "500000", "--min-time", "0.6"]
    words += ["--json", str(place.folder / "r.json")]
    renamed = ["unshare", "-u", "sh", "-c", f"hostname n2; exec {shlex.join(words)}"]
    ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "1", *words, ":", "-n", "1", *renamed]
    environment = {**place.environment, noise.ROOT: "/"}
    subprocess.run(ranks, env=environment, check=True, capture_output=True, timeout=120)
    read = results.load(place.folder / "r.json").document["noise_of_hosts"]
    assert len(read) == 2 and read[1]["host"] == "n2" != read[0]["host"]
    assert all(one["other_load"] > 0.05 for one in read)


def test_firmware_is_in_the_file_and_beside_a_change(host, tmp_path):
    for name, text in {
        "sys/class/dmi/id/bios_version": "2.1\n", "sys/class/dmi/id/bios_date": "05/01/2026\n",
        "proc/cpuinfo": "processor : 0\nmicrocode\t: 0x1000065\n",
        "sys/class/infiniband/mlx5_0/fw_ver": "20.35.1012\n",
        "sys/bus/pci/drivers/xocl/0000:01:00.1/xmc.u.1/bmc_ver": "4.3.31\n",
        "sys/bus/pci/drivers/xocl/0000:81:00.1/xmc.u.1/bmc_ver": "\n",
    }.items():  # fmt: skip
        (host.root / name).parent.mkdir(parents=True, exist_ok=True)
        (host.root / name).write_text(text)
    file = tmp_path / "r.json"
    made = samples.result()
    file.write_text(json.dumps(made, indent=2) + "\n")
    noise.Watch(root=host.root).add_to(file, "n1")
    loaded = results.load(file)
    assert loaded.document["firmware"] == {
        "BIOS": "2.1 05/01/2026", "microcode": "0x1000065", "adapter mlx5_0": "20.35.1012",
        "board 0000:01:00.1": "4.3.31",
    }  # fmt: skip
    old = history.environment_of(loaded)
    new = {**old, "firmware board 0000:01:00.1": "4.3.39"}
    assert changes.beside([old], [new]) == ["firmware board 0000:01:00.1 4.3.31 -> 4.3.39"]
    file.write_text(json.dumps(made))
    assert changes.beside([history.environment_of(results.load(file))], [new]) == []  # files of before

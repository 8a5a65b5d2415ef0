"""`make run` with stand-ins for everything that it calls."""

import os
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
# Notes the folder that it is to write into, which has to be there.
FABRICMARK = """#!/bin/bash
while [ $# -gt 0 ]; do
  if [ "$1" = --output ] && [[ "$2" == results/* ]]; then echo "$2" >>folders.txt; touch "$2/result.json"; fi
  shift
done
"""


def stand_in(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def start(folder):
    return subprocess.Popen(
        ["make", "run", "PYTHON=true"], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": f"{folder / 'tools'}:{os.environ['PATH']}"},
    )  # fmt: skip


def test_two_starts_in_one_second_do_not_share_a_folder(tmp_path):
    shutil.copy(REPOSITORY / "Makefile", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(REPOSITORY / "tools" / "run.sh", tmp_path / "tools")
    stand_in(tmp_path / ".venv" / "bin" / "fabricmark", FABRICMARK)
    for name in ("cmake", "ninja"):
        stand_in(tmp_path / ".venv" / "bin" / name, "#!/bin/sh\n")
    stand_in(tmp_path / "tools" / "date", "#!/bin/sh\necho 20261122T000000Z\n")
    both = [start(tmp_path), start(tmp_path)]
    outputs = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    folders = (tmp_path / "folders.txt").read_text().split()
    first, second = sorted(set(folders))
    # Alone, on 2 ranks, and messages between devices and between hosts.
    assert (folders.count(first), folders.count(second)) == (4, 4)
    assert (first, second) == ("results/run-20261122T000000Z", "results/run-20261122T000000Z-2")


def test_benchmarks_that_are_named_run_one_after_the_other(tmp_path):
    """Also where the first fails, which the status tells."""
    stand_in(
        tmp_path / "fabricmark",
        '#!/bin/bash\necho "$1 $2" >>calls.txt\n'
        'while [ "$1" != --output ]; do shift || exit 0; done\ntouch "$2/result.json"\n'
        'grep -c "run" calls.txt | grep -qx 1 && exit 3\nexit 0\n',
    )
    done = subprocess.run(
        [REPOSITORY / "tools" / "run.sh", "stream", "gemm"], cwd=tmp_path, check=False,
        env={**os.environ, "FABRICMARK": str(tmp_path / "fabricmark"), "LOGS": "logs"},
    )  # fmt: skip
    ran = [line for line in (tmp_path / "calls.txt").read_text().splitlines() if line.startswith("run ")]
    assert ran == ["run stream", "run gemm"] * 2 and done.returncode == 3

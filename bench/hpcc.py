"""HPC Challenge's own program (Debian's hpcc) on two ranks, as a peer.

It has no choice of tests: one run does them all. The matrix width N decides all sizes. Found by trying (1.5.0
on 2 ranks): the table of each rank has the largest power of two of words that is at most N^2 / 2, MPIFFT's
vector an eighth of the words of both tables, PTRANS a matrix half as wide. Further widths for PTRANS alone
can be asked for, but the summary has the one of N; its table of results has all.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from common import mpirun

RANKS = 2
LONGEST_SECONDS = 400
SMALLEST_WIDTH = 200  # of HPL, for a run in a few seconds
# Matrix width: (log2 of the words of each rank's table, log2 of the vector).
WIDTHS = {22: (2900, 20), 24: (5820, 22)}
INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out output file name (if any)
8 device out (6=stdout,7=stderr,file)
1 # of problems sizes (N)
{width} Ns
1 # of NBs
80 NBs
0 PMAP process mapping (0=Row-,1=Column-major)
1 # of process grids (P x Q)
1 Ps
2 Qs
16.0 threshold
1 # of panel fact
2 PFACTs (0=left, 1=Crout, 2=Right)
1 # of recursive stopping criterium
4 NBMINs (>= 1)
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs (0=left, 1=Crout, 2=Right)
1 # of broadcast
1 BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1 # of lookahead depth
1 DEPTHs (>=0)
2 SWAP (0=bin-exch,1=long,2=mix)
64 swapping threshold
0 L1 in (0=transposed,1=no-transposed) form
0 U in (0=transposed,1=no-transposed) form
1 Equilibration (0=no,1=yes)
8 memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
{ptrans_count} Number of additional problem sizes for PTRANS
{ptrans_width} values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""


def is_there() -> bool:
    """Whether hpcc is installed; says so where it is not."""
    if shutil.which("hpcc") and shutil.which("mpirun"):
        return True
    print("bench: no hpcc here (Debian's package hpcc, with Open MPI): rows left out", file=sys.stderr)
    return False


def input_text(width: int, ptrans_width: int | None = None) -> str:
    """hpccinf.txt for HPL with matrices of this width, and PTRANS with one more width."""
    return INPUT.format(
        width=width, ptrans_count=0 if ptrans_width is None else 1, ptrans_width=ptrans_width or 1200
    )


def summary(text: str) -> dict[str, float]:
    """All numbers of the summary in hpcc's output, by name."""
    numbers = re.findall(r"^(\w+)=([-+.\deE]+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in numbers}


def ptrans_rates(text: str) -> dict[int, float]:
    """PTRANS' GB/s by matrix width: as PTRANS_GBs, of the slowest of its repetitions, which comes last."""
    lines = re.findall(r"^WALL +(\d+) +\d+ .* PASSED +([\d.]+)", text, re.MULTILINE)
    return {int(width): float(rate) for width, rate in lines}


def run_for_table(log_table: int) -> dict[str, float]:
    """The summary of a run with tables of 2^log_table words."""
    found = summary(run(input_text(WIDTHS[log_table][0])))
    expect(found, "MPIRandomAccess_N", RANKS * 2**log_table)
    return found


def expect(found: dict[str, float], name: str, value: float) -> None:
    """Ends this program with one line where hpcc took another size."""
    if found.get(name) != value:
        sys.exit(f"bench: error: hpcc took {name} = {found.get(name)} instead of {value}")


def run(content: str) -> str:
    """hpcc's output for this input; ends this program with one line if it fails."""
    one_thread = {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(content)
        done = subprocess.run(
            mpirun("hpcc"), cwd=folder, env={**os.environ, **one_thread}, capture_output=True, text=True,
            timeout=LONGEST_SECONDS,
        )  # fmt: skip
        output = Path(folder, "hpccoutf.txt")
        text = output.read_text() if output.exists() else ""
    if done.returncode != 0 or summary(text).get("Success") != 1:
        sys.exit(f"bench: error: hpcc ended with {done.returncode}: {done.stderr.strip() or text[-200:]}")
    return text

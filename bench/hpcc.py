"""HPC Challenge's own program (Debian's hpcc) on two ranks, as a peer.

It has no choice of tests: one run does them all. The matrix width N decides all sizes. Found by trying (1.5.0
on 2 ranks): the table of each rank has the largest power of two of words that is at most N^2 / 2, MPIFFT's
vector an eighth of the words of both tables.
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
LONGEST_SECONDS = 180
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
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
"""


def is_there() -> bool:
    """Whether hpcc is installed; says so where it is not."""
    if shutil.which("hpcc") and shutil.which("mpirun"):
        return True
    print("bench: no hpcc here (Debian's package hpcc, with Open MPI): rows left out", file=sys.stderr)
    return False


def run(log_table: int) -> dict[str, float]:
    """All numbers of the summary of one run, by name; ends this program with one line if it fails."""
    width, _ = WIDTHS[log_table]
    one_thread = {"OPENBLAS_CORETYPE": "SkylakeX", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "hpccinf.txt").write_text(INPUT.format(width=width))
        done = subprocess.run(
            mpirun("hpcc"), cwd=folder, env={**os.environ, **one_thread}, capture_output=True, text=True,
            timeout=LONGEST_SECONDS,
        )  # fmt: skip
        output = Path(folder, "hpccoutf.txt")
        text = output.read_text() if output.exists() else ""
    numbers = dict(re.findall(r"^(\w+)=([-+.\deE]+)$", text, re.MULTILINE))
    if done.returncode != 0 or numbers.get("Success") != "1":
        sys.exit(f"bench: error: hpcc ended with {done.returncode}: {done.stderr.strip() or text[-200:]}")
    found = {name: float(value) for name, value in numbers.items()}
    if found["MPIRandomAccess_N"] != RANKS * 2**log_table:
        sys.exit(f"bench: error: hpcc took a table of {found['MPIRandomAccess_N']:.0f} words")
    return found

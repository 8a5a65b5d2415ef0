"""Logs as the OSU Micro-Benchmarks and nccl-tests print them, with numbers of our own."""

LATENCY = """\
[n1:22411] Rank 0 bound to package[0][core:0]

# OSU MPI-CUDA Latency Test v7.5
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       2.48
2                       2.49
4                       2.51
4194304               589.62
"""
LATENCY_5 = """\
# OSU MPI-CUDA Latency Test v5.7
# Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)
# Size          Latency (us)
0                       1.10
1                       5.47
2                       5.46
"""
BANDWIDTH = """\
# OSU MPI-CUDA Bandwidth Test v7.5
# Datatype: MPI_CHAR.
# Size      Bandwidth (MB/s)        Validation   P50 Tail BW(MB/s)   P99 Tail BW(MB/s)
1                       3.25              Pass               3.00               2.00
1024                 3140.50              Fail            3000.00            2000.00
1048576             12500.00              Pass           12400.00           11000.00
"""
MESSAGE_RATE = """\
[1,0]<stdout>:# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.3
[1,0]<stdout>:# [ pairs: 15 ] [ window size: 64 ]
[1,0]<stdout>:# Size                  MB/s        Messages/s
[1,0]<stdout>:1                       6.39        6385003.80
[1,0]<stdout>:2                      12.50        6250000.00
[1,0]<stdout>:4                      25.00        6250000.00
"""
BARRIER = """\

# OSU MPI Barrier Latency Test v7.3
# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
             1.41              1.20              1.70        1000
"""
OVERLAP = """\

# OSU MPI Non-blocking All-to-All Personalized Exchange Latency Test v7.5
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_CHAR.
# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)    \
Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)
1                      11.09              6.10              0.50              0.10              0.20    \
          5.18              5.00              5.50              3.46
2                      10.87              6.04              0.50              0.10              0.20    \
          5.10              5.00              5.50              0.00
"""
TWO_TYPES = """\

# OSU MPI-ROCM Allreduce Latency Test v7.4
# Datatype: MPI_INT.
# Size       Avg Latency(us)
4                       3.19
8                       3.20
# Datatype: MPI_FLOAT.
# Size       Avg Latency(us)
4                       3.29
8                       3.30
"""
ALL_REDUCE = """\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
#
# Using devices
#  Rank  0 Group  0 Pid 267630 on  nid005098 device  0 [0009:01:00] NVIDIA GH200 120GB
#  Rank  1 Group  0 Pid 267631 on  nid005099 device  0 [0009:01:00] NVIDIA GH200 120GB
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           0             0     float     sum      -1     6.36    0.00    0.00      0     6.40    0.00    0.00      0
           0             0     float     sum      -1     6.43    0.00    0.00      0     6.35    0.00    0.00      0
n1:21:21 [0] NCCL INFO Launch mode Parallel
           8             2     float     sum      -1    18.74    0.00    0.00      0    18.28    0.00    0.00      0
   134217728      33554432     float     sum      -1    613.3  218.85  382.99      0    614.3  218.48  382.34      2
# Out of bounds values : 2 FAILED
# Avg bus bandwidth    : 382.665
#
"""  # noqa: E501
ALL_GATHER_OLD = """\
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
    33554432       8388608     float             4393.9    7.64   14.32  4e-07   4384.4    7.65   14.35    N/A
    67108864      16777216     float             8349.4    8.04   15.07  4e-07   8351.5    8.04   15.07    N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 14.7
"""
ALL = {
    "latency.log": LATENCY, "latency_5.log": LATENCY_5, "bw.out": BANDWIDTH, "mbw_mr.txt": MESSAGE_RATE,
    "barrier.log": BARRIER, "ialltoall.log": OVERLAP, "allreduce.log": TWO_TYPES,
    "all_reduce_perf.log": ALL_REDUCE, "all_gather_perf.log": ALL_GATHER_OLD,
}  # fmt: skip


def scaled(text: str, factor: float) -> str:
    """A log whose second column is so many times as large."""
    lines = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].isdigit():
            line = f"{words[0]:<10}{float(words[1]) * factor:18.2f}"
        lines.append(line)
    return "\n".join(lines) + "\n"

"""Logs as OSU, nccl-tests, HPC Challenge and HPCC FPGA print them, with numbers of our own."""

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
HPCC = """\
######
This is the DARPA/DOE HPC Challenge Benchmark version 1.5.0 October 2012
Begin of MPIRandomAccess section.
End of MPIRandomAccess section.
Begin of Summary section.
VersionMajor=1
VersionMinor=5
VersionMicro=0
VersionRelease=f
LANG=C
Success=1
CommWorldProcs=2
HPL_Tflops=0.0521428
HPL_time=0.002772
HPL_N=600
HPL_NB=80
dweps=1.110223e-16
DGEMM_N=244
StarDGEMM_Gflops=40.3601
SingleDGEMM_Gflops=89.3667
PTRANS_GBs=5.55367
PTRANS_time=6.3475e-05
PTRANS_n=300
PTRANS_nb=80
PTRANS_nprow=1
PTRANS_npcol=2
MPIRandomAccess_N=262144
MPIRandomAccess_time=0.0243918
MPIRandomAccess_Errors=0
MPIRandomAccess_GUPs=0.0429889
RandomAccess_N=131072
StarRandomAccess_GUPs=0.576802
SingleRandomAccess_GUPs=1.22472
STREAM_VectorSize=60000
STREAM_Threads=1
StarSTREAM_Copy=138.708
StarSTREAM_Scale=83.2827
StarSTREAM_Add=46.6684
StarSTREAM_Triad=78.1886
SingleSTREAM_Copy=160.562
SingleSTREAM_Scale=83.2827
SingleSTREAM_Add=68.9953
SingleSTREAM_Triad=81.4664
FFT_N=32768
StarFFT_Gflops=8.28225
SingleFFT_Gflops=9.14725
MPIFFT_N=32768
MPIFFT_Gflops=7.49957
MPIFFT_maxErr=1.24931e-15
MPIFFT_Procs=2
MaxPingPongLatency_usec=0.345778
RandomlyOrderedRingLatency_usec=0.246349
NaturallyOrderedRingBandwidth_GBytes=12.4372
RandomlyOrderedRingBandwidth_GBytes=13.8684
MinPingPongLatency_usec=0.340528
AvgPingPongLatency_usec=0.343153
MaxPingPongBandwidth_GBytes=14.1072
AvgPingPongBandwidth_GBytes=13.6992
NaturallyOrderedRingLatency_usec=0.249033
MinPingPongBandwidth_GBytes=-1
End of Summary section.
######
"""
HPCC_FPGA_STREAM = """\
Implementation of the STREAM benchmark proposed in the HPCC benchmark suite for FPGA.
Version: 2.6
MPI Version:  3.1

Summary:
Array Size                    134217728 (5.36871e+08 Byte )
Data Type                     cl_float
Kernel File                   stream.aocx
Kernel Replications           4
MPI Ranks                     None
Repetitions                   10
Device                        p520_max_sg280l : BittWare board (aclbitt0)

--------
Generation Time: 0.5 s
Solution Validates: avg error less than 1.192093e-07 on all three arrays
Validation Time: 0.5 s
Function            Best Rate           Avg time            Min time            Max time
PCI_write           6.50000e+03 MB/s    8.20000e-02 s       8.10000e-02 s       8.30000e-02 s
Copy                6.75000e+04 MB/s    1.60000e-02 s       1.59000e-02 s       1.61000e-02 s
Triad               6.90000e+04 MB/s    2.40000e-02 s       2.30000e-02 s       2.50000e-02 s
Validation: SUCCESS!
"""
HPCC_FPGA_OLD = """\
Implementation of the STREAM benchmark proposed in the HPCC benchmark suite for FPGA.

Summary:
Array Size                    1024 (4096 Byte )
MPI Ranks                     2

       Function Best Rate MB/s     Avg time s       Min time       Max time
            Add        62000.5       0.024000       0.023000       0.025000
ERROR: VALIDATION OF OUTPUT DATA FAILED!
"""
HPCC_FPGA_GEMM = """\
Implementation of the GEMM benchmark proposed in the HPCC benchmark adapted for FPGA
Version: 1.3

Summary:
Matrix Size                   4096
MPI Ranks                     1
Device                        Board

  norm. resid        resid       machep
       0.0001        0.0002  1.19209e-07
                best                mean              GFLOPS
     2.00000e-01 s       2.10000e-01 s       6.87195e+02 GFLOP/s
Validation: SUCCESS!
"""
HPCC_FPGA_UPDATES = """\
Implementation of the random access benchmark proposed in the HPCC benchmark suite for FPGA.

Error: 0.1%
           best           mean          GUOPS
           0.25           0.26       0.512000
Validation: SUCCESS!
"""
HPCC_FPGA_FFT = """\
Implementation of the FFT benchmark proposed in the HPCC benchmark suite for FPGA.

     res. error      mach. eps
            0.3    1.19209e-07

                           avg           best
     Time in s:         0.0021         0.0020
        GFLOPS:          105.0          110.5
Validation: SUCCESS!
"""
HPCC_FPGA_LINPACK = """\
Implementation of the LINPACK benchmark proposed in the HPCC benchmark suite for FPGA.
Version: 2.6

 Method              best                mean                GFLOPS
 total              1.12152e-01 s       1.16113e-01 s       2.13045e+02 GFLOP/s
 GEFA               1.12152e-01 s       1.16113e-01 s       1.94784e+02 GFLOP/s
 GESL               2.00000e-08 s       3.97000e-08 s       1.02400e+02 GFLOP/s
Validation: SUCCESS!
"""
HPCC_FPGA_TRANSPOSE = """\
Implementation of the matrix transposition benchmark proposed in the HPCC benchmark suite for FPGA.
Version: 1.7

               total time          transfer time       calc time           calc FLOPS          Memory Bandwidth    PCIe Bandwidth
          avg: 6.05723e-02 s       1.30980e-02 s       4.74743e-02 s       3.53396e-01 GFLOP/s 4.24075e+00 GB/s    1.53708e+01 GB/s
         best: 4.69977e-02 s       1.05343e-02 s       3.64633e-02 s       4.60112e-01 GFLOP/s 5.52134e+00 GB/s    1.91115e+01 GB/s
Validation: SUCCESS!
"""  # noqa: E501
ALL = {
    "latency.log": LATENCY, "latency_5.log": LATENCY_5, "bw.out": BANDWIDTH, "mbw_mr.txt": MESSAGE_RATE,
    "barrier.log": BARRIER, "ialltoall.log": OVERLAP, "allreduce.log": TWO_TYPES,
    "all_reduce_perf.log": ALL_REDUCE, "all_gather_perf.log": ALL_GATHER_OLD,
    "hpccoutf.txt": HPCC, "fpga_stream.txt": HPCC_FPGA_STREAM, "fpga_old.txt": HPCC_FPGA_OLD,
    "fpga_gemm.txt": HPCC_FPGA_GEMM, "fpga_updates.txt": HPCC_FPGA_UPDATES, "fpga_fft.txt": HPCC_FPGA_FFT,
    "fpga_linpack.txt": HPCC_FPGA_LINPACK, "fpga_transpose.txt": HPCC_FPGA_TRANSPOSE,
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

// GEMM, base kernel in HLS C++: the lines of base.cl.
#include "common/hls.hpp"

#include "gemm/base.cl"

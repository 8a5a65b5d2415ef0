// HPL, base kernels in HLS C++: the lines of base.cl.
#include "common/hls.hpp"

#include "hpl/base.cl"

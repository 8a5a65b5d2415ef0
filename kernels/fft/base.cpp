// FFT, base kernel in HLS C++: the lines of base.cl.
#include "common/hls.hpp"

#include "fft/base.cl"

// A stencil as dataflow kernels: a cascade of elements through the boards of a ring.
#include <cmath>

#define FM_STREAMED
#if !defined(DATA_TYPE)  // the parameters of the build
#define DATA_TYPE float
#endif

using std::sqrt;

#include "cell.h"

#include "common/stencil/dataflow.hpp"

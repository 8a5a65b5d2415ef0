// Tsunamis as dataflow kernels: a cascade of elements through the boards of a ring.
#include <cmath>

#define FM_STREAMED
#if !defined(DATA_TYPE)  // the parameters of the build
#define DATA_TYPE float
#define EDGES open
#endif

using std::sqrt;

#include "tsunami/cell.h"

#include "common/stencil/dataflow.hpp"

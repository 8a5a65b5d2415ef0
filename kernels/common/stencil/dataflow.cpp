// A stencil as dataflow kernels: a cascade of elements through the boards of a ring.
#include <cmath>

#define FM_STREAMED
// Cells of a word: in what follows a template's argument of that name.
#if defined(PIPELINES)
enum { fm_built_pipelines = PIPELINES };
#undef PIPELINES
#else
enum { fm_built_pipelines = 1 };
#endif
#if !defined(DATA_TYPE)  // the parameters of the build
#define DATA_TYPE float
#endif

using std::sqrt;

#include "cell.h"

#include "common/stencil/dataflow.hpp"

// A stencil on CPUs and GPUs: rows of cells; on a CPU several steps of them in its cache.
#include "cell.h"

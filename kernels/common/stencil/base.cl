// The FPGA design of a stencil: a word of cells streams through one element in each cycle.
#define FM_STREAMED
#include "cell.h"

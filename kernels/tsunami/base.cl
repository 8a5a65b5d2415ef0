// The FPGA design: a word of cells streams through one element in each cycle.
#define FM_STREAMED
#include "tsunami/cell.h"

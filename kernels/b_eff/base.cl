// b_eff, base kernel: writes a single byte, as the compute kernel before and after a message over the host
// would do at least (Meyer 2024, section 5.1.2). The messages themselves need no kernel on this path.
#include "common/dialect.h"

FM_SINGLE_WORK_ITEM
__kernel void touch(FM_GLOBAL(touch, memory) uchar* restrict memory, const uchar value) { memory[0] = value; }

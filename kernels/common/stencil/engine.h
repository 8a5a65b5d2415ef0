// The kernels of a stencil, by which of them is built; behind its fm_next (window.h).
#if defined(FM_ON_HOST)
// fm_next alone
#elif defined(FM_STREAMED)
#include "common/stencil/base.h"
#else
#include "common/stencil/throughput.h"
#endif

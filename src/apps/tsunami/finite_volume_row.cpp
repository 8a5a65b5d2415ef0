// The step of finite volumes on the host.
#define SCHEME finite_volume
#define FM_NEXT_ROW next_row_of_finite_volumes
#include "stencil/on_host/next_row.cpp"  // NOLINT(bugprone-suspicious-include): it is made of another cell

// The step on the sphere on the host.
#define COORDINATES sphere
#define FM_NEXT_ROW next_row_on_sphere
#include "stencil/on_host/next_row.cpp"  // NOLINT(bugprone-suspicious-include): it is made of another cell

// The cascade of elements on the sphere.
#define COORDINATES sphere
#define FM_MAKE_DATAFLOW make_dataflow_on_sphere
#include "stencil/on_boards/dataflow_execution.cpp"  // NOLINT(bugprone-suspicious-include): of another cell

#pragma once

// For builds with MPI only.
#include <mpi.h>

#include <memory>

#include "runtime/communicator.hpp"

namespace fabricmark::runtime {

/// The ranks of a communicator of a program that starts and ends MPI by itself; the result has to be gone
/// before it does. Its messages are apart from all others. Collective. Throws Error (bad use) where MPI has
/// not been started, or has ended.
std::unique_ptr<Communicator> ranks_of(MPI_Comm ranks);

}  // namespace fabricmark::runtime

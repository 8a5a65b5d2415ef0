#pragma once

#include <mpi.h>

#include "fabricmark/messages.hpp"

namespace fabricmark::messages {

/// The ranks of a communicator, whose own messages are apart from these. Collective; to be gone before
/// MPI_Finalize. MPI is called by the threads that call an endpoint. Throws Error where MPI has not started.
FABRICMARK_API Ranks ranks_of(MPI_Comm communicator);

}  // namespace fabricmark::messages

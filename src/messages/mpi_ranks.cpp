#include "runtime/mpi_ranks.hpp"
#include "fabricmark/messages_mpi.hpp"
#include "messages/translated.hpp"

namespace fabricmark::messages {

Ranks ranks_of(MPI_Comm communicator) {
  return translated([&] { return Ranks(runtime::ranks_of(communicator)); });
}

}  // namespace fabricmark::messages

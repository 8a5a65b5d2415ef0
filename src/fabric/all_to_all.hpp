#pragma once

#include "fabric/transport.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::fabric {

/// Every rank sends block number r of `outgoing` to rank r, where it becomes block number (sender) of
/// `incoming`; blocks of `block_bytes`. Throws as Transport::exchange.
void all_to_all(Transport& transport, const runtime::Communicator& ranks, MessageBuffer& outgoing,
                MessageBuffer& incoming, std::size_t block_bytes);

}  // namespace fabricmark::fabric

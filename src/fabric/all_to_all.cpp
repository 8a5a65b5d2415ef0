#include "fabric/all_to_all.hpp"

#include <vector>

namespace fabricmark::fabric {

void all_to_all(Transport& transport, const runtime::Communicator& ranks, MessageBuffer& outgoing,
                MessageBuffer& incoming, std::size_t block_bytes) {
  std::vector<Message> sends;
  std::vector<Message> receives;
  // Every rank begins with another receiver, so that not all send to the same one at once.
  for (int i = 0; i < ranks.size(); ++i) {
    const int to = (ranks.rank() + i) % ranks.size();
    const int from = (ranks.rank() + ranks.size() - i) % ranks.size();
    sends.push_back({&outgoing, static_cast<std::size_t>(to) * block_bytes, block_bytes, to, 0});
    receives.push_back({&incoming, static_cast<std::size_t>(from) * block_bytes, block_bytes, from, 0});
  }
  transport.exchange(sends, receives);
}

}  // namespace fabricmark::fabric

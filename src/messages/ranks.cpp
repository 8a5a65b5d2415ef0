#include "fabricmark/messages.hpp"
#include "messages/translated.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::messages {

Ranks::Ranks(std::unique_ptr<runtime::Communicator> communicator) : communicator_(std::move(communicator)) {}
Ranks::~Ranks() = default;
Ranks::Ranks(Ranks&&) noexcept = default;
Ranks& Ranks::operator=(Ranks&&) noexcept = default;

int Ranks::rank() const { return communicator_->rank(); }
int Ranks::size() const { return communicator_->size(); }

std::vector<Ranks> ranks_of_threads(int count) {
  if (count < 1) throw Error("there is no group of " + std::to_string(count) + " ranks; ask for one or more");
  std::vector<Ranks> made;
  for (auto& communicator : translated([&] { return runtime::ranks_in_process(count); })) {
    made.emplace_back(std::move(communicator));
  }
  return made;
}

}  // namespace fabricmark::messages

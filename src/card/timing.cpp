#include "card/timing.hpp"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/host.hpp"

namespace fabricmark::card {

std::shared_ptr<const Modelling> modelling_of_environment() {
  const std::string system = environment("FABRICMARK_CARD_SYSTEM");
  if (system.empty()) return nullptr;
  auto found = std::make_shared<Modelling>();
  found->network = network::load_network_costs(system, environment("FABRICMARK_CARD_NETWORK"));
  found->folder = environment("FABRICMARK_CARD_TIMES");
  if (found->network.kind != "direct") {
    throw bad_use("the cables of emulated cards are direct links, and the network " + found->network.id +
                      " of '" + system + "' is of the kind " + found->network.kind,
                  "choose one of the kind direct, such as aurora or a transport channels");
  }
  return found;
}

CableTimes::CableTimes(const network::NetworkCosts& network)
    : width_bytes_(network.width_of_links()),
      clock_hz_(network.clock_of_links()),
      latency_(network::from_seconds(network.latency_seconds)) {}

Time CableTimes::of_word(std::size_t bytes) const {
  return clock_hz_ > 0 ? network::from_seconds(network::link_cycles(bytes, width_bytes_) / clock_hz_) : 0;
}

TimesFile::TimesFile(std::shared_ptr<const Modelling> modelling, int card, double clock_hz)
    : modelling_(std::move(modelling)), card_(card), clock_hz_(clock_hz) {}

void TimesFile::add_end(const std::string& unit, Time now) {
  if (modelling_->folder.empty()) return;
  const std::scoped_lock lock(mutex_);
  ends_[unit] = now;
  nlohmann::json found{{"card", card_}, {"network", modelling_->network.id}, {"kernel_hz", clock_hz_}};
  for (const auto& [name, end] : ends_) found["units"][name] = network::seconds(end);
  write_atomically(modelling_->folder / ("card_" + std::to_string(card_) + ".json"), found.dump(1) + "\n");
}

}  // namespace fabricmark::card

#pragma once

#include <cstdint>
#include <unordered_map>

namespace fabricmark::runtime {

/// How many messages of each tag a process has sent to each other one, or has asked each other one for.
class Ledger {
 public:
  /// One more; returns how many that makes. Messages to one rank mostly follow each other, and cost a look.
  std::uint64_t add(int peer, int tag) {
    const std::uint64_t key = key_of(peer, tag);
    if (last_ == nullptr || key != last_key_) {
      last_key_ = key;
      last_ = &counts_[key];
    }
    return ++*last_;
  }
  /// One less of those that were added.
  void take_back(int peer, int tag) { --counts_.at(key_of(peer, tag)); }
  [[nodiscard]] std::uint64_t count(int peer, int tag) const {
    const auto found = counts_.find(key_of(peer, tag));
    return found == counts_.end() ? 0 : found->second;
  }

 private:
  static std::uint64_t key_of(int peer, int tag) {
    constexpr int kBitsOfTag = 32;
    return (static_cast<std::uint64_t>(peer) << kBitsOfTag) | static_cast<std::uint32_t>(tag);
  }

  std::unordered_map<std::uint64_t, std::uint64_t> counts_;  // its entries stay where they are
  std::uint64_t last_key_ = 0;
  std::uint64_t* last_ = nullptr;
};

}  // namespace fabricmark::runtime

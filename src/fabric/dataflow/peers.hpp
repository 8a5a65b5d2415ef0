#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabric/time.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::dataflow {

/// Bytes for another process, written and read in the same order.
class Packet {
 public:
  Packet() = default;
  explicit Packet(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  void put(const void* data, std::size_t bytes) {
    const auto* const first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + bytes);
  }
  template <typename Number>
  void put(Number number) {
    put(&number, sizeof number);
  }
  /// Throws Error (environment) beyond the end.
  void get(void* data, std::size_t bytes);
  template <typename Number>
  Number get() {
    Number number{};
    get(&number, sizeof number);
    return number;
  }
  [[nodiscard]] bool is_at_end() const { return read_ == bytes_.size(); }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t read_ = 0;
};

/// What a process says to all others after it has run as far as it can.
struct Report {
  fabric::Time next = fabric::kEndOfTime;  ///< nothing happens there before
  bool has_news = false;                   ///< it has sent something, or something happened in it
  bool has_finished = false;               ///< its hosts wait for all to finish
};

/// The other processes of a run: each has the device with its rank's number. All meet in `exchange`.
class Peers {
 public:
  explicit Peers(std::unique_ptr<runtime::Communicator> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] int own() const { return ranks_->rank(); }
  [[nodiscard]] int size() const { return ranks_->size(); }
  /// Collective: sends each its packet, gets theirs into their places, and says what all together report.
  Report exchange(const Report& own, std::vector<Packet>& packets);
  /// Collective.
  std::vector<std::string> gather(const std::string& text) { return ranks_->all_gather_texts(text); }

 private:
  std::unique_ptr<runtime::Communicator> ranks_;
};

}  // namespace fabricmark::dataflow

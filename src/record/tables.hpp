#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "record/room.hpp"

namespace fabricmark::record {

/// What is recorded, by its name in MPI.
enum class Call : std::uint8_t {
  kSend,
  kIsend,
  kRecv,
  kIrecv,
  kSendrecv,
  kWait,
  kProbe,
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kReduceScatter,
  kScan,
  kCommCreate,
  kFinalize,
};
[[nodiscard]] const char* name_of(Call call);

/// All that tells calls apart; ranks are those of MPI_COMM_WORLD, kNone: there is none, or it is not known.
struct Signature {
  static constexpr std::int32_t kNone = -1;
  Call call = Call::kFinalize;
  std::int32_t communicator = kNone;
  std::int32_t to = kNone;    ///< receiver, or root
  std::int32_t from = kNone;  ///< sender
  std::int32_t tag = 0;
  std::int32_t from_tag = 0;
  std::int32_t slot = kNone;    ///< of a request
  std::uint32_t varies = 0;     ///< 1: the ranks of a collective have their own numbers of bytes
  std::int64_t bytes = 0;       ///< sent, or of one rank's elements
  std::int64_t room_bytes = 0;  ///< that a receive has room for
  friend bool operator==(const Signature&, const Signature&) = default;
};

/// Signatures by number: 0, 1, ... in the order in which they came.
class Signatures {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 17;
  static constexpr std::uint32_t kFull = ~std::uint32_t{0};
  std::uint32_t number(const Signature& signature);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Signature& operator[](std::size_t place) const { return values_[place]; }

 private:
  Room<Signature> values_{kMost};
  Room<std::uint32_t> places_{2 * kMost};  ///< number + 1, by hash
  std::size_t size_ = 0;
};

/// A communicator, with its ranks in MPI_COMM_WORLD.
struct Communicator {
  std::uintptr_t handle = 0;
  std::int32_t id = 0;  ///< the same on all its ranks
  std::vector<std::int32_t> ranks{};
};

/// A request in progress, or a persistent one. Slots are the lowest that are free, so that each turn of a
/// loop has the same ones.
struct Request {
  std::uintptr_t handle = 0;  ///< 0: free
  Signature begun{};
  bool is_persistent = false;
  bool is_active = false;
};

class Requests {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;
  /// The slot, or kNone where all are taken.
  std::int32_t take(std::uintptr_t handle);
  [[nodiscard]] Request* find(std::uintptr_t handle);
  void give_back(std::int32_t slot);
  Request& operator[](std::int32_t slot) { return values_[static_cast<std::size_t>(slot)]; }

 private:
  [[nodiscard]] static std::size_t hash(std::uintptr_t handle);

  Room<Request> values_{kMost};
  Room<std::int32_t> places_{2 * kMost};  ///< slot + 1, by hash of the handle
  std::size_t lowest_ = 0;                ///< no slot below it is free
  std::size_t taken_ = 0;
};

}  // namespace fabricmark::record

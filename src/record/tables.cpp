#include "record/tables.hpp"

#include <array>
#include <utility>

namespace fabricmark::record {

namespace {

std::uint64_t mixed(std::uint64_t sum, std::uint64_t value) {
  constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;
  constexpr int kHalf = 32;
  sum = (sum ^ value) * kPrime;
  return sum ^ (sum >> kHalf);
}

std::uint64_t pair(std::int32_t high, std::int32_t low) {
  constexpr int kHalf = 32;
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << kHalf) |
         static_cast<std::uint32_t>(low);
}

std::uint64_t hash_of(const Signature& one) {
  std::uint64_t sum = mixed(static_cast<std::uint64_t>(one.call) + 1, pair(one.communicator, one.slot));
  sum = mixed(sum, pair(one.to, one.from));
  sum = mixed(sum, pair(one.tag, one.from_tag));
  sum = mixed(sum, static_cast<std::uint64_t>(one.bytes));
  return mixed(sum, static_cast<std::uint64_t>(one.room_bytes) + one.varies);
}

}  // namespace

const char* name_of(Call call) {
  constexpr std::array kNames{"MPI_Send",     "MPI_Isend",       "MPI_Recv",      "MPI_Irecv",
                              "MPI_Sendrecv", "MPI_Wait",        "MPI_Probe",     "MPI_Barrier",
                              "MPI_Bcast",    "MPI_Reduce",      "MPI_Allreduce", "MPI_Gather",
                              "MPI_Scatter",  "MPI_Allgather",   "MPI_Alltoall",  "MPI_Reduce_scatter",
                              "MPI_Scan",     "MPI_Comm_create", "MPI_Finalize"};
  return kNames.at(static_cast<std::size_t>(call));
}

std::uint32_t Signatures::number(const Signature& signature) {
  if (places_.capacity() == 0 || values_.capacity() == 0) return kFull;
  for (std::size_t place = hash_of(signature) % places_.capacity();;
       place = (place + 1) % places_.capacity()) {
    const std::uint32_t found = places_[place];
    if (found != 0 && values_[found - 1] == signature) return found - 1;
    if (found != 0) continue;
    if (size_ == kMost) return kFull;
    values_[size_] = signature;
    places_[place] = static_cast<std::uint32_t>(++size_);
    return places_[place] - 1;
  }
}

std::size_t Requests::hash(std::uintptr_t handle) { return mixed(1, handle) % (2 * kMost); }

std::int32_t Requests::take(std::uintptr_t handle) {
  if (taken_ == kMost || values_.capacity() == 0 || places_.capacity() == 0) return Signature::kNone;
  while (values_[lowest_].handle != 0) ++lowest_;
  const auto slot = static_cast<std::int32_t>(lowest_);
  values_[lowest_] = {.handle = handle};
  ++taken_;
  std::size_t place = hash(handle);
  while (places_[place] != 0) place = (place + 1) % places_.capacity();
  places_[place] = slot + 1;
  return slot;
}

Request* Requests::find(std::uintptr_t handle) {
  if (places_.capacity() == 0) return nullptr;
  for (std::size_t place = hash(handle); places_[place] != 0; place = (place + 1) % places_.capacity()) {
    Request& found = values_[static_cast<std::size_t>(places_[place] - 1)];
    if (found.handle == handle) return &found;
  }
  return nullptr;
}

void Requests::give_back(std::int32_t slot) {
  const std::size_t all = places_.capacity();
  std::size_t gap = hash(values_[static_cast<std::size_t>(slot)].handle);
  while (places_[gap] != slot + 1) gap = (gap + 1) % all;
  places_[gap] = 0;
  // What stands behind and was pushed over the gap goes into it.
  for (std::size_t next = (gap + 1) % all; places_[next] != 0; next = (next + 1) % all) {
    const std::size_t home = hash(values_[static_cast<std::size_t>(places_[next] - 1)].handle);
    if ((next + all - home) % all < (next + all - gap) % all) continue;
    places_[gap] = places_[next];
    places_[next] = 0;
    gap = next;
  }
  values_[static_cast<std::size_t>(slot)] = {};
  --taken_;
  if (std::cmp_less(slot, lowest_)) lowest_ = static_cast<std::size_t>(slot);
}

}  // namespace fabricmark::record

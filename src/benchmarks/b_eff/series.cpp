#include "benchmarks/b_eff/series.hpp"

#include <algorithm>

namespace fabricmark::b_eff {

Series::Series(transport::Transport& transport, runtime::Communicator& ranks, std::size_t largest_bytes,
               std::size_t room_bytes)
    : transport_(transport),
      ranks_(ranks),
      room_(std::max(largest_bytes, room_bytes)),
      neighbours_{(ranks.rank() + 1) % ranks.size(), (ranks.rank() + ranks.size() - 1) % ranks.size()},
      outgoing_(transport.allocate(kDirections * room_)),
      incoming_(transport.allocate(kDirections * room_)) {}

std::size_t Series::offset(std::size_t direction, std::size_t place) const {
  return direction * room_ + place * bytes_;
}

void Series::prepare(std::size_t bytes, std::size_t count, std::uint32_t repetition, bool has_bytes) {
  bytes_ = bytes;
  count_ = count;
  repetition_ = repetition;
  if (!has_bytes) return;
  for (std::size_t direction = 0; direction < kDirections; ++direction) {
    const std::span<std::byte> sent = view(*outgoing_, direction);
    for (std::size_t place = 0; place < count; ++place) {
      fill(sent.subspan(place * bytes, bytes),
           {static_cast<std::uint32_t>(ranks_.rank()), static_cast<std::uint32_t>(direction), repetition,
            static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(bytes)});
    }
    if (is_staged(*outgoing_)) outgoing_->write(offset(direction, 0), sent);
    const std::span<std::byte> received = view(*incoming_, direction);
    std::ranges::fill(received, kPoison);
    if (is_staged(*incoming_)) incoming_->write(offset(direction, 0), received);
  }
}

std::span<std::byte> Series::view(transport::Memory& buffer, std::size_t direction) {
  if (is_staged(buffer)) host_.resize(kDirections * room_);
  const std::span<std::byte> all = is_staged(buffer) ? std::span<std::byte>(host_) : buffer.host();
  return all.subspan(offset(direction, 0), count_ * bytes_);
}

std::array<transport::Message, kDirections> Series::sends(std::size_t place) const {
  return {{{{outgoing_.get(), offset(0, place), bytes_}, neighbour(0), 0},
           {{outgoing_.get(), offset(1, place), bytes_}, neighbour(1), 1}}};
}

std::array<transport::Message, kDirections> Series::receives(std::size_t place) const {
  // What is sent to the right arrives from the left.
  return {{{{incoming_.get(), offset(0, place), bytes_}, neighbour(1), 0},
           {{incoming_.get(), offset(1, place), bytes_}, neighbour(0), 1}}};
}

void Series::exchange(std::size_t place) { transport_.exchange(sends(place), receives(place)); }

void Series::check(std::size_t direction, runtime::Verdict& verdict) {
  const std::span<std::byte> used = view(*incoming_, direction);
  if (is_staged(*incoming_)) incoming_->read(offset(direction, 0), used);
  for (std::size_t place = 0; place < count_; ++place)
    check_message(used.subspan(place * bytes_, bytes_), neighbour(1 - direction), direction, place, "",
                  verdict);
}

void Series::check_staged(std::span<const std::byte> staged, bool are_received, const std::string& step,
                          runtime::Verdict& verdict) const {
  for (std::size_t place = 0; place < count_; ++place) {
    for (std::size_t direction = 0; direction < kDirections; ++direction) {
      const std::span<const std::byte> message =
          staged.subspan(place * place_bytes() + direction * bytes_, bytes_);
      const int sender = are_received ? neighbour(1 - direction) : ranks_.rank();
      check_message(message, sender, direction, place, step, verdict);
    }
  }
}

void Series::check_message(std::span<const std::byte> message, int sender, std::size_t direction,
                           std::size_t place, const std::string& step, runtime::Verdict& verdict) const {
  const Content content{static_cast<std::uint32_t>(sender), static_cast<std::uint32_t>(direction),
                        repetition_, static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(bytes_)};
  b_eff::check_message({message, content}, step, verdict);
}

void Series::corrupt(const std::function<void(std::span<std::byte>)>& change) {
  std::vector<std::byte> message(bytes_);
  incoming_->read(offset(0, 0), message);
  change(message);
  incoming_->write(offset(0, 0), message);
}

}  // namespace fabricmark::b_eff

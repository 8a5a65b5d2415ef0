// What a fabric tells of itself when nothing can go on.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "board/dataflow/deadlock.hpp"
#include "board/dataflow/fabric.hpp"

namespace fabricmark::dataflow {

void Fabric::throw_deadlock() {
  const StuckState own = stuck();
  const StuckState all = peers_ ? StuckState::from_texts(peers_->gather(own.text())) : own;
  throw deadlock(all, keep_timeline(all));
}

/// Says where it is.
std::string Fabric::keep_timeline(const StuckState& all) {
  if (!settings_.log) return "";
  const Time until = end_of_waits(all);
  for (auto& [number, device] : devices_) {
    for (const Running& running : device.running) {
      Channel* const on = running.kernel->waits_on();
      if (on != nullptr) on->tell_stuck(*running.kernel, until);
    }
  }
  if (settings_.deadlock_timeline.empty()) return "";
  if (!peers_) return write_deadlock(settings_.deadlock_timeline, *settings_.log);
  runtime::ActivityLog all_activities;
  for (const std::string& text : peers_->gather(runtime::timeline_text(*settings_.log))) {
    all_activities.merge(nlohmann::json::parse(text));
  }
  const bool is_writer = peers_->own() == 0;
  const std::string note = is_writer ? write_deadlock(settings_.deadlock_timeline, all_activities) : "";
  // The first process that ends with the error ends all others: none may before the file is written.
  return peers_->gather(note).front();
}

StuckState Fabric::stuck() const {
  std::map<const Channel*, StreamState> streams;
  StuckState state;
  for (const int host : barrier_.passing()) {
    state.kernels.push_back({fmt::format("host (device {})", host), Kernel::Waits::kForRanks, "", 0});
  }
  const auto note = [&streams](const Kernel& kernel, const Channel& channel) {
    StreamState& stream = streams[&channel];
    stream = {channel.name(), channel.fill(), channel.places(), stream.writer, stream.reader};
    if (channel.writer() != nullptr) stream.writer = kernel_name(*channel.writer());
    if (channel.reader() != nullptr) stream.reader = kernel_name(*channel.reader());
    // A kernel that holds a link has the end of its device; one that holds a stream has the end that is not
    // another's, though it came not so far.
    const bool is_used = channel.writer() == &kernel || channel.reader() == &kernel;
    const bool has_one_end = stream.writer.empty() != stream.reader.empty();
    if (channel.must_write(kernel.device()) || (!is_used && has_one_end && stream.writer.empty())) {
      stream.writer = kernel_name(kernel);
    } else if (channel.must_read(kernel.device()) || (!is_used && has_one_end)) {
      stream.reader = kernel_name(kernel);
    }
  };
  for (const auto& [number, device] : devices_) {
    for (const Running& running : device.running) {
      const Kernel& kernel = *running.kernel;
      const Channel* const on = kernel.waits_on();
      state.kernels.push_back(
          {kernel_name(kernel), kernel.waits(), on != nullptr ? on->name() : "", kernel.clock});
      for (const auto& channel : kernel.channels()) note(kernel, *channel);
    }
  }
  for (const auto& [number, device] : devices_) {
    for (const Running& running : device.running) {
      for (const auto& channel : running.kernel->held()) note(*running.kernel, *channel);
    }
  }
  for (auto& [channel, stream] : streams) state.streams.push_back(std::move(stream));
  return state;
}

}  // namespace fabricmark::dataflow

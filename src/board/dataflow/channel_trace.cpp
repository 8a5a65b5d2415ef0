#include "board/dataflow/channel_trace.hpp"

#include <fmt/core.h>

namespace fabricmark::dataflow {

using runtime::ActivityKind;

void ChannelTrace::take(bool is_writer, Kernel& kernel) {
  End& taken = end(is_writer);
  taken.trace = kernel.trace();
  taken.waits = kNoLine;
  taken.label = taken.trace->lane();
  if (is_link_) taken.label += fmt::format(" of device {}", kernel.device());
  if (!is_writer) return;
  for_link_ = kNoLine;
  if (is_link_) wire_ = taken.trace->wire(channel_);
}

void ChannelTrace::meet() {
  const auto learn = [](End& end, const End& other) {
    if (end.peer == other.label) return;
    end.peer = other.label;
    end.waits = kNoLine;
  };
  learn(writer_, reader_);
  learn(reader_, writer_);
}

void ChannelTrace::waited(bool is_writer, Time from, Time to) {
  End& waiting = end(is_writer);
  if (waiting.waits == kNoLine) {
    const ActivityKind kind = is_writer ? ActivityKind::kWaitForSpace : ActivityKind::kWaitForWord;
    waiting.waits = waiting.trace->line(kind, channel_, waiting.peer);
  }
  waiting.trace->waited(waiting.waits, from, to);
}

void ChannelTrace::waited_for_link(Time from, Time to) {
  if (for_link_ == kNoLine) for_link_ = writer_.trace->line(ActivityKind::kWaitForLink, channel_, "");
  writer_.trace->waited(for_link_, from, to);
}

void ChannelTrace::carried(Time from, Time to) {
  if (is_link_) writer_.trace->carried(wire_, from, to);
}

}  // namespace fabricmark::dataflow

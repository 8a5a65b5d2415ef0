#pragma once

#include <string>
#include <utility>

#include "board/dataflow/kernel.hpp"
#include "board/dataflow/trace.hpp"
#include "network/time.hpp"
#include "runtime/activity.hpp"

namespace fabricmark::dataflow {

/// Tells the traces of the kernels at both ends of a channel what they wait for there, and of a link when its
/// words pass. Each end is used by the thread of its kernel.
class ChannelTrace {
 public:
  ChannelTrace(std::string channel, bool is_link) : channel_(std::move(channel)), is_link_(is_link) {}

  /// The kernel, which has a trace, takes an end.
  void take(bool is_writer, Kernel& kernel);
  /// While neither end runs: each learns which kernel is at the other one.
  void meet();

  /// The kernel at this end waits for the other one: for a place, or for a word.
  void waited(bool is_writer, Time from, Time to);
  /// The writer waits for the link itself.
  void waited_for_link(Time from, Time to);
  /// A word passes, which only links tell.
  void carried(Time from, Time to);

 private:
  using Line = Trace::Line;
  static constexpr Line kNoLine = runtime::ActivityLog::kNoLine;
  struct End {
    Trace* trace = nullptr;
    std::string label;     // of its kernel or, after that, of the last one
    std::string peer;      // label of the other end, as far as this one knows
    Line waits = kNoLine;  // for the other end
  };
  End& end(bool is_writer) { return is_writer ? writer_ : reader_; }

  std::string channel_;
  bool is_link_;
  End writer_;
  End reader_;
  Line wire_ = kNoLine;      // of the link's words
  Line for_link_ = kNoLine;  // the writer waits for the link
};

}  // namespace fabricmark::dataflow

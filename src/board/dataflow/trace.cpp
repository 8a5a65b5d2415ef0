#include "board/dataflow/trace.hpp"

namespace fabricmark::dataflow {

using runtime::ActivityKind;

Trace::Trace(std::shared_ptr<runtime::ActivityLog> log, int device, std::string lane, Time start)
    : log_(std::move(log)),
      device_(device),
      lane_(std::move(lane)),
      computed_(line(ActivityKind::kCompute, "", "")),
      told_(start) {}

Trace::Line Trace::line(ActivityKind kind, const std::string& what, const std::string& whom) const {
  return log_->line({device_, lane_, 0, 0, kind, what, whom});
}

Trace::Line Trace::wire(const std::string& link) const {
  return log_->line({device_, link, 0, 0, ActivityKind::kLink, "", ""});
}

void Trace::ended(Time computed, Time to) {
  log_->add(computed_, told_, computed);
  if (to > computed) log_->add(line(ActivityKind::kWaitForMemory, "", ""), computed, to);
  told_ = to;
}

}  // namespace fabricmark::dataflow

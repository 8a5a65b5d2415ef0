#include "benchmarks/b_eff/exchanges.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fabricmark::b_eff {

namespace {

/// Bytes that a rank sends in one exchange, in both directions.
double sent_bytes(std::size_t bytes) { return static_cast<double>(kDirections * bytes); }

}  // namespace

Exchanges::Exchanges(const runtime::Context& context)
    : ranks_(context.ranks()),
      computes_(context.computes()),
      most_messages_(context.parameters().count("messages")) {
  for (std::size_t i = 0; i <= context.parameters().count("largest"); ++i)
    sizes_.push_back(std::size_t{1} << i);
}

std::string Exchanges::lap_name(const std::string& operation, std::size_t bytes) {
  return operation + "/" + std::to_string(bytes);
}

std::size_t Exchanges::messages(std::size_t bytes, std::size_t usual) const {
  return std::clamp<std::size_t>(kRoomBytes / bytes, 1, most_messages_ > 0 ? most_messages_ : usual);
}

int Exchanges::neighbour(std::size_t direction) const {
  return (ranks_.rank() + (direction == 0 ? 1 : ranks_.size() - 1)) % ranks_.size();
}

Verdicts Exchanges::new_verdicts(const std::string& measure) {
  Verdicts verdicts;
  verdicts[0].name = "messages to the right";
  verdicts[1].name = "messages to the left";
  for (runtime::Verdict& verdict : verdicts) verdict.measure = measure;
  return verdicts;
}

std::vector<runtime::Metric> Exchanges::metrics() const {
  std::vector<runtime::Metric> metrics;
  for (const std::size_t bytes : sizes_) {
    runtime::Metric bandwidth = runtime::bandwidth(kExchange, sent_bytes(bytes));
    bandwidth.lap = lap_name(kExchange, bytes);
    bandwidth.axes.push_back({"message_bytes", static_cast<std::int64_t>(bytes)});
    metrics.push_back(bandwidth);
    metrics.push_back(latency(kExchange, bytes));
  }
  for (const std::string& step : steps()) {
    for (const std::size_t bytes : sizes_) metrics.push_back(latency(step, bytes));
  }
  return metrics;
}

std::vector<runtime::DerivedMetric> Exchanges::derive(
    const std::map<std::string, runtime::LapSeconds>& laps) const {
  runtime::DerivedMetric effective{.name = "effective_bandwidth", .unit = "GB/s"};
  effective.formula = "mean over all message sizes of the bandwidth, both directions and all ranks (eq. 4.1)";
  for (const std::size_t bytes : sizes_) {
    const runtime::LapSeconds& seconds = laps.at(lap_name(kExchange, bytes));
    const double gigabytes = sent_bytes(bytes) * ranks_.size() * 1e-9;
    effective.best += gigabytes / seconds.best / static_cast<double>(sizes_.size());
    effective.median += gigabytes / seconds.median / static_cast<double>(sizes_.size());
  }
  return {effective};
}

runtime::Metric Exchanges::latency(const std::string& operation, std::size_t bytes) const {
  runtime::Metric metric{.name = "latency", .lap = lap_name(operation, bytes), .unit = "us"};
  metric.axes = {{"operation", operation}, {"message_bytes", static_cast<std::int64_t>(bytes)}};
  metric.scale = 1e6;
  metric.better = runtime::Better::kLower;
  return metric;
}

void check_message(std::span<const std::byte> message, const Content& content, const std::string& step,
                   runtime::Verdict& verdict) {
  std::size_t wrong = 0;
  const std::size_t first = compare(message, content, wrong);
  verdict.checked += message.size();
  if (wrong == 0) return;
  verdict.error += static_cast<double>(wrong);
  if (verdict.worst) return;
  verdict.worst = {fmt::format("{}byte {} of message {} of {} bytes from rank {}", step, first, content.place,
                               content.bytes, content.sender),
                   static_cast<double>(content.at(first)), static_cast<double>(message[first])};
}

}  // namespace fabricmark::b_eff

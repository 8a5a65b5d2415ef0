#include "benchmarks/b_eff/exchanges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "network/message_fault.hpp"

namespace fabricmark::b_eff {

namespace {

/// Bytes that a rank sends in one exchange, in both directions.
double sent_bytes(std::size_t bytes) { return static_cast<double>(kDirections * bytes); }

}  // namespace

Exchanges::Exchanges(const runtime::Context& context)
    : context_(context),
      ranks_(context.ranks()),
      computes_(context.computes()),
      most_messages_(context.parameters().count("messages")) {
  for (std::size_t i = 0; i <= context.parameters().count("largest"); ++i)
    sizes_.push_back(std::size_t{1} << i);
  verdicts_[0].name = "messages to the right";
  verdicts_[1].name = "messages to the left";
  of_steps_.name = "steps over " + context.parameters().text("transport");
  for (runtime::Verdict* verdict : {&verdicts_[0], &verdicts_[1], &of_steps_}) verdict->measure = kWrongBytes;
}

void Exchanges::prepare(int /*repetition*/) {
  ++prepared_;
  fault_ = context_.due_fault();
  if (fault_ && network::message_fault(*fault_)) fault_.reset();  // the transport makes it
  prepare_verdicts();
}

void Exchanges::prepare_verdicts() {
  for (runtime::Verdict* verdict : {&verdicts_[0], &verdicts_[1], &of_steps_}) {
    verdict->checked = 0;
    verdict->error = 0;
    verdict->worst.reset();
  }
}

std::vector<runtime::Verdict> Exchanges::validate() {
  std::vector<runtime::Verdict> found{verdicts_.begin(), verdicts_.end()};
  if (!steps().empty()) found.push_back(of_steps_);
  return found;
}

Content Exchanges::content(int sender, std::size_t direction, std::size_t bytes, bool is_of_steps,
                           std::size_t place) const {
  return {static_cast<std::uint32_t>(sender), static_cast<std::uint32_t>(direction),
          series_number(is_of_steps), static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(bytes)};
}

void Exchanges::require_target(const std::vector<std::string>& targets) const {
  const std::optional<runtime::Fault>& fault = context_.fault();
  if (!fault || fault->target.empty()) return;
  using Kind = runtime::Fault::Kind;
  constexpr std::array kOfValues{Kind::kElement, Kind::kScale, Kind::kZeros, Kind::kStale};
  const auto has = [](const auto& all, const auto& one) {
    return std::ranges::find(all, one) != std::ranges::end(all);
  };
  if (has(targets, fault->target) && has(kOfValues, fault->kind)) return;
  std::string remedy = "leave out the target, as in lost@1";
  if (!targets.empty())
    remedy +=
        fmt::format(", or corrupt a step: element, scale, zeros or stale in {}", fmt::join(targets, ", "));
  throw bad_use(fmt::format("--inject-fault names '{}'", fault->target), remedy);
}

bool Exchanges::corrupts(std::size_t bytes, const std::string& target) const {
  return fault_ && fault_->target == target && (bytes == sizes_.back() || !target.empty());
}

void Exchanges::corrupt(std::span<std::byte> message) const {
  switch (fault_->kind) {
    case runtime::Fault::Kind::kElement:
      message[message.size() / 2] ^= std::byte{1};
      break;
    case runtime::Fault::Kind::kScale:
      for (std::byte& byte : message) byte ^= std::byte{0x55};
      break;
    case runtime::Fault::Kind::kZeros:
      std::ranges::fill(message, std::byte{0});
      break;
    default:
      std::ranges::fill(message, kPoison);
      break;
  }
}

std::string Exchanges::region_name(const std::string& operation, std::size_t bytes) {
  return operation + "/" + std::to_string(bytes);
}

std::size_t Exchanges::messages(std::size_t bytes, std::size_t usual) const {
  return std::clamp<std::size_t>(kRoomBytes / bytes, 1, most_messages_ > 0 ? most_messages_ : usual);
}

int Exchanges::neighbour(std::size_t direction) const {
  return (ranks_.rank() + (direction == 0 ? 1 : ranks_.size() - 1)) % ranks_.size();
}

std::vector<runtime::Metric> Exchanges::metrics() const {
  std::vector<runtime::Metric> metrics;
  for (const std::size_t bytes : sizes_) {
    runtime::Metric bandwidth = runtime::bandwidth(kExchange, sent_bytes(bytes));
    bandwidth.region = region_name(kExchange, bytes);
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
    const std::map<std::string, runtime::RegionSeconds>& regions) const {
  runtime::DerivedMetric effective{.name = "effective_bandwidth", .unit = "GB/s"};
  effective.formula = "mean over all message sizes of the bandwidth, both directions and all ranks (eq. 4.1)";
  for (const std::size_t bytes : sizes_) {
    const runtime::RegionSeconds& seconds = regions.at(region_name(kExchange, bytes));
    const double gigabytes = sent_bytes(bytes) * ranks_.size() * 1e-9;
    effective.best += gigabytes / seconds.best / static_cast<double>(sizes_.size());
    effective.median += gigabytes / seconds.median / static_cast<double>(sizes_.size());
  }
  return {effective};
}

runtime::Metric Exchanges::latency(const std::string& operation, std::size_t bytes) const {
  return runtime::duration("latency",
                           {{"operation", operation}, {"message_bytes", static_cast<std::int64_t>(bytes)}},
                           region_name(operation, bytes), "us", 1e6);
}

std::string place_of(const Content& content, std::size_t byte) {
  return fmt::format("byte {} of message {} of {} bytes from rank {}", byte, content.place, content.bytes,
                     content.sender);
}

void check_message(const Received& received, const std::string& step, runtime::Verdict& verdict) {
  const auto& [bytes, content, start] = received;
  std::size_t wrong = 0;
  const std::size_t first = compare(bytes, content, wrong, start);
  verdict.checked += bytes.size();
  if (wrong == 0) return;
  verdict.error += static_cast<double>(wrong);
  if (verdict.worst) return;
  verdict.worst = {step + place_of(content, start + first), static_cast<double>(content.at(start + first)),
                   static_cast<double>(bytes[first])};
}

}  // namespace fabricmark::b_eff

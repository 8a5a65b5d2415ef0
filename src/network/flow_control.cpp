#include "network/flow_control.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::network {

namespace {

class NoControl final : public FlowControl {
 public:
  using FlowControl::FlowControl;
  bool step_sender(const Feedback& /*feedback*/, bool valid) override { return valid; }

 protected:
  Feedback feedback(std::size_t /*fill*/, std::int32_t /*taken*/) override { return {}; }
};

class Credits final : public FlowControl {
 public:
  explicit Credits(std::size_t credits)
      : FlowControl(credits), credits_(static_cast<std::int64_t>(credits)) {}
  bool step_sender(const Feedback& feedback, bool valid) override {
    credits_ += feedback.credits;
    const bool leaves = valid && is_ready();
    if (leaves) --credits_;
    return leaves;
  }
  [[nodiscard]] bool is_ready() const override { return credits_ > 0; }

 protected:
  Feedback feedback(std::size_t /*fill*/, std::int32_t taken) override { return {taken, false, false}; }

 private:
  std::int64_t credits_;
};

class XonXoff final : public FlowControl {
 public:
  XonXoff(std::size_t high, std::size_t low, std::size_t headroom)
      : FlowControl(high + headroom), high_(high), low_(low) {}
  bool step_sender(const Feedback& feedback, bool valid) override {
    if (feedback.stop) has_stopped_ = true;
    if (feedback.go) has_stopped_ = false;
    return valid && is_ready();
  }
  [[nodiscard]] bool is_ready() const override { return !has_stopped_; }

 protected:
  Feedback feedback(std::size_t fill, std::int32_t /*taken*/) override {
    if (!has_said_stop_ && fill >= high_) {
      has_said_stop_ = true;
      return {0, true, false};
    }
    if (has_said_stop_ && fill <= low_) {
      has_said_stop_ = false;
      return {0, false, true};
    }
    return {};
  }

 private:
  std::size_t high_;
  std::size_t low_;
  bool has_stopped_ = false;
  bool has_said_stop_ = false;
};

[[noreturn]] void refuse_flow(const std::string& text) {
  throw bad_use("flow control '" + text + "' is not known",
                "write none:PLACES, credit, credit:N, xon-xoff:HIGH,LOW,HEADROOM or "
                "credit-link[:D,RX,DCU[,TIMEOUT]]");
}

/// As many numbers as `values` has, with commas between them and nothing else.
bool read_numbers(std::string_view text, std::span<std::size_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), values[i]);
    if (error != std::errc{} || end == text.data()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool is_last = i + 1 == values.size();
    if (is_last) return text.empty();
    if (text.empty() || text.front() != ',') return false;
    text.remove_prefix(1);
  }
  return false;
}

FlowSettings::OfCreditLink credit_link_settings(const std::string& text, std::string_view numbers) {
  std::array<std::size_t, 4> values{};
  const auto has_timeout = std::ranges::count(numbers, ',') == 3;
  const std::span said(values.data(), has_timeout ? 4 : 3);
  if (!read_numbers(numbers, said) || std::ranges::find(said, std::size_t{0}) != said.end())
    refuse_flow(text);
  return {values[0], values[1], values[2], values[3]};
}

}  // namespace

bool FlowControl::arrive() {
  const bool has_place = fill_ < places_;
  if (has_place) {
    ++fill_;
  } else {
    ++overruns_;
  }
  return has_place;
}

bool FlowControl::take() {
  if (fill_ == 0) return false;
  --fill_;
  ++taken_;
  return true;
}

FlowControl::Feedback FlowControl::end_cycle() { return feedback(fill_, std::exchange(taken_, 0)); }

FlowSettings flow_settings(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string numbers = colon == std::string::npos ? "" : text.substr(colon + 1);
  FlowSettings settings;
  std::array<std::size_t, 3> values{};
  if (name == "credit") {
    if (colon != std::string::npos &&
        (!read_numbers(numbers, std::span(values).first(1)) || values[0] == 0)) {
      refuse_flow(text);
    }
    settings.credits = values[0];
  } else if (name == "none" && read_numbers(numbers, std::span(values).first(1))) {
    settings.kind = FlowSettings::Kind::kNone;
    settings.places = values[0];
  } else if (name == "xon-xoff" && read_numbers(numbers, values)) {
    settings.kind = FlowSettings::Kind::kXonXoff;
    settings.high = values[0];
    settings.low = values[1];
    settings.headroom = values[2];
  } else if (name == "credit-link") {
    settings.kind = FlowSettings::Kind::kCreditLink;
    if (colon != std::string::npos) settings.credit_link = credit_link_settings(text, numbers);
  } else {
    refuse_flow(text);
  }
  return settings;
}

std::unique_ptr<FlowControl> make_flow_control(const FlowSettings& settings) {
  switch (settings.kind) {
    case FlowSettings::Kind::kNone:
      if (settings.places == 0)
        throw bad_use("a link without flow control has no place", "give it 1 or more");
      return std::make_unique<NoControl>(settings.places);
    case FlowSettings::Kind::kCredit:
      if (settings.credits == 0) throw bad_use("a link has no credits", "give it 1 or more");
      return std::make_unique<Credits>(settings.credits);
    case FlowSettings::Kind::kXonXoff:
      if (settings.high == 0 || settings.low >= settings.high) {
        throw bad_use("the low mark of xon-xoff is not below the high one", "let 0 <= LOW < HIGH");
      }
      return std::make_unique<XonXoff>(settings.high, settings.low, settings.headroom);
    case FlowSettings::Kind::kCreditLink:
      throw bad_use("a credit link is not a flow control of one direction",
                    "use it between devices that a cable joins");
  }
  throw std::logic_error("a kind of flow control without a class");
}

}  // namespace fabricmark::network

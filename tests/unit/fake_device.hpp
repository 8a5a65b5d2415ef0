#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"

/// A device whose copies take known times on a clock of their own, and move their bytes when they end: what
/// changes the source earlier, or reads the target, shows.
namespace fabricmark::device::test_support {

/// The clock that some devices share; it stands until it is told to go on.
class FakeTime {
 public:
  [[nodiscard]] double now() const { return now_; }
  void will_end(double moment) { ends_.push_back(moment); }
  /// To when the next command ends; false where none is in progress.
  bool go_on() {
    std::erase_if(ends_, [this](double end) { return end <= now_; });
    if (ends_.empty()) return false;
    now_ = *std::ranges::min_element(ends_);
    return true;
  }
  void go_on_to(double moment) { now_ = std::max(now_, moment); }

 private:
  double now_ = 0;
  std::vector<double> ends_;
};

/// Seconds of a copy of so many bytes.
struct FakeRates {
  double start_seconds = 0;
  double read_seconds_per_byte = 0;
  double write_seconds_per_byte = 0;
  [[nodiscard]] double read(std::size_t bytes) const {
    return start_seconds + read_seconds_per_byte * static_cast<double>(bytes);
  }
  [[nodiscard]] double write(std::size_t bytes) const {
    return start_seconds + write_seconds_per_byte * static_cast<double>(bytes);
  }
};

class FakeCopy : public Event::State {
 public:
  FakeCopy(FakeTime& time, double end, std::function<void()> move)
      : time_(time), end_(end), move_(std::move(move)) {}
  [[nodiscard]] bool has_ended() override {
    if (time_.now() < end_) return false;
    if (move_) std::exchange(move_, nullptr)();
    return true;
  }
  void wait() override {
    time_.go_on_to(end_);
    static_cast<void>(has_ended());
  }
  [[nodiscard]] CommandTimes times() override { return {}; }

 private:
  FakeTime& time_;
  double end_;
  std::function<void()> move_;
};

class FakeQueue : public backend::Queue {
 public:
  explicit FakeQueue(FakeTime& time) : time_(time) {}
  void flush() override {}
  void finish() override {
    for (const Event& copy : copies_) copy.wait();
    copies_.clear();
  }
  void begin_after(const Events& /*events*/) override {}
  void migrate(std::span<backend::Memory* const> /*memories*/, bool /*to_host*/, Event* done) override {
    if (done != nullptr) *done = Event();
  }
  void run(double seconds, std::function<void()> move, Event* done) {
    free_ = std::max(free_, time_.now()) + seconds;
    time_.will_end(free_);
    copies_.emplace_back(std::make_shared<FakeCopy>(time_, free_, std::move(move)));
    if (done != nullptr) *done = copies_.back();
  }

 private:
  FakeTime& time_;
  double free_ = 0;
  Events copies_;
};

class FakeMemory : public backend::Memory {
 public:
  FakeMemory(std::size_t bytes, const FakeRates& rates) : bytes_(bytes), rates_(rates) {}
  void write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
             Event* done) override {
    const auto* const from = static_cast<const std::byte*>(source);
    dynamic_cast<FakeQueue&>(queue).run(
        rates_.write(bytes), [=, this] { std::copy_n(from, bytes, bytes_.data() + offset); }, done);
  }
  void read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
            Event* done) const override {
    auto* const to = static_cast<std::byte*>(destination);
    dynamic_cast<FakeQueue&>(queue).run(
        rates_.read(bytes), [=, this] { std::copy_n(bytes_.data() + offset, bytes, to); }, done);
  }
  void copy_to(backend::Queue& /*queue*/, backend::Memory& /*other*/, std::size_t /*bytes*/,
               std::size_t /*from*/, std::size_t /*to*/) const override {}
  void fill(backend::Queue& /*queue*/, std::byte value, std::size_t bytes, std::size_t offset) override {
    std::fill_n(bytes_.data() + offset, bytes, value);
  }
  std::byte* map(backend::Queue& /*queue*/, bool /*for_writing*/, std::size_t /*bytes*/, std::size_t offset,
                 Event* /*done*/) override {
    return bytes_.data() + offset;
  }
  void unmap(backend::Queue& /*queue*/, std::byte* /*mapped*/, Event* /*done*/) override {}
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes,
                                                      std::size_t /*offset*/) const override {
    return std::make_shared<FakeMemory>(bytes, rates_);
  }

 private:
  std::vector<std::byte> bytes_;
  FakeRates rates_;
};

/// Builds nothing, and pins no more than `most_pinned` bytes at once.
class FakeDevice : public backend::Device {
 public:
  FakeDevice(FakeTime& time, const FakeRates& rates,
             std::size_t most_pinned = std::numeric_limits<std::size_t>::max())
      : time_(time), rates_(rates), most_pinned_(most_pinned) {}
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool /*profiling*/) const override {
    return std::make_shared<FakeQueue>(time_);
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind /*kind*/,
                                                          const Placement& /*placement*/) const override {
    return std::make_shared<FakeMemory>(bytes, rates_);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    if (bytes > most_pinned_) throw environment_failure("no such room", "ask for less");
    return {new std::byte[bytes], std::default_delete<std::byte[]>()};
  }
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> /*pages*/) const override { return nullptr; }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& /*source*/,
                                                              const std::string& /*options*/) const override {
    return nullptr;
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& /*binary*/) const override {
    return nullptr;
  }

 private:
  FakeTime& time_;
  FakeRates rates_;
  std::size_t most_pinned_;
};

inline FoundDevice fake_device(FakeTime& time, const FakeRates& rates,
                               std::size_t most_pinned = std::numeric_limits<std::size_t>::max()) {
  DeviceInfo info;
  info.platform = "fake";
  info.name = "fake device";
  info.device_class = DeviceClass::kGpu;
  return {info, [&time, rates, most_pinned](const Share& /*share*/, DeviceInfo& /*info*/) {
            return std::make_shared<const FakeDevice>(time, rates, most_pinned);
          }};
}

}  // namespace fabricmark::device::test_support

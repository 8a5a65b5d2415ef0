// fm_calibrate finds what calls of a device take: l_k and l_m of eq. 5.1, of devices that know their own.
#include "calibrate/latencies.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "fake_device.hpp"
#include "support.hpp"

namespace fabricmark::calibrate {

namespace {

using device::Event;
using device::Events;
using device::test_support::FakeDevice;
using device::test_support::FakeMemory;
using device::test_support::FakeQueue;
using device::test_support::FakeTime;

/// The time of a device is what its host sees.
class HostClock : public Clock {
 public:
  explicit HostClock(const FakeTime& time) : time_(time) {}
  [[nodiscard]] double seconds() const override { return time_.now(); }

 private:
  const FakeTime& time_;
};

/// What a device's commands take. Others of the machine hold up every seventh, and the first ones.
struct Costs {
  double start_seconds = 0;
  double copy_seconds = 0;
  double copy_bytes_per_second = 1;
  int commands = 0;
  double held_up(double seconds) {
    ++commands;
    return commands < 3 || commands % 7 == 0 ? 20 * seconds + 1e-3 : seconds;
  }
};

class TimedMemory : public FakeMemory {
 public:
  TimedMemory(std::size_t bytes, std::shared_ptr<Costs> costs)
      : FakeMemory(bytes, {}), costs_(std::move(costs)) {}
  void copy_to(device::backend::Queue& queue, device::backend::Memory& /*other*/, std::size_t bytes,
               std::size_t /*from*/, std::size_t /*to*/) const override {
    const double seconds = costs_->copy_seconds + static_cast<double>(bytes) / costs_->copy_bytes_per_second;
    dynamic_cast<FakeQueue&>(queue).run(costs_->held_up(seconds), nullptr, nullptr);
  }

 private:
  std::shared_ptr<Costs> costs_;
};

class TimedKernel : public device::backend::Kernel {
 public:
  explicit TimedKernel(std::shared_ptr<Costs> costs) : costs_(std::move(costs)) {}
  void set_memory(unsigned /*index*/, const device::backend::Memory& /*memory*/) override {}
  void set_number(unsigned /*index*/, const void* /*value*/, std::size_t /*bytes*/) override {}
  void start(device::backend::Queue& queue, const device::Geometry& /*geometry*/, const Events* /*after*/,
             Event* done) const override {
    dynamic_cast<FakeQueue&>(queue).run(costs_->held_up(costs_->start_seconds), nullptr, done);
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override { return 1; }
  [[nodiscard]] std::optional<std::vector<device::TakenArgument>> arguments() const override {
    return std::nullopt;
  }

 private:
  std::shared_ptr<Costs> costs_;
};

class TimedProgram : public device::backend::Program {
 public:
  explicit TimedProgram(std::shared_ptr<Costs> costs) : costs_(std::move(costs)) {}
  [[nodiscard]] std::unique_ptr<device::backend::Kernel> kernel(const std::string& /*name*/) const override {
    return std::make_unique<TimedKernel>(costs_);
  }
  [[nodiscard]] std::string kernel_names() const override { return "nothing"; }
  [[nodiscard]] std::string binary() const override { return "timed"; }

 private:
  std::shared_ptr<Costs> costs_;
};

class TimedDevice : public FakeDevice {
 public:
  TimedDevice(FakeTime& time, std::shared_ptr<Costs> costs)
      : FakeDevice(time, {}), costs_(std::move(costs)) {}
  [[nodiscard]] std::shared_ptr<device::backend::Memory> allocate(
      std::size_t bytes, device::MemoryKind /*kind*/, const device::Placement& /*placement*/) const override {
    return std::make_shared<TimedMemory>(bytes, costs_);
  }
  [[nodiscard]] std::shared_ptr<const device::backend::Program> build(
      const std::string& /*source*/, const std::string& /*options*/) const override {
    return std::make_shared<TimedProgram>(costs_);
  }
  [[nodiscard]] std::shared_ptr<const device::backend::Program> load(
      const std::string& /*binary*/) const override {
    return std::make_shared<TimedProgram>(costs_);
  }

 private:
  std::shared_ptr<Costs> costs_;
};

class Latencies : public testing::Test {
 protected:
  Latencies() { setenv("FABRICMARK_CACHE", cache_.path().c_str(), 1); }
  ~Latencies() override { unsetenv("FABRICMARK_CACHE"); }
  device::Device device(double start, double copy, double rate) {
    device::DeviceInfo info;
    info.platform = info.name = "timed device";
    auto costs = std::make_shared<Costs>(Costs{start, copy, rate});
    return device::Device({info, [this, costs](const device::Share& /*share*/, device::DeviceInfo& /*info*/) {
                             return std::make_shared<const TimedDevice>(time_, costs);
                           }});
  }

  test::TemporaryFolder cache_;
  FakeTime time_;
  HostClock clock_{time_};
};

TEST_F(Latencies, AreFoundWithinThreePercent) {
  for (const auto& [start, copy, rate] :
       {std::tuple{30e-6, 1.7e-6, 14e9}, {120e-6, 45e-6, 3e9}, {0.24e-6, 0.1e-6, 400e9}}) {
    const device::Device timed = device(start, copy, rate);
    EXPECT_NEAR(invocation_seconds(timed, clock_) / start, 1, 0.03);
    const DeviceCopy found = device_copy(timed, clock_, std::size_t{1} << 20U);
    EXPECT_NEAR(found.seconds / copy, 1, 0.03);
    EXPECT_NEAR(found.bytes_per_second / rate, 1, 0.03);
  }
}

TEST_F(Latencies, OfACopyOfFewBytesIsNoRate) {
  const DeviceCopy found = device_copy(device(1e-6, 1e-6, 1e30), clock_, 0);
  EXPECT_NEAR(found.seconds, 1e-6, 1e-8);
  EXPECT_EQ(found.bytes_per_second, 0) << "no longer than one of 64 B";
}

}  // namespace

}  // namespace fabricmark::calibrate

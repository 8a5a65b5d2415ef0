#include "device/dry_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "base/host.hpp"
#include "device/memory.hpp"

namespace fabricmark::device {

namespace {

constexpr std::uint64_t kRoomBytes = std::uint64_t{1} << 50;
constexpr std::uint64_t kMostWorkItems = std::uint64_t{1} << 20;
/// Facts of the device for tests of what programs make of them: "gpu,units=65,local=1024,work-items=1".
constexpr const char* kFactsVariable = "FABRICMARK_DRY_RUN";

/// Sets what the variable says; unset, nothing.
void tell(DeviceInfo& info, const char* variable) {
  std::istringstream facts(environment(variable));
  for (std::string fact; std::getline(facts, fact, ',');) {
    const std::size_t sign = fact.find('=');
    const std::string name = fact.substr(0, sign);
    const auto own = std::ranges::find(kDeviceClasses, name, class_name);
    const std::map<std::string, std::uint64_t*> numbers{{"units", &info.compute_units},
                                                        {"local", &info.local_memory_bytes},
                                                        {"work-items", &info.max_work_group_size}};
    const auto known = numbers.find(name);
    if (sign == std::string::npos && own != kDeviceClasses.end()) {
      info.device_class = *own;
    } else if (sign != std::string::npos && known != numbers.end()) {
      *known->second = std::strtoull(fact.c_str() + sign + 1, nullptr, 10);
    } else {
      throw bad_use(std::string(variable) + " says '" + fact + "'",
                    "write it like gpu,units=65,local=1024,work-items=1");
    }
  }
}

class DryRunQueue : public backend::Queue {
 public:
  void flush() override {}
  void finish() override {}
  void begin_after(const Events& /*events*/) override {}
  void migrate(std::span<backend::Memory* const> /*memories*/, bool /*to_host*/, Event* done) override {
    if (done != nullptr) *done = Event();
  }
};

/// Only where the host wants to see it mapped, there are bytes.
class DryRunMemory : public backend::Memory {
 public:
  explicit DryRunMemory(std::size_t bytes) : bytes_(bytes) {}
  void write(backend::Queue& /*queue*/, const void* /*source*/, std::size_t /*bytes*/, std::size_t /*offset*/,
             Event* done) override {
    end(done);
  }
  void read(backend::Queue& /*queue*/, void* destination, std::size_t bytes, std::size_t /*offset*/,
            Event* done) const override {
    std::memset(destination, 0, bytes);
    end(done);
  }
  void copy_to(backend::Queue& /*queue*/, backend::Memory& /*other*/, std::size_t /*bytes*/,
               std::size_t /*from*/, std::size_t /*to*/) const override {}
  void fill(backend::Queue& /*queue*/, std::byte /*value*/, std::size_t /*bytes*/,
            std::size_t /*offset*/) override {}
  std::byte* map(backend::Queue& /*queue*/, bool /*for_writing*/, std::size_t /*bytes*/, std::size_t offset,
                 Event* done) override {
    end(done);
    if (!mapped_) mapped_ = std::shared_ptr<void>(allocate_pages(bytes_), release_pages);
    return static_cast<std::byte*>(mapped_.get()) + offset;
  }
  void unmap(backend::Queue& /*queue*/, std::byte* /*mapped*/, Event* done) override { end(done); }
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes,
                                                      std::size_t /*offset*/) const override {
    return std::make_shared<DryRunMemory>(bytes);
  }

 private:
  static void end(Event* done) {
    if (done != nullptr) *done = Event();
  }
  std::size_t bytes_;
  std::shared_ptr<void> mapped_;
};

class DryRunKernel : public backend::Kernel {
 public:
  void set_memory(unsigned /*index*/, const backend::Memory& /*memory*/) override {}
  void set_number(unsigned /*index*/, const void* /*value*/, std::size_t /*bytes*/) override {}
  void start(backend::Queue& /*queue*/, const Geometry& /*geometry*/, const Events* /*after*/,
             Event* done) const override {
    if (done != nullptr) *done = Event();
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override { return std::nullopt; }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override { return std::nullopt; }
};

/// Has every kernel that it is asked for.
class DryRunProgram : public backend::Program {
 public:
  [[nodiscard]] std::unique_ptr<backend::Kernel> kernel(const std::string& /*name*/) const override {
    return std::make_unique<DryRunKernel>();
  }
  [[nodiscard]] std::string kernel_names() const override { return ""; }
  [[nodiscard]] std::string binary() const override { return kDryRunPlatform; }
};

class DryRunDevice : public backend::Device {
 public:
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool /*profiling*/) const override {
    return std::make_shared<DryRunQueue>();
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind /*kind*/,
                                                          const Placement& /*placement*/) const override {
    return std::make_shared<DryRunMemory>(bytes);
  }
  [[nodiscard]] std::shared_ptr<backend::Queue> unordered_queue(bool /*profiling*/) const override {
    return std::make_shared<DryRunQueue>();
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> over(std::span<std::byte> host,
                                                      const Placement& /*placement*/) const override {
    return std::make_shared<DryRunMemory>(host.size());
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    return {static_cast<std::byte*>(allocate_pages(bytes)), release_pages};
  }
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> /*pages*/) const override { return nullptr; }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& /*source*/,
                                                              const std::string& /*options*/) const override {
    return std::make_shared<DryRunProgram>();
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& /*binary*/) const override {
    return std::make_shared<DryRunProgram>();
  }
};

}  // namespace

FoundPlatform dry_run_platform() {
  DeviceInfo info;
  info.max_work_group_size = kMostWorkItems;
  info.platform = kDryRunPlatform;
  info.name = "dry-run FPGA";
  info.device_class = DeviceClass::kFpga;
  info.is_dry_run = true;
  info.compute_units = 1;
  info.global_memory_bytes = kRoomBytes;
  info.max_allocation_bytes = kRoomBytes;
  info.local_memory_bytes = kRoomBytes;
  info.has_half = true;
  info.has_double = true;
  tell(info, kFactsVariable);
  const Open open = [](const Share& /*share*/, DeviceInfo& /*info*/) {
    return std::make_shared<const DryRunDevice>();
  };
  return {kDryRunPlatform, {{info, open}}};
}

}  // namespace fabricmark::device

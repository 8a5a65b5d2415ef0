#include "device/simulated.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace fabricmark::device {

namespace {

using Moment = SimulatedClock::Moment;

/// What all commands of a simulated device share.
struct Simulation {
  std::shared_ptr<const CommandCosts> costs;
  SimulatedClock& clock;
  Moving moving;
  std::array<Moment, 2> links{};  ///< when the way from (0) and to (1) the device is free again
  std::map<std::pair<std::string, int>, Moment> replicas{};  ///< the same of each replica, by its entry point

  [[nodiscard]] bool moves() const { return moving == Moving::kData; }
};

/// An event of the device below, and when it ends on the clock.
class SimulatedState : public Event::State {
 public:
  SimulatedState(Event below, SimulatedClock& clock, Moment end)
      : below_(std::move(below)), clock_(clock), end_(end) {}
  [[nodiscard]] bool has_ended() override { return below_.has_ended(); }
  void wait() override {
    below_.wait();
    clock_.advance_to(end_);
  }
  bool cancel() override { return below_.cancel(); }
  [[nodiscard]] CommandTimes times() override { return below_.times(); }
  [[nodiscard]] double modelled_end() const override { return clock_.seconds_of(end_); }
  [[nodiscard]] const Event& below() const { return below_; }

 private:
  Event below_;
  SimulatedClock& clock_;
  Moment end_;
};

/// The events of the device below; for those of transfers the host waits, which it does for OpenCL too.
Events below(const Events& events) {
  Events found;
  for (const Event& event : events) {
    const auto* const own = dynamic_cast<const SimulatedState*>(event.state());
    if (own == nullptr) {
      event.wait();
    } else {
      found.push_back(own->below());
    }
  }
  return found;
}

double latest_end(const Events& events) {
  double latest = 0;
  for (const Event& event : events) latest = std::max(latest, event.modelled_end());
  return latest;
}

class SimulatedQueue : public backend::Queue {
 public:
  SimulatedQueue(std::shared_ptr<backend::Queue> queue, std::shared_ptr<Simulation> simulation)
      : queue_(std::move(queue)), simulation_(std::move(simulation)) {}
  void flush() override { queue_->flush(); }
  void finish() override {
    queue_->finish();
    clock().advance_to(free_);
  }
  void begin_after(const Events& events) override {
    queue_->begin_after(below(events));
    free_ = clock().at(std::max(clock().seconds_of(free_), latest_end(events)));
  }
  void migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) override;
  void stop_timing() override { is_timed_ = false; }

  [[nodiscard]] backend::Queue& below_it() { return *queue_; }
  struct Span {
    double start = 0;
    Moment end{};
  };
  /// A command that is queued now, which takes what is free from `other` on, too.
  Span run(double seconds, Moment& other, const Events* after = nullptr) {
    if (!is_timed_) return {};
    const double waited = after != nullptr ? latest_end(*after) : 0;
    const double start =
        std::max({clock().seconds(), clock().seconds_of(free_), clock().seconds_of(other), waited});
    free_ = other = clock().at(start + seconds);
    return {start, free_};
  }
  /// The same of a copy, which shares the way with others.
  Moment copy(bool is_to_device, std::size_t bytes) {
    if (!is_timed_ || bytes == 0) return {};
    const Span span =
        run(simulation_->costs->copy_seconds(is_to_device, bytes), simulation_->links[is_to_device ? 1 : 0]);
    if (ClockWitness* const witness = clock().witness()) {
      witness->took(CostKind::kCopy, is_to_device ? "copies to the device" : "copies from the device", "",
                    span.start, span.end.seconds);
    }
    return span.end;
  }
  [[nodiscard]] bool is_timed() const { return is_timed_; }

 private:
  [[nodiscard]] SimulatedClock& clock() const { return simulation_->clock; }

  std::shared_ptr<backend::Queue> queue_;
  std::shared_ptr<Simulation> simulation_;
  Moment free_;  // when its last command has ended
  bool is_timed_ = true;
};

SimulatedQueue& of(backend::Queue& queue) { return static_cast<SimulatedQueue&>(queue); }

class SimulatedMemory : public backend::Memory {
 public:
  SimulatedMemory(std::shared_ptr<backend::Memory> memory, std::size_t bytes,
                  std::shared_ptr<Simulation> simulation)
      : memory_(std::move(memory)), bytes_(bytes), simulation_(std::move(simulation)) {}
  void write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
             Event* done) override {
    copy(queue, /*is_to_device=*/true, bytes, done,
         [&](Event* ended) { memory_->write(of(queue).below_it(), source, bytes, offset, ended); });
  }
  void read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
            Event* done) const override {
    copy(queue, /*is_to_device=*/false, bytes, done,
         [&](Event* ended) { memory_->read(of(queue).below_it(), destination, bytes, offset, ended); });
  }
  void copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
               std::size_t to) const override {
    memory_->copy_to(of(queue).below_it(), *static_cast<SimulatedMemory&>(other).memory_, bytes, from, to);
  }
  void fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) override {
    memory_->fill(of(queue).below_it(), value, bytes, offset);
  }
  std::byte* map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                 Event* done) override {
    Event ended;
    std::byte* const mapped =
        memory_->map(of(queue).below_it(), for_writing, bytes, offset, done != nullptr ? &ended : nullptr);
    Moment end{};
    if (for_writing) {
      written_[mapped] = bytes;
    } else {
      end = of(queue).copy(/*is_to_device=*/false, bytes);
    }
    if (done != nullptr) *done = Event(std::make_shared<SimulatedState>(ended, simulation_->clock, end));
    return mapped;
  }
  void unmap(backend::Queue& queue, std::byte* mapped, Event* done) override {
    Event ended;
    memory_->unmap(of(queue).below_it(), mapped, done != nullptr ? &ended : nullptr);
    Moment end{};
    if (const auto found = written_.find(mapped); found != written_.end()) {
      end = of(queue).copy(/*is_to_device=*/true, found->second);
      written_.erase(found);
    }
    if (done != nullptr) *done = Event(std::make_shared<SimulatedState>(ended, simulation_->clock, end));
  }
  [[nodiscard]] void* address() const override { return memory_->address(); }
  [[nodiscard]] std::shared_ptr<backend::Memory> part(std::size_t bytes, std::size_t offset) const override {
    return std::make_shared<SimulatedMemory>(memory_->part(bytes, offset), bytes, simulation_);
  }
  [[nodiscard]] backend::Memory& below_it() const { return *memory_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  template <typename Copy>
  void copy(backend::Queue& queue, bool is_to_device, std::size_t bytes, Event* done, Copy&& make) const {
    const Moment end = of(queue).copy(is_to_device, bytes);
    Event ended;
    if (simulation_->moves()) make(done != nullptr ? &ended : nullptr);
    if (done != nullptr) *done = Event(std::make_shared<SimulatedState>(ended, simulation_->clock, end));
  }

  std::shared_ptr<backend::Memory> memory_;
  std::size_t bytes_;
  std::shared_ptr<Simulation> simulation_;
  std::map<const std::byte*, std::size_t> written_;  // bytes that the host has mapped for writing
};

/// One command, whose memories share the way with others.
void SimulatedQueue::migrate(std::span<backend::Memory* const> memories, bool to_host, Event* done) {
  std::vector<backend::Memory*> all_below;
  std::size_t bytes = 0;
  for (backend::Memory* const one : memories) {
    const auto& simulated = static_cast<SimulatedMemory&>(*one);
    all_below.push_back(&simulated.below_it());
    bytes += simulated.bytes();
  }
  Event ended;
  const Moment end = copy(!to_host, bytes);
  if (simulation_->moves()) queue_->migrate(all_below, to_host, done != nullptr ? &ended : nullptr);
  if (done != nullptr) *done = Event(std::make_shared<SimulatedState>(ended, clock(), end));
}

class SimulatedKernel : public backend::Kernel {
 public:
  SimulatedKernel(std::unique_ptr<backend::Kernel> kernel, std::unique_ptr<KernelCost> cost,
                  std::shared_ptr<Simulation> simulation)
      : kernel_(std::move(kernel)), cost_(std::move(cost)), simulation_(std::move(simulation)) {}
  void set_memory(unsigned index, const backend::Memory& memory) override {
    kernel_->set_memory(index, static_cast<const SimulatedMemory&>(memory).below_it());
  }
  void set_number(unsigned index, const void* value, std::size_t bytes) override {
    kernel_->set_number(index, value, bytes);
    cost_->set_number(index, value, bytes);
  }
  void set_replica(int number) override {
    kernel_->set_replica(number);
    replica_ = number;
  }
  void start(backend::Queue& queue, const Geometry& geometry, const Events* after,
             Event* done) const override {
    Events own;
    if (after != nullptr) own = below(*after);
    Event ended;
    kernel_->start(of(queue).below_it(), geometry, after != nullptr ? &own : nullptr,
                   done != nullptr ? &ended : nullptr);
    const Moment end = simulate(of(queue), after);
    if (done != nullptr) *done = Event(std::make_shared<SimulatedState>(ended, simulation_->clock, end));
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override {
    return kernel_->argument_count();
  }
  [[nodiscard]] std::optional<std::size_t> most_work_items() const override {
    return kernel_->most_work_items();
  }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override {
    return kernel_->arguments();
  }
  [[nodiscard]] const backend::Kernel& below_it() const { return *kernel_; }

 private:
  Moment simulate(SimulatedQueue& queue, const Events* after) const {
    if (!queue.is_timed()) return {};
    const std::optional<double> seconds = cost_->seconds();
    if (!seconds)
      simulation_->clock.give_up("the kernel " + cost_->entry() +
                                 " runs: kernel.toml declares no costs of it");
    const double queued = simulation_->clock.seconds();
    simulation_->clock.advance(simulation_->costs->start_seconds());
    const auto span =
        queue.run(seconds.value_or(0), simulation_->replicas[{cost_->entry(), replica_}], after);
    if (ClockWitness* const witness = simulation_->clock.witness()) {
      witness->took(CostKind::kLaunch, "host", cost_->entry(), queued, simulation_->clock.seconds());
      const std::string number = replica_ > 0 ? " (" + std::to_string(replica_ + 1) + ")" : "";
      witness->took(CostKind::kKernel, cost_->entry() + number, "", span.start, span.end.seconds);
    }
    return span.end;
  }

  std::unique_ptr<backend::Kernel> kernel_;
  std::unique_ptr<KernelCost> cost_;
  std::shared_ptr<Simulation> simulation_;
  int replica_ = 0;
};

class SimulatedProgram : public backend::Program {
 public:
  SimulatedProgram(std::shared_ptr<const backend::Program> program, std::shared_ptr<Simulation> simulation)
      : program_(std::move(program)), simulation_(std::move(simulation)) {}
  [[nodiscard]] std::unique_ptr<backend::Kernel> kernel(const std::string& name) const override {
    std::unique_ptr<backend::Kernel> found = program_->kernel(name);
    if (!found) return nullptr;
    return std::make_unique<SimulatedKernel>(std::move(found), simulation_->costs->kernel(name), simulation_);
  }
  [[nodiscard]] std::string kernel_names() const override { return program_->kernel_names(); }
  [[nodiscard]] std::string binary() const override { return program_->binary(); }

 private:
  std::shared_ptr<const backend::Program> program_;
  std::shared_ptr<Simulation> simulation_;
};

class SimulatedDevice : public backend::Device {
 public:
  SimulatedDevice(std::shared_ptr<const backend::Device> device, std::shared_ptr<Simulation> simulation)
      : device_(std::move(device)), simulation_(std::move(simulation)) {}
  [[nodiscard]] std::shared_ptr<backend::Queue> queue(bool profiling) const override {
    return std::make_shared<SimulatedQueue>(device_->queue(profiling), simulation_);
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> allocate(std::size_t bytes, MemoryKind kind,
                                                          const Placement& placement) const override {
    return std::make_shared<SimulatedMemory>(device_->allocate(bytes, kind, below(placement)), bytes,
                                             simulation_);
  }
  [[nodiscard]] std::shared_ptr<backend::Memory> over(std::span<std::byte> host,
                                                      const Placement& placement) const override {
    std::shared_ptr<backend::Memory> memory = device_->over(host, below(placement));
    if (!memory) return nullptr;
    return std::make_shared<SimulatedMemory>(std::move(memory), host.size(), simulation_);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) const override {
    return device_->allocate_pinned(bytes);
  }
  [[nodiscard]] std::shared_ptr<void> pin(std::span<std::byte> pages) const override {
    return device_->pin(pages);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> build(const std::string& source,
                                                              const std::string& options) const override {
    return std::make_shared<SimulatedProgram>(device_->build(source, options), simulation_);
  }
  [[nodiscard]] std::shared_ptr<const backend::Program> load(const std::string& binary) const override {
    return std::make_shared<SimulatedProgram>(device_->load(binary), simulation_);
  }

 private:
  /// With the kernel of the device below.
  static Placement below(const Placement& placement) {
    Placement own = placement;
    if (const auto* const kernel = dynamic_cast<const SimulatedKernel*>(placement.kernel); kernel != nullptr)
      own.kernel = &kernel->below_it();
    return own;
  }

  std::shared_ptr<const backend::Device> device_;
  std::shared_ptr<Simulation> simulation_;
};

}  // namespace

std::shared_ptr<const backend::Device> simulated(std::shared_ptr<const backend::Device> device,
                                                 std::shared_ptr<const CommandCosts> costs,
                                                 SimulatedClock& clock, Moving moving) {
  return std::make_shared<SimulatedDevice>(
      std::move(device), std::make_shared<Simulation>(Simulation{std::move(costs), clock, moving}));
}

}  // namespace fabricmark::device

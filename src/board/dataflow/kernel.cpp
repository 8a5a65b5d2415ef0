#include "board/dataflow/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "board/dataflow/channel.hpp"

namespace fabricmark::dataflow {

namespace {

thread_local Kernel* running = nullptr;

Time cycles(double count, const KernelCost& cost, const std::string& kernel) {
  if (!(count >= 0)) {
    throw bad_use("kernel " + kernel + " declares a negative number of cycles", "declare 0 or more");
  }
  return network::from_seconds(count / cost.clock_hz);
}

}  // namespace

Kernel::Kernel(std::string name, int device, int number, Time start, const KernelCost& cost, Worker& worker,
               Stacks& stacks, std::function<void()> body)
    : clock(start),
      cycle(network::period(cost.clock_hz)),
      interval(cycles(std::max(1.0, cost.interval), cost, name)),
      depth(cycles(cost.depth, cost, name)),
      stands_still(cost.stands_still),
      name_(std::move(name)),
      device_(device),
      number_(number),
      started_(start),
      memory_time_(network::from_seconds(cost.memory_seconds)),
      worker_(&worker),
      fiber_(stacks, [this, body = std::move(body)] {
        try {
          body();
        } catch (const Fiber::Cancelled&) {
          throw;
        } catch (...) {
          failure_ = std::current_exception();
        }
      }) {}

void Kernel::tell(std::shared_ptr<runtime::ActivityLog> log, const std::string& lane) {
  trace_ = std::make_unique<Trace>(std::move(log), device_, lane, started_);
}

void Kernel::tell_end() {
  if (trace_) trace_->ended(network::later(clock, depth), ended());
}

void Kernel::wait(Waits what, Channel* on) {
  waits_ = what;
  waits_on_ = on;
  fiber_.suspend();
  waits_ = Waits::kNot;
  waits_on_ = nullptr;
}

void Kernel::wait_until(Time message, const std::string& what) {
  if (message <= clock) return;
  if (trace_) trace_->waited(trace_->line(runtime::ActivityKind::kWaitForMessage, what, ""), clock, message);
  clock = message;
}

void Kernel::idle_until(Time work) {
  if (work <= clock) return;
  if (trace_) trace_->idled(clock, work);
  clock = work;
}

void Kernel::resume() {
  running = this;
  fiber_.resume();
  running = nullptr;
}

void Kernel::cancel() {
  running = this;
  fiber_.cancel();
  running = nullptr;
}

Time Kernel::ended() const {
  return std::max(network::later(clock, depth), network::later(started_, memory_time_));
}

// A fiber may go on in another thread, so that no caller may keep the address of `running`.
[[gnu::noinline]] Kernel* kernel_here() { return running; }

Kernel& current_kernel() {
  Kernel* const kernel = kernel_here();
  if (kernel == nullptr) {
    throw bad_use("a stream is used outside of kernels", "start a kernel that does it");
  }
  return *kernel;
}

void spend_cycles(std::int64_t cycles) {
  Kernel& kernel = current_kernel();
  kernel.clock = network::later(kernel.clock, network::times(cycles, kernel.cycle));
}

void end_loop() {
  const Kernel& kernel = current_kernel();
  for (const std::shared_ptr<Channel>& one : kernel.channels()) {
    if (one->writer() == &kernel) one->drain();
  }
}

}  // namespace fabricmark::dataflow

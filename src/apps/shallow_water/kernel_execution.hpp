#pragma once

#include <algorithm>
#include <functional>
#include <limits>

#include "apps/shallow_water/execution.hpp"
#include "apps/shallow_water/halo.hpp"

namespace fabricmark::shallow_water {

/// The work-items of a stage.
struct Launch {
  std::size_t items = 1;
  std::size_t core = 0;  ///< of them, the first ones that need nothing from other ranks
  std::size_t group = 1;
  bool has_parts = false;  ///< the kernel can be started on some of them, from its argument `first` on
};

/// The entry point of a stage.
constexpr std::size_t kStage = 0;

/// The buffer of one of its arguments, as kernel.toml plans it.
inline device::Buffer of_stage(const runtime::Context& context, const char* argument) {
  return std::move(context.buffers(kStage, argument).front());
}

/// Kernels on states of numbers of type T, of which each stage reads one and writes another.
template <typename T>
class KernelExecution : public Execution {
 public:
  /// `more` sets the arguments that only this variant has, in memory that is `kept`.
  KernelExecution(const runtime::Context& context, const Problem& problem, const LocalMesh& local,
                  const Launch& launch, const std::function<void(device::Replications&)>& more = {},
                  std::vector<device::Buffer> kept = {})
      : problem_(problem),
        local_(local),
        numbers_(static_cast<std::size_t>(kUnknowns * modes_of(order_of(context)))),
        stages_(stages_of(order_of(context))),
        launch_(launch),
        kept_(std::move(kept)),
        queue_(context.device().queue(/*profiling=*/context.timeline().enabled())),
        timeline_(context.timeline()),
        geometry_(of_stage(context, "geometry")),
        codes_(of_stage(context, "codes")),
        outflow_(of_stage(context, "outflow")),
        trouble_(of_stage(context, "trouble")),
        halo_(context, local, numbers_, sizeof(T)),
        host_(context.host_array<T>(numbers_ * local.stride)),
        states_(context.buffers(kStage, "state")) {
    write_mesh();
    // Kernels in the order in which they run: a step of Euler's ends in the other state, others where they
    // began.
    const std::size_t kernels = std::max<std::size_t>(2, stages_.size());
    for (std::size_t i = 0; i < kernels; ++i) {
      const device::Buffer& before = stages_.size() == 1 ? states_[i] : states_[0];
      Kernel& kernel = kernels_.emplace_back(Kernel{context.replications(1), i, (i + 1) % kernels});
      set_constants(kernel.stage);
      if (more) more(kernel.stage);
      kernel.stage.set(0, {{"state", states_[i]}, {"before", before}, {"updated", states_[kernel.to]}});
    }
  }

  void write(const Field& field, std::uint32_t offset) override {
    std::fill_n(host_.data(), host_.size(), T{0});
    each([&](std::size_t number, std::size_t place) {
      host_[number * local_.stride + place] = static_cast<T>(field.values[number * field.elements + place]);
    });
    current_ = 0;
    stage_offset_ = offset;
    states_[0].write(queue_, host_.data(), host_.size() * sizeof(T));
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    trouble_.write(queue_, &kNone, sizeof kNone);
    for (std::size_t i = 1; i < states_.size(); ++i) states_[i].poison(queue_);
    queue_.finish();
    write_outflow(std::vector<double>(local_.own(), 0.0));
  }
  void read(Field& field) override {
    states_[current_].read(queue_, host_.data(), host_.size() * sizeof(T));
    queue_.finish();
    each([&](std::size_t number, std::size_t place) {
      field.values[number * field.elements + place] =
          static_cast<double>(host_[number * local_.stride + place]);
    });
  }
  std::vector<double> outflow() override {
    std::vector<T> values(local_.padded);
    outflow_.read(queue_, values.data(), values.size() * sizeof(T));
    queue_.finish();
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(local_.own())};
  }
  void write_outflow(const std::vector<double>& outflow) override {
    std::vector<T> values(outflow.begin(), outflow.end());
    values.resize(local_.padded);
    outflow_.write(queue_, values.data(), values.size() * sizeof(T));
    queue_.finish();
  }

  void advance(const Steps& steps) override {
    constexpr std::int64_t kFlushed = 16;  // steps that are queued before the device is told
    for (std::int64_t step = steps.first; step < steps.first + steps.count; ++step) {
      for (std::size_t i = 0; i < stages_.size(); ++i) run_stage(step, i, steps.dt);
      if (step % kFlushed == 0) queue_.flush();
    }
    queue_.finish();
    halo_.check(queue_);
  }

  std::optional<std::int64_t> trouble() override {
    std::int32_t stage = 0;
    trouble_.read(queue_, &stage, sizeof stage);
    queue_.finish();
    if (stage == std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    const std::int64_t found = stage - stage_offset_;
    const auto back = static_cast<std::size_t>(next_stage_ - found) % kernels_.size();
    current_ = (current_ + kernels_.size() - back) % kernels_.size();
    next_stage_ = found;
    return found / static_cast<std::int64_t>(stages_.size());
  }

  common::HaloSums halo_sums() override { return halo_.sums(queue_); }
  [[nodiscard]] std::vector<std::string> notes() const override {
    if (!halo_.is_one_sided()) return {};
    return {"halos: kernels write them to other ranks' memory, and wait for them there"};
  }

 private:
  /// A stage from one state to another.
  struct Kernel {
    device::Replications stage;
    std::size_t from = 0;
    std::size_t to = 0;
  };

  static int order_of(const runtime::Context& context) {
    return static_cast<int>(context.parameters().integer("order"));
  }
  template <typename Body>
  void each(const Body& body) const {
    for (std::size_t number = 0; number < numbers_; ++number) {
      for (std::size_t place = 0; place < local_.own(); ++place) body(number, place);
    }
  }

  void write_mesh() {
    const std::vector<T> geometry(local_.geometry.begin(), local_.geometry.end());
    geometry_.write(queue_, geometry.data(), geometry_.bytes());
    codes_.write(queue_, local_.codes.data(), codes_.bytes());
    queue_.finish();
  }
  void set_constants(device::Replications& kernel) const {
    const Physics& physics = problem_.physics;
    kernel.set(0, {{"geometry", geometry_},
                   {"codes", codes_},
                   {"outflow", outflow_},
                   {"trouble", trouble_},
                   {"stride", local_.stride},
                   {"elements", local_.padded},
                   {"gravity", physics.gravity},
                   {"friction", physics.friction},
                   {"linear_friction", physics.linear_friction},
                   {"coriolis", physics.coriolis},
                   {"least_depth", physics.least_depth}});
  }

  void run_stage(std::int64_t step, std::size_t number, double dt) {
    const Stage& stage = stages_[number];
    next_stage_ = step * static_cast<std::int64_t>(stages_.size()) + static_cast<std::int64_t>(number);
    Kernel& kernel = kernels_[current_];
    const Forcing forcing = problem_.forcing((static_cast<double>(step) + stage.shift) * dt);
    kernel.stage.set(0, {{"stage_number", static_cast<std::uint64_t>(next_stage_ + stage_offset_)},
                         {"dt", dt},
                         {"keep", stage.keep},
                         {"take", stage.take},
                         {"weight", stage.weight},
                         {"sea_xi", forcing.sea_xi},
                         {"river_xi", forcing.river_xi},
                         {"river_inflow", forcing.river_inflow}});
    // What needs nothing from other ranks runs while their elements are on the way.
    const std::size_t items = launch_.items;
    const std::size_t core = halo_.is_empty() ? items : launch_.core;
    halo_.start(queue_, states_[current_]);
    run_items(kernel, 0, core);
    if (core < items) {
      if (!halo_.is_one_sided()) queue_.flush();  // a message waits for it
      halo_.finish(queue_, states_[current_]);
      run_items(kernel, core, items - core);
    }
    current_ = kernel.to;
    ++next_stage_;
  }
  void run_items(Kernel& kernel, std::size_t first, std::size_t count) {
    if (count == 0) return;
    if (launch_.has_parts) kernel.stage.set(0, {{"first", first}});
    if (!timeline_.enabled()) {
      kernel.stage.start_on(queue_, 0, {count, launch_.group}, nullptr, nullptr);
      return;
    }
    device::Event done;
    kernel.stage.start_on(queue_, 0, {count, launch_.group}, nullptr, &done);
    timeline_.add("steps", "stage", 0, done);
  }

  const Problem& problem_;
  const LocalMesh& local_;
  std::size_t numbers_;
  const std::vector<Stage>& stages_;
  Launch launch_;
  std::vector<device::Buffer> kept_;
  device::Queue queue_;
  device::Timeline& timeline_;
  device::Buffer geometry_, codes_, outflow_, trouble_;
  Halo halo_;
  device::HostArray<T> host_;
  std::vector<device::Buffer> states_;
  std::vector<Kernel> kernels_;  // [the state that it begins from]
  std::size_t current_ = 0;      ///< the state that the next stage begins from
  std::int64_t next_stage_ = 0;  ///< its number from the start
  /// What kernels are told beyond that.
  std::int64_t stage_offset_ = 0;
};

}  // namespace fabricmark::shallow_water

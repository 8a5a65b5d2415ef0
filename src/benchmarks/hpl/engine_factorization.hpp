#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/hpl/memory_factorization.hpp"

namespace fabricmark::hpl {

/// By the engine of messages of each board, which the host calls, or a kernel.
template <typename T>
class EngineFactorization final : public MemoryFactorization<T> {
  using Base = MemoryFactorization<T>;
  using typename Base::Broadcast;

 public:
  EngineFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes) {
    require_panels_in_memory(context);
    accl::Accl& engine = Base::board().engine();
    row_ = engine.communicator(line_of(layout, /*is_row=*/true));
    column_ = engine.communicator(line_of(layout, /*is_row=*/false));
    if (!Base::board().computes()) {
      any_.resize(layout.block * std::max({layout.local_rows(), layout.local_columns(), layout.block}));
    }
    if (Base::board().is_called_by_logic()) calls_.emplace(*this);
  }

 protected:
  device::Events broadcast(const Step& step, const std::vector<Broadcast>& all,
                           const device::Events& after) override {
    if (calls_) return calls_->start(*this, step, all, after);
    for (const device::Event& event : after) event.wait();
    std::vector<accl::Request> requests;
    for (const Broadcast& one : all) {
      T* const data = any_.empty() ? one.data : any_.data();
      const collectives::View view{reinterpret_cast<std::byte*>(data), one.count, kType};
      requests.push_back(
          Base::board().engine().collective({.operation = collectives::Operation::kBroadcast,
                                             .root = static_cast<int>(Base::root(one, step)),
                                             .count = one.count,
                                             .own = Base::is_root(one, step) ? view : collectives::View{},
                                             .result = view},
                                            one.is_along_row ? row_ : column_));
    }
    for (accl::Request& request : requests) {
      const accl::Result& result = request.wait();
      if (!result.is_done())
        throw Error(ExitCode::kInvalidResult, result.text, "see the first rank that says so");
    }
    return {};
  }

  void check_carried() const override {
    if (!calls_ || calls_->failed() == 0) return;
    throw Error(ExitCode::kInvalidResult,
                fmt::format("a broadcast that a kernel called ended with: {} ({})",
                            accl::name_of(accl::code_of(calls_->failed())), calls_->what()),
                "choose a transport that loses no packets, or --issuer host to see more");
  }

 private:
  static constexpr auto kType =
      sizeof(T) == sizeof(double) ? collectives::Type::kFloat64 : collectives::Type::kFloat32;

  /// The kernel that calls the engine, and the addresses of memory for it.
  class Calls {
   public:
    explicit Calls(EngineFactorization& of)
        : streams_(std::make_shared<Streams>()), engine_(of.board().engine()) {
      accl::Accl& engine = of.board().engine();
      engine.keep(streams_);
      engine.connect_logic(streams_->commands, streams_->statuses);
      for (const bool is_along_row : {false, true}) {
        for (const bool is_panel : {false, true}) {
          std::vector<T>& memory = of.any_.empty() ? of.memory(is_along_row, is_panel) : of.any_;
          addresses_[is_along_row][is_panel] =
              engine.address_of({reinterpret_cast<std::byte*>(memory.data()), memory.size(), kType});
        }
      }
    }

    device::Events start(EngineFactorization& of, const Step& step, const std::vector<Broadcast>& all,
                         const device::Events& after) {
      kernels::broadcast both[2] = {};
      for (const Broadcast& one : all) {
        const T* const begin = of.memory(one.is_along_row, one.is_panel).data();
        both[one.is_along_row ? 0 : 1] = {
            .use = engine_.use(kType, one.is_along_row ? of.row_ : of.column_),
            .root = static_cast<int>(of.root(one, step)),
            .address = addresses_[one.is_along_row][one.is_panel] +
                       sizeof(T) * static_cast<std::uint64_t>(one.data == nullptr ? 0 : one.data - begin),
            .count = accl::count_of(one.count)};
      }
      if (all.empty()) return after;
      return {of.start_kernel("broadcast", after, kernels::carry, streams_->commands, streams_->statuses,
                              both[0], both[1], &streams_->outcome)};
    }

    [[nodiscard]] unsigned int failed() const { return static_cast<unsigned int>(streams_->outcome.first); }
    [[nodiscard]] const std::string& what() const { return engine_.logic_failure(); }

   private:
    struct Streams {
      fm::stream<fm::accl_request> commands{"commands"};
      fm::stream<accl::Status> statuses{"statuses"};
      fm::accl_outcome outcome{};
    };
    std::shared_ptr<Streams> streams_;
    accl::Accl& engine_;
    std::uint64_t addresses_[2][2] = {};  ///< [along the row][panel]
  };

  template <typename... Arguments>
  device::Event start_kernel(Arguments&&... arguments) {
    return Base::start(std::forward<Arguments>(arguments)...);
  }

  int row_ = 0;
  int column_ = 0;
  std::vector<T> any_;  ///< stands for all memory where only time is asked for; else empty
  std::optional<Calls> calls_;
};

}  // namespace fabricmark::hpl

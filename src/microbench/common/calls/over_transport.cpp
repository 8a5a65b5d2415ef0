// Messages of a transport between the ranks, by the wall clock.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "microbench/common/calls/measure.hpp"
#include "microbench/common/calls/moves_case.hpp"
#include "microbench/common/measured_transport.hpp"
#include "runtime/agreement.hpp"
#include "runtime/exchange.hpp"
#include "runtime/timed_regions.hpp"
#include "transport/transport_caller.hpp"

namespace fabricmark::microbench {

namespace {

using collectives::TransportCaller;
using collectives::View;

class OverTransport final : public Measurer {
 public:
  OverTransport(runtime::Communicator& ranks, const Options& options)
      : ranks_(ranks),
        options_(options),
        measured_(ranks, {.transport = options.transport,
                          .selection = options.selection,
                          .timeout_seconds = options.timeout_seconds,
                          .largest_bytes = options.largest}),
        caller_(measured_.transport(), &measured_.context().device()),
        clock_(ranks) {}

  Row measure(std::size_t bytes) override;
  [[nodiscard]] device::DeviceInfo device() const override { return measured_.device(); }
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  runtime::Communicator& ranks_;
  Options options_;
  MeasuredTransport measured_;
  TransportCaller caller_;
  runtime::SharedClock clock_;
  collectives::Costs costs_ = caller_.place().costs;
};

Row OverTransport::measure(std::size_t bytes) {
  MovesCase own(options_, bytes, caller_.place());
  std::vector<View> allocated;
  own.allocate([&](std::size_t count, collectives::Type type) {
    return allocated.emplace_back(caller_.allocate(count, type));
  });
  const int corrupted = static_cast<int>(ranks_.all_reduce_max(own.has_result() ? ranks_.rank() : -1));
  Told told;
  runtime::TimedRegions regions(ranks_, std::nullopt);
  clock_.compare();
  for (int repetition = -1; repetition < options_.repetitions; ++repetition) {  // the first warms up
    if (repetition == 0) regions.start_counting();
    own.prepare(repetition);
    for (const View& view : allocated) caller_.write(view);
    regions.time("call", [&] { caller_.run(own.algorithm(), own.call()); });
    caller_.read(own.call().result);
    if (repetition < 0) continue;
    const bool is_corrupted =
        options_.has_fault && corrupted == ranks_.rank() && repetition + 1 == options_.repetitions;
    told.found.add(own.check(repetition, is_corrupted));
  }
  for (const View& view : allocated) caller_.release(view);
  clock_.compare();
  Row row = gathered(ranks_, told, /*is_modelled=*/false);
  runtime::Result times;
  gather_samples(ranks_, regions.samples(), clock_, times);
  row.wall_seconds = times.seconds.front();
  row.starts = times.starts.front();
  row.bytes = bytes;
  row.algorithm = own.name();
  row.reason = own.reason();
  return row;
}

std::vector<std::string> OverTransport::notes() const {
  std::vector<std::string> notes = measured_.context().remarks();
  for (const std::string& note : clock_.notes()) notes.push_back(note);
  if (ranks_.size() > 1) {
    notes.push_back(fmt::format(
        "costs of algorithms, as measured at the start: {:.3g} us for a message and {:.3g} GB/s, copies "
        "{:.3g} GB/s, reductions {:.3g} GB/s, all ranks at the same time",
        costs_.message_seconds * 1e6, costs_.bytes_per_second * 1e-9, costs_.copy_bytes_per_second * 1e-9,
        costs_.combine_bytes_per_second * 1e-9));
  }
  return notes;
}

}  // namespace

std::unique_ptr<Measurer> over_transport(runtime::Communicator& ranks, const Options& options) {
  ranks.set_timeout(options.timeout_seconds);
  return std::make_unique<OverTransport>(ranks, options);
}

}  // namespace fabricmark::microbench

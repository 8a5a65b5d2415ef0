// The device design on emulated boards: a cascade of elements through a ring of them. A program that has
// several cells defines FM_MAKE_DATAFLOW, the name of the function, and what its cell.h chooses by, and
// includes this for each but the first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "board/board.hpp"
#include "stencil/cascade.hpp"
#include "stencil/compressed_link.hpp"
#include "stencil/program_kernels.hpp"

#include "common/dataflow.hpp"

#if !defined(FM_MAKE_DATAFLOW)
#define FM_MAKE_DATAFLOW make_dataflow
#endif

namespace {  // cells of several sources have the same names

#include "common/stencil/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): kernels are a source

}  // namespace

namespace fabricmark::stencil {

namespace {

template <int PIPELINES>
class CascadeExecution final : public Execution {
 public:
  using Word = fm_word<PIPELINES>;

  CascadeExecution(const runtime::Context& context, const Problem& problem, const Part& part)
      : context_(context),
        problem_(problem),
        part_(part),
        cascade_(cascade_of(context, problem)),
        board_(context,
               {.circuits = ring_of(context.ranks().size()), .clocked = board::Clocked::kAsBitstream}),
        cells_(board_.computes() ? part.cells() / PIPELINES : 0),
        kept_(cascade_.own) {
    for (std::size_t i = 0; i <= cascade_.own; ++i) {
      const std::string name = i < cascade_.own ? fmt::format("cells to element {}", i) : "cells that leave";
      between_.push_back(std::make_unique<fm::stream<Word>>(name.c_str()));
    }
    compression_ = compression_of(context, problem, cascade_, board_);
    if (compression_) {
      compressed_ = make_compressed_links<Word>(board_, *compression_);
    } else if (context.ranks().size() > 1) {
      const std::size_t bytes = cascade_.cell_bytes * PIPELINES;
      // A fault strikes at the port that was opened first: the one that something leaves by.
      // A link cannot be moved, which make_unique would. NOLINTBEGIN(modernize-make-unique)
      to_.reset(new dataflow::Link<Word>(board_.template open<Word>(kToNext, bytes)));
      from_.reset(new dataflow::Link<Word>(board_.template open<Word>(kFromBefore, bytes)));
      // NOLINTEND(modernize-make-unique)
    }
    std::copy_n(problem.constants.begin(), FM_CONSTANTS, constants_.of);
    if (!board_.computes()) return;
    states_[0].resize(cells_);
    states_[1].resize(cells_);
    for (std::vector<Word>& rows : kept_) rows.resize(2 * cascade_.stream.in_row / PIPELINES);
  }

  void write(const std::vector<double>& state, std::uint32_t /*offset*/) override {
    current_ = 0;
    trouble_.reset();
    each([&](std::size_t field, std::size_t row, std::size_t column, scalar& number) {
      number = field < part_.fields ? static_cast<scalar>(state[part_.at(field, row, column)])
                                    : static_cast<scalar>(problem_.kind({column, row}));
    });
  }
  void read(std::vector<double>& state) override {
    state.resize(part_.numbers());
    each([&](std::size_t field, std::size_t row, std::size_t column, const scalar& number) {
      if (field < part_.fields) state[part_.at(field, row, column)] = number;
    });
  }

  void advance(std::int64_t first, std::int64_t count) override {
    const auto elements = static_cast<std::int64_t>(cascade_.all);
    const auto passes = static_cast<unsigned int>((count + elements - 1) / elements);
    std::vector<unsigned int> troubles(cascade_.own);
    board_.run([&] {
      if (context_.computes()) {
        start<true>(passes, static_cast<unsigned int>(count), troubles);
      } else {
        start<false>(passes, static_cast<unsigned int>(count), troubles);
      }
    });
    if (const auto& span = board_.host().finished())
      clock_seconds_ += network::seconds(span->last_end - span->first_start);
    passes_ += passes;
    current_ = (current_ + passes) % 2;
    for (std::size_t i = 0; i < troubles.size(); ++i) {
      if (troubles[i] == 0) continue;
      const std::int64_t found =
          first + (troubles[i] - 1) * elements + static_cast<std::int64_t>(cascade_.first + i) + 1;
      trouble_ = std::min(found, trouble_.value_or(found));
    }
    state_ = first + count;
  }
  std::optional<std::int64_t> trouble() override { return trouble_; }
  [[nodiscard]] std::int64_t state() const override { return state_; }
  common::HaloSums halo_sums() override { return marks_.sums(context_.ranks(), part_.cells()); }
  [[nodiscard]] std::vector<runtime::DerivedMetric> metrics() const override {
    if (!compression_ || !compression_->has_bits()) return {};
    return {compression_metric(context_.ranks(), *compression_, compressed_->use())};
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> all{cascade_.note(), stalls_note(context_, times())};
    if (compression_) {
      const double cycles = clock_seconds_ * compression_->kernel_hz;
      all.push_back(compression_note(context_.ranks(), *compression_, compressed_->use(), cycles));
    }
    return all;
  }

 private:
  /// Of an element: what it takes beside the row and the word that it waits for, and the cycle of the FIFO.
  [[nodiscard]] dataflow::Start arithmetic() const {
    const std::size_t waits = cascade_.stream.in_row / PIPELINES + 2;
    return {.depth = std::max(0.0, cascade_.pipeline_cycles - static_cast<double>(waits)),
            .stands_still = true};
  }
  [[nodiscard]] double pass_words() const {
    const std::size_t words = cascade_.stream.in_row / PIPELINES * cascade_.stream.rows;
    return static_cast<double>(words);
  }
  /// One half of the banks is read from, the other one written to.
  [[nodiscard]] double pass_bytes() const {
    return 2.0 * pass_words() * static_cast<double>(cascade_.cell_bytes) * PIPELINES;
  }
  /// Cycles in which the memory brings a word, or takes one.
  [[nodiscard]] double memory_interval() const {
    const dataflow::DeviceCost& cost = board_.cost();
    return std::max(1.0, cost.memory_seconds(pass_bytes()) * cost.clock_hz / pass_words());
  }
  [[nodiscard]] PassTimes times() const {
    const dataflow::DeviceCost& cost = board_.cost();
    const double words = pass_words() / cost.clock_hz;
    const double memory = cost.memory_seconds(pass_bytes());
    const auto passes = static_cast<double>(passes_);
    return {.clock = clock_seconds_,
            .words = passes * words,
            .links = context_.ranks().size() == 1
                         ? 0
                         : network::seconds(between_.back()->channel().counters().writer_stalled),
            .memory = passes * std::max(0.0, memory - words)};
  }
  template <typename Body>
  void each(const Body& body) {
    for (std::size_t row = 0; row < part_.rows; ++row) {
      for (std::size_t column = 0; column < part_.columns; ++column) {
        const std::size_t cell = cascade_.stream.at(row, column);
        for (std::size_t field = 0; field <= part_.fields; ++field) {
          body(field, row, column, states_[current_][cell / PIPELINES].cell[cell % PIPELINES].of[field]);
        }
      }
    }
  }

  template <bool computes>
  void start(unsigned int passes, unsigned int count, std::vector<unsigned int>& troubles) {
    dataflow::Host& host = board_.host();
    const Streamed& stream = cascade_.stream;
    const auto in_row = static_cast<unsigned int>(stream.in_row / PIPELINES);
    const fm_stream_shape shape{in_row, static_cast<unsigned int>(stream.rows), problem_.edge_kind,
                                stream.is_turned ? 1 : 0};
    const unsigned int words = shape.in_row * shape.rows;
    for (std::size_t i = 0; i < cascade_.own; ++i) {
      const fm_turns turns{static_cast<unsigned int>(cascade_.first + i),
                           static_cast<unsigned int>(cascade_.all), count, passes};
      host.start(fmt::format("element {}", i), arithmetic(), fm_element_kernel<PIPELINES, computes>,
                 *between_[i], *between_[i + 1], kept_[i].data(), shape, turns, constants_, &troubles[i]);
    }
    const bool is_first = context_.ranks().is_root();
    fm::stream<Word>* back = between_.back().get();
    if (to_) {
      const unsigned long long all = static_cast<unsigned long long>(words) * passes;
      host.start("to_link", {}, fm_pass_on<PIPELINES, computes>, *between_.back(), to_->out, all,
                 &marks_.sent);
      back = is_first ? &back_ : between_.front().get();
      host.start("from_link", {}, fm_pass_on<PIPELINES, computes>, from_->in, *back, all, &marks_.received);
    } else if (compressed_) {
      back = is_first ? &back_ : between_.front().get();
      compressed_->start(host, *between_.back(), *back, passes, fm_marked_word<PIPELINES>, marks_);
    }
    if (!is_first) return;
    // Word by word: elements fill no faster than the memory brings their words.
    const dataflow::Start memory{.interval = memory_interval()};
    device::Events after;
    for (unsigned int pass = 0; pass < passes; ++pass) {
      const std::size_t from = (current_ + pass) % 2;
      dataflow::Start how = memory;
      how.after = after;
      host.start("load_cells", how, fm_load<PIPELINES, computes>, states_[from].data(), words,
                 *between_.front());
      // The next pass begins with what this one has stored.
      after = {host.start("store_cells", how, fm_store<PIPELINES, computes>, states_[1 - from].data(), words,
                          *back)};
    }
  }

  const runtime::Context& context_;
  const Problem& problem_;
  Part part_;
  Cascade cascade_;
  board::Board board_;
  std::size_t cells_;
  fm_constants constants_{};
  std::array<std::vector<Word>, 2> states_;
  std::vector<std::vector<Word>> kept_;
  std::vector<std::unique_ptr<fm::stream<Word>>> between_;
  fm::stream<Word> back_{"come back"};
  std::unique_ptr<dataflow::Link<Word>> from_, to_;
  std::optional<Compression> compression_;
  std::unique_ptr<CompressedLinks<Word>> compressed_;
  RingMarks marks_;
  double clock_seconds_ = 0;
  std::uint64_t passes_ = 0;
  std::size_t current_ = 0;
  std::int64_t state_ = 0;
  std::optional<std::int64_t> trouble_;
};

}  // namespace

std::unique_ptr<Execution> FM_MAKE_DATAFLOW(const runtime::Context& context, const Problem& problem,
                                            const Part& part) {
  require_cascade(context, problem);
  switch (context.parameters().integer("pipelines")) {
    case 1:
      return std::make_unique<CascadeExecution<1>>(context, problem, part);
    case 2:
      return std::make_unique<CascadeExecution<2>>(context, problem, part);
    case 4:
      return std::make_unique<CascadeExecution<4>>(context, problem, part);
    default:
      return std::make_unique<CascadeExecution<8>>(context, problem, part);
  }
}

}  // namespace fabricmark::stencil

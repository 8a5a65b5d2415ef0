#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "benchmarks/hpl/execution.hpp"
#include "benchmarks/hpl/steps.hpp"
#include "board/board.hpp"
#include "kernels/hpl/dataflow.cpp"  // NOLINT(bugprone-suspicious-include): templates

namespace fabricmark::hpl {

namespace kernels = ::hpl;

/// The kernels that compute, of one size of register blocks. Only these are compiled for each size.
template <typename T>
struct ComputeKernels {
  decltype(&kernels::lu<T, 4>) lu;
  decltype(&kernels::panel<T, 4, true>) top;
  decltype(&kernels::panel<T, 4, false>) left;
  decltype(&kernels::inner<T, 4>) inner;

  template <int G>
  static ComputeKernels with() {
    return {kernels::lu<T, G>, kernels::panel<T, G, true>, kernels::panel<T, G, false>, kernels::inner<T, G>};
  }
  /// Throws Error (bad use) for a size that there is no kernel of.
  static ComputeKernels of(const runtime::Context& context) {
    const auto size = context.parameters().integer("register_block");
    switch (size) {
      case 4:
        return with<4>();
      case 8:
        return with<8>();
      case 16:
        return with<16>();
      default:
        throw bad_use(fmt::format("dataflow kernels with register blocks of {}", size),
                      "use --register-block 4, 8 or 16");
    }
  }
};

/// The iterations of the factorisation by dataflow kernels on emulated boards (Meyer 2024, section 4.1.3.2,
/// Figs. 4.6 to 4.8): the compute kernels and their order, the same whatever carries the blocks.
///
/// The host starts lu, left and top of an iteration when what these begin with is updated, and the inner
/// kernels when the panels are there. A kernel of the board is there once: what is started twice runs in
/// turn.
template <typename T>
class DataflowFactorization : public Execution {
 public:
  using Word = kernels::word<T>;
  using Stream = fm::stream<Word>;

  void poison() override {
    for (std::vector<T>* values : {&matrix_, &left_panels_, &top_panels_})
      std::ranges::fill(*values, std::numeric_limits<T>::quiet_NaN());
  }
  void write_matrix(const void* values) override {
    if (!matrix_.empty()) std::memcpy(matrix_.data(), values, matrix_.size() * sizeof(T));
  }
  void factorize() override {
    board_.run([this] {
      for (std::size_t k = 0; k < layout_.blocks(); ++k) iterate(make_step(layout_, k));
      events_.clear();
    });
    check_carried();
  }
  void read_factors(void* values) override {
    if (!matrix_.empty()) std::memcpy(values, matrix_.data(), matrix_.size() * sizeof(T));
  }
  [[nodiscard]] std::optional<double> exchange_hidden() const override { return std::nullopt; }

 protected:
  /// Direct links are those of a torus.
  DataflowFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : layout_(layout),
        board_(context,
               network::torus(static_cast<int>(layout.grid.rows), static_cast<int>(layout.grid.columns))),
        compute_(ComputeKernels<T>::of(context)),
        replications_(context.parameters().count("replications")),
        looks_ahead_(context.parameters().flag("lookahead")) {
    const std::size_t block = layout.block;
    const auto cycles = [&](double seconds, double words) {
      return static_cast<long>(std::max(0.0, seconds * board_.cost().clock_hz - words));
    };
    const auto width = static_cast<std::size_t>(kernels::word_bytes) / sizeof(T);
    const std::size_t words = block * block / width;
    const std::size_t rows = block / context.parameters().count("register_block");
    const std::size_t of_row = words / rows;
    const std::size_t parts = board_.computes() ? of_row : (of_row + kBulk - 1) / kBulk;
    bulk_ = (of_row + parts - 1) / parts;
    shape_ = {.size = static_cast<int>(block),
              .words = static_cast<int>(rows * parts),
              .stride = static_cast<long>(layout.local_columns()),
              .spent = 0,
              .computes = board_.computes()};
    const auto moved = static_cast<double>(words);
    if (context.costs() != nullptr) {
      spent_lu_ = cycles(context.kernel_seconds("lu", {}), moved);
      spent_panel_ = cycles(context.kernel_seconds("left", {1}), moved);
      spent_inner_ = cycles(context.kernel_seconds("inner", {1}), 0);
    }
    context.require_memory({.host_bytes = host_bytes}, "size", 2);
    if (!board_.computes()) return;
    matrix_.resize(layout.elements());
    left_panels_.resize(2 * layout.local_rows() * block);
    top_panels_.resize(2 * layout.local_columns() * block);
  }

  /// After lu: L to `top` of the owner's row, U to `left` of its column, as streams of these kernels.
  virtual void carry_factors(const Step& step) = 0;
  /// What left and top stream, to the panels of all who have inner blocks. Returns when these can begin.
  virtual device::Events carry_panels(const Step& step) = 0;

  /// Throws Error (1) for blocks that were not carried as they should, where nothing else says so.
  virtual void check_carried() const {}

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] board::Board& board() { return board_; }
  [[nodiscard]] int words() const { return shape_.words; }
  /// Bytes of the link that a word takes: more than it is where only time is asked for.
  [[nodiscard]] std::size_t link_bytes() const { return bulk_ * kernels::word_bytes; }
  [[nodiscard]] static bool has_inner(const Step& step) {
    return step.below.count() > 0 && step.right.count() > 0;
  }
  [[nodiscard]] Step step_of(int rank, const Step& step) const {
    Layout other = layout_;
    other.rank = rank;
    return make_step(other, step.iteration);
  }
  /// Of two iterations, one behind the other; empty where only time is asked for.
  [[nodiscard]] std::vector<T>& panels(bool is_top) { return is_top ? top_panels_ : left_panels_; }
  /// The panels of an iteration: two are in use at a time.
  [[nodiscard]] Word* panel(bool is_top, const Step& step) {
    std::vector<T>& panels = this->panels(is_top);
    if (panels.empty()) return nullptr;
    return reinterpret_cast<Word*>(panels.data() + step.iteration % 2 * (panels.size() / 2));
  }
  /// What has to have ended before the panel of an iteration is written.
  [[nodiscard]] const device::Events& readers(const Step& step) const { return rest_[step.iteration % 2]; }

  /// Starts a kernel that the board has once, behind its last start.
  template <typename Function, typename... Arguments>
  device::Event start(const std::string& name, device::Events after, Function function,
                      Arguments&&... arguments) {
    if (const auto before = events_.find(name); before != events_.end()) after.push_back(before->second);
    const device::Event event = board_.host().start(name,
                                                    {.interval = static_cast<double>(bulk_),
                                                     .after = std::move(after),
                                                     .is_long = name.starts_with("inner")},
                                                    function, std::forward<Arguments>(arguments)...);
    events_.insert_or_assign(name, event);
    return event;
  }

  Stream& lower_sent() { return lower_sent_; }  ///< by lu
  Stream& upper_sent() { return upper_sent_; }
  Stream& lower_used() { return lower_used_; }  ///< by top
  Stream& upper_used() { return upper_used_; }  ///< by left
  Stream& top_sent() { return top_sent_; }
  Stream& left_sent() { return left_sent_; }

 private:
  /// Most words in one, where only time is asked for: of one row of register blocks, which is used when it is
  /// there.
  static constexpr std::size_t kBulk = 512;

  [[nodiscard]] T* block_at(std::size_t row, std::size_t column) {
    if (matrix_.empty()) return nullptr;
    return matrix_.data() + row * layout_.block * layout_.local_columns() + column * layout_.block;
  }
  [[nodiscard]] kernels::shape with(long spent) const {
    kernels::shape found = shape_;
    found.spent = spent;
    return found;
  }

  void iterate(const Step& step) {
    for (const device::Event& event : std::exchange(first_, {})) event.wait();
    const auto block = static_cast<long>(layout_.block);
    const auto columns = static_cast<long>(layout_.local_columns());
    if (step.is_owner()) {
      const bool is_last = step.iteration + 1 == layout_.blocks();
      start("lu", {}, compute_.lu, block_at(step.row(), step.column()), lower_sent_, upper_sent_,
            with(spent_lu_), !is_last, !is_last);
    }
    carry_factors(step);
    if (step.updates_top()) {
      start("top", {}, compute_.top, block_at(step.row(), step.right.begin), lower_used_, top_sent_,
            with(spent_panel_), static_cast<int>(step.right.count()), block);
    }
    if (step.updates_left()) {
      start("left", {}, compute_.left, block_at(step.below.begin, step.column()), upper_used_, left_sent_,
            with(spent_panel_), static_cast<int>(step.below.count()), block * columns);
    }
    // A block goes to another replica than in the iteration before, which may still be at it.
    device::Events before = carry_panels(step);
    std::ranges::copy(rest_[(step.iteration + 1) % 2], std::back_inserter(before));
    update(step, before);
  }

  /// `before`: what all inner kernels wait for.
  void update(const Step& step, const device::Events& before) {
    rest_[step.iteration % 2].clear();
    if (!has_inner(step)) return;
    const Update update = divide_update(layout_, step.iteration, looks_ahead_);
    first_ = start_inner(step, {update.next_column, update.next_row}, before);
    rest_[step.iteration % 2] = start_inner(step, {update.rest}, before);
    for (const device::Event& event : first_) rest_[step.iteration % 2].push_back(event);
    if (!looks_ahead_) first_ = rest_[step.iteration % 2];
  }

  /// The blocks of these rectangles, shared out evenly among the replications.
  device::Events start_inner(const Step& step, const std::vector<Rectangle>& all,
                             const device::Events& before) {
    std::size_t blocks = 0;
    for (const Rectangle& one : all) blocks += one.count();
    device::Events events;
    for (std::size_t copy = 0; copy < replications_; ++copy) {
      std::size_t begin = blocks * copy / replications_;
      std::size_t left = blocks * (copy + 1) / replications_ - begin;
      for (const Rectangle& one : all) {
        const std::size_t count = begin < one.count() ? std::min(left, one.count() - begin) : 0;
        if (count > 0) events.push_back(start_inner(step, one, copy, begin, count, before));
        left -= count;
        begin = begin < one.count() ? 0 : begin - one.count();
      }
    }
    return events;
  }
  device::Event start_inner(const Step& step, const Rectangle& blocks, std::size_t copy, std::size_t first,
                            std::size_t count, const device::Events& before) {
    const kernels::part of{.row = static_cast<int>(blocks.rows.begin - step.below.begin),
                           .column = static_cast<int>(blocks.columns.begin - step.right.begin),
                           .width = static_cast<int>(blocks.columns.count()),
                           .first = static_cast<int>(first),
                           .count = static_cast<int>(count)};
    const auto* const left = reinterpret_cast<const T*>(panel(false, step));
    const auto* const top = reinterpret_cast<const T*>(panel(true, step));
    return start("inner " + std::to_string(copy), before, compute_.inner,
                 block_at(step.below.begin, step.right.begin), left, top, with(spent_inner_), of);
  }

  Layout layout_;
  board::Board board_;
  ComputeKernels<T> compute_;
  std::size_t replications_;
  bool looks_ahead_;
  std::size_t bulk_ = 1;
  kernels::shape shape_{};
  long spent_lu_ = 0;
  long spent_panel_ = 0;
  long spent_inner_ = 0;
  std::vector<T> matrix_;
  std::vector<T> left_panels_;
  std::vector<T> top_panels_;
  fm::stream<Word, 32> lower_sent_{"lower of lu"}, upper_sent_{"upper of lu"};
  fm::stream<Word, 32> lower_used_{"lower for top"}, upper_used_{"upper for left"};
  fm::stream<Word, 32> top_sent_{"blocks of top"}, left_sent_{"blocks of left"};
  std::map<std::string, device::Event> events_;  // the last start of each kernel
  device::Events first_;                         // inner kernels that the next iteration waits for
  device::Events rest_[2];                       // all of them, by parity of the iteration
};

}  // namespace fabricmark::hpl

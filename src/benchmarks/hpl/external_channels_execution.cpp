// Over Intel's external channels: blocks go from kernel to kernel, along rows and columns of the grid of
// boards, without the host (kernels/hpl/channels.cl).
#include <algorithm>

#include "base/error.hpp"
#include "benchmarks/common/channels.hpp"
#include "benchmarks/common/parts.hpp"
#include "benchmarks/common/stack.hpp"
#include "benchmarks/hpl/factorization.hpp"
#include "transport/registry.hpp"

namespace fabricmark::hpl {

namespace {

/// As the kernels know them.
enum class Source : std::uint32_t { kNone = 0, kKernel = 1, kBoard = 2 };

/// The entry points in the order of kernel.toml.
enum class Entry : std::size_t { kLu, kNetworkLu, kLeft, kTop, kNetworkLeft, kNetworkTop, kInner };

constexpr std::size_t number(Entry entry) { return static_cast<std::size_t>(entry); }

class ExternalChannelsFactorization : public Execution {
 public:
  ExternalChannelsFactorization(const runtime::Context& context, const Layout& layout, const Packing& packing)
      : layout_(layout),
        bytes_(layout.elements() * packing.value_bytes),
        info_(context.device().info()),
        queue_(context.device().queue()),
        inner_(context.replications(static_cast<int>(context.parameters().count("replications")),
                                    number(Entry::kInner))),
        looks_ahead_(context.parameters().flag("lookahead")),
        matrix_(std::move(context.buffers(number(Entry::kLu), "a").front())),
        left_panels_(context.buffers(number(Entry::kNetworkLeft), "panel")),
        top_panels_(context.buffers(number(Entry::kNetworkTop), "panel")) {
    for (std::size_t entry = 0; entry < number(Entry::kInner); ++entry)
      one_.push_back(context.replications(1, entry));
  }

  void poison() override {
    matrix_.poison(queue_);
    for (auto* panels : {&left_panels_, &top_panels_}) {
      for (device::Buffer& panel : *panels) panel.poison(queue_);
    }
    queue_.finish();
  }
  void write_matrix(const void* values) override {
    if (bytes_ > 0) matrix_.write(queue_, values, bytes_);
    queue_.finish();
  }
  void read_factors(void* values) override {
    if (bytes_ > 0) matrix_.read(queue_, values, bytes_);
    queue_.finish();
  }
  void factorize() override {
    next_.clear();
    for (device::Events& events : rest_) events.clear();
    for (std::size_t k = 0; k < layout_.blocks(); ++k) {
      const Step step = make_step(layout_, k);
      communicate(step);
      update(step);
    }
    for (const device::Events& events : {next_, rest_[0], rest_[1]}) wait(events);
  }
  [[nodiscard]] std::optional<double> exchange_hidden() const override { return std::nullopt; }

 private:
  /// Whether a board that is so many boards behind the one where data begin sends them to a next one.
  static unsigned sends(std::size_t behind, std::size_t boards) { return behind + 1 < boards ? 1 : 0; }

  /// All kernels of this board that have a part in it, at the same time.
  void communicate(const Step& step) {
    members_.clear();
    add_factors(step);
    add_panels(step);
    // The panels of this iteration are in the place of those that the last but one was the last to read.
    device::Events after = next_;
    const device::Events& readers = rest_[step.iteration % 2];
    after.insert(after.end(), readers.begin(), readers.end());
    wait(device::start_group(info_, "communicate", members_, after));
  }

  void add(Entry entry, device::NamedArguments values) {
    device::Replications& kernel = one_[static_cast<std::size_t>(entry)];
    kernel.set(0, values);
    members_.push_back({&kernel, 0});
  }
  static std::uint32_t from(bool has_part, bool begins) {
    return static_cast<std::uint32_t>(!has_part ? Source::kNone : begins ? Source::kKernel : Source::kBoard);
  }

  /// Block (k, k), and its factors on their way along its row and column of boards.
  void add_factors(const Step& step) {
    const bool is_last = step.iteration + 1 == layout_.blocks();  // there is nothing but block (k, k)
    if (step.is_owner()) {
      add(Entry::kLu, {{"a", matrix_},
                       {"row", step.row() * layout_.block},
                       {"column", step.column() * layout_.block},
                       {"columns", layout_.local_columns()},
                       {"is_sent", is_last ? 0U : 1U}});
    }
    if (is_last || !(step.is_in_row || step.is_in_column)) return;
    const unsigned to_right = sends(columns_right(step), layout_.grid.columns);
    const unsigned to_bottom = sends(rows_below(step), layout_.grid.rows);
    add(Entry::kNetworkLu, {{"lower_source", from(step.is_in_row, step.is_owner())},
                            {"uses_lower", step.updates_top() ? 1U : 0U},
                            {"sends_lower", step.is_in_row ? to_right : 0U},
                            {"upper_source", from(step.is_in_column, step.is_owner())},
                            {"uses_upper", step.updates_left() ? 1U : 0U},
                            {"sends_upper", step.is_in_column ? to_bottom : 0U}});
  }

  /// The blocks below and beside it, and their way to all boards of their row or column.
  void add_panels(const Step& step) {
    if (step.updates_left()) {
      add(Entry::kLeft, {{"a", matrix_},
                         {"row", step.below.begin * layout_.block},
                         {"column", step.column() * layout_.block},
                         {"columns", layout_.local_columns()},
                         {"blocks", step.below.count()}});
    }
    if (step.updates_top()) {
      add(Entry::kTop, {{"a", matrix_},
                        {"row", step.row() * layout_.block},
                        {"column", step.right.begin * layout_.block},
                        {"columns", layout_.local_columns()},
                        {"blocks", step.right.count()}});
    }
    // A board that is n behind in one direction is the grid's size less n behind in the other.
    const std::size_t left = (layout_.grid.columns - columns_right(step)) % layout_.grid.columns;
    const std::size_t above = (layout_.grid.rows - rows_below(step)) % layout_.grid.rows;
    if (step.below.count() > 0) {
      add(Entry::kNetworkLeft, {{"panel", left_panels_[step.iteration % 2]},
                                {"blocks", step.below.count()},
                                {"source", from(true, step.is_in_column)},
                                {"sends", sends(left, layout_.grid.columns)}});
    }
    if (step.right.count() > 0) {
      add(Entry::kNetworkTop, {{"panel", top_panels_[step.iteration % 2]},
                               {"blocks", step.right.count()},
                               {"source", from(true, step.is_in_row)},
                               {"sends", sends(above, layout_.grid.rows)}});
    }
  }

  /// How many boards right of the one with block (k, k), and below it, this one is in the torus.
  [[nodiscard]] std::size_t columns_right(const Step& step) const {
    const std::size_t columns = layout_.grid.columns;
    return (layout_.grid_column() + columns - step.iteration % columns) % columns;
  }
  [[nodiscard]] std::size_t rows_below(const Step& step) const {
    const std::size_t rows = layout_.grid.rows;
    return (layout_.grid_row() + rows - step.iteration % rows) % rows;
  }

  /// Starts the inner blocks. With lookahead those that the next iteration begins with come first, and all
  /// others end beside its communication phase.
  void update(const Step& step) {
    const Update blocks = divide_update(layout_, step.iteration, looks_ahead_);
    const device::Events before = rest_[(step.iteration + 1) % 2];
    next_ = start_inner(step, blocks.next_column, before);
    const device::Events next_row = start_inner(step, blocks.next_row, before);
    next_.insert(next_.end(), next_row.begin(), next_row.end());
    rest_[step.iteration % 2] = start_inner(step, blocks.rest, before);
    if (!looks_ahead_) wait(rest_[step.iteration % 2]);
  }

  device::Events start_inner(const Step& step, const Rectangle& blocks, const device::Events& after) {
    device::Events ends;
    int copy = 0;
    for (const common::Part& part :
         common::divide(blocks.count(), 1, static_cast<std::size_t>(inner_.count()))) {
      if (part.count == 0) break;
      inner_.set(copy, {{"a", matrix_},
                        {"left_panel", left_panels_[step.iteration % 2]},
                        {"top_panel", top_panels_[step.iteration % 2]},
                        {"left_start", blocks.rows.begin - step.below.begin},
                        {"top_start", blocks.columns.begin - step.right.begin},
                        {"row", blocks.rows.begin * layout_.block},
                        {"column", blocks.columns.begin * layout_.block},
                        {"columns", layout_.local_columns()},
                        {"width", blocks.columns.count()},
                        {"first", part.start},
                        {"count", part.count}});
      ends.push_back(inner_.start("inner", copy++, {}, after));
    }
    return ends;
  }

  static void wait(const device::Events& events) {
    for (const device::Event& event : events) event.wait();
  }

  Layout layout_;
  std::size_t bytes_;  ///< of this rank's part of the matrix
  const device::DeviceInfo& info_;
  device::Queue queue_;                       // of the host's copies
  std::vector<device::Replications> one_;     // [entry], of which there is one kernel each
  std::vector<device::GroupMember> members_;  // of the communication phase
  device::Replications inner_;
  bool looks_ahead_;
  device::Buffer matrix_;
  std::vector<device::Buffer> left_panels_, top_panels_;  // by parity of the iteration
  device::Events next_;                                   // of the blocks that the next iteration begins with
  std::array<device::Events, 2> rest_;                    // of all others, by parity of the iteration
};

}  // namespace

std::unique_ptr<Execution> make_over_external_channels(const runtime::Context& context, const Layout& layout,
                                                       double host_bytes) {
  common::require_cables(context);
  const std::optional<runtime::Fault>& fault = context.fault();
  if (fault && transport::is_message_fault(*fault)) {
    throw bad_use("--inject-fault asks for a fault of messages, and between kernels there are none",
                  "use element, scale, zeros, stale or swapped with a target");
  }
  const std::size_t bytes = value_bytes(context);
  constexpr std::size_t kBlocks = 3;  // of the inner kernel
  common::require_stack(context, kBlocks * layout.block * layout.block * bytes, "block_size");
  const Packing packing{.block = layout.block,
                        .value_bytes = bytes,
                        .panel_value_bytes = bytes,
                        .unit = layout.block * layout.block};
  require_memory(context, host_bytes);
  return std::make_unique<ExternalChannelsFactorization>(context, layout, packing);
}

}  // namespace fabricmark::hpl

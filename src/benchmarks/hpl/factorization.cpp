#include "benchmarks/hpl/factorization.hpp"

#include <algorithm>

#include "benchmarks/hpl/overlap.hpp"
#include "fabric/registry.hpp"

namespace fabricmark::hpl {

namespace {

constexpr const char* kExchange = "exchange";
constexpr const char* kInner = "inner";

/// Elements of the matrix's buffer: the last tile of a panel goes on below the last row.
std::size_t matrix_elements(const Layout& layout, const Packing& packing) {
  const std::size_t rows = layout.local_rows() + packing.tile_rows - 1;
  return std::max<std::size_t>(rows * layout.local_columns(), 1);
}

/// Elements of the panel of one iteration. All message buffers have the same size for each of the two panels,
/// so that a transport that swaps them on purpose stays within them.
std::size_t slot_elements(const Layout& layout, const Packing& packing) {
  const std::size_t rows = layout.local_rows() / layout.block;
  const std::size_t columns = layout.local_columns() / layout.block;
  return std::max({packing.left_elements(rows), packing.top_elements(columns), packing.left_elements(1)});
}

}  // namespace

std::size_t value_bytes(const runtime::Context& context) {
  return context.parameters().text("data_type") == "double" ? sizeof(double) : sizeof(float);
}

void require_memory(const runtime::Context& context, const Layout& layout, const Packing& packing,
                    double host_bytes) {
  const std::size_t bytes = packing.value_bytes;
  const std::size_t matrix = matrix_elements(layout, packing) * bytes;
  const std::size_t panels = 2 * slot_elements(layout, packing) * bytes;
  const std::size_t others = (2 * packing.left_elements(1) + packing.scratch_elements) * bytes;
  context.require_memory({.host_bytes = host_bytes,
                          .device_bytes = static_cast<double>(matrix + 2 * panels + others),
                          .largest_buffer_bytes = static_cast<double>(std::max(matrix, panels))},
                         "size", 2);
}

Factorization::Factorization(const runtime::Context& context, const Layout& layout, const Packing& packing)
    : layout_(layout),
      packing_(packing),
      looks_ahead_(context.parameters().flag("lookahead")),
      launch_items_(context.parameters().count("launch_items")),
      timeline_(context.timeline()),
      queue_(context.device().queue()),
      lu_(context.replications(1, 0)),
      left_(context.replications(1, 1)),
      top_(context.replications(1, 2)),
      inner_(context.replications(static_cast<int>(context.parameters().count("replications")), 3)),
      matrix_(context.buffer(matrix_elements(layout, packing) * packing.value_bytes, {0, 0, "a"})),
      slot_elements_(slot_elements(layout, packing)),
      transport_(fabric::make_transport(
          context, {.space = matrix_.space(),
                    .waiting = fabric::Waiting::kSleep,
                    .largest_bytes = context.ranks().size() == 1 ? 0 : slot_elements_ * packing.value_bytes,
                    .pattern = fabric::Pattern::kOneWay})),
      lower_(context.device(), packing.left_elements(1) * packing.value_bytes, context.conditions().memory),
      upper_(context.device(), packing.left_elements(1) * packing.value_bytes, context.conditions().memory),
      left_panel_(context.device(), 2 * slot_elements_ * packing.value_bytes, context.conditions().memory),
      top_panel_(context.device(), 2 * slot_elements_ * packing.value_bytes, context.conditions().memory) {}

void Factorization::poison() {
  poison(matrix_);
  // What is below the last row is worked on like the rest: zeros stay zeros.
  const std::vector<std::byte> zeros((packing_.tile_rows - 1) * layout_.local_columns() *
                                     packing_.value_bytes);
  if (!zeros.empty()) {
    matrix_.write(queue_, zeros.data(), zeros.size(), layout_.elements() * packing_.value_bytes);
    queue_.finish();
  }
  for (fabric::Memory* const buffer : {&lower_, &upper_, &left_panel_, &top_panel_}) {
    poison(buffer->device());
  }
}

void Factorization::poison(device::Buffer& buffer) {
  constexpr std::size_t kBytes = std::size_t{1} << 20U;
  const std::vector<std::byte> nan(std::min(kBytes, buffer.bytes()), std::byte{0xFF});  // in any type
  for (std::size_t offset = 0; offset < buffer.bytes(); offset += nan.size()) {
    buffer.write(queue_, nan.data(), std::min(nan.size(), buffer.bytes() - offset), offset);
  }
  queue_.finish();
}

void Factorization::write_matrix(const void* values) {
  if (layout_.elements() > 0) matrix_.write(queue_, values, layout_.elements() * packing_.value_bytes);
  queue_.finish();
}

void Factorization::read_factors(void* values) {
  if (layout_.elements() > 0) matrix_.read(queue_, values, layout_.elements() * packing_.value_bytes);
  queue_.finish();
}

std::optional<double> Factorization::exchange_hidden() const {
  return hidden_share(timeline_.entries(), kExchange, kInner);
}

void Factorization::factorize() {
  const std::size_t iterations = layout_.blocks();
  next_column_.clear();
  next_row_.clear();
  for (Events& events : rest_) events.clear();
  Step step = make_step(layout_, 0);
  communicate(step);
  for (std::size_t k = 1; k <= iterations; ++k) {
    update(step);
    step = make_step(layout_, k);
    if (k < iterations) communicate(step);
  }
  for (const Events& events : {next_column_, next_row_, rest_[0], rest_[1]}) wait(events);
}

void Factorization::communicate(const Step& step) {
  Events factorized;
  if (step.is_owner()) factorized = start_lu(step);
  const Deliveries inverses = inverse_deliveries(layout_, step.iteration);
  if (!inverses.empty()) {
    wait(factorized);
    exchange(step, inverses);
  }
  Events updated = factorized;
  if (step.updates_left()) updated.push_back(start_left(step, factorized));
  if (step.updates_top()) updated.push_back(start_top(step, factorized));  // beside left
  wait(updated);
  const Deliveries panels = panel_deliveries(layout_, step.iteration);
  if (panels.empty()) return;
  wait(
      rest_[step.iteration % 2]);  // these were the last to read the panels that now arrive in the same place
  exchange(step, panels);
}

void Factorization::update(const Step& step) {
  const Update blocks = divide_update(layout_, step.iteration, looks_ahead_);
  const Events before = rest_[(step.iteration + 1) % 2];
  const auto share = [&](const Rectangle& rectangle) {
    const auto copies = static_cast<std::size_t>(inner_.count());
    return (items(rectangle) + copies - 1) / copies;
  };
  next_column_ = start_inner(step, blocks.next_column, share(blocks.next_column), before);
  next_row_ = start_inner(step, blocks.next_row, share(blocks.next_row), before);
  rest_[step.iteration % 2] = start_inner(step, blocks.rest, launch_items_, before);
  if (!looks_ahead_) wait(rest_[step.iteration % 2]);
}

Factorization::Events Factorization::start_lu(const Step& step) {
  lu_.set(0, {{"a", matrix_}, {"lower", lower_.device()}, {"upper", upper_.device()}});
  set_place(lu_, 0, step.row(), step.column());
  return {lu_.start("lu", 0, prepare_lu(lu_), next_column_)};
}

device::Event Factorization::start_left(const Step& step, const Events& before) {
  left_.set(0, {{"a", matrix_},
                {"upper", upper_.device()},
                {"panel", left_panel_.device()},
                {"panel_start", panel_start(step)}});
  set_place(left_, 0, step.below.begin, step.column());
  Events after = next_column_;
  after.insert(after.end(), before.begin(), before.end());
  return left_.start("left", 0, prepare_left(left_, step.below.count()), after);
}

device::Event Factorization::start_top(const Step& step, const Events& before) {
  top_.set(0, {{"a", matrix_},
               {"lower", lower_.device()},
               {"panel", top_panel_.device()},
               {"panel_start", panel_start(step)}});
  set_place(top_, 0, step.row(), step.right.begin);
  Events after = next_row_;
  after.insert(after.end(), before.begin(), before.end());
  return top_.start("top", 0, prepare_top(top_, step.right.count()), after);
}

Factorization::Events Factorization::start_inner(const Step& step, const Rectangle& blocks,
                                                 std::size_t items_per_launch, const Events& after) {
  if (blocks.count() == 0) return {};
  const Rectangle in_panels{
      .rows = {blocks.rows.begin - step.below.begin, blocks.rows.end - step.below.begin},
      .columns = {blocks.columns.begin - step.right.begin, blocks.columns.end - step.right.begin}};
  const std::size_t all = items(in_panels);
  const auto copies = static_cast<std::size_t>(inner_.count());
  Events last(std::min(copies, (all + items_per_launch - 1) / items_per_launch));
  std::size_t launch = 0;
  for (std::size_t first = 0; first < all; first += items_per_launch, ++launch) {
    const int copy = static_cast<int>(launch % copies);
    inner_.set(copy, {{"a", matrix_},
                      {"left_panel", left_panel_.device()},
                      {"top_panel", top_panel_.device()},
                      {"left_start", panel_start(step)},
                      {"top_start", panel_start(step)}});
    set_place(inner_, copy, step.below.begin, step.right.begin);
    const std::size_t count = std::min(items_per_launch, all - first);
    // The launches of a copy follow each other: only its first has to wait for others.
    last[launch % copies] = inner_.start(kInner, copy, prepare_inner(inner_, copy, in_panels, first, count),
                                         launch < copies ? after : Events{});
  }
  return last;
}

void Factorization::exchange(const Step& step, const Deliveries& deliveries) {
  std::vector<fabric::Message> sends;
  std::vector<fabric::Message> receives;
  for (const Delivery& delivery : deliveries.sends) sends.push_back(message(step, delivery));
  for (const Delivery& delivery : deliveries.receives) receives.push_back(message(step, delivery));
  if (!timeline_.enabled()) return transport_->exchange(sends, receives);
  const auto begin = device::Timeline::Clock::now();
  transport_->exchange(sends, receives);
  timeline_.add_host_span(kExchange, begin, device::Timeline::Clock::now());
}

fabric::Message Factorization::message(const Step& step, const Delivery& delivery) {
  const int tag = static_cast<int>(delivery.content);
  const std::size_t panel = (step.iteration % 2) * slot_elements_ * packing_.value_bytes;
  const auto make = [&](fabric::Memory& buffer, std::size_t offset, std::size_t elements) {
    return fabric::Message{{&buffer, offset, elements * packing_.value_bytes}, delivery.peer, tag};
  };
  switch (delivery.content) {
    case Content::kLower:
      return make(lower_, 0, packing_.left_elements(1));
    case Content::kUpper:
      return make(upper_, 0, packing_.top_elements(1));
    case Content::kLeft:
      return make(left_panel_, panel, packing_.left_elements(step.below.count()));
    case Content::kTop:
      return make(top_panel_, panel, packing_.top_elements(step.right.count()));
  }
  return {};
}

void Factorization::set_place(device::Replications& kernels, int copy, std::size_t block_row,
                              std::size_t block_column) const {
  kernels.set(copy, {{"row", block_row * layout_.block},
                     {"column", block_column * layout_.block},
                     {"columns", layout_.local_columns()}});
}

std::size_t Factorization::panel_start(const Step& step) const {
  return (step.iteration % 2) * slot_elements_ / packing_.unit;
}

void Factorization::wait(const Events& events) {
  for (const device::Event& event : events) event.wait();
}

}  // namespace fabricmark::hpl

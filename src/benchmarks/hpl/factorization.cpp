#include "benchmarks/hpl/factorization.hpp"

#include <algorithm>

#include "benchmarks/hpl/overlap.hpp"
#include "transport/registry.hpp"

namespace fabricmark::hpl {

namespace {

constexpr const char* kExchange = "exchange";
constexpr const char* kInner = "inner";

device::Events both(device::Events some, const device::Events& others) {
  some.insert(some.end(), others.begin(), others.end());
  return some;
}

/// A buffer that transports take, as kernel.toml plans it.
transport::Memory memory_of(const runtime::Context& context, std::size_t entry, const char* argument) {
  return {std::move(context.buffers(entry, argument).front()), context.device().queue()};
}

/// A panel, or the inverse of a block.
std::size_t most_message_bytes(const Packing& packing, std::size_t panel_elements) {
  return std::max(panel_elements * packing.panel_value_bytes, packing.left_elements(1) * packing.value_bytes);
}

}  // namespace

std::size_t value_bytes(const runtime::Context& context) {
  return context.parameters().text("data_type") == "double" ? sizeof(double) : sizeof(float);
}

void require_memory(const runtime::Context& context, double host_bytes) {
  context.require_memory({.host_bytes = host_bytes}, "size", 2);
}

Factorization::Factorization(const runtime::Context& context, const Layout& layout, const Packing& packing,
                             std::size_t inverses, bool is_one_queue)
    : layout_(layout),
      packing_(packing),
      looks_ahead_(context.parameters().flag("lookahead")),
      is_one_queue_(is_one_queue),
      launch_items_(context.parameters().count("launch_items")),
      timeline_(context.timeline()),
      queue_(context.device().queue()),
      lu_(context.replications(1, entry::kLu)),
      left_(context.replications(1, entry::kLeft)),
      top_(context.replications(1, entry::kTop)),
      inner_(
          context.replications(static_cast<int>(context.parameters().count("replications")), entry::kInner)),
      parts_(context.memory_plan().of(entry::kLu, "a").size()),
      matrix_(context.buffers(entry::kLu, "a")),
      slot_elements_(context.memory_plan().of(entry::kLeft, "panel").front().bytes /
                     packing.panel_value_bytes / 2),
      transport_(transport::make_transport(
          context,
          {.space = matrix_.front().space(),
           .beside_kernels = true,
           .largest_bytes = context.ranks().size() == 1 ? 0 : most_message_bytes(packing, slot_elements_),
           .pattern = transport::Pattern::kOneWay})),
      lower_(memory_of(context, inverses, "lower")),
      upper_(memory_of(context, inverses, "upper")),
      left_panel_(memory_of(context, entry::kLeft, "panel")),
      top_panel_(memory_of(context, entry::kTop, "panel")) {
  if (is_one_queue_) left_.follow(lu_);
}

void Factorization::poison() {
  for (device::Buffer& part : matrix_) poison(part);
  // What is below the last row is worked on like the rest: zeros stay zeros.
  const std::vector<std::byte> zeros((packing_.tile_rows - 1) * layout_.local_columns() *
                                     packing_.value_bytes);
  if (!zeros.empty()) {
    matrix_.front().write(queue_, zeros.data(), zeros.size(), layout_.elements() * packing_.value_bytes);
    queue_.finish();
  }
  for (transport::Memory* const buffer : {&lower_, &upper_, &left_panel_, &top_panel_}) {
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

template <typename Copy>
void Factorization::each_piece(Copy copy) {
  const std::size_t bytes = layout_.elements() * packing_.value_bytes;
  const std::size_t rows = layout_.local_rows() / layout_.block;
  if (bytes == 0) return;
  if (parts_.count() == 1) {
    copy(matrix_.front(), 0, bytes, 0);
  } else {
    const std::size_t of_row = bytes / rows;
    for (std::size_t row = 0; row < rows; ++row)
      copy(matrix_[parts_.part_of(row)], row * of_row, of_row, parts_.row_in_part(row) * of_row);
  }
  queue_.finish();
}

void Factorization::write_matrix(const void* values) {
  const auto* const from = static_cast<const std::byte*>(values);
  each_piece([&](device::Buffer& part, std::size_t start, std::size_t bytes, std::size_t offset) {
    part.write(queue_, from + start, bytes, offset);
  });
}

void Factorization::read_factors(void* values) {
  auto* const to = static_cast<std::byte*>(values);
  each_piece([&](const device::Buffer& part, std::size_t start, std::size_t bytes, std::size_t offset) {
    part.read(queue_, to + start, bytes, offset);
  });
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
  Events panels = communicate(step, start_lu(step));
  for (std::size_t k = 1; k <= iterations; ++k) {
    const Step next = make_step(layout_, k);
    const Events factorized = update(step, next, panels);
    step = next;
    if (k < iterations) panels = communicate(step, factorized);
  }
  for (device::Replications* const kernels : {&lu_, &left_, &top_, &inner_}) kernels->finish();
}

Factorization::Events Factorization::communicate(const Step& step, const Events& factorized) {
  if (is_one_queue_ && !step.is_owner() && !next_column_.empty()) lu_.queue(0).begin_after(next_column_);
  const Deliveries inverses = inverse_deliveries(layout_, step.iteration);
  if (!inverses.empty()) {
    wait_for_first(factorized);
    exchange(step, inverses);
  }
  Events updated = factorized;
  if (step.updates_left()) std::ranges::move(start_left(step, factorized), std::back_inserter(updated));
  if (step.updates_top()) updated.push_back(start_top(step, factorized));  // beside left
  const Deliveries panels = panel_deliveries(layout_, step.iteration);
  if (is_one_queue_ && panels.empty()) return updated;
  wait_for_first(updated);
  if (panels.empty()) return {};
  wait(
      rest_[step.iteration % 2]);  // these were the last to read the panels that now arrive in the same place
  exchange(step, panels);
  return {};
}

Factorization::Events Factorization::update(const Step& step, const Step& next, const Events& panels) {
  const Update blocks = divide_update(layout_, step.iteration, looks_ahead_);
  const Events before = both(rest_[(step.iteration + 1) % 2], panels);
  const auto share = [&](const Rectangle& rectangle) {
    const auto copies = static_cast<std::size_t>(inner_.count());
    return (items(rectangle) + copies - 1) / copies;
  };
  Events factorized;
  next_column_ = start_inner(step, blocks.next_column, share(blocks.next_column), before);
  // Ahead of the many launches of the rest: on a GPU it would get its place behind their work-groups.
  if (looks_ahead_) factorized = start_lu(next);
  next_row_ = start_inner(step, blocks.next_row, share(blocks.next_row), before);
  Events& rest = rest_[step.iteration % 2];
  rest = start_inner(step, blocks.rest, launch_items_, before);
  if (looks_ahead_) return factorized;
  wait(rest);
  return start_lu(next);
}

Factorization::Events Factorization::start_lu(const Step& step) {
  if (step.iteration == layout_.blocks() || !step.is_owner()) return {};
  device::Buffer& part = matrix_[parts_.part_of(step.row())];
  lu_.set(0, {{"a", part}});
  set_place(lu_, 0, parts_.row_in_part(step.row()), step.column());
  return {start_block(lower_.device(), upper_.device(), next_column_)};
}

Factorization::Events Factorization::start_left(const Step& step, const Events& before) {
  const Events after = is_one_queue_ ? Events{} : both(next_column_, before);  // there it follows lu
  Events ends;
  for (std::size_t part = 0; part < parts_.count(); ++part) {
    const Range rows = parts_.within(step.below, part);
    if (rows.count() == 0) continue;
    left_.set(0, {{"a", matrix_[part]},
                  {"upper", upper_.device()},
                  {"panel", left_panel_.device()},
                  {"panel_start", panel_start(step, part)}});
    set_place(left_, 0, rows.begin, step.column());
    ends.push_back(left_.start("left", 0, prepare_left(left_, rows.count()), after));
  }
  return ends;
}

device::Event Factorization::start_top(const Step& step, const Events& before) {
  top_.set(0, {{"a", matrix_[parts_.part_of(step.row())]},
               {"lower", lower_.device()},
               {"panel", top_panel_.device()},
               {"panel_start", panel_start(step)}});
  set_place(top_, 0, parts_.row_in_part(step.row()), step.right.begin);
  return top_.start("top", 0, prepare_top(top_, step.right.count()), both(next_row_, before));
}

Factorization::Events Factorization::start_inner(const Step& step, const Rectangle& blocks,
                                                 std::size_t items_per_launch, const Events& after) {
  const auto copies = static_cast<std::size_t>(inner_.count());
  Events last;
  std::size_t launch = 0;
  for (std::size_t part = 0; part < parts_.count(); ++part) {
    const Range rows = parts_.within(blocks.rows, part);
    if (rows.count() * blocks.columns.count() == 0) continue;
    const std::size_t begin = parts_.within(step.below, part).begin;
    const Rectangle in_panels{
        .rows = {rows.begin - begin, rows.end - begin},
        .columns = {blocks.columns.begin - step.right.begin, blocks.columns.end - step.right.begin}};
    const std::size_t all = items(in_panels);
    for (std::size_t first = 0; first < all; first += items_per_launch, ++launch) {
      const int copy = static_cast<int>(launch % copies);
      inner_.set(copy, {{"a", matrix_[part]},
                        {"left_panel", left_panel_.device()},
                        {"top_panel", top_panel_.device()},
                        {"left_start", panel_start(step, part)},
                        {"top_start", panel_start(step)}});
      set_place(inner_, copy, begin, step.right.begin);
      const std::size_t count = std::min(items_per_launch, all - first);
      // The launches of a copy follow each other: only its first has to wait for others.
      device::Event end = inner_.start(kInner, copy, prepare_inner(inner_, copy, in_panels, first, count),
                                       launch < copies ? after : Events{});
      if (launch < copies) {
        last.push_back(std::move(end));
      } else {
        last[launch % copies] = std::move(end);
      }
    }
  }
  return last;
}

void Factorization::exchange(const Step& step, const Deliveries& deliveries) {
  std::vector<transport::Message> sends;
  std::vector<transport::Message> receives;
  for (const Delivery& delivery : deliveries.sends) sends.push_back(message(step, delivery));
  for (const Delivery& delivery : deliveries.receives) receives.push_back(message(step, delivery));
  if (!timeline_.enabled()) return transport_->exchange(sends, receives);
  const auto begin = device::Timeline::Clock::now();
  transport_->exchange(sends, receives);
  timeline_.add_host_span(kExchange, begin, device::Timeline::Clock::now());
}

transport::Message Factorization::message(const Step& step, const Delivery& delivery) {
  const int tag = static_cast<int>(delivery.content);
  const std::size_t panel = (step.iteration % 2) * slot_elements_ * packing_.panel_value_bytes;
  const auto make = [&](transport::Memory& buffer, std::size_t offset, std::size_t elements,
                        std::size_t value_bytes) {
    return transport::Message{{&buffer, offset, elements * value_bytes}, delivery.peer, tag};
  };
  switch (delivery.content) {
    case Content::kLower:
      return make(lower_, 0, packing_.left_elements(1), packing_.value_bytes);
    case Content::kUpper:
      return make(upper_, 0, packing_.top_elements(1), packing_.value_bytes);
    case Content::kLeft:
      return make(left_panel_, panel, packing_.left_elements(step.below.count()), packing_.panel_value_bytes);
    case Content::kTop:
      return make(top_panel_, panel, packing_.top_elements(step.right.count()), packing_.panel_value_bytes);
  }
  return {};
}

void Factorization::set_place(device::Replications& kernels, int copy, std::size_t block_row,
                              std::size_t block_column) const {
  kernels.set(copy, {{"row", block_row * layout_.block},
                     {"column", block_column * layout_.block},
                     {"columns", layout_.local_columns()}});
}

std::size_t Factorization::panel_start(const Step& step, std::size_t part) const {
  const std::size_t slot = (step.iteration % 2) * slot_elements_;
  return (slot + parts_.before(step.below, part) * layout_.block * layout_.block) / packing_.unit;
}

void Factorization::wait_for_first(const Events& events) const {
  // Of an event NVIDIA's driver tells mostly when the inner kernels have ended too.
  if (is_one_queue_) {
    lu_.queue(0).finish();
    return top_.queue(0).finish();
  }
  wait(events);
}

void Factorization::wait(const Events& events) {
  for (const device::Event& event : events) event.wait();
}

}  // namespace fabricmark::hpl

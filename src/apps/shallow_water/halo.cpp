#include "apps/shallow_water/halo.hpp"

#include <algorithm>

namespace fabricmark::shallow_water {

namespace {

enum HaloEntry : std::size_t { kPack = 1, kUnpack = 2, kPut = 3, kTake = 4 };

const std::vector<std::int32_t>& elements_of(const LocalMesh::Neighbour& neighbour, bool is_sent) {
  return is_sent ? neighbour.send : neighbour.receive;
}

common::HaloMessages::Direction direction_of(const LocalMesh& local, bool is_sent, std::size_t numbers) {
  common::HaloMessages::Direction direction{.entry = is_sent ? kPack : kUnpack};
  for (const LocalMesh::Neighbour& neighbour : local.neighbours) {
    const std::size_t count = elements_of(neighbour, is_sent).size();
    direction.messages.push_back({neighbour.rank, 0, count, count * numbers});
  }
  return direction;
}

device::Buffer buffer_of(const runtime::Context& context, const device::Queue& queue,
                         const std::vector<std::int32_t>& values) {
  device::Buffer buffer = context.buffer(values.size() * sizeof(std::int32_t));
  buffer.write(queue, values.data(), buffer.bytes());
  queue.finish();
  return buffer;
}

}  // namespace

Halo::Halo(const runtime::Context& context, const LocalMesh& local, std::size_t numbers,
           std::size_t number_bytes)
    : work_group_(std::min(context.work_group_size(kPack), context.work_group_size(kUnpack))) {
  if (context.ranks().size() == 1) return;
  const bool has_puts = context.variant() == "throughput";
  messages_ = common::HaloMessages(
      context, direction_of(local, /*is_sent=*/true, numbers),
      direction_of(local, /*is_sent=*/false, numbers), number_bytes,
      {kPut, kTake, has_puts ? context.parameters().text("one_sided") : std::string("false")});
  if (is_empty()) return;
  sent_ = set_elements(context, local, /*is_sent=*/true, numbers);
  received_ = set_elements(context, local, /*is_sent=*/false, numbers);
  if (messages_.puts() != nullptr) set_puts(local);
}

void Halo::set(device::Replications& kernel, const Elements& elements, std::size_t stride) {
  kernel.set(0, {{"places", elements.buffers[0]},
                 {"targets", elements.buffers[1]},
                 {"spans", elements.buffers[2]},
                 {"stride", stride}});
}

void Halo::set_puts(const LocalMesh& local) {
  common::HaloPuts& puts = *messages_.puts();
  std::size_t first = 0;
  for (std::size_t i = 0; i < puts.puts().size(); ++i) {
    const std::size_t count = local.neighbours[i].send.size();
    set(puts.puts()[i], sent_, local.stride);
    puts.puts()[i].set(0, {{"marks", messages_.sent_marks()}, {"first", first}, {"count", count}});
    puts_.push_back(geometry(count));
    first += count;
  }
  set(puts.take(), received_, local.stride);
  puts.take().set(0, {{"marks", messages_.received_marks()}, {"count", received_.count}});
}

device::Geometry Halo::geometry(std::size_t count) const {
  return {(count + work_group_ - 1) / work_group_ * work_group_, work_group_};
}

void Halo::check(const device::Queue& queue) {
  if (messages_.puts() != nullptr) messages_.puts()->check(queue);
}

Halo::Elements Halo::set_elements(const runtime::Context& context, const LocalMesh& local, bool is_sent,
                                  std::size_t numbers) {
  std::vector<std::int32_t> places;
  std::vector<std::int32_t> targets;
  std::vector<std::int32_t> spans;
  for (const LocalMesh::Neighbour& neighbour : local.neighbours) {
    const std::vector<std::int32_t>& own = elements_of(neighbour, is_sent);
    const std::size_t start = places.size() * numbers;
    for (std::size_t i = 0; i < own.size(); ++i) {
      places.push_back(own[i]);
      targets.push_back(static_cast<std::int32_t>(start + i));
      spans.push_back(static_cast<std::int32_t>(own.size()));
    }
  }
  const device::Queue queue = context.device().queue();
  Elements made{.count = places.size()};
  for (const std::vector<std::int32_t>* values : {&places, &targets, &spans}) {
    made.buffers.push_back(buffer_of(context, queue, *values));
  }
  device::Replications& kernel = is_sent ? messages_.pack() : messages_.unpack();
  set(kernel, made, local.stride);
  kernel.set(0, {{"count", made.count}});
  return made;
}

void Halo::run(device::Replications& kernel, std::size_t count, const device::Queue& queue,
               const device::Buffer& state, device::Event* done) const {
  kernel.set(0, {{"state", state}});
  kernel.start_on(queue, 0, geometry(count), nullptr, done);
}

void Halo::start(const device::Queue& queue, const device::Buffer& state) {
  if (is_empty()) return;
  if (common::HaloPuts* const puts = messages_.puts(); puts != nullptr) {
    for (device::Replications& kernel : puts->puts()) kernel.set(0, {{"state", state}});
    puts->start(queue, puts_);
    messages_.note_exchange();
    return;
  }
  messages_.start(queue,
                  [&](device::Event* done) { run(messages_.pack(), sent_.count, queue, state, done); });
}

void Halo::finish(const device::Queue& queue, const device::Buffer& state) {
  if (is_empty()) return;
  if (common::HaloPuts* const puts = messages_.puts(); puts != nullptr) {
    puts->take().set(0, {{"state", state}});
    puts->finish(queue, geometry(received_.count));
    return;
  }
  messages_.finish(queue);
  run(messages_.unpack(), received_.count, queue, state, nullptr);
}

}  // namespace fabricmark::shallow_water

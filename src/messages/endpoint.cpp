#include <fmt/format.h>

#include <vector>

#include "base/error.hpp"
#include "device/opencl/adopted.hpp"
#include "messages/state.hpp"
#include "messages/translated.hpp"
#include "runtime/communicator.hpp"

namespace fabricmark::messages {

namespace {

using collectives::Operation;

collectives::Type inner(Type type) { return static_cast<collectives::Type>(type); }
collectives::Reduction inner(Reduction reduction) { return static_cast<collectives::Reduction>(reduction); }
static_assert(static_cast<int>(Type::kFloat64) == static_cast<int>(collectives::Type::kFloat64));
static_assert(static_cast<int>(Reduction::kMax) == static_cast<int>(collectives::Reduction::kMax));

/// Of bytes that are only moved: a type of which there is a whole number in each part; none for odd bytes.
std::optional<collectives::Type> type_for(std::size_t bytes) {
  if (bytes % 8 == 0) return collectives::Type::kInt64;
  if (bytes % 2 == 0) return collectives::Type::kFloat16;
  return std::nullopt;
}

/// One of n parts. Throws fabricmark::Error (bad use) where there is not a whole number of bytes in each.
std::size_t part_bytes(const Region& all, int ranks) {
  const auto parts = static_cast<std::size_t>(ranks);
  if (all.bytes % parts == 0) return all.bytes / parts;
  throw bad_use(fmt::format("{} bytes are not {} parts of the same size", all.bytes, ranks),
                "give one part for each rank");
}

Region part(const Region& all, int number, std::size_t bytes) {
  return {all.memory, all.offset + static_cast<std::size_t>(number) * bytes, bytes};
}

/// Elements of reductions lie where kernels find them.
void check_elements(const Region& region, Type type) {
  const std::size_t bytes = bytes_of(type);
  if (region.memory == nullptr || (region.offset % bytes == 0 && region.bytes % bytes == 0)) return;
  throw bad_use(fmt::format("a region of {} bytes from byte {} on holds no whole elements of {} bytes",
                            region.bytes, region.offset, bytes),
                "give multiples of these");
}

void check_equal(const Region& own, const Region& result) {
  if (own.bytes == result.bytes) return;
  throw bad_use(fmt::format("operands of {} and {} bytes", own.bytes, result.bytes), "give as many of both");
}

device::Events inner(std::span<const cl_event> events) {
  device::Events found;
  for (cl_event event : events) found.push_back(device::opencl::adopted(event));
  return found;
}

using Messages = std::vector<transport::Message>;

}  // namespace

std::size_t bytes_of(Type type) { return collectives::bytes_of(inner(type)); }

Request::Request() = default;
Request::Request(std::unique_ptr<State> state) : state_(std::move(state)) {}
Request::~Request() = default;
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;

bool Request::has_ended() {
  if (!state_) return true;
  const bool has_ended = translated([&] { return state_->event.has_ended(); });
  if (has_ended) state_.reset();
  return has_ended;
}

void Request::wait() {
  if (!state_) return;
  translated([&] { state_->event.wait(); });
  state_.reset();
}

Endpoint::Endpoint(Ranks ranks, cl_context context, cl_device_id device, const Options& options) {
  translated([&] { state_ = std::make_shared<State>(std::move(ranks), context, device, options); });
}
Endpoint::~Endpoint() = default;
Endpoint::Endpoint(Endpoint&&) noexcept = default;
Endpoint& Endpoint::operator=(Endpoint&&) noexcept = default;

int Endpoint::rank() const { return state_->ranks().rank(); }
int Endpoint::size() const { return state_->ranks().size(); }
const std::string& Endpoint::protocols() const { return state_->protocols(); }

Request Endpoint::start_send(const Region& region, int to, int tag, std::span<const cl_event> after) {
  return translated([&] {
    auto made = std::make_unique<Request::State>(state_);
    const transport::Message message = state_->message(region, to, tag, made->memories);
    made->event = state_->transport().send(message, inner(after));
    return Request(std::move(made));
  });
}

Request Endpoint::start_receive(const Region& region, int from, int tag, std::span<const cl_event> after) {
  return translated([&] {
    auto made = std::make_unique<Request::State>(state_);
    const transport::Message message = state_->message(region, from, tag, made->memories);
    made->event = state_->transport().receive(message, inner(after));
    return Request(std::move(made));
  });
}

void Endpoint::exchange(const Region& out, int to, const Region& in, int from, int tag) {
  translated([&] {
    Request::State both(state_);
    const transport::Message sent = state_->message(out, to, tag, both.memories);
    const transport::Message received = state_->message(in, from, tag, both.memories);
    both.event = state_->transport().start({&sent, 1}, {&received, 1});
    both.event.wait();
  });
}

Request Endpoint::start_broadcast(const Region& region, int root) {
  return translated([&] {
    auto made = std::make_unique<Request::State>(state_);
    static_cast<void>(state_->message(region, root, 0, made->memories));  // whether there is such a rank
    made->event = state_->transport().broadcast(state_->region(region, made->memories), root);
    return Request(std::move(made));
  });
}

Request Endpoint::start_all_gather(const Region& own, const Region& all) {
  return translated([&] {
    check_equal(own, part(all, 0, part_bytes(all, size())));
    auto made = std::make_unique<Request::State>(state_);
    const transport::Region sent = state_->region(own, made->memories);
    made->event = state_->transport().all_gather(sent, state_->region(all, made->memories));
    return Request(std::move(made));
  });
}

Request Endpoint::start_all_to_all(const Region& out, const Region& in) {
  return translated([&] {
    check_equal(out, in);
    part_bytes(out, size());
    auto made = std::make_unique<Request::State>(state_);
    const transport::Region sent = state_->region(out, made->memories);
    made->event = state_->transport().all_to_all(sent, state_->region(in, made->memories));
    return Request(std::move(made));
  });
}

void Endpoint::broadcast(const Region& region, int root) {
  const std::optional<collectives::Type> type = type_for(region.bytes);
  if (!type) return start_broadcast(region, root).wait();
  translated([&] {
    const Region own = rank() == root ? region : Region{};
    state_->run({.operation = Operation::kBroadcast,
                 .root = root,
                 .count = region.bytes / collectives::bytes_of(*type)},
                {own, region}, *type);
  });
}

void Endpoint::scatter(const Region& own, const Region& result, int root) {
  translated([&] {
    const bool is_root = rank() == root;
    if (is_root) check_equal(part(own, 0, part_bytes(own, size())), result);
    if (const auto type = type_for(result.bytes)) {
      state_->run({.operation = Operation::kScatter,
                   .root = root,
                   .count = result.bytes / collectives::bytes_of(*type)},
                  {is_root ? own : Region{}, result}, *type);
      return;
    }
    Request::State all(state_);
    Messages sends;
    for (int to = 0; is_root && to < size(); ++to) {
      sends.push_back(state_->own_message(part(own, to, result.bytes), to, all.memories));
    }
    const transport::Message received = state_->own_message(result, root, all.memories);
    all.event = state_->transport().start(sends, {&received, 1});
    all.event.wait();
  });
}

void Endpoint::gather(const Region& own, const Region& result, int root) {
  translated([&] {
    const bool is_root = rank() == root;
    if (is_root) check_equal(own, part(result, 0, part_bytes(result, size())));
    if (const auto type = type_for(own.bytes)) {
      state_->run(
          {.operation = Operation::kGather, .root = root, .count = own.bytes / collectives::bytes_of(*type)},
          {own, is_root ? result : Region{}}, *type);
      return;
    }
    Request::State all(state_);
    Messages receives;
    for (int from = 0; is_root && from < size(); ++from) {
      receives.push_back(state_->own_message(part(result, from, own.bytes), from, all.memories));
    }
    const transport::Message sent = state_->own_message(own, root, all.memories);
    all.event = state_->transport().start({&sent, 1}, receives);
    all.event.wait();
  });
}

void Endpoint::all_gather(const Region& own, const Region& result) {
  const std::optional<collectives::Type> type = type_for(own.bytes);
  if (!type) return start_all_gather(own, result).wait();
  translated([&] {
    check_equal(own, part(result, 0, part_bytes(result, size())));
    state_->run({.operation = Operation::kAllGather, .count = own.bytes / collectives::bytes_of(*type)},
                {own, result}, *type);
  });
}

void Endpoint::reduce(const Region& own, const Region& result, int root, Type type, Reduction reduction) {
  translated([&] {
    const bool is_root = rank() == root;
    check_elements(own, type);
    if (is_root) check_elements(result, type);
    if (is_root) check_equal(own, result);
    state_->run({.operation = Operation::kReduce,
                 .root = root,
                 .count = own.bytes / bytes_of(type),
                 .reduction = inner(reduction)},
                {own, is_root ? result : Region{}}, inner(type));
  });
}

void Endpoint::all_reduce(const Region& own, const Region& result, Type type, Reduction reduction) {
  translated([&] {
    check_elements(own, type);
    check_elements(result, type);
    check_equal(own, result);
    state_->run({.operation = Operation::kAllReduce,
                 .count = own.bytes / bytes_of(type),
                 .reduction = inner(reduction)},
                {own, result}, inner(type));
  });
}

void Endpoint::reduce_scatter(const Region& own, const Region& result, Type type, Reduction reduction) {
  translated([&] {
    check_elements(own, type);
    check_elements(result, type);
    check_equal(part(own, 0, part_bytes(own, size())), result);
    state_->run({.operation = Operation::kReduceScatter,
                 .count = result.bytes / bytes_of(type),
                 .reduction = inner(reduction)},
                {own, result}, inner(type));
  });
}

void Endpoint::all_to_all(const Region& own, const Region& result) {
  translated([&] {
    check_equal(own, result);
    const std::size_t bytes = part_bytes(own, size());
    if (const auto type = type_for(bytes)) {
      state_->run({.operation = Operation::kAllToAll, .count = bytes / collectives::bytes_of(*type)},
                  {own, result}, *type);
    } else {
      start_all_to_all(own, result).wait();
    }
  });
}

void Endpoint::barrier() {
  translated([&] { state_->ranks().barrier(); });
}

void Endpoint::fail(const std::string& cause) noexcept {
  state_->ranks().fail({.code = ExitCode::kEnvironment, .message = cause});
}

}  // namespace fabricmark::messages

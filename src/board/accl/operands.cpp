// Operands of calls: memory, or streams of kernels.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "board/accl/caller.hpp"
#include "collectives/elements.hpp"

namespace fabricmark::accl {

void Caller::check_type(const Running& running) const {
  const Call& call = running.call;
  if (!call.is_compressed) return;
  if (!engine_.settings().has_compression) {
    throw failed(call, Code::kNotSupported,
                 "this engine was built without compression; call it without, "
                 "or build the engine with its plugins");
  }
  if (call.type != Type::kFloat32) {
    throw failed(call, Code::kNotSupported, "only float32 travels compressed, as float16; not {}",
                 collectives::name_of(call.type));
  }
}

void Caller::check_arithmetic(const Running& running) const {
  if (engine_.settings().has_arithmetic) return;
  throw failed(running.call, Code::kNotSupported,
               "this engine was built without arithmetic (minimal); build it "
               "with its plugins");
}

void Caller::check_operands(const Running& running) {
  const Call& call = running.call;
  const auto check = [&call](const Operand& operand, const char* what) {
    const View& memory = operand.memory;
    const bool fits = operand.stream || call.count == 0 ||
                      (memory.data != nullptr && memory.count >= call.count && memory.type == call.type);
    if (fits) return;
    throw failed(call, Code::kUnknownMemory,
                 "{} elements of {} are called for, and {} has {} of {}; give it as many", call.count,
                 collectives::name_of(call.type), what, memory.data == nullptr ? 0 : memory.count,
                 collectives::name_of(memory.type));
  };
  const Kind kind = call.kind;
  const bool has_result = kind == Kind::kRecv || kind == Kind::kCopy || kind == Kind::kCombine;
  const bool is_of_one = kind != Kind::kNop && kind != Kind::kCollective;  // collectives::check sees to those
  if (is_of_one && kind != Kind::kRecv) check(call.a, "its operand");
  if (kind == Kind::kCombine) check(call.b, "its second operand");
  if (has_result) check(call.result, "its result");
}

View Caller::room(Running& running, const Operand& operand, std::size_t count) {
  if (!operand.stream) return operand.memory.part(0, count);
  const auto& bytes = running.memory.emplace_back(
      std::make_shared<std::vector<std::byte>>(count * collectives::bytes_of(running.call.type)));
  return {bytes->data(), count, running.call.type};
}

View Caller::loaded(Running& running, const Operand& operand, std::size_t count) {
  const View elements = room(running, operand, count);
  if (!operand.stream || count == 0) return elements;
  do_job(running, source(running, *operand.stream),
         {.wanted = elements.bytes(),
          .came = [memory = running.memory.back()](dataflow::Kernel&, const std::vector<std::byte>& bytes) {
            std::ranges::copy(bytes, memory->begin());
          }});
  return elements;
}

std::shared_ptr<Arriving> Caller::arriving(Running& running, const Operand& operand, std::size_t count) {
  if (!operand.stream || count == 0) return nullptr;
  StreamEnd& end = source(running, *operand.stream);
  const View elements = room(running, operand, count);
  const auto incoming = std::make_shared<Arriving>(elements);
  end.add({.at = running.kernel.clock,
           .wanted = elements.bytes(),
           .piece = engine_.piece_bytes(/*has_header=*/false),
           .came = [incoming, memory = running.memory.back()](dataflow::Kernel& kernel,
                                                              const std::vector<std::byte>& bytes) {
             incoming->add(kernel.clock, bytes);
           }});
  return incoming;
}

StreamEnd& Caller::connected(const Running& running, int stream, StreamEnd* end, const char* does) {
  if (end != nullptr) return *end;
  throw failed(running.call, Code::kUnknownStream, "no kernel {} stream {}; connect one to the engine", does,
               stream);
}

StreamEnd& Caller::sink(const Running& running, int stream) const {
  return connected(running, stream, streams_.to_kernel(stream), "reads");
}

StreamEnd& Caller::source(const Running& running, int stream) const {
  return connected(running, stream, streams_.from_kernel(stream), "writes");
}

void Caller::do_job(Running& running, StreamEnd& end, StreamEnd::Job job) {
  const Engine::TicketId ticket = engine_.open_ticket(running.call.text(), 0);
  job.at = running.kernel.clock;
  job.ended = [this, ticket](Time at) { engine_.end_ticket(ticket, at); };
  end.add(std::move(job));
  engine_.wait(running.kernel, ticket, running.lost_bytes);
}

void Caller::store(Running& running, const Operand& operand, const View& elements) {
  if (!operand.stream) return;
  do_job(running, sink(running, *operand.stream),
         {.out = Payload(std::vector<std::byte>(elements.data, elements.data + elements.bytes()))});
}

}  // namespace fabricmark::accl

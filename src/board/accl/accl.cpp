#include "board/accl/accl.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "board/accl/caller.hpp"

namespace fabricmark::accl {

const Result& Request::wait() {
  event_.wait();
  return *result_;
}

bool Request::wait(double seconds) {
  const network::Time until = network::later(host_->now(), network::from_seconds(seconds));
  event_.wait();
  if (network::from_seconds(result_->ended) <= until) return true;
  host_->set_back(until);
  return false;
}

double Request::duration() {
  wait();
  return result_->ended - result_->started;
}

/// The calls of one kernel: a fiber takes its commands and starts each, another tells how they ended, in the
/// order of the commands.
struct Accl::Logic {
  struct Call {
    bool has_ended = false;
    network::Time end = 0;
    Status status{};
  };
  std::deque<std::shared_ptr<Call>> calls{};
  dataflow::Kernel* waiting = nullptr;  // for the first call

  void wake() {
    if (waiting != nullptr) waiting->worker().make_ready(*std::exchange(waiting, nullptr));
  }
};

Accl::Accl(std::shared_ptr<dataflow::Fabric> fabric, dataflow::Host& host, const EngineSettings& settings)
    : fabric_(std::move(fabric)),
      host_(host),
      engine_(std::make_shared<Engine>(*fabric_, host.device(), settings)),
      streams_(std::make_shared<Streams>(*fabric_, host.device(), settings.clock_hz)),
      caller_(std::make_shared<Caller>(*fabric_, *engine_, *streams_)) {
  fabric_->keep(engine_);
  fabric_->keep(streams_);
  fabric_->keep(caller_);
}

Accl::~Accl() = default;

int Accl::communicator(const std::vector<int>& devices) { return caller_->add_group(devices); }
int Accl::rank(int communicator) const { return caller_->group(communicator).rank; }
int Accl::size(int communicator) const {
  return static_cast<int>(caller_->group(communicator).devices.size());
}
void Accl::set_timeout(double seconds) { engine_->set_timeout(seconds); }
void Accl::set_algorithm(collectives::Operation operation, const std::string& algorithm) {
  caller_->set_algorithm(operation, algorithm);
}
std::uint64_t Accl::register_memory(const View& memory) { return engine_->register_memory(memory); }

Request Accl::start(const Call& call) {
  auto result = std::make_shared<Result>();
  const double started = network::seconds(host_.now());
  auto event = host_.start("engine: " + call.text(), {}, [caller = caller_, call, result, started] {
    dataflow::Kernel& kernel = dataflow::current_kernel();
    *result = caller->run(kernel, call);
    result->started = started;
    result->ended = network::seconds(kernel.clock);
  });
  return {host_, std::move(event), std::move(result)};
}

Call Accl::call_of(const Command& command) const { return caller_->call_of(command); }

Request Accl::nop() { return start({}); }

Request Accl::send(const View& elements, int to, int tag, int communicator) {
  return start({.kind = Kind::kSend,
                .communicator = communicator,
                .peer = to,
                .tag = tag,
                .count = elements.count,
                .type = elements.type,
                .a = {elements}});
}

Request Accl::recv(const View& elements, int from, int tag, int communicator) {
  return start({.kind = Kind::kRecv,
                .communicator = communicator,
                .peer = from,
                .tag = tag,
                .count = elements.count,
                .type = elements.type,
                .result = {elements}});
}

Request Accl::put(const View& elements, int to, std::uint64_t memory, std::size_t first, int communicator) {
  return start({.kind = Kind::kPut,
                .communicator = communicator,
                .peer = to,
                .count = elements.count,
                .type = elements.type,
                .a = {elements},
                .remote_memory = memory,
                .remote_first = first});
}

Request Accl::stream_put(const View& elements, int to, int stream, int communicator) {
  return start({.kind = Kind::kStreamPut,
                .communicator = communicator,
                .peer = to,
                .count = elements.count,
                .type = elements.type,
                .a = {elements},
                .remote_stream = stream});
}

Request Accl::copy(const View& from, const View& to) {
  return start({.kind = Kind::kCopy, .count = from.count, .type = from.type, .a = {from}, .result = {to}});
}

Request Accl::copy_from_stream(int stream, const View& to) {
  return start({.kind = Kind::kCopy, .count = to.count, .type = to.type, .a = {{}, stream}, .result = {to}});
}

Request Accl::copy_to_stream(const View& from, int stream) {
  return start(
      {.kind = Kind::kCopy, .count = from.count, .type = from.type, .a = {from}, .result = {{}, stream}});
}

Request Accl::combine(collectives::Reduction reduction, const View& a, const View& b, const View& result) {
  return start({.kind = Kind::kCombine,
                .count = result.count,
                .type = result.type,
                .reduction = reduction,
                .a = {a},
                .b = {b},
                .result = {result}});
}

Request Accl::collective(const collectives::Call& call, int communicator, const std::string& algorithm,
                         bool is_compressed) {
  return start({.kind = Kind::kCollective,
                .communicator = communicator,
                .peer = call.root,
                .count = call.count,
                .type = collectives::type_of(call, rank(communicator), size(communicator)),
                .reduction = call.reduction,
                .a = {call.own},
                .result = {call.result},
                .is_compressed = is_compressed,
                .collective = call,
                .algorithm = algorithm});
}

collectives::Place Accl::place(int communicator) const {
  return caller_->place(caller_->group(communicator));
}

void Accl::kill_device() { fabric_->network().stack().kill(host_.now(), host_.device()); }

// Kernels.

void Accl::receive_into_stream(int stream, StreamEnd& end) {
  engine_->on_words(stream,
                    [&end](network::Time at, const Payload& bytes) { end.add({.at = at, .out = bytes}); });
}

fm::accl_use Accl::use(Type type, int communicator, bool is_compressed) const {
  static_cast<void>(caller_->group(communicator));  // which has to be there
  const ExchangeMemory& exchange = caller_->exchange();
  return {exchange.communicator(communicator), exchange.datapath(type, is_compressed),
          is_compressed ? unsigned{fm::accl_compressed_wire} : 0U};
}

const std::string& Accl::logic_failure() const { return *logic_failure_; }

void Accl::connect_logic(dataflow::stream<fm::accl_request>& commands, dataflow::stream<Status>& statuses) {
  serve_logic(
      commands,
      [&commands] {
        const fm::accl_request request = commands.read();
        return std::vector<fm::accl_word>(std::begin(request.words), std::end(request.words));
      },
      statuses);
}

void Accl::connect_logic(dataflow::stream<fm::accl_word>& words, dataflow::stream<Status>& statuses) {
  serve_logic(
      words,
      [&words] {
        std::vector<fm::accl_word> command;
        do command.push_back(words.read());
        while (!command.back().last && command.size() < fm::accl_words_of_command);
        return command;
      },
      statuses);
}

void Accl::serve_logic(const dataflow::AnyStream& commands, std::function<std::vector<fm::accl_word>()> next,
                       dataflow::stream<Status>& statuses) {
  const auto logic = std::make_shared<Logic>();
  const int number = logics_++;
  fabric_->keep(logic);
  const int device = host_.device();
  const double clock_hz = engine_->settings().clock_hz;
  const network::Time issue = network::from_seconds(engine_->settings().logic_issue_seconds);
  fabric_->start(device, fmt::format("engine commands {}", number), {}, {clock_hz}, {commands.shared()},
                 [logic, issue, next = std::move(next), fabric = fabric_.get(), caller = caller_.get(),
                  device, clock_hz, told = logic_failure_] {
                   for (;;) {
                     const std::vector<fm::accl_word> words = next();
                     dataflow::Kernel& front = dataflow::current_kernel();
                     front.clock = network::later(front.clock, issue);
                     const auto call = std::make_shared<Logic::Call>();
                     logic->calls.push_back(call);
                     fabric->start(device, fmt::format("engine: command {}", words.front().data),
                                   {front.clock}, {clock_hz}, {}, [logic, caller, call, words, told] {
                                     dataflow::Kernel& kernel = dataflow::current_kernel();
                                     const Result result = caller->run(kernel, words);
                                     if (!result.is_done()) *told = result.text;
                                     call->status = {status_of(result.code), fm::accl_keep_word, true};
                                     call->end = kernel.clock;
                                     call->has_ended = true;
                                     logic->wake();
                                   });
                   }
                 });
  fabric_->start(device, fmt::format("engine statuses {}", number), {}, {clock_hz}, {statuses.shared()},
                 [logic, &statuses] {
                   for (;;) {
                     dataflow::Kernel& kernel = dataflow::current_kernel();
                     while (logic->calls.empty() || !logic->calls.front()->has_ended) {
                       logic->waiting = &kernel;
                       kernel.wait(dataflow::Kernel::Waits::kForMessage, nullptr);
                     }
                     const auto call = logic->calls.front();
                     logic->calls.pop_front();
                     kernel.idle_until(call->end);
                     statuses.write(call->status);
                   }
                 });
}

void Accl::check_lost_words(const std::string& consequence) const {
  if (engine_->lost_words_bytes() == 0) return;
  throw Error(
      ExitCode::kInvalidResult,
      fmt::format("{} bytes for streams of device {} were lost on the way, and UDP does not send them "
                  "again{}",
                  engine_->lost_words_bytes(), host_.device(), consequence),
      "use TCP or RDMA, or see what drops packets");
}

void Accl::finish() {
  try {
    host_.finish();
  } catch (const Error& error) {
    check_lost_words(fmt::format(" ({})", error.what()));
    throw;
  }
  check_lost_words("");
  if (const Result* const cause = engine_->broken()) {
    throw Error(ExitCode::kInvalidResult, cause->text, "see the first rank that says so");
  }
  const auto left = engine_->left_over();
  if (left.empty()) return;
  throw Error(ExitCode::kInvalidResult,
              fmt::format("nobody received {} on device {}", fmt::join(left, ", "), host_.device()),
              "let as many be received as are sent");
}

}  // namespace fabricmark::accl

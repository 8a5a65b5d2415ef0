#include "collectives/program_record.hpp"

namespace fabricmark::collectives {

namespace {

class Recorder final : public Moves {
 public:
  Recorder(int rank, int size, Type type) : rank_(rank), size_(size), type_(type) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  Ticket start_send(int to, const View& elements) override {
    return add_message(Step::Kind::kSend, to, elements);
  }
  Ticket start_receive(int from, const View& elements) override {
    return add_message(Step::Kind::kReceive, from, elements);
  }
  void wait(Ticket ticket) override { steps_.push_back({.kind = Step::Kind::kWait, .ticket = ticket}); }
  void copy(const View& from, const View& /*to*/) override { add_work(Step::Kind::kCopy, from); }
  void combine(const View& /*a*/, const View& /*b*/, const View& result) override {
    add_work(Step::Kind::kCombine, result);
  }
  void receive_and_combine(int from, const View& own, const View& /*result*/) override {
    wait(add_message(Step::Kind::kReceiveAndCombine, from, own));
  }
  View scratch(std::size_t count) override { return {nullptr, count, type_}; }

  std::vector<Step> take() { return std::move(steps_); }

 private:
  Ticket add_message(Step::Kind kind, int peer, const View& elements) {
    steps_.push_back({kind, peer, messages_, static_cast<double>(elements.bytes())});
    return messages_++;
  }
  void add_work(Step::Kind kind, const View& elements) {
    if (elements.count == 0) return;
    steps_.push_back({.kind = kind, .bytes = static_cast<double>(elements.bytes())});
  }

  int rank_;
  int size_;
  Type type_;
  Ticket messages_ = 0;
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> record(const Algorithm& algorithm, const Problem& problem, int rank,
                         std::size_t segment_bytes) {
  // Shares are of whole elements; of a number of bytes that is none of float32 they are of bytes.
  const Type type = problem.bytes % bytes_of(Type::kFloat32) == 0 ? Type::kFloat32 : Type::kInt8;
  Recorder recorder(rank, problem.ranks, type);
  Call call{.operation = problem.operation, .count = problem.bytes / bytes_of(type), .shape = problem.shape};
  call.segment_bytes = segment_bytes;
  call.buffers = problem.buffers;
  call.own = {nullptr, own_count(call.operation, rank, call.root, problem.ranks, call.count), type};
  call.result = {nullptr, result_count(call.operation, rank, call.root, problem.ranks, call.count), type};
  run(algorithm, recorder, call);
  return recorder.take();
}

}  // namespace fabricmark::collectives

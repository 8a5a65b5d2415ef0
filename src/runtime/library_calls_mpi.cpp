// MPI's own calls, one for one.
#ifdef FABRICMARK_WITH_MPI

#include "runtime/library_calls.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "runtime/mpi_world.hpp"

namespace fabricmark::runtime {

namespace {

MPI_Datatype type_of(LibraryCalls::Type type) {
  const std::array types{MPI_INT8_T, MPI_INT, MPI_FLOAT};
  return types.at(static_cast<std::size_t>(type));
}

/// As OMB names it: sums are not defined of MPI_CHAR.
MPI_Datatype of_messages(LibraryCalls::Type type) {
  return type == LibraryCalls::Type::kInt8 ? MPI_CHAR : type_of(type);
}

/// A message as its receiver asks for it.
struct Envelope {
  int from = 0;
  int tag = 0;
  int count = 0;
  bool operator==(const Envelope&) const = default;
};

/// Looks at the status of each message that has arrived.
class Arrivals {
 public:
  void set_type(MPI_Datatype type) {
    type_ = type;
    is_known_ = false;
  }
  /// Throws Error (environment) for another message than was wanted. One whose status is, byte by byte, that
  /// of a message of the same kind is as right as that was, and costs next to nothing: this is timed.
  void check(const MPI_Status& status, const Envelope& wanted) {
    if (is_known_ && wanted == known_ && std::memcmp(&status, &right_, sizeof status) == 0) return;
    look(status, wanted);
    known_ = wanted;
    right_ = status;
    is_known_ = true;
  }

 private:
  void look(const MPI_Status& status, const Envelope& wanted) const {
    int count = 0;
    int width = 1;
    check_mpi(MPI_Get_count(&status, type_, &count), "deliver a message");
    check_mpi(MPI_Type_size(type_, &width), "tell the size of a type");
    if (status.MPI_SOURCE != wanted.from || status.MPI_TAG != wanted.tag) {
      throw environment_failure(
          fmt::format("a message of rank {} with the tag {} arrived where one of rank {} with the tag {} was "
                      "expected",
                      status.MPI_SOURCE, status.MPI_TAG, wanted.from, wanted.tag),
          "check the MPI library and the network of this job");
    }
    if (count == wanted.count) return;
    const auto bytes = [width](int elements) {
      return static_cast<std::size_t>(elements) * static_cast<std::size_t>(width);
    };
    // Of a part of an element the library counts none.
    if (count == MPI_UNDEFINED) throw other_length(wanted.from, 0, bytes(wanted.count));
    throw other_length(wanted.from, bytes(count), bytes(wanted.count));
  }

  MPI_Datatype type_ = MPI_CHAR;
  bool is_known_ = false;
  Envelope known_;
  MPI_Status right_{};
};

class MpiCalls final : public LibraryCalls {
 public:
  explicit MpiCalls(MPI_Comm ranks) {
    check_mpi(MPI_Comm_dup(ranks, &ranks_), "make a communicator");
    check_mpi(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "return its errors");
    check_mpi(MPI_Comm_rank(ranks_, &rank_), "tell the rank");
    check_mpi(MPI_Comm_size(ranks_, &size_), "tell the number of ranks");
  }

  void set_type(Type type) override {
    type_ = of_messages(type);
    arrivals_.set_type(type_);
  }
  void send(int to, const std::byte* data, int count, int tag) override {
    check_mpi(MPI_Send(data, count, type_, to, tag, ranks_), "send a message");
  }
  void receive(int from, std::byte* data, int count, int tag) override {
    check_mpi(MPI_Recv(data, count, type_, from, tag, ranks_, statuses_.data()), "receive a message");
    arrivals_.check(statuses_[0], {from, tag, count});
  }
  void start_send(int to, const std::byte* data, int count, int tag) override {
    start(sends_, "send a message",
          [&](MPI_Request* request) { return MPI_Isend(data, count, type_, to, tag, ranks_, request); });
  }
  void start_receive(int from, std::byte* data, int count, int tag) override {
    start(receives_, "receive a message",
          [&](MPI_Request* request) { return MPI_Irecv(data, count, type_, from, tag, ranks_, request); });
    wanted_.push_back({from, tag, count});
  }
  void wait_all() override {
    if (statuses_.size() < receives_.size()) statuses_.resize(receives_.size());
    // As OMB: first what is sent.
    wait_for(sends_, MPI_STATUSES_IGNORE);
    wait_for(receives_, statuses_.data());
    for (std::size_t i = 0; i < wanted_.size(); ++i) arrivals_.check(statuses_[i], wanted_[i]);
    wanted_.clear();
  }
  void give_up() noexcept override {
    for (MPI_Request one : receives_) abandon(one, true);
    for (MPI_Request one : sends_) abandon(one, true);
    abandon(collective_, false);  // MPI cancels none
  }

  void call(const Collective& one) override {
    check_mpi(one.counts.empty() ? blocking(one) : blocking_with_counts(one), "do a collective operation");
  }
  void start(const Collective& one) override {
    const int code = starting(one);
    if (code != MPI_SUCCESS) collective_ = MPI_REQUEST_NULL;
    check_mpi(code, "start a collective operation");
  }
  bool test() override {
    int is_done = 0;
    check_mpi(MPI_Test(&collective_, &is_done, MPI_STATUS_IGNORE), "do a collective operation");
    return is_done != 0;
  }
  void wait() override { check_mpi(MPI_Wait(&collective_, MPI_STATUS_IGNORE), "do a collective operation"); }

 private:
  template <typename Start>
  static void start(std::vector<MPI_Request>& requests, const char* action, const Start& started) {
    const int code = started(&requests.emplace_back(MPI_REQUEST_NULL));
    if (code == MPI_SUCCESS) return;
    requests.pop_back();  // what a call that failed leaves there is none
    throw mpi_failure(code, action);
  }
  static void wait_for(std::vector<MPI_Request>& requests, MPI_Status* statuses) {
    if (requests.empty()) return;
    check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses), "deliver messages");
    requests.clear();
  }
  [[nodiscard]] static MPI_Datatype type_for(const Collective& one) {
    const bool reduces = one.operation == Operation::kReduce || one.operation == Operation::kAllReduce ||
                         one.operation == Operation::kReduceScatter;
    return reduces ? type_of(one.type) : of_messages(one.type);
  }
  /// The memory of a broadcast.
  [[nodiscard]] static std::byte* both(const Collective& one) {
    return one.result != nullptr ? one.result : const_cast<std::byte*>(one.own);
  }

  int blocking(const Collective& one) {
    const int count = static_cast<int>(one.count);
    MPI_Datatype type = type_for(one);
    switch (one.operation) {
      case Operation::kBroadcast:
        return MPI_Bcast(both(one), count, type, one.root, ranks_);
      case Operation::kScatter:
        return MPI_Scatter(one.own, count, type, one.result, count, type, one.root, ranks_);
      case Operation::kGather:
        return MPI_Gather(one.own, count, type, one.result, count, type, one.root, ranks_);
      case Operation::kAllGather:
        return MPI_Allgather(one.own, count, type, one.result, count, type, ranks_);
      case Operation::kReduce:
        return MPI_Reduce(one.own, one.result, count, type, MPI_SUM, one.root, ranks_);
      case Operation::kAllReduce:
        return MPI_Allreduce(one.own, one.result, count, type, MPI_SUM, ranks_);
      case Operation::kReduceScatter:
        return MPI_Reduce_scatter(one.own, one.result, counts_for(one), type, MPI_SUM, ranks_);
      case Operation::kAllToAll:
        return MPI_Alltoall(one.own, count, type, one.result, count, type, ranks_);
      case Operation::kBarrier:
        break;
    }
    return MPI_Barrier(ranks_);
  }

  int blocking_with_counts(const Collective& one) {
    const int count = one.counts[static_cast<std::size_t>(rank_)];
    const int* const counts = one.counts.data();
    const int* const places = one.places.data();
    MPI_Datatype type = type_for(one);
    switch (one.operation) {
      case Operation::kScatter:
        return MPI_Scatterv(one.own, counts, places, type, one.result, count, type, one.root, ranks_);
      case Operation::kGather:
        return MPI_Gatherv(one.own, count, type, one.result, counts, places, type, one.root, ranks_);
      case Operation::kAllGather:
        return MPI_Allgatherv(one.own, count, type, one.result, counts, places, type, ranks_);
      case Operation::kAllToAll:
        return MPI_Alltoallv(one.own, counts, places, type, one.result, counts, places, type, ranks_);
      default:
        return blocking(one);
    }
  }

  int starting(const Collective& one) {
    const int count = static_cast<int>(one.count);
    MPI_Datatype type = type_for(one);
    switch (one.operation) {
      case Operation::kBroadcast:
        return MPI_Ibcast(both(one), count, type, one.root, ranks_, &collective_);
      case Operation::kScatter:
        return MPI_Iscatter(one.own, count, type, one.result, count, type, one.root, ranks_, &collective_);
      case Operation::kGather:
        return MPI_Igather(one.own, count, type, one.result, count, type, one.root, ranks_, &collective_);
      case Operation::kAllGather:
        return MPI_Iallgather(one.own, count, type, one.result, count, type, ranks_, &collective_);
      case Operation::kReduce:
        return MPI_Ireduce(one.own, one.result, count, type, MPI_SUM, one.root, ranks_, &collective_);
      case Operation::kAllReduce:
        return MPI_Iallreduce(one.own, one.result, count, type, MPI_SUM, ranks_, &collective_);
      case Operation::kReduceScatter:
        return MPI_Ireduce_scatter(one.own, one.result, counts_for(one), type, MPI_SUM, ranks_, &collective_);
      case Operation::kAllToAll:
        return MPI_Ialltoall(one.own, count, type, one.result, count, type, ranks_, &collective_);
      case Operation::kBarrier:
        break;
    }
    return MPI_Ibarrier(ranks_, &collective_);
  }

  /// MPI_Reduce_scatter takes them by rank; as OMB it is called with the same for all.
  const int* counts_for(const Collective& one) {
    counts_.assign(static_cast<std::size_t>(size_), static_cast<int>(one.count));
    return counts_.data();
  }

  MPI_Comm ranks_ = MPI_COMM_NULL;  // MPI's end frees it
  int rank_ = 0;
  int size_ = 1;
  MPI_Datatype type_ = MPI_CHAR;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;
  std::vector<Envelope> wanted_;  // [receive]
  std::vector<MPI_Status> statuses_ = std::vector<MPI_Status>(1);
  Arrivals arrivals_;
  MPI_Request collective_ = MPI_REQUEST_NULL;
  std::vector<int> counts_;
};

}  // namespace

std::unique_ptr<LibraryCalls> mpi_calls(MPI_Comm ranks) { return std::make_unique<MpiCalls>(ranks); }

}  // namespace fabricmark::runtime

#endif

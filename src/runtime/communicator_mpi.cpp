// Ranks that are MPI processes; only this file and mpi_world.cpp speak MPI. All is made of messages between
// two ranks, none of which blocks: so every wait has a deadline and sees the failure of another rank.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/random_bits.hpp"
#include "runtime/agreement.hpp"
#include "runtime/communicator.hpp"

#ifdef FABRICMARK_WITH_MPI
#include "runtime/mpi_ranks.hpp"
#include "runtime/mpi_world.hpp"
#endif

namespace fabricmark::runtime {

namespace {

/// The number in an environment variable, or 0.
int count_in(const char* name) {
  const char* text = std::getenv(name);
  int count = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), count);
  return count;
}

}  // namespace

bool started_by_launcher() {
  // Open MPI, MPICH and Intel MPI (Hydra), and Slurm's srun with a process management interface.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr) return true;
  return std::getenv("PMIX_RANK") != nullptr ||
         (std::getenv("PMI_RANK") != nullptr && count_in("SLURM_NTASKS") > 1);
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return count_in(name);
  }
  return count_in("SLURM_PROCID");
}

#ifdef FABRICMARK_WITH_MPI

namespace {

class MpiCommunicator : public Communicator {
 public:
  /// All ranks of the world.
  explicit MpiCommunicator(std::shared_ptr<World> world) : world_(std::move(world)), rank_(world_->rank) {
    for (int rank = 0; rank < world_->size; ++rank) members_.push_back(rank);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Comm_idup(world_->messages, &world_->control, &request), "make a communicator");
    Request packed = pack(request);
    Patience patience(*this, Waiting::kSpin, limit(), WaitsFor::kCollective);
    while (!test(packed)) {
      if (patience.is_over()) throw DeadlineError("not all ranks have started");
    }
    world_->listen();
    world_->is_ready = true;
  }
  MpiCommunicator(std::shared_ptr<World> world, std::vector<int> members, const Group& group)
      : world_(std::move(world)), members_(std::move(members)), rank_(group.own), context_(group.context) {
    find_local_ranks();
  }

  void start() override { find_local_ranks(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return static_cast<int>(members_.size()); }
  [[nodiscard]] int in_world(int rank) const override { return members_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }
  [[nodiscard]] int local_size() const override { return local_size_; }
  [[nodiscard]] std::string kind() const override { return "mpi"; }

  [[nodiscard]] std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    check_mpi(MPI_Get_library_version(text, &length), "tell its version");
    const std::string version(text, static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
  }

  [[nodiscard]] bool takes(DevicePointers pointers) const override { return mpi_takes(pointers); }

  std::unique_ptr<LibraryCalls> library_calls() override {
    const bool has_all = size() == world_->size;
    return has_all ? mpi_calls(world_->messages) : nullptr;
  }

  /// By dissemination (Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988): after
  /// round k a rank knows the largest value of the 2^(k + 1) ranks up to itself.
  std::int64_t all_reduce_max(std::int64_t value) override {
    Patience patience(*this, Waiting::kSpin, limit(), WaitsFor::kCollective);
    ++step_;
    for (int distance = 1; distance < size(); distance *= 2) {
      Header sent{.step = step_, .kind = 'm', .distance = distance, .number = value};
      sent.digest = digest_of(sent);
      Header received;
      exchange({rank_ + distance, std::as_bytes(std::span(&sent, 1)), rank_ - distance,
                std::as_writable_bytes(std::span(&received, 1)), kHeaderTag},
               patience);
      check_step(received, sent, rank_ - distance);
      value = std::max(value, received.number);
    }
    return value;
  }

  /// By doubling (Bruck and others, "Efficient algorithms for all-to-all communications in multiport
  /// message-passing systems", 1997): before each round a rank knows the blocks of itself and of the ranks
  /// after it.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> bytes) override {
    Patience patience(*this, Waiting::kSpin, limit(), WaitsFor::kCollective);
    ++step_;
    std::vector<std::vector<std::byte>> known{{bytes.begin(), bytes.end()}};
    for (int distance = 1; distance < size(); distance *= 2) exchange_blocks(known, distance, patience);
    std::vector<std::vector<std::byte>> all(known.size());
    for (std::size_t i = 0; i < known.size(); ++i) {
      all[(static_cast<std::size_t>(rank_) + i) % known.size()] = std::move(known[i]);
    }
    return all;
  }

  std::unique_ptr<Communicator> split(int color, int key) override {
    const Group group = agree_on_group(*this, color, key, world_->next_context);
    std::vector<int> members;
    for (const int rank : group.members) members.push_back(in_world(rank));
    auto part = std::make_unique<MpiCommunicator>(world_, members, group);
    part->set_timeout(timeout().count());
    return part;
  }

  Request start_send(int to, std::span<const std::byte> bytes, int tag) override {
    return start_pieces(world_->messages, to, bytes, tag_in_context(tag, context_, world_->largest_tag));
  }
  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    return start_pieces(world_->messages, from, bytes, tag_in_context(tag, context_, world_->largest_tag));
  }

  bool test(Request& request) override {
    while (request.handle != 0) {
      if (!test_piece(request)) {
        if (pastime() != nullptr) note_awaited(request.awaited);
        return false;
      }
      if (!request.rest || request.rest->empty()) break;
      std::unique_ptr<std::vector<Request>> rest = std::move(request.rest);
      request = std::move(rest->back());
      rest->pop_back();
      request.rest = std::move(rest);
    }
    return true;
  }

  std::vector<Awaited> take_awaited() override {
    std::ranges::sort(awaited_);
    return std::exchange(awaited_, {});
  }

  [[nodiscard]] bool has_answered(const Awaited& awaited) const override {
    return world_->has_answered(awaited);
  }

  void cancel(Request& request) override {
    if (request.rest) {
      for (Request& piece : *request.rest) cancel(piece);
    }
    if (request.handle != 0) {
      MPI_Request inner = unpack(request);
      if (inner != MPI_REQUEST_NULL) {
        abandon(inner, true);
        world_->take_back(request.awaited);
      }
    }
    request = {};
  }

  void check() override {
    world_->hear();
    throw_first_failure(world_->words);
  }

  void fail(const Failure& cause) noexcept override { world_->say(cause); }

  Ending end(const std::optional<Failure>& own) noexcept override {
    const std::optional<Failure> failure = words_at_end(own);
    if (!failure) return {};
    world_->say(*failure);
    const auto deadline = std::chrono::steady_clock::now() + kGrace;
    // What fails now leaves words out, whose ranks then count as missing.
    const auto later = attempt([&] {
      constexpr int kFewestLooks = 10;  // what is on its way already is heard too
      for (int look = 0; look < kFewestLooks || !world_->all_have_said(); ++look) {
        world_->hear();
        if (std::chrono::steady_clock::now() >= deadline) break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    Ending ending = agree(world_->words, world_->rank);
    if (world_->has_been_said) ending.is_speaker = false;
    if (ending.is_speaker && !ending.is_orderly) world_->say_that_it_has_been_said();
    return ending;
  }

 private:
  /// The first message of a round; what it does not say the same as the receiver is an error.
  struct Header {
    std::uint64_t step = 0;
    char kind = 0;
    int distance = 0;
    std::int64_t number = 0;  ///< of a reduction the value, of a gather the number of lengths that follow
    std::uint64_t payload_digest = 0;  ///< of a gather, of the message behind this one
    std::uint64_t digest = 0;          ///< of all above, and of the lengths
  };
  /// To one rank and from another at once; ranks may be beyond the first or last one.
  struct Round {
    int to = 0;
    std::span<const std::byte> sent;
    int from = 0;
    std::span<std::byte> received;
    ControlTag tag = kHeaderTag;
  };

  [[nodiscard]] std::chrono::duration<double> limit() const { return timeout() + kStepMargin; }
  /// Of a rank that may be beyond the first or last one. Not for every message: a division takes its time.
  [[nodiscard]] int around(int rank) const { return (rank + size()) % size(); }

  void find_local_ranks() {
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = 0;
    check_mpi(MPI_Get_processor_name(name, &length), "tell the host's name");
    const std::string own(name, static_cast<std::size_t>(length));
    const std::vector<std::string> all = all_gather_texts(own);
    local_rank_ = static_cast<int>(std::count(all.begin(), all.begin() + rank_, own));
    local_size_ = static_cast<int>(std::count(all.begin(), all.end(), own));
  }

  /// Bytes that a network or a library has damaged would else be taken for another rank's values.
  static std::uint64_t digest_of(std::span<const std::byte> bytes, std::uint64_t digest) {
    for (std::size_t start = 0; start < bytes.size(); start += sizeof digest) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + start, std::min(sizeof word, bytes.size() - start));
      digest = mixed_bits((digest ^ word) + kRandomStep);
    }
    return mixed_bits(digest + bytes.size() + kRandomStep);
  }
  static std::uint64_t digest_of(const Header& header, std::span<const std::byte> lengths = {}) {
    const std::array<std::uint64_t, 4> words{
        header.step,
        static_cast<std::uint64_t>(header.kind) << 32U | static_cast<std::uint32_t>(header.distance),
        static_cast<std::uint64_t>(header.number), header.payload_digest};
    return digest_of(lengths, digest_of(std::as_bytes(std::span(words)), 0));
  }

  void check_step(const Header& received, const Header& sent, int from,
                  std::span<const std::byte> lengths = {}) const {
    const bool is_same =
        received.step == sent.step && received.kind == sent.kind && received.distance == sent.distance;
    if (!is_same || received.digest != digest_of(received, lengths)) throw out_of_step(around(from));
  }

  void exchange_blocks(std::vector<std::vector<std::byte>>& known, int distance, Patience& patience) {
    const auto count = static_cast<std::size_t>(std::min(distance, size() - distance));
    std::vector<std::uint64_t> lengths;
    std::vector<std::byte> payload;
    for (std::size_t i = 0; i < count; ++i) {
      lengths.push_back(known[i].size());
      payload.insert(payload.end(), known[i].begin(), known[i].end());
    }
    Header own{.step = step_, .kind = 'g', .distance = distance, .number = static_cast<int>(count)};
    own.payload_digest = digest_of(payload, 0);
    own.digest = digest_of(own, std::as_bytes(std::span(lengths)));
    std::vector<std::byte> sent(sizeof(Header) + count * sizeof(std::uint64_t));
    std::memcpy(sent.data(), &own, sizeof(own));
    std::memcpy(sent.data() + sizeof(own), lengths.data(), count * sizeof(std::uint64_t));
    std::vector<std::byte> received(sent.size());
    const int to = rank_ - distance;
    const int from = rank_ + distance;
    exchange({to, sent, from, received, kHeaderTag}, patience);
    Header header;
    std::memcpy(&header, received.data(), sizeof(header));
    check_step(header, own, from, std::span(received).subspan(sizeof(own)));
    std::memcpy(lengths.data(), received.data() + sizeof(own), count * sizeof(std::uint64_t));
    std::uint64_t total = 0;
    for (const std::uint64_t length : lengths) total += length;
    std::vector<std::byte> arriving(total);
    exchange({to, payload, from, arriving, kPayloadTag}, patience);
    if (digest_of(arriving, 0) != header.payload_digest) throw out_of_step(around(from));
    auto start = arriving.cbegin();
    for (const std::uint64_t length : lengths) {
      known.emplace_back(start, start + static_cast<std::ptrdiff_t>(length));
      start += static_cast<std::ptrdiff_t>(length);
    }
  }

  void exchange(const Round& round, Patience& patience) {
    struct Pair {
      explicit Pair(MpiCommunicator& communicator) : owner(communicator) {}
      ~Pair() {
        owner.cancel(receive);
        owner.cancel(send);
      }
      Pair(const Pair&) = delete;
      Pair& operator=(const Pair&) = delete;
      MpiCommunicator& owner;
      Request receive;
      Request send;
    };
    const int tag = static_cast<int>(context_ * kControlTags) + round.tag;
    Pair pair(*this);
    pair.receive = start_pieces(world_->control, around(round.from), round.received, tag);
    pair.send = start_pieces(world_->control, around(round.to), round.sent, tag);
    const auto finish = [&](Request& request, int peer) {
      while (!test(request)) {
        if (patience.is_over()) {
          const int awaited = in_world(around(peer));
          throw DeadlineError(fmt::format("no sign of rank {} in {} s", awaited, limit().count()), awaited);
        }
      }
    };
    finish(pair.receive, round.from);
    finish(pair.send, round.to);
  }

  /// Bytes that are const are sent, others received.
  template <typename Byte>
  Request start_pieces(MPI_Comm communicator, int peer, std::span<Byte> bytes, int tag) {
    Request first = start_piece(communicator, peer, bytes.first(std::min(bytes.size(), kLongestPiece)), tag);
    for (std::size_t start = kLongestPiece; start < bytes.size(); start += kLongestPiece) {
      const std::size_t length = std::min(bytes.size() - start, kLongestPiece);
      if (!first.rest) first.rest = std::make_unique<std::vector<Request>>();
      first.rest->push_back(start_piece(communicator, peer, bytes.subspan(start, length), tag));
    }
    return first;
  }

  void note_awaited(const Awaited& awaited) {
    if (std::ranges::find(awaited_, awaited) == awaited_.end()) awaited_.push_back(awaited);
  }

  template <typename Byte>
  Request start_piece(MPI_Comm communicator, int peer, std::span<Byte> bytes, int tag) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int length = static_cast<int>(bytes.size());
    constexpr bool kSends = std::is_const_v<Byte>;
    if constexpr (kSends) {
      check_mpi(MPI_Isend(bytes.data(), length, MPI_BYTE, in_world(peer), tag, communicator, &request),
                "send a message");
    } else {
      check_mpi(MPI_Irecv(bytes.data(), length, MPI_BYTE, in_world(peer), tag, communicator, &request),
                "receive a message");
    }
    Request packed = pack(request);
    if (!kSends) packed.wanted = bytes.size();
    packed.awaited = world_->next_awaited(kSends, in_world(peer), communicator, tag);
    return packed;
  }

  static bool test_piece(Request& request) {
    MPI_Request inner = unpack(request);
    int is_done = 0;
    MPI_Status status;
    const int code = MPI_Test(&inner, &is_done, &status);
    if (code == MPI_SUCCESS && is_done == 0) return false;
    // A look that failed says nothing of the message: where the handle is left, its memory must not go yet.
    request.handle = inner == MPI_REQUEST_NULL ? 0 : pack(inner).handle;
    const std::optional<std::size_t> wanted = std::exchange(request.wanted, std::nullopt);
    const int from = request.awaited.from;
    check_mpi(code, "deliver a message");
    if (!wanted) return true;
    int arrived = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &arrived), "deliver a message");
    if (status.MPI_SOURCE != from) {
      throw environment_failure(fmt::format("a message of rank {} arrived where one of rank {} was expected",
                                            status.MPI_SOURCE, from),
                                "check the MPI library and the network of this job");
    }
    if (std::cmp_not_equal(arrived, *wanted)) {
      throw other_length(status.MPI_SOURCE, static_cast<std::size_t>(arrived), *wanted);
    }
    return true;
  }

  std::shared_ptr<World> world_;
  std::vector<int> members_;  // ranks of the world
  int rank_;
  std::int64_t context_ = 0;
  std::uint64_t step_ = 0;  // collectives so far
  std::vector<Awaited> awaited_;
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace

std::unique_ptr<Communicator> mpi_ranks(int* argc, char*** argv, Threads threads) {
  return std::make_unique<MpiCommunicator>(std::make_shared<World>(argc, argv, threads));
}

std::unique_ptr<Communicator> ranks_of(MPI_Comm ranks) {
  auto found = std::make_unique<MpiCommunicator>(std::make_shared<World>(ranks));
  found->start();
  return found;
}

void abort_all_ranks(int exit_code) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) {
    end_process_after(std::chrono::seconds(5), exit_code);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  _exit(exit_code);
}

#else

std::unique_ptr<Communicator> mpi_ranks(int* /*argc*/, char*** /*argv*/, Threads /*threads*/) {
  throw environment_failure("a launcher started several processes but this program was built without MPI",
                            "install an MPI library and build again, or use --ranks N");
}

void abort_all_ranks(int exit_code) { _exit(exit_code); }

#endif

}  // namespace fabricmark::runtime

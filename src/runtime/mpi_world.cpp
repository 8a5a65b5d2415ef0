// What all communicators of an MPI process stand on: MPI's start and end, and the words of failing ranks.
#ifdef FABRICMARK_WITH_MPI

#include "runtime/mpi_world.hpp"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "device/memory.hpp"

namespace fabricmark::runtime {

namespace {

// Of a failure; so short that they leave at once with any library.
constexpr std::size_t kLongestWords = 3800;

/// What stands before them.
struct SaidHead {
  std::int32_t code;
  std::int32_t is_deadline;
  std::int32_t awaited;  // -1: nobody
};

}  // namespace

Error mpi_failure(int code, const char* action) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  // Before its start a library knows no texts, and ends the process that asks.
  int has_started = 0;
  MPI_Initialized(&has_started);
  if (has_started == 0 || MPI_Error_string(code, text, &length) != MPI_SUCCESS) length = 0;
  return environment_failure(
      fmt::format("MPI could not {} ({})", action, std::string(text, static_cast<std::size_t>(length))),
      "start all ranks with the same options, and check the hosts and the network of this job");
}

#ifdef MPIX_GPU_SUPPORT_CUDA

// MPICH, and what is made of it.
bool mpi_takes(DevicePointers pointers) {
  const int kind = pointers == DevicePointers::kCuda   ? MPIX_GPU_SUPPORT_CUDA
                   : pointers == DevicePointers::kRocm ? MPIX_GPU_SUPPORT_HIP
                                                       : MPIX_GPU_SUPPORT_ZE;
  int is_supported = 0;
  return MPIX_GPU_query_support(kind, &is_supported) == MPI_SUCCESS && is_supported != 0;
}

#else

bool mpi_takes([[maybe_unused]] DevicePointers pointers) {
#if defined(OMPI_HAVE_MPI_EXT_CUDA) && OMPI_HAVE_MPI_EXT_CUDA
  if (pointers == DevicePointers::kCuda) return MPIX_Query_cuda_support() != 0;
#endif
#if defined(OMPI_HAVE_MPI_EXT_ROCM) && OMPI_HAVE_MPI_EXT_ROCM
  if (pointers == DevicePointers::kRocm) return MPIX_Query_rocm_support() != 0;
#endif
  return false;
}

#endif

namespace {

/// How long a rank waits in all for what it has given up.
constexpr std::chrono::milliseconds kPatience{200};
std::optional<std::chrono::steady_clock::time_point> patient_until;
bool has_left_any = false;

}  // namespace

void abandon(MPI_Request request, bool can_be_cancelled) noexcept {
  if (request == MPI_REQUEST_NULL) return;
  if (!patient_until) patient_until = std::chrono::steady_clock::now() + kPatience;
  if (can_be_cancelled) MPI_Cancel(&request);
  while (true) {
    int has_ended = 0;
    const int code = MPI_Test(&request, &has_ended, MPI_STATUS_IGNORE);
    if (has_ended != 0 || request == MPI_REQUEST_NULL) return;
    if (code != MPI_SUCCESS || std::chrono::steady_clock::now() >= *patient_until) break;
    std::this_thread::yield();
  }
  has_left_any = true;
  device::keep_pages();
  if (can_be_cancelled) MPI_Request_free(&request);
}

bool has_abandoned() noexcept { return has_left_any; }

void end_process_after(std::chrono::seconds limit, int exit_code,
                       std::shared_ptr<std::atomic<bool>> is_over) {
  std::thread([limit, exit_code, is_over = std::move(is_over)] {
    std::this_thread::sleep_for(limit);
    if (!is_over || !*is_over) _exit(exit_code);
  }).detach();
}

World::World(int* argc, char*** argv, Threads threads) {
  const int needed = threads == Threads::kOne ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED;
  int provided = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(argc, argv, needed, &provided), "start");
  check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "return its errors");
  if (provided < needed) {
    throw environment_failure("this MPI library cannot be used by a program with threads",
                              "use one that was built with support for them");
  }
  look_around();
}

World::World(MPI_Comm ranks) : is_guest_(true) {
  int has_started = 0;
  int has_ended = 0;
  MPI_Initialized(&has_started);
  MPI_Finalized(&has_ended);
  if (has_started == 0 || has_ended != 0) {
    throw bad_use("MPI has not been started, or has ended", "call this between MPI_Init and MPI_Finalize");
  }
  check_mpi(MPI_Comm_dup(ranks, &messages), "make a communicator");
  check_mpi(MPI_Comm_set_errhandler(messages, MPI_ERRORS_RETURN), "return its errors");
  look_around();
}

void World::look_around() {
  check_mpi(MPI_Comm_rank(messages, &rank), "tell the rank");
  check_mpi(MPI_Comm_size(messages, &size), "tell the number of ranks");
  words.resize(static_cast<std::size_t>(size));
  int* bound = nullptr;
  int is_known = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &is_known), "tell its largest tag");
  if (is_known != 0) largest_tag = *bound;
}

Awaited World::next_awaited(bool is_send, int peer, MPI_Comm communicator, int tag) {
  Awaited awaited{.tag = communicator == control ? ~tag : tag, .is_send = is_send ? 1 : 0};
  (is_send ? awaited.from : awaited.to) = rank;
  (is_send ? awaited.to : awaited.from) = peer;
  awaited.number = (is_send ? sent_ : wanted_).add(peer, awaited.tag);
  return awaited;
}

void World::take_back(const Awaited& awaited) {
  if (awaited.is_send == 0) wanted_.take_back(awaited.from, awaited.tag);
}

bool World::has_answered(const Awaited& awaited) const {
  if (awaited.is_send != 0) {
    return awaited.to == rank && wanted_.count(awaited.from, awaited.tag) >= awaited.number;
  }
  return awaited.from == rank && sent_.count(awaited.to, awaited.tag) >= awaited.number;
}

World::~World() {
  // Where not all have started, others may never finalise; the launcher ends those that still wait.
  if (!is_ready) return;
  if (is_guest_) {
    leave();
    return;
  }
  const auto is_over = std::make_shared<std::atomic<bool>>(false);  // before results come out
  // What was given up may keep MPI from ending.
  const std::chrono::seconds patience(has_abandoned() ? 2 : 10);
  end_process_after(patience, static_cast<int>(ExitCode::kEnvironment), is_over);
  stop_listening();
  MPI_Finalize();
  *is_over = true;
}

void World::leave() {
  int has_ended = 0;
  MPI_Finalized(&has_ended);
  if (has_ended != 0) return;
  stop_listening();
  const bool has_failed = std::ranges::any_of(words, [](const auto& word) { return word.has_value(); });
  if (has_failed) return;  // others may not come, without whom communicators are not freed
  MPI_Comm_free(&control);
  MPI_Comm_free(&messages);
}

void World::stop_listening() {
  if (listening_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&listening_);
  MPI_Request_free(&listening_);
}

void World::listen() {
  heard_.resize(sizeof(SaidHead) + kLongestWords);
  check_mpi(MPI_Irecv(heard_.data(), static_cast<int>(heard_.size()), MPI_BYTE, MPI_ANY_SOURCE, kWordsTag,
                      control, &listening_),
            "receive a message");
}

void World::hear() {
  while (listening_ != MPI_REQUEST_NULL) {
    int is_done = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&listening_, &is_done, &status), "receive a message");
    if (is_done == 0) return;
    int length = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &length), "receive a message");
    if (length == 0) has_been_said = true;
    if (status.MPI_SOURCE >= 0 && std::cmp_greater_equal(length, sizeof(SaidHead))) {
      SaidHead head;
      std::memcpy(&head, heard_.data(), sizeof head);
      Failure& failure = words[static_cast<std::size_t>(status.MPI_SOURCE)].emplace();
      failure.code = static_cast<ExitCode>(head.code);
      failure.is_deadline = head.is_deadline != 0;
      if (head.awaited >= 0) failure.awaited = head.awaited;
      failure.message.assign(heard_.data() + sizeof head, static_cast<std::size_t>(length) - sizeof head);
    }
    listen();
  }
}

void World::say(const Failure& cause) {
  if (words[static_cast<std::size_t>(rank)]) return;
  words[static_cast<std::size_t>(rank)] = cause;
  const SaidHead head{.code = static_cast<std::int32_t>(cause.code),
                      .is_deadline = cause.is_deadline ? 1 : 0,
                      .awaited = cause.awaited.value_or(-1)};
  said_.assign(reinterpret_cast<const char*>(&head), sizeof head);
  said_ += cause.message.substr(0, kLongestWords);
  send_to_all(said_);
}

bool World::all_have_said() {
  int have_left = 1;
  MPI_Testall(static_cast<int>(leaving_.size()), leaving_.data(), &have_left, MPI_STATUSES_IGNORE);
  return have_left != 0 && std::ranges::all_of(words, [](const auto& word) { return word.has_value(); });
}

void World::send_to_all(std::string_view text) {
  for (int to = 0; to < size; ++to) {
    MPI_Request request = MPI_REQUEST_NULL;
    // Whom it does not reach has a deadline.
    if (to != rank) {
      MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, kWordsTag, control, &request);
    }
    if (request != MPI_REQUEST_NULL) leaving_.push_back(request);
  }
}

}  // namespace fabricmark::runtime

#endif

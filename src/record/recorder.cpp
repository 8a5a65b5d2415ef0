#include "record/recorder.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <utility>

namespace fabricmark::record {

namespace {

thread_local bool is_recorded_thread = false;

constexpr int kVersion = 2;
constexpr const char* kUsualFile = "fabricmark.trace";
constexpr int kTag = 1;

std::string host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  PMPI_Get_library_version(text.data(), &length);
  const std::string whole(text.data(), static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n"));
}

std::string created() {
  std::array<char, 32> text{};
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::string head(int ranks) {
  return "{\"fabricmark_trace\":" + std::to_string(kVersion) + ",\"ranks\":" + std::to_string(ranks) +
         ",\"host\":" + quoted(host()) + ",\"command\":" + quoted(command_line()) +
         ",\"library\":" + quoted(library()) + ",\"created\":" + quoted(created()) + "}";
}

/// Of all ranks, at the first one.
std::vector<std::string> gathered(const std::string& own, MPI_Comm communicator, int rank, int ranks) {
  if (rank != 0) {
    PMPI_Send(own.data(), static_cast<int>(own.size()), MPI_CHAR, 0, kTag, communicator);
    return {};
  }
  std::vector<std::string> lines{head(ranks), own};
  for (int other = 1; other < ranks; ++other) {
    MPI_Status status;
    int length = 0;
    PMPI_Probe(other, kTag, communicator, &status);
    PMPI_Get_count(&status, MPI_CHAR, &length);
    std::string line(static_cast<std::size_t>(length), ' ');
    PMPI_Recv(line.data(), length, MPI_CHAR, other, kTag, communicator, MPI_STATUS_IGNORE);
    lines.push_back(std::move(line));
  }
  lines.push_back("{\"end\":" + std::to_string(ranks) + "}");
  return lines;
}

}  // namespace

double now() {
  constexpr double kNano = 1e-9;
  ::timespec found{};
  ::clock_gettime(CLOCK_MONOTONIC, &found);
  return static_cast<double>(found.tv_sec) + static_cast<double>(found.tv_nsec) * kNano;
}

std::int64_t bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
  return static_cast<std::int64_t>(count) * size;
}

std::int32_t in_world(const Communicator& communicator, int rank) {
  const bool is_one = rank >= 0 && static_cast<std::size_t>(rank) < communicator.ranks.size();
  return is_one ? communicator.ranks[static_cast<std::size_t>(rank)] : Signature::kNone;
}

Recorder& Recorder::of_process() {
  static auto* const recorder = new Recorder;  // never deleted: calls may come while the process ends
  return *recorder;
}

void Recorder::begin() {
  is_recorded_thread = true;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  PMPI_Comm_dup(MPI_COMM_WORLD, &own_);
  std::vector<std::int32_t> world;
  for (int rank = 0; rank < ranks_; ++rank) world.push_back(rank);
  communicators_.push_back({number_of(MPI_COMM_WORLD), 0, std::move(world)});
  communicators_.push_back({number_of(MPI_COMM_SELF), rank_ * (INT_MAX / ranks_) + created_, {rank_}});
  is_on_ = true;
  measure_tests();
  start_ = last_end_ = now();
}

const Communicator* Recorder::find(MPI_Comm communicator) {
  const std::uintptr_t handle = number_of(communicator);
  if (last_found_ < communicators_.size() && communicators_[last_found_].handle == handle)
    return &communicators_[last_found_];
  for (std::size_t place = 0; place < communicators_.size(); ++place) {
    if (communicators_[place].handle != handle) continue;
    last_found_ = place;
    return &communicators_[place];
  }
  return nullptr;
}

const Communicator* Recorder::with_id(std::int32_t id) const {
  for (const auto* list : {&communicators_, &former_}) {
    for (const Communicator& one : *list) {
      if (one.id == id) return &one;
    }
  }
  return nullptr;
}

void Recorder::add(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL) return;
  int joins_two = 0;
  PMPI_Comm_test_inter(communicator, &joins_two);
  if (joins_two != 0) return count_unmodelled("communicators between two groups");
  MPI_Group own = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &own);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  PMPI_Group_size(own, &size);
  std::vector<int> places;
  for (int place = 0; place < size; ++place) places.push_back(place);
  std::vector<int> ranks(places.size());
  PMPI_Group_translate_ranks(own, size, places.data(), world, ranks.data());
  PMPI_Group_free(&own);
  PMPI_Group_free(&world);
  // The first of its ranks names it.
  std::int32_t id = rank_ * (INT_MAX / ranks_) + ++created_;
  PMPI_Bcast(&id, 1, MPI_INT, 0, communicator);
  communicators_.push_back({number_of(communicator), id, {ranks.begin(), ranks.end()}});
}

void Recorder::remove(std::uintptr_t handle) {
  for (auto found = communicators_.begin(); found != communicators_.end(); ++found) {
    if (found->handle != handle) continue;
    former_.push_back(std::move(*found));
    communicators_.erase(found);
    last_found_ = 0;
    return;
  }
}

void Recorder::note(const Signature& signature, double begin, double end) {
  ++calls_;
  const std::uint32_t number = left_out_ == 0 ? signatures_.number(signature) : Signatures::kFull;
  const Polls::Sum polled = polls_.take();
  own_seconds_ += polled.own_seconds;
  const double since = begin > last_end_ ? begin - last_end_ : 0;
  const Folding::Spent spent{.compute_seconds = since + polled.compute_seconds,
                             .inside_seconds = end - begin + polled.waited_seconds,
                             .tests = polled.tests,
                             .test_seconds = polled.test_seconds};
  if (number == Signatures::kFull || !steps_.add(number, spent)) ++left_out_;
  last_end_ = end;
}

void Recorder::skip(double begin, double end) {
  polls_.add(begin - last_end_, end - begin);
  last_end_ = end;
}

void Recorder::measure_tests() {
  constexpr int kBatches = 8;  // the fastest counts: others on the machine only make them slower
  constexpr int kTests = 64;
  int value = 0;
  const int before = (rank_ + ranks_ - 1) % ranks_;
  const int behind = (rank_ + 1) % ranks_;
  // Neighbours know each other, as those of a program do.
  PMPI_Sendrecv_replace(&value, 1, MPI_INT, before, kTag, behind, kTag, own_, MPI_STATUS_IGNORE);
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Irecv(&value, 1, MPI_INT, behind, kTag, own_, &request);
  Polls::Costs costs{.gap_seconds = 1, .extra_seconds = 1};
  test_ = 1;
  for (int batch = 0; batch < kBatches; ++batch) {
    int is_there = 0;
    polls_ = Polls();
    last_end_ = now();
    for (int i = 0; i < kTests; ++i) MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    const Polls::Sum sum = polls_.take();
    const double begin = now();
    for (int i = 0; i < kTests; ++i) PMPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
    test_ = std::min(test_, (now() - begin) / kTests);
    costs.gap_seconds = std::min(costs.gap_seconds, sum.compute_seconds / kTests);
    costs.extra_seconds = std::min(costs.extra_seconds, sum.test_seconds / kTests);
  }
  costs.extra_seconds = std::max(0.0, costs.extra_seconds - test_);
  polls_ = Polls(costs);
  PMPI_Barrier(own_);  // nobody's message comes while another one tests
  PMPI_Send(&value, 1, MPI_INT, before, kTag, own_);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

void Recorder::count_unmodelled(const char* name) { ++unmodelled_[name]; }

void Recorder::end() {
  if (!is_on_) return;
  end_ = now();
  note({}, end_, end_);
  is_on_ = false;
  const std::vector<std::string> lines = gathered(line(), own_, rank_, ranks_);
  PMPI_Comm_free(&own_);
  if (rank_ != 0) return;
  const char* given = std::getenv("FABRICMARK_TRACE");
  const std::string path = given == nullptr || *given == '\0' ? kUsualFile : given;
  const std::string why = write_whole(path, lines);
  if (!why.empty())
    std::cerr << "fabricmark-record: error: cannot write " << path << ": " << why
              << "; choose another --output\n";
}

std::string Recorder::line() const {
  std::vector<std::string> parts;
  std::string text = "{\"rank\":" + std::to_string(rank_);
  std::array<char, 64> number{};
  const auto seconds = [&number](double value) {
    constexpr int kDigits = 6;
    const int length = std::snprintf(number.data(), number.size(), "%.*g", kDigits, value);
    return std::string(number.data(), static_cast<std::size_t>(length));
  };
  text += ",\"seconds\":" + seconds(end_ - start_ - own_seconds_) + ",\"test\":" + seconds(test_) +
          ",\"calls\":" + std::to_string(calls_) + ",\"left_out\":" + std::to_string(left_out_);
  text += ",\"unmodelled\":{";
  const char* comma = "";
  for (const auto& [name, count] : unmodelled_) {
    text += std::exchange(comma, ",") + quoted(name) + ":" + std::to_string(count);
  }
  text += "},\"communicators\":{";
  comma = "";
  for (const auto* list : {&communicators_, &former_}) {
    for (const Communicator& one : *list) {
      text += std::exchange(comma, ",") + ("\"" + std::to_string(one.id)) + "\":[";
      const char* between = "";
      for (const std::int32_t rank : one.ranks) text += std::exchange(between, ",") + std::to_string(rank);
      text += ']';
    }
  }
  text += "},\"kinds\":[";
  for (std::size_t i = 0; i < signatures_.size(); ++i) {
    const Signature& one = signatures_[i];
    text += i == 0 ? "[" : ",[";
    text += quoted(name_of(one.call));
    for (const std::int64_t value :
         {std::int64_t{one.communicator}, std::int64_t{one.to}, std::int64_t{one.tag}, one.bytes,
          std::int64_t{one.from}, std::int64_t{one.from_tag}, one.room_bytes, std::int64_t{one.slot},
          std::int64_t{one.varies}}) {
      text += "," + std::to_string(value);
    }
    text += ']';
  }
  text += "],\"steps\":[";
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Folding::Step& one = steps_[i];
    if (i > 0) text += ',';
    if (one.is_loop()) {
      text += "[-" + std::to_string(one.length()) + "," + std::to_string(one.times) + "]";
    } else {
      const Folding::Spent& spent = one.spent;
      text += "[" + std::to_string(one.key) + "," + seconds(spent.compute_seconds) + "," +
              seconds(spent.inside_seconds);
      if (spent.tests > 0) text += "," + std::to_string(spent.tests) + "," + seconds(spent.test_seconds);
      text += ']';
    }
  }
  return text + "]}";
}

Timed::Timed() : is_on_(Recorder::of_process().is_on()) {
  if (!is_on_) return;
  if (!is_recorded_thread) {
    is_on_ = false;
    return;
  }
  begin_ = now();
}

void Timed::note(const Signature& signature) {
  Recorder::of_process().note(signature, begin_, end_);
  begin_ = end_;
}

}  // namespace fabricmark::record

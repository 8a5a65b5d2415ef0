// Ranks that are MPI processes; the only file that speaks MPI.
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <utility>

#include "device/error.hpp"
#include "harness/ranks.hpp"

#ifdef FABRICMARK_WITH_MPI
#include <mpi.h>
#endif

namespace fabricmark::harness {

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

bool is_first_process() {
  return count_in("OMPI_COMM_WORLD_RANK") == 0 && count_in("PMI_RANK") == 0 && count_in("PMIX_RANK") == 0;
}

#ifdef FABRICMARK_WITH_MPI

namespace {

class MpiRanks : public Ranks {
 public:
  MpiRanks(int* argc, char*** argv) {
    int provided = 0;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &local_rank_);
    MPI_Comm_size(host, &local_size_);
    MPI_Comm_free(&host);
  }
  ~MpiRanks() override { MPI_Finalize(); }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }
  [[nodiscard]] int local_size() const override { return local_size_; }
  [[nodiscard]] std::string kind() const override { return "mpi"; }

  [[nodiscard]] std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text, static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
  }

  std::int64_t largest(std::int64_t value) override {
    std::int64_t result = 0;
    MPI_Allreduce(&value, &result, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return result;
  }

  std::vector<std::vector<std::byte>> gather_bytes(std::span<const std::byte> bytes) override {
    const int length = static_cast<int>(bytes.size());
    std::vector<int> lengths(static_cast<std::size_t>(size_));
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> offsets(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    std::vector<std::byte> all(static_cast<std::size_t>(offsets.back() + lengths.back()));
    MPI_Allgatherv(bytes.data(), length, MPI_BYTE, all.data(), lengths.data(), offsets.data(), MPI_BYTE,
                   MPI_COMM_WORLD);
    std::vector<std::vector<std::byte>> parts;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      parts.emplace_back(all.begin() + offsets[i], all.begin() + offsets[i] + lengths[i]);
    }
    return parts;
  }

  Request start_send(int to, std::span<const std::byte> bytes, int tag) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &request);
    return pack(request);
  }

  Request start_receive(int from, std::span<std::byte> bytes, int tag) override {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
    Request packed = pack(request);
    packed.wanted = bytes.size();
    return packed;
  }

  bool test(Request& request) override {
    MPI_Request inner = unpack(request);
    int is_done = 0;
    MPI_Status status;
    if (MPI_Test(&inner, &is_done, &status) != MPI_SUCCESS) {
      request = {};
      throw environment_failure(
          "MPI could not deliver a message",
          "start all ranks with the same options, and check the hosts and the network of this job");
    }
    if (is_done == 0) return false;
    const std::optional<std::size_t> wanted = std::exchange(request, {}).wanted;
    int arrived = 0;
    if (wanted) MPI_Get_count(&status, MPI_BYTE, &arrived);
    if (wanted && std::cmp_not_equal(arrived, *wanted)) {
      throw other_length(status.MPI_SOURCE, static_cast<std::size_t>(arrived), *wanted);
    }
    return true;
  }

  void cancel(Request& request) override {
    if (request.handle == 0) return;
    MPI_Request inner = unpack(request);
    MPI_Cancel(&inner);
    MPI_Request_free(&inner);
    request = {};
  }

 private:
  // A request is a pointer in Open MPI and an integer in MPICH; no valid one of either is all zeros in
  // memory.
  static Request pack(MPI_Request inner) {
    Request request;
    static_assert(sizeof(inner) <= sizeof(request.handle));
    std::memcpy(&request.handle, &inner, sizeof(inner));
    return request;
  }
  static MPI_Request unpack(const Request& request) {
    MPI_Request inner = MPI_REQUEST_NULL;
    std::memcpy(&inner, &request.handle, sizeof(inner));
    return inner;
  }

  int rank_ = 0;
  int size_ = 1;
  int local_rank_ = 0;
  int local_size_ = 1;
};

}  // namespace

std::unique_ptr<Ranks> mpi_ranks(int* argc, char*** argv) { return std::make_unique<MpiRanks>(argc, argv); }

void abort_all_ranks(int exit_code) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) MPI_Abort(MPI_COMM_WORLD, exit_code);
  _exit(exit_code);
}

#else

std::unique_ptr<Ranks> mpi_ranks(int* /*argc*/, char*** /*argv*/) {
  throw environment_failure("a launcher started several processes but this program was built without MPI",
                            "install an MPI library and build again, or use --ranks N");
}

void abort_all_ranks(int exit_code) { _exit(exit_code); }

#endif

}  // namespace fabricmark::harness

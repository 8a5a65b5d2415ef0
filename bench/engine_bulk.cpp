// Long messages between two processes: the emulated engine over RDMA (rendezvous) beside MPI_Send and
// MPI_Recv, interleaved. Usage: mpirun -n 2 bench_engine_bulk ROUNDS; prints bytes per second of wall time,
// as JSON: the best of each.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "board/accl/accl.hpp"
#include "runtime/run.hpp"

namespace {

using namespace fabricmark;
constexpr std::size_t kCount = std::size_t{1} << 18;  // of float32: 1 MiB
constexpr int kMessages = 32;
constexpr int kInFlight = 8;

accl::View view(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size(), accl::Type::kFloat32};
}

/// Bytes per second of all messages, from a barrier to the slower rank's end.
double rate(runtime::Communicator& ranks, const std::function<void()>& messages) {
  ranks.barrier();
  const double start = MPI_Wtime();
  messages();
  return 4.0 * kCount * kMessages / ranks.all_reduce_max_number(MPI_Wtime() - start);
}

struct Memory {
  std::vector<std::vector<float>> sent{kInFlight, std::vector<float>(kCount)};
  std::vector<std::vector<float>> received{kInFlight, std::vector<float>(kCount)};
};

void over_mpi(bool is_sender, Memory& memory, int in_flight) {
  std::vector<MPI_Request> requests(static_cast<std::size_t>(in_flight));
  for (int first = 0; first < kMessages; first += in_flight) {
    for (int i = 0; i < in_flight; ++i) {
      const auto place = static_cast<std::size_t>(i);
      if (is_sender) {
        MPI_Isend(memory.sent[place].data(), kCount, MPI_FLOAT, 1, 0, MPI_COMM_WORLD, &requests[place]);
      } else {
        MPI_Irecv(memory.received[place].data(), kCount, MPI_FLOAT, 0, 0, MPI_COMM_WORLD, &requests[place]);
      }
    }
    MPI_Waitall(in_flight, requests.data(), MPI_STATUSES_IGNORE);
  }
}

void over_engine(bool is_sender, accl::Accl& accl, Memory& memory, int in_flight) {
  for (int first = 0; first < kMessages; first += in_flight) {
    std::vector<accl::Request> requests;
    for (int i = 0; i < in_flight; ++i) {
      const auto place = static_cast<std::size_t>(i);
      requests.push_back(is_sender ? accl.send(view(memory.sent[place]), 1, i)
                                   : accl.recv(view(memory.received[place]), 0, i));
    }
    for (accl::Request& request : requests) {
      if (!request.wait().is_done()) throw environment_failure(request.wait().text, "see it");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  return runtime::run_ranks(argc, argv, 2, [&](runtime::Communicator& ranks) {
    if (ranks.kind() != "mpi")
      throw bad_use("bench_engine_bulk compares with MPI", "start it with mpirun -n 2");
    dataflow::FabricSettings settings;
    settings.topology = network::pair();
    settings.network.emplace();
    settings.network->protocol = network::Protocol::kRdma;
    settings.network->costs = {.node_latency = network::from_seconds(1.26e-6),
                               .bytes_per_second = 12.5e9,
                               .header_bytes = 82,
                               .mtu_bytes = 4096};
    accl::EngineSettings own;
    own.copy_rate = 14e9;
    own.eager_bytes = 32768;
    const auto fabric = dataflow::Fabric::join(ranks, settings);
    dataflow::Host host(fabric, ranks.rank(), {.clock_hz = 250e6, .launch_seconds = 30e-6}, &ranks);
    accl::Accl accl(fabric, host, own);
    Memory memory;
    for (auto& values : memory.sent) std::ranges::fill(values, 3.0F);
    double best[4] = {};
    for (int round = 0; round <= rounds; ++round) {  // the first one warms up
      for (auto& values : memory.received) std::ranges::fill(values, 0.0F);
      const double found[4] = {
          rate(ranks, [&] { over_mpi(ranks.is_root(), memory, 1); }),
          rate(ranks, [&] { over_engine(ranks.is_root(), accl, memory, 1); }),
          rate(ranks, [&] { over_mpi(ranks.is_root(), memory, kInFlight); }),
          rate(ranks, [&] { over_engine(ranks.is_root(), accl, memory, kInFlight); }),
      };
      if (!ranks.is_root() && memory.received.back() != memory.sent.back()) {
        throw Error(ExitCode::kInvalidResult, "messages came wrong", "see the engine");
      }
      if (round > 0) {
        for (int i = 0; i < 4; ++i) best[i] = std::max(best[i], found[i]);
      }
    }
    accl.finish();
    if (ranks.is_root()) {
      fmt::print(
          "{{\"mpi one by one\": {}, \"engine one by one\": {}, \"mpi in flight\": {}, \"engine in flight\": "
          "{}}}\n",
          best[0], best[1], best[2], best[3]);
    }
    return 0;
  });
}

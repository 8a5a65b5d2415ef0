// Micro-benchmarks as OMB has them: contents, text, overlap and their options.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "collectives/elements.hpp"
#include "collectives/reference.hpp"
#include "microbench/common/sampling.hpp"
#include "microbench/omb/compute.hpp"
#include "microbench/omb/content.hpp"
#include "microbench/omb/device_memories.hpp"
#include "microbench/omb/measure.hpp"
#include "microbench/omb/options.hpp"
#include "microbench/omb/text.hpp"
#include "runtime/communicator.hpp"
#include "runtime/shared_clock.hpp"
#include "runtime/windows.hpp"
#include "support.hpp"

namespace fabricmark::microbench::omb {

namespace {

using collectives::Type;
using test::mentions;
using test::message_of;

constexpr Type kTypes[] = {Type::kInt8, Type::kInt32, Type::kFloat32};

Options options_of(const std::string& program, const std::vector<std::string>& words = {}) {
  return std::get<Options>(parse_options(program, words));
}

std::vector<std::byte> input(Type type, int rank, std::uint64_t seed, int summands, std::size_t count) {
  Elements elements(count, type);
  collectives::fill_input(inputs_of(seed, summands), rank, elements.view());
  return {elements.bytes().begin(), elements.bytes().end()};
}

TEST(OmbContent, NoElementIsThatOfAnotherRankOrOfASeedNearby) {
  for (const Type type : kTypes) {
    const std::size_t width = collectives::bytes_of(type);
    for (const int summands : {1, 8}) {
      const auto own = input(type, 1, 5, summands, 257);
      for (const auto& [rank, seed] : {std::pair{0, 5}, {2, 5}, {7, 5}, {1, 4}, {1, 6}, {1, 12}}) {
        const auto other = input(type, rank, static_cast<std::uint64_t>(seed), summands, 257);
        for (std::size_t i = 0; i < own.size(); i += width) {
          ASSERT_NE(std::memcmp(&own[i], &other[i], width), 0)
              << width << ' ' << rank << ' ' << seed << ' ' << i;
        }
      }
    }
  }
}

TEST(OmbContent, NoSumOfInt8LeavesTheTypeWhereALibraryMaySaturate) {
  for (const int ranks : {2, 8, 127}) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      int least = 0;
      int greatest = 0;
      for (int rank = 0; rank < ranks; ++rank) {
        for (const std::byte byte : input(Type::kInt8, rank, seed, ranks, 16)) {
          const int value = static_cast<std::int8_t>(byte);
          least = std::min(least, value);
          greatest = std::max(greatest, value);
        }
      }
      ASSERT_GE(least * ranks, -127);
      ASSERT_LE(greatest * ranks, 127);
    }
  }
}

TEST(OmbContent, SumsOfOneSeedAreNotThoseOfTheNext) {
  for (const Type type : kTypes) {
    const collectives::Call call{.operation = collectives::Operation::kAllReduce, .count = 64};
    Elements one(64, type);
    Elements next(64, type);
    collectives::fill_expected(inputs_of(8, 8), call, 0, 8, one.view());
    collectives::fill_expected(inputs_of(9, 8), call, 0, 8, next.view());
    const std::size_t width = collectives::bytes_of(type);
    for (std::size_t i = 0; i < 64 * width; i += width) {
      EXPECT_NE(std::memcmp(&one.bytes()[i], &next.bytes()[i], width), 0);
    }
  }
}

TEST(OmbContent, EveryBitThatDiffersIsFoundWithItsPlace) {
  for (const Type type : kTypes) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{50}, 64 * collectives::bytes_of(type) - 1}) {
      Elements expected(64, type);
      Elements actual(64, type);
      collectives::fill_input(inputs_of(3), 0, expected.view());
      collectives::fill_input(inputs_of(3), 0, actual.view());
      actual.bytes()[place] ^= std::byte{1};
      Found found;
      compare(expected.view(), actual.view(), "this", found);
      EXPECT_EQ(found.wrong, 1U);
      EXPECT_EQ(found.checked, 64U);
      EXPECT_TRUE(mentions(found.place,
                           "element " + std::to_string(place / collectives::bytes_of(type)) + " of this"))
          << found.place;
    }
  }
}

TEST(OmbContent, WhatIsPutInAResultsPlaceHasNoByteOfIt) {
  Elements elements(64, Type::kFloat32);
  collectives::fill_input(inputs_of(3), 0, elements.view());
  const std::vector<std::byte> before(elements.bytes().begin(), elements.bytes().end());
  elements.invert();
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NE(before[i], elements.bytes()[i]);
}

TEST(OmbContent, IsTheSameWhetherItIsKeptOrMadeAnew) {
  constexpr std::size_t kCount = (std::size_t{1} << 16U) + 5;  // more than a piece
  for (const Type type : kTypes) {
    const auto make = [](std::uint64_t seed, const collectives::View& elements, std::size_t first) {
      collectives::fill_input(inputs_of(seed, 2), 1, elements, first);
    };
    for (const std::size_t kept : {std::size_t{0}, kCount}) {
      Operand operand(kept, type, make);
      for (const std::uint64_t seed : {1U, 63U, 64U, 1000003U}) {
        std::vector<std::byte> all;
        operand.pieces(seed, 3, kCount - 3, [&](Elements& piece, std::size_t /*first*/) {
          all.insert(all.end(), piece.bytes().begin(), piece.bytes().end());
        });
        const auto expected = input(type, 1, seed, 2, kCount);
        const std::size_t skipped = 3 * collectives::bytes_of(type);
        ASSERT_TRUE(std::equal(all.begin(), all.end(),
                               expected.begin() + static_cast<std::ptrdiff_t>(skipped), expected.end()))
            << collectives::name_of(type) << ' ' << kept << ' ' << seed;
      }
    }
  }
}

/// [iteration], how many checks stand before it; one more: behind all.
std::vector<std::size_t> checks_before(Sampling& sampling, std::size_t iterations, std::size_t least = 1) {
  std::vector<std::size_t> checks(iterations + 1, 0);
  std::size_t done = 0;
  sampling.go(
      iterations, least,
      [&](std::size_t first, std::size_t last) {
        EXPECT_EQ(first, done);
        EXPECT_LT(first, last);
        done = last;
      },
      [&](std::size_t count) { checks[done] += count; });
  EXPECT_EQ(done, iterations);
  return checks;
}

TEST(Sampling, CountsEachIterationOnceAndChecksAsManyAsItSays) {
  const auto ranks = runtime::single_rank();
  Sampling sampling(*ranks);
  for (const std::size_t iterations : {1U, 2U, 5U, 20U, 100U, 199U, 200U, 201U, 1000U, 10000U}) {
    const auto checks = checks_before(sampling, iterations);
    std::size_t all = 0;
    std::size_t since = 0;
    for (const std::size_t count : checks) {
      all += count;
      since = count > 0 ? 0 : since + 1;
      // With those that are checked and lead in, no gap is one in twenty of all.
      EXPECT_LE(since, std::max<std::size_t>(1, iterations / 10)) << iterations;
    }
    EXPECT_EQ(all, std::min(iterations, kSampledIterations));
  }
}

TEST(Sampling, DrawsOtherPlacesInEachLoop) {
  const auto ranks = runtime::single_rank();
  Sampling sampling(*ranks);
  Sampling other(*ranks);
  const auto first = checks_before(sampling, 1000);
  EXPECT_NE(first, checks_before(sampling, 1000));
  EXPECT_NE(first, checks_before(other, 1000));
}

TEST(OmbCompute, TakesItsTimeAndLooksAsOftenAsIsAsked) {
  constexpr double kSeconds = 0.01;
  for (const int probes : {0, 1, 7}) {
    int looks = 0;
    const double start = now();
    const Computed done = compute(kSeconds, probes, [&] { ++looks; });
    EXPECT_EQ(looks, probes);
    EXPECT_GE(done.seconds, kSeconds);
    EXPECT_LE(done.seconds, now() - start);
    EXPECT_GE(done.seconds - done.looks, kSeconds * 0.999);
  }
}

TEST(OmbOverlap, IsWhatTheComputationHidOfTheOperation) {
  EXPECT_DOUBLE_EQ((Overlap{.overall = 10, .compute = 10}.share(4)), 100);
  EXPECT_DOUBLE_EQ((Overlap{.overall = 12, .compute = 10}.share(4)), 50);
  EXPECT_DOUBLE_EQ((Overlap{.overall = 14, .compute = 10}.share(4)), 0);
  EXPECT_DOUBLE_EQ((Overlap{.overall = 20, .compute = 10}.share(4)), 0) << "not below zero";
}

Row row_of(std::size_t bytes, const std::vector<std::vector<double>>& seconds) {
  Row row{.bytes = bytes};
  row.seconds = seconds;
  return row;
}

TEST(OmbText, HasTheColumnsOfALogOfOmb) {
  const Options options = options_of("fm_latency");
  EXPECT_EQ(headings(options, Type::kInt8, false), "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n");
  EXPECT_EQ(row_text(options, row_of(1, {{2e-6, 2.96e-6}, {}})), "1                       2.48\n");
  EXPECT_EQ(row_text(options, row_of(4194304, {{589.62e-6}, {}})), "4194304               589.62\n");
  EXPECT_TRUE(mentions(title(options, 2, ""), "\n# OSU MPI Latency Test v7.4\n"));
}

TEST(OmbText, HasTheColumnsOfOptionsOfOmb) {
  const Options bandwidth = options_of("fm_bw", {"-c", "-z50,99"});
  EXPECT_EQ(headings(bandwidth, Type::kInt8, false),
            "# Datatype: MPI_CHAR.\n"
            "# Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)\n");
  Row row = row_of(1024, {{0.326e-6 * 64}, {}});
  row.window = 64;
  EXPECT_EQ(row_text(bandwidth, row),
            "1024                 3141.10              Pass           3141.10           3141.10\n");
  row.found.wrong = 1;
  EXPECT_TRUE(mentions(row_text(bandwidth, row), "              Fail"));
  const Options barrier = options_of("fm_barrier", {"-f"});
  EXPECT_EQ(headings(barrier, Type::kInt8, false),
            "# Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n");
  EXPECT_EQ(row_text(barrier, row_of(0, {{1.2e-6}, {1.7e-6}})),
            "             1.45              1.20              1.70           1\n");
  EXPECT_EQ(headings(options_of("fm_ialltoall"), Type::kInt8, false),
            "# Datatype: MPI_CHAR.\n"
            "# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n");
}

TEST(OmbText, BandwidthIsThatOfAllPairsAndMessages) {
  Row row = row_of(1000, {{1e-6}, {1e-6}, {}, {}});
  row.window = 64;
  EXPECT_DOUBLE_EQ(megabytes_per_second(row, row.mean()), 2 * 64 * 1000.0);
}

TEST(OmbText, PercentilesAreOfAllRanksMeansOfAnIteration) {
  const Row row = row_of(1, {{1, 2, 3, 4}, {3, 4, 5, 6}, {}});
  EXPECT_DOUBLE_EQ(row.percentile(50), 3);
  EXPECT_DOUBLE_EQ(row.percentile(99), 5);
  EXPECT_DOUBLE_EQ(row.percentile(1), 2);
  EXPECT_DOUBLE_EQ(row.least(), 2.5);
  EXPECT_DOUBLE_EQ(row.greatest(), 4.5);
}

/// Two pairs, each of which takes 1 s for an iteration, and when these begin on it.
Row pairs_of_four(const runtime::PerRank& starts, bool are_apart) {
  Row row = row_of(
      1000, {std::vector<double>(starts[0].size(), 1), std::vector<double>(starts[0].size(), 1), {}, {}});
  runtime::run_in_process(4, [&](runtime::Communicator& ranks) {
    Row own = row;
    const runtime::SharedClock clock(ranks);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    add_batches(ranks, clock, {starts[rank % 2], are_apart}, own);
    if (ranks.is_root()) row = own;
    return 0;
  });
  return row;
}

TEST(OmbPairs, ThatTakeTurnsShareTheTimeOfAllTurns) {
  // Each alone after a barrier; the second one begins when the first has ended.
  const Row turns = pairs_of_four({{0, 10, 20}, {1, 11, 21}}, true);
  EXPECT_NEAR(turns.together(), 2, 1e-8);
  EXPECT_NEAR(turns.percentile(50), 2, 1e-8);
  EXPECT_NEAR(megabytes_per_second(turns, turns.together()), 1e-3, 1e-10);
  // Who is first does not matter, and what lies between two iterations does not count.
  EXPECT_NEAR(pairs_of_four({{0, 11, 20}, {1, 10, 21}}, true).together(), 2, 1e-8);
  EXPECT_NEAR(pairs_of_four({{0, 10, 20}, {0, 10, 20}}, true).together(), 1, 1e-8);
  EXPECT_NEAR(pairs_of_four({{0, 10, 20}, {0.5, 10.5, 20.5}}, true).together(), 1.5, 1e-8);
}

TEST(OmbPairs, OfABatchBeginOnceAndAreNotHeldUpByEachOther) {
  // Twenty iterations in ten batches of two; in the second column of each batch the next one follows.
  runtime::PerRank starts(2);
  for (int i = 0; i < 20; ++i) {
    starts[0].push_back(100 * (i / 2) + i % 2);
    starts[1].push_back(100 * (i / 2) + i % 2 + 2);
  }
  const Row row = pairs_of_four(starts, false);
  EXPECT_NEAR(row.together(), 2, 1e-7);  // four seconds for two iterations of both
  EXPECT_EQ(row.batch_seconds[0].size(), 10U);
  EXPECT_NEAR(runtime::overlap(row.batch_seconds, row.batch_starts), 0, 1e-7);
}

TEST(OmbOptions, HaveTheDefaultsOfOmb) {
  const Options latency = options_of("fm_latency");
  EXPECT_EQ(latency.window, 64);
  EXPECT_EQ(latency.largest, std::size_t{4} << 20U);
  EXPECT_EQ(latency.iterations_of(8192).counted, 10000U);
  EXPECT_EQ(latency.iterations_of(8192).warmup, 100U);
  EXPECT_EQ(latency.iterations_of(16384).counted, 1000U);
  EXPECT_EQ(latency.iterations_of(16384).warmup, 10U);
  EXPECT_EQ(options_of("fm_bw").iterations_of(1).counted, 100U);
  EXPECT_EQ(options_of("fm_bw").iterations_of(16384).warmup, 2U);
  const Options sum = options_of("fm_allreduce");
  EXPECT_EQ(sum.largest, std::size_t{1} << 20U);
  EXPECT_EQ(sum.iterations_of(1).counted, 1000U);
  EXPECT_EQ(sum.iterations_of(16384).counted, 100U);
  EXPECT_EQ(sum.types, std::vector{Type::kInt32});
  EXPECT_EQ(options_of("fm_bcast").types, std::vector{Type::kInt8});
}

TEST(OmbOptions, AreSpelledAsOmbHasThem) {
  const Options options =
      options_of("fm_latency", {"-m", "1:4096", "-i", "7", "-x3", "-z", "-b", "multiple", "H", "H"});
  EXPECT_EQ(options.largest, 4096U);
  EXPECT_EQ(options.iterations_of(1).counted, 7U);
  EXPECT_EQ(options.iterations_of(1 << 20).warmup, 3U);
  EXPECT_EQ(options.percentiles, (std::vector{50, 90, 99}));
  EXPECT_TRUE(options.has_many_buffers);
  EXPECT_EQ(options_of("latency", {"-m4096"}).largest, 4096U);
  EXPECT_EQ(options_of("fm_latency", {"-m:64"}).largest, 64U);
  EXPECT_EQ(options_of("fm_latency", {"-m64:"}).smallest, 64U);
}

TEST(OmbOptions, OfTheShortSetStandBehindThoseThatAreGiven) {
  const Options bandwidth = options_of("fm_bw", {"--short"});
  EXPECT_EQ(bandwidth.largest, 65536U);
  EXPECT_EQ(bandwidth.iterations_of(1).counted, 5U);
  EXPECT_EQ(options_of("fm_allreduce", {"--short"}).iterations_of(1).counted, 20U);
  EXPECT_EQ(options_of("fm_latency", {"--short"}).iterations_of(1).counted, 100U);
  const Options own = options_of("fm_bw", {"--short", "-m", "4:8", "-i", "3"});
  EXPECT_EQ(own.largest, 8U);
  EXPECT_EQ(own.iterations_of(1).counted, 3U);
  EXPECT_EQ(own.iterations_of(1).warmup, 1U);
}

TEST(OmbOptions, ADeviceThatIsNamedMeansItsMemoryWhereNothingSaysOtherwise) {
  EXPECT_EQ(options_of("fm_bw", {"--device", "0"}).placement(), "D D");
  EXPECT_EQ(options_of("fm_bw", {"--platform", "0", "D", "H"}).placement(), "D H");
  EXPECT_EQ(options_of("fm_bw", {"--device", "0", "H", "H"}).placement(), "H H");
  EXPECT_EQ(options_of("fm_bw", {"--device", "0", "--transport", "cpu"}).placement(), "H H");
  EXPECT_EQ(options_of("fm_bw", {"--device", "0", "-d", "none"}).placement(), "H H");
  EXPECT_EQ(options_of("fm_bw").placement(), "H H");
  EXPECT_TRUE(options_of("fm_bw").takes_device);
  EXPECT_FALSE(options_of("fm_bw", {"H", "H"}).takes_device);
  EXPECT_FALSE(options_of("fm_bw", {"--transport", "cpu"}).takes_device);
  EXPECT_FALSE(options_of("fm_bw", {"--transport", "accl-udp", "D", "D"}).takes_device);
}

TEST(OmbOptions, WhatIsNotOneIsRefusedInOneLine) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"-m", "8:4"}, "has no sizes"},
      {{"-m", "0"}, "has no sizes"},
      {{"-m", "x"}, "is no number"},
      {{"-T", "mpi_double"}, "is no type"},
      {{"-z0"}, "no such percentile"},
      {{"-b", "some"}, "single or multiple"},
      {{"-d", "cuda"}, "opencl, sycl"},
      {{"D"}, "1 letters for two sides"},
      {{"D", "X"}, "'X' is no memory"},
      {{"-d", "none", "D", "D"}, "memory of no device"},
      {{"--transport", "x"}, "no transport"},
      {{"--transport", "host"}, "between devices"},
      {{"--limit", "-1"}, "is no rate"},
      {{"--bank", "Q=1"}, "names no memory"},
      {{"--issuer", "logic"}, "takes no --issuer"}};
  for (const auto& [words, said] : wrong) {
    const std::string message = message_of([&] { parse_options("fm_latency", words); });
    EXPECT_TRUE(mentions(message, said)) << message;
  }
  EXPECT_TRUE(mentions(message_of([] { parse_options("fm_bcast", {"D", "H"}); }), "same kind of memory"));
  EXPECT_TRUE(mentions(message_of([] { parse_options("fm_nothing", {}); }), "allgather"));
}

device::DeviceInfo device_of(const std::string& name, device::DeviceClass device_class) {
  device::DeviceInfo info;
  info.name = name;
  info.device_class = device_class;
  return info;
}

TEST(OmbMemory, OfAnFpgaIsABankOfItsBitstream) {
  const device::DeviceInfo fpga = device_of("u280", device::DeviceClass::kFpga);
  const auto refused = [&](const Options& options, Placement place) {
    return message_of([&] { bank_of(fpga, options, place); });
  };
  const Options without = options_of("fm_latency", {"B", "D"});
  EXPECT_TRUE(mentions(refused(without, Placement::kDevice), "without a bitstream"));
  EXPECT_TRUE(mentions(refused(without, Placement::kDevice), "--connectivity.sp touch_1.bytes:DDR[0]"));
  const Options options =
      options_of("fm_latency", {"--bitstream", "a/ddr.xclbin", "--bank", "P=34", "B", "D"});
  const std::string said = refused(options, Placement::kHighBandwidth);
  EXPECT_TRUE(mentions(said, "ddr.xclbin has no high-bandwidth memory of its own (B)")) << said;
  EXPECT_TRUE(mentions(said, "touch_1.bytes:HBM[0], and give --bitstream FILE --bank B=NUMBER")) << said;
  EXPECT_EQ(bank_of(fpga, options, Placement::kOnChip), 34);
  EXPECT_EQ(bank_of(fpga, options, Placement::kDevice), -1);
}

TEST(OmbMemory, OfOtherDevicesIsOneKind) {
  const device::DeviceInfo gpu = device_of("gpu", device::DeviceClass::kGpu);
  const Options options = options_of("fm_latency", {"D", "D"});
  EXPECT_EQ(bank_of(gpu, options, Placement::kDevice), -1);
  EXPECT_TRUE(
      mentions(message_of([&] { bank_of(gpu, options, Placement::kOnChip); }), "gpu has no on-chip memory"));
}

TEST(OmbPrograms, AreAllThere) {
  std::set<std::string_view> names;
  for (const Program& program : programs()) {
    names.insert(program.name);
    EXPECT_EQ(program.is_collective(),
              program.family == Family::kCollective || program.family == Family::kOverlap);
  }
  EXPECT_EQ(names.size(), 27U);
  EXPECT_TRUE(std::ranges::is_sorted(programs(), {}, &Program::name));
}

}  // namespace

}  // namespace fabricmark::microbench::omb

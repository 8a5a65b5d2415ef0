// Kernels in HLS C++ as fibers: the source that Vitis takes, over native streams.
#include "../../docs/examples/two_devices/dataflow.cpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "board/dataflow/host.hpp"

namespace fabricmark::dataflow {
namespace {

constexpr int kWords = 100;
constexpr int kLanes = 16;

float at(int i, int k) { return static_cast<float>(i * kLanes + k); }

TEST(DataflowKernels, ThoseOfTheExampleComputeOnStreamsShorterThanTheArray) {
  std::vector<word> first(kWords), second(kWords), sums(kWords);
  for (int i = 0; i < kWords; ++i) {
    for (int k = 0; k < kLanes; ++k) {
      first[i].value[k] = at(i, k);
      second[i].value[k] = 1000 * at(i, k);
    }
  }
  Host host(std::make_shared<Fabric>(FabricSettings{}), 0, {1e9, 0, 0});
  fm::stream<word> loaded("loaded");
  fm::stream<word, 8> link("link");
  host.start("receive_and_add", {}, receive_and_add, link, second.data(), sums.data(), kWords);
  host.start("scale_and_send", {}, scale_and_send, loaded, link, 0.5F, kWords);
  host.start("load_array", {}, load_array, first.data(), loaded, kWords);
  host.finish();
  for (int i = 0; i < kWords; ++i) {
    for (int k = 0; k < kLanes; ++k) EXPECT_EQ(sums[i].value[k], 1000.5F * at(i, k)) << i << ", " << k;
  }
}

/// A number of 13 bits counts up; what passes is its low byte, or nothing where its highest bit is set.
void count(fm::stream<fm::uint<8>>& out, int length) {
  fm::uint<13> counter = 0x0ff0;
  for (int i = 0; i < length; ++i, ++counter) out.write(counter[12] ? fm::uint<8>(0) : fm::uint<8>(counter));
}

TEST(DataflowKernels, NumbersOfNBitsPassThroughStreams) {
  Host host(std::make_shared<Fabric>(FabricSettings{}), 0, {1e9, 0, 0});
  fm::stream<fm::uint<8>> bytes("bytes");
  std::vector<int> got;
  host.start("count", {}, count, bytes, 20);
  host.start("keep", {}, [&] {
    for (int i = 0; i < 20; ++i) got.push_back(bytes.read());
  });
  host.finish();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], i < 16 ? 0xf0 + i : 0) << i;
}

}  // namespace
}  // namespace fabricmark::dataflow

// Compression on one core: usage bench_codec FILE CHANNELS COLUMNS REPETITIONS, of cells of float32 in a
// file; prints for each predictor and number of lanes the ratio of the lengths and the best rates in bytes a
// second, as JSON. Ends with 1 where a bit gets lost.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "best_rate.hpp"
#include "codec/frame.hpp"

namespace {

using namespace fabricmark::codec;

constexpr std::array<const char*, 4> kNames{"1d", "lorenzo", "2d", "smooth"};

bool measure(const Form& form, std::span<const std::byte> cells, int repetitions, const char* before) {
  const auto bytes = static_cast<double>(cells.size());
  std::vector<std::byte> coded(most_bytes(form, cells.size() / form.cell_bytes()));
  std::vector<std::byte> back(cells.size());
  std::size_t used = 0;
  const double encoding = best_rate(repetitions, bytes, [&] { used = encode(form, cells, coded); });
  const double decoding =
      best_rate(repetitions, bytes, [&] { decode(form, std::span(coded).first(used), back); });
  std::printf("%s\"%s %u\": {\"ratio\": %.6g, \"encode\": %.6g, \"decode\": %.6g}", before,
              kNames[static_cast<std::size_t>(form.predictor) - 1], form.lanes,
              bytes / static_cast<double>(used), encoding, decoding);
  return std::equal(back.begin(), back.end(), cells.begin());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
  Form form{.channels = static_cast<std::uint32_t>(std::atoi(argv[2])),
            .columns = static_cast<std::uint64_t>(std::atoll(argv[3]))};
  const std::size_t whole = content.size() / form.cell_bytes() * form.cell_bytes();
  const std::span<const std::byte> cells = std::as_bytes(std::span(content)).first(whole);
  bool is_lossless = true;
  const char* before = "{";
  for (const Predictor predictor :
       {Predictor::kLine, Predictor::kLorenzo, Predictor::kPlane, Predictor::kSmooth}) {
    for (const std::uint32_t lanes : {1U, 2U, 4U}) {
      form.predictor = predictor;
      form.lanes = lanes;
      is_lossless &= measure(form, cells, std::atoi(argv[4]), before);
      before = ", ";
    }
  }
  std::printf("}\n");
  return is_lossless ? 0 : 1;
}

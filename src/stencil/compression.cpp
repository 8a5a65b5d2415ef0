#include "stencil/compression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"

namespace fabricmark::stencil {

namespace {

constexpr double kBitsOfByte = 8;

void require_compression(const runtime::Context& context, const std::string& name, double ratio,
                         std::size_t channels) {
  const std::string option = "--compression " + name;
  const std::size_t lanes = context.parameters().count("pipelines");
  if (lanes > codec::kMostLanes) {
    throw bad_use(
        fmt::format("{} takes up to {} cells a cycle, and not {}", option, codec::kMostLanes, lanes),
        "use fewer --pipelines, or leave out --compression");
  }
  if (channels > codec::kMostChannels) {
    throw bad_use(
        fmt::format("{} takes cells of up to {} numbers, and not {}", option, codec::kMostChannels, channels),
        "leave out --compression");
  }
  if (context.computes() && ratio > 0) {
    throw bad_use("--compression-ratio of a run with bits, whose own ratio counts",
                  "leave it out, or add --timing-only");
  }
  if (!context.computes() && ratio == 0) {
    throw bad_use(option + " with --timing-only has no bits that say how short they become",
                  "give --compression-ratio, which a run without --timing-only prints");
  }
}

/// A compressor makes a flit a cycle: the narrowest that keep the link busy, and hold a word that becomes
/// hardly shorter.
std::uint32_t flit_bits(const board::Board& board, double word_bytes) {
  constexpr std::uint32_t kNarrow = 256;
  constexpr std::uint32_t kWide = 512;
  constexpr double kHardlyShorter = 1.5;
  const double in_cycle = std::max(board.link_rate() / board.cost().clock_hz, board.link_cost().width_bytes);
  return kBitsOfByte * std::max(in_cycle, word_bytes / kHardlyShorter) > kNarrow ? kWide : kNarrow;
}

/// Cycles of all passes, in each those of the link that takes longest. Collective where there are bits.
double of_fullest(runtime::Communicator& ranks, std::vector<double> own, bool has_bits) {
  if (has_bits) {
    for (const std::vector<double>& others : ranks.all_gather_numbers(own)) {
      for (std::size_t pass = 0; pass < std::min(own.size(), others.size()); ++pass)
        own[pass] = std::max(own[pass], others[pass]);
    }
  }
  double all = 0;
  for (const double pass : own) all += pass;
  return all;
}

}  // namespace

std::uint64_t Compression::whole_flits(std::uint64_t words) const {
  const double bytes = static_cast<double>(words) * word_bytes / ratio;
  return static_cast<std::uint64_t>(bytes / static_cast<double>(flit_bytes()));
}

std::uint64_t Compression::all_flits(std::uint64_t words) const {
  const double bytes = static_cast<double>(words) * word_bytes / ratio;
  return static_cast<std::uint64_t>(std::ceil(bytes / static_cast<double>(flit_bytes())));
}

std::optional<Compression> compression_of(const runtime::Context& context, const Problem& problem,
                                          const Cascade& cascade, const board::Board& board) {
  const runtime::Parameters& parameters = context.parameters();
  const std::string& name = parameters.text("compression");
  const double ratio = parameters.number("compression_ratio");
  if (name == "none") {
    if (ratio == 0) return std::nullopt;
    throw bad_use("--compression-ratio without compression", "give --compression 1d or 2d");
  }
  if (cascade.boards == 1) return std::nullopt;  // there is no link
  const std::size_t channels = problem.fields.size() + 1;
  require_compression(context, name, ratio, channels);
  const std::size_t lanes = parameters.count("pipelines");
  Compression how;
  how.name = name;
  how.form = {.element = codec::Element::kFloat32,
              .predictor = name == "1d" ? codec::Predictor::kLine : codec::Predictor::kPlane,
              .mode = codec::Mode::kStream,
              .channels = static_cast<std::uint32_t>(channels),
              .lanes = static_cast<std::uint32_t>(lanes),
              .flit_bits = flit_bits(board, static_cast<double>(cascade.cell_bytes * lanes)),
              .columns = cascade.stream.in_row};
  how.cells = problem.columns * problem.rows;
  how.word_bytes = static_cast<double>(cascade.cell_bytes * lanes);
  how.ratio = ratio;
  how.kernel_hz = board.cost().clock_hz;
  how.supply = board.link_rate() / (static_cast<double>(how.flit_bytes()) * how.kernel_hz);
  how.elastic = parameters.count("elastic_flits");
  return how;
}

void LinkUse::add(const codec::Gain& pass) {
  flits += pass.flits();
  words += pass.words();
  elastic_flits = std::max(elastic_flits, pass.elastic_flits());
  cycles.push_back(pass.cycles());
  cycles_in_order.push_back(pass.cycles_in_order());
}

namespace {

/// Of all links.
struct LinkBytes {
  double cells = 0;  ///< as the kernels have them
  double coded = 0;

  [[nodiscard]] double ratio() const { return cells / coded; }
};

LinkBytes bytes_of_links(runtime::Communicator& ranks, const Compression& how, const LinkUse& own) {
  auto flits = static_cast<double>(own.flits);
  auto words = static_cast<double>(own.words);
  if (how.has_bits()) {
    flits = ranks.all_reduce_sum(flits);
    words = ranks.all_reduce_sum(words);
  }
  const double word =
      how.has_bits() ? static_cast<double>(how.form.cell_bytes() * how.form.lanes) : how.word_bytes;
  return {words * word, flits * static_cast<double>(how.flit_bytes())};
}

}  // namespace

runtime::DerivedMetric compression_metric(runtime::Communicator& ranks, const Compression& how,
                                          const LinkUse& own) {
  const double ratio = bytes_of_links(ranks, how, own).ratio();
  return {.name = "compression_ratio",
          .axes = {{"compression", how.name}},
          .unit = "x",
          .best = ratio,
          .median = ratio,
          .formula = "bytes of cells by those of the flits that carry them, over all links"};
}

std::string compression_note(runtime::Communicator& ranks, const Compression& how, const LinkUse& own,
                             double clock_cycles) {
  const LinkBytes bytes = bytes_of_links(ranks, how, own);
  const double elastic = how.has_bits() ? ranks.all_reduce_max_number(own.elastic_flits) : own.elastic_flits;
  const double of_law = of_fullest(ranks, own.cycles, how.has_bits());
  const double in_order = of_fullest(ranks, own.cycles_in_order, how.has_bits());
  return fmt::format(
      "compression {}, {}: ratio {:.5g}, {:.0f} bytes over links as {:.0f}; the gain law has {:.6g} cycles "
      "of "
      "the fullest link for {} passes of {} words, {:.6g} in their order, the clock {:.6g} of all; a FIFO of "
      "{:.0f} flits would keep every word from waiting",
      how.name, how.has_bits() ? "emulated" : "as given", bytes.ratio(), bytes.cells, bytes.coded, of_law,
      own.cycles.size(), how.cells / how.form.lanes, in_order, clock_cycles, std::ceil(elastic));
}

}  // namespace fabricmark::stencil

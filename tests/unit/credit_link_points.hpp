#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// What is known of credit links, to which the model and the RTL are held alike: both run the same users.
namespace fabricmark::credit_link::points {

/// What a user of an end does in a cycle.
struct Wishes {
  bool offers = false;
  bool is_last = false;
  bool takes = false;
  std::uint64_t word = 0;  ///< offered
};

/// What an end did.
struct Deeds {
  bool accepted = false;
  bool delivered = false;
  bool is_credit_only = false;  ///< a header without data begins on its wire
  bool received = false;        ///< a data flit
  std::uint64_t word = 0;       ///< delivered
};

constexpr std::uint64_t kStream = 40000;  // words of a stream, of which both ends are long past

struct Scenario {
  unsigned packet = 32;    ///< D and D_CU
  unsigned receive = 512;  ///< depth
  std::size_t latency = 82;
  std::array<std::uint64_t, 2> words{kStream, 0};  ///< of either user
  bool by_flit = false;                            ///< the thesis' rule
  std::function<bool(std::uint64_t)> takes = [](std::uint64_t /*cycle*/) { return true; };
  std::function<bool(std::uint64_t)> is_last = [](std::uint64_t /*word*/) { return false; };
};

struct Figures {
  std::array<double, 2> rate{};  ///< words a cycle that an end delivered, from its first to its last
  double first_word = 0;         ///< cycles from the first word in to the first word out
  double most_received = 0;      ///< highest fill of the receive buffer of end 1
  double between_credits = 0;    ///< cycles from a header without data of end 1 to the next
  bool is_whole = false;         ///< every word was delivered, in order
};

/// Plays a scenario on `link`, which is up: `std::array<Deeds, 2> step(const std::array<Wishes, 2>&)`.
template <typename Link>
class Play {
 public:
  Play(Link& link, const Scenario& scenario) : link_(link), scenario_(scenario) {}
  Figures figures() {
    while (still_ < kStill) step();
    Figures figures;
    figures.is_whole = is_in_order_;
    for (std::size_t i = 0; i < 2; ++i) {
      figures.is_whole = figures.is_whole && out_[i] == scenario_.words[1 - i];
      figures.rate[i] = static_cast<double>(out_[i] - 1) / static_cast<double>(last_out_[i] - first_out_[i]);
    }
    figures.first_word = static_cast<double>(first_out_[1] - first_in_[0]);
    figures.most_received = static_cast<double>(most_);
    figures.between_credits =
        static_cast<double>(last_credit_ - first_credit_) / static_cast<double>(credits_);
    return figures;
  }

 private:
  static constexpr std::uint64_t kStill = 8000;    // cycles without a word: the end, or a hang
  static constexpr std::uint64_t kSettled = 2000;  // cycles

  void step() {
    std::array<Wishes, 2> wishes;
    for (std::size_t i = 0; i < 2; ++i)
      wishes[i] = {.offers = in_[i] < scenario_.words[i],
                   .is_last = scenario_.is_last(in_[i]),
                   .takes = scenario_.takes(now_),
                   .word = in_[i]};
    const std::array<Deeds, 2> deeds = link_.step(wishes);
    ++now_;
    ++still_;
    for (std::size_t i = 0; i < 2; ++i) count(i, deeds[i]);
  }
  void count(std::size_t i, const Deeds& deeds) {
    if (deeds.accepted || deeds.delivered) still_ = 0;
    if (deeds.accepted && in_[i]++ == 0) first_in_[i] = now_;
    if (deeds.delivered) {
      is_in_order_ = is_in_order_ && deeds.word == out_[i];
      if (out_[i]++ == 0) first_out_[i] = now_;
      last_out_[i] = now_;
    }
    if (i == 0) return;
    fill_ += (deeds.received ? 1 : 0) - (deeds.delivered ? 1 : 0);
    most_ = std::max(most_, fill_);
    if (!deeds.is_credit_only || now_ < kSettled || in_[0] == scenario_.words[0]) return;
    if (first_credit_ == 0) {
      first_credit_ = now_;
    } else {
      ++credits_;
    }
    last_credit_ = now_;
  }

  Link& link_;
  const Scenario& scenario_;
  std::uint64_t now_ = 0, still_ = 0;
  std::array<std::uint64_t, 2> in_{}, out_{}, first_in_{}, first_out_{}, last_out_{};
  std::int64_t fill_ = 0, most_ = 0;
  std::uint64_t first_credit_ = 0, last_credit_ = 0, credits_ = 0;
  bool is_in_order_ = true;
};

/// A figure of a scenario, and how far from it one may be.
struct Point {
  std::string name;
  Scenario scenario;
  std::function<double(const Figures&)> figure;
  double value = 0;
  double tolerance = 0;
};

inline double rate(const Figures& figures) { return figures.rate[1]; }
inline double first_word(const Figures& figures) { return figures.first_word; }
inline double most_received(const Figures& figures) { return figures.most_received; }
inline double between_credits(const Figures& figures) { return figures.between_credits; }
inline double is_whole(const Figures& figures) { return figures.is_whole ? 1 : 0; }
inline bool every_other(std::uint64_t cycle) { return cycle % 2 == 0; }

inline void add_speeds(std::vector<Point>& points) {
  constexpr double kRounding = 5e-5;  // values have four digits
  for (const auto& [packet, value] :
       {std::pair{4U, 0.8000}, {8U, 0.8889}, {16U, 0.9412}, {32U, 0.9697}, {64U, 0.9846}, {128U, 0.9923}})
    points.push_back({"packets of " + std::to_string(packet),
                      {.packet = packet, .receive = 2048},
                      rate,
                      value,
                      kRounding});
  struct Depth {
    unsigned receive;
    std::size_t latency;
    double rate;
  };
  for (const Depth& d : {Depth{63, 82, 0.1594}, Depth{96, 82, 0.4780}, Depth{128, 82, 0.6372},
                         Depth{160, 82, 0.7972}, Depth{192, 82, 0.9553}, Depth{224, 82, 0.9697},
                         Depth{512, 204, 0.9697}, Depth{1024, 456, 0.9697}, Depth{320, 200, 0.7337}})
    points.push_back({"depth of " + std::to_string(d.receive) + ", latency of " + std::to_string(d.latency),
                      {.receive = d.receive, .latency = d.latency},
                      rate,
                      d.rate,
                      0.003 * d.rate});
  const Scenario both{.words = {kStream, kStream}};
  points.push_back({"half duplex", {}, rate, 0.9697, kRounding});
  points.push_back({"full duplex, there", both, rate, 0.9697, kRounding});
  points.push_back(
      {"full duplex, back", both, [](const Figures& f) { return f.rate[0]; }, 0.9697, kRounding});
}

inline void add_first_words(std::vector<Point>& points) {
  for (const auto& [packet, cycles] :
       {std::pair{4U, 89}, {8U, 93}, {16U, 101}, {32U, 117}, {64U, 149}, {128U, 213}})
    points.push_back({"first word, packets of " + std::to_string(packet),
                      {.packet = packet, .receive = 2048, .words = {1000, 0}},
                      first_word,
                      double(cycles),
                      0});
  for (const std::size_t latency : {1U, 10U, 82U}) {
    const std::string place = ", latency of " + std::to_string(latency);
    Scenario single{.latency = latency, .words = {1, 0}};
    constexpr double kTimeout = 64;
    points.push_back({"single word" + place, single, first_word, kTimeout + double(latency) + 4, 0});
    single.is_last = [](std::uint64_t) { return true; };
    points.push_back({"last word" + place, single, first_word, double(latency) + 4, 0});
  }
}

inline void add_sinks(std::vector<Point>& points) {
  const Scenario slow{.words = {20000, 0}, .takes = every_other};
  points.push_back({"sink of every other cycle", slow, rate, 0.5, 1e-3});
  points.push_back({"fill behind it", slow, most_received, 413, 0.01 * 413});
  for (std::uint64_t phase = 0; phase < 33; phase += 4) {  // of the packet that is in flight
    const Scenario stops{.words = {20000, 0}, .takes = [phase](std::uint64_t cycle) {
                           return cycle < 3000 + phase || cycle >= 7000 + phase;
                         }};
    const std::string name = "sink that stops in phase " + std::to_string(phase);
    points.push_back({name + ", fill", stops, most_received, (481 + 512) / 2.0, (512 - 481) / 2.0});
    points.push_back({name + ", words", stops, is_whole, 1, 0});
  }
  Scenario credits{.packet = 128, .receive = 2048, .latency = 128, .words = {30000, 0}};
  points.push_back({"credits as printed", credits, between_credits, 128, 0.01 * 128});
  points.push_back({"credits", credits, between_credits, 129, 0.005 * 129});
  credits.takes = every_other;
  points.push_back({"credits of a slow sink", credits, between_credits, 256, 0.01 * 256});
}

/// Both send 20 words, then stream, and both sinks stop: with the thesis' rule both ends then stand inside of
/// a packet without credit, and neither may send the header that alone could bring some.
inline void add_rules(std::vector<Point>& points) {
  Scenario both{.words = {5000, 5000}};
  both.takes = [](std::uint64_t cycle) { return cycle > 4000; };
  both.is_last = [](std::uint64_t word) { return word == 19 || word == 4999; };
  points.push_back({"credit by the packet ends", both, is_whole, 1, 0});
  both.by_flit = true;
  points.push_back({"credit by the flit hangs", both, is_whole, 0, 0});
}

inline std::vector<Point> reference_points() {
  std::vector<Point> points;
  add_speeds(points);
  add_first_words(points);
  add_sinks(points);
  add_rules(points);
  return points;
}

}  // namespace fabricmark::credit_link::points

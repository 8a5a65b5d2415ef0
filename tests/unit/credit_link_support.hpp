#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <utility>

#include "network/credit_link/duplex_cycle_link.hpp"
#include "network/credit_link/link_watch.hpp"

namespace fabricmark::credit_link {

/// Sends numbered words from both ends, with a watch over it.
class LinkRun {
 public:
  /// What an end's user and wire do in a cycle; each may be empty: always.
  struct User {
    std::uint64_t words = 0;
    std::function<bool(std::uint64_t cycle)> offers;
    std::function<bool(std::uint64_t cycle)> takes;
    std::function<bool(std::uint64_t cycle)> wire;
    std::function<bool(std::uint64_t cycle)> link_up;
    std::function<bool(std::uint64_t word)> is_last;
  };
  LinkRun(const LinkParameters& parameters, std::size_t latency, User first, User second,
          const Disturbance& there = {}, const Disturbance& back = {})
      : link_(parameters, latency, there, back), watch_(link_), users_{std::move(first), std::move(second)} {}

  void step() {
    std::array<LinkEnd::Input, 2> inputs;
    for (std::size_t i = 0; i < 2; ++i) {
      const User& user = users_[i];
      if (!is_offering_[i])
        is_offering_[i] = in_[i] < user.words && (!user.offers || user.offers(link_.now()));
      inputs[i].source_valid = is_offering_[i];
      inputs[i].source_word = in_[i];
      inputs[i].source_last = user.is_last && user.is_last(in_[i]);
      inputs[i].source_tail = static_cast<std::uint8_t>(in_[i] % 16);
      inputs[i].sink_ready = !user.takes || user.takes(link_.now());
      inputs[i].wire_ready = !user.wire || user.wire(link_.now());
      inputs[i].link_up = !user.link_up || user.link_up(link_.now());
    }
    const DuplexCycleLink::Cycle cycle = link_.step(inputs[0], inputs[1]);
    watch_.look(inputs[0], inputs[1], cycle);
    ++still_;
    for (std::size_t i = 0; i < 2; ++i) {
      if (is_offering_[i] && cycle.ends[i].source_ready) {
        ++in_[i];
        is_offering_[i] = false;
        still_ = 0;
      }
      if (inputs[i].sink_ready && cycle.ends[i].sink_valid) {
        if (watch_.delivered(i) == 1) first_out_[i] = link_.now();
        last_out_[i] = link_.now();
        still_ = 0;
      }
    }
  }
  /// Until both are up.
  void start() {
    for (int i = 0; i < 100000 && !link_.is_up(); ++i) {
      const auto words = std::pair{std::exchange(users_[0].words, 0), std::exchange(users_[1].words, 0)};
      step();
      std::tie(users_[0].words, users_[1].words) = words;
    }
    for (std::size_t i = 0; i < 4 * link_.latency(); ++i) {  // the last SYNC flits are gone
      const auto words = std::pair{std::exchange(users_[0].words, 0), std::exchange(users_[1].words, 0)};
      step();
      std::tie(users_[0].words, users_[1].words) = words;
    }
  }
  /// Until nothing has gone on for `still` cycles.
  void finish(std::uint64_t still) {
    still_ = 0;
    while (still_ < still && watch_.violation().empty()) step();
  }
  [[nodiscard]] const DuplexCycleLink& link() const { return link_; }
  [[nodiscard]] LinkWatch& watch() { return watch_; }
  [[nodiscard]] std::uint64_t words_in(std::size_t i) const { return in_[i]; }
  [[nodiscard]] std::uint64_t delivered(std::size_t i) const { return watch_.delivered(i); }
  /// Words a cycle that end `i` delivered, from its first to its last.
  [[nodiscard]] double rate(std::size_t i) const {
    return static_cast<double>(delivered(i) - 1) / static_cast<double>(last_out_[i] - first_out_[i]);
  }

 private:
  DuplexCycleLink link_;
  LinkWatch watch_;
  std::array<User, 2> users_;
  std::array<bool, 2> is_offering_{};
  std::array<std::uint64_t, 2> in_{};
  std::array<std::uint64_t, 2> first_out_{};
  std::array<std::uint64_t, 2> last_out_{};
  std::uint64_t still_ = 0;
};

/// A link of random parameters and users; everything follows from `seed`.
struct RandomLink {
  LinkParameters parameters;
  std::size_t latency = 1;
  std::array<LinkRun::User, 2> users;
  std::array<Disturbance, 2> disturbances;
};

inline RandomLink random_link(std::uint64_t seed, double frame_loss, double bit_error, std::uint64_t words) {
  std::mt19937_64 draw(seed);
  const auto number = [&draw](unsigned from, unsigned to) {
    return std::uniform_int_distribution<unsigned>(from, to)(draw);
  };
  RandomLink link;
  LinkParameters& p = link.parameters;
  link.latency = number(1, number(0, 1) == 0 ? 20 : 300);
  p.width_bits = 128 * number(1, 4);
  p.packet_flits = number(1, 64);
  p.transmit_flits = 2 * p.packet_flits + number(0, 5);
  p.credit_flits = number(1, p.packet_flits);
  p.receive_flits = p.packet_flits + p.credit_flits - 1 + (number(0, 2) == 0 ? 0 : number(0, 300));
  p.timeout = number(1, 100);
  p.commits_packets = number(0, 1) == 1;
  p.is_framed = frame_loss > 0 || number(0, 1) == 1;
  p.sync_interval = number(0, 1) == 0 ? 1 : number(1, 64);
  const bool loses = frame_loss > 0 || bit_error > 0;
  p.keepalive = loses ? static_cast<unsigned>(4 * link.latency) + 64 : number(0, 1) * number(30, 500);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto rate = [&](unsigned least) {
      const double probability = number(0, 2) == 0 ? 1.0 : number(least, 100) / 100.0;
      return [probability, generator = std::mt19937_64(draw())](std::uint64_t) mutable {
        return probability >= 1 || std::bernoulli_distribution(probability)(generator);
      };
    };
    const unsigned frame = number(1, 100);
    link.users[i] = {.words = number(0, 9) == 0 ? 0 : words,
                     .offers = rate(5),
                     .takes = rate(5),
                     .wire = rate(40),
                     .link_up = {},
                     .is_last = [frame, words](std::uint64_t word) {
                       return word + 1 == words || (word * 2654435761U >> 7U) % frame == 0;
                     }};
    link.disturbances[i] = {.frame_loss = frame_loss, .bit_error = bit_error, .losses = {}, .seed = draw()};
  }
  return link;
}

}  // namespace fabricmark::credit_link

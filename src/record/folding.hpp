#pragma once

#include <cstddef>
#include <cstdint>

#include "record/room.hpp"

namespace fabricmark::record {

/// A sequence of calls in which those that follow each other again and again are loops, as they come. It
/// allocates nothing after it was made, and a call costs as much as the last few that were like it.
class Folding {
 public:
  /// Of a call, and of what the program did since the one before.
  struct Spent {
    double compute_seconds = 0;
    double inside_seconds = 0;
    std::uint64_t tests = 0;  ///< that found nothing, while the program worked
    double test_seconds = 0;  ///< in these
  };
  /// A call of a kind, or a loop of the `length` steps before it.
  struct Step {
    std::uint32_t key = 0;     ///< of the call; of a loop kLoop + its length
    std::uint32_t before = 0;  ///< place + 1 of the step before with the same key
    std::uint64_t times = 0;   ///< of a loop, in all
    Spent spent{};             ///< of all its turns
    [[nodiscard]] bool is_loop() const { return key >= kLoop; }
    [[nodiscard]] std::size_t length() const { return key - kLoop; }
  };
  static constexpr std::uint32_t kLoop = std::uint32_t{1} << 31;
  static constexpr std::size_t kLongest = 1024;  ///< steps of a loop

  /// For so many steps of kinds 0, 1, ...
  Folding(std::size_t steps, std::size_t kinds) : steps_(steps), heads_(kinds), loops_(kLongest + 1) {}

  /// False where there is no room for it.
  bool add(std::uint32_t key, const Spent& spent);
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const Step& operator[](std::size_t place) const { return steps_[place]; }

 private:
  bool push(const Step& step);
  void pop();
  /// Makes the last steps one more turn of those before, or a loop with them. False where they are none.
  bool fold();
  [[nodiscard]] bool are_alike(std::size_t first, std::size_t second, std::size_t length) const;
  /// The steps from `second` on are dropped, their times are those of the steps from `first` on, too.
  void merge(std::size_t first, std::size_t second, std::size_t length);
  std::uint32_t& head(std::uint32_t key) { return key >= kLoop ? loops_[key - kLoop] : heads_[key]; }

  Room<Step> steps_;
  Room<std::uint32_t> heads_;  ///< place + 1 of the last step of each kind
  Room<std::uint32_t> loops_;  ///< of loops, by length
  std::size_t size_ = 0;
};

}  // namespace fabricmark::record

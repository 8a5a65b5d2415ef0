#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "codec/form.hpp"
#include "codec/kernels.hpp"

namespace fabricmark::codec {

/// What predictions of a block know of the cells before it, and the block itself: of both sides. `cells`: of
/// the frame.
template <typename Word>
class History {
 public:
  static constexpr std::size_t kMostWords = kBlockCells * kMostChannels;

  History(const Form& form, std::size_t cells)
      : form_(form),
        lag_(std::size_t{form.lanes} * form.channels),
        all_(kBefore + kMostWords + kSlack),
        residuals_(kMostWords + kSlack),
        differences_(kMostWords + kSlack),
        last_(kBefore),
        row_(row_words(form, cells)),
        second_row_(form.rows_before() == 2 ? row_.size() : 0) {}

  [[nodiscard]] Word* words() { return all_.data() + kBefore; }
  [[nodiscard]] Word* residuals() { return residuals_.data(); }

  /// Residuals of the block's words.
  void foretell(std::size_t count) {
    if (form_.rows_before() == 0) return kernels_.line_residuals(words(), count, lag_, residuals());
    kernels_.differences(words(), count, lag_, form_.order(), differences_.data());
    by_rows(count, [this](std::size_t begin, std::size_t here, Word* row, Word* second_row) {
      kernels_.row_residuals(differences_.data() + begin, here, row, second_row, residuals() + begin);
    });
  }
  /// The block's words of residuals.
  void follow(std::size_t count) {
    if (form_.rows_before() == 0) return kernels_.line_words(residuals(), count, lag_, last_.data(), words());
    by_rows(count, [this](std::size_t begin, std::size_t here, Word* row, Word* second_row) {
      kernels_.row_differences(residuals() + begin, here, row, second_row, differences_.data() + begin);
    });
    kernels_.words(differences_.data(), count, lag_, form_.order(), last_.data(), words());
  }
  /// The same after a raw block, of which the decoder got the words.
  void learn(std::size_t count) {
    foretell(count);
    const Word* const end = words() + count - lag_;
    for (std::size_t i = 0; i < lag_; ++i) last_[i] = end[i] - end[i - lag_];
  }
  /// The block becomes what was before.
  void move_on(std::size_t count) { std::memmove(all_.data(), all_.data() + count, kBefore * sizeof(Word)); }

 private:
  static constexpr std::size_t kBefore = std::size_t{2} * kMostLanes * kMostChannels;

  /// Of a row that is longer than the frame nothing comes again.
  static std::size_t row_words(const Form& form, std::size_t cells) {
    if (form.rows_before() == 0) return 0;
    return std::max<std::size_t>(1, std::min<std::uint64_t>(form.columns, cells)) * form.channels;
  }

  /// Calls `body(begin, words, the rows before from there)` for the parts of a block between ends of rows.
  template <typename Body>
  void by_rows(std::size_t count, const Body& body) {
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t here = std::min(count - begin, row_.size() - place_);
      Word* const second_row = second_row_.empty() ? nullptr : second_row_.data() + place_;
      body(begin, here, row_.data() + place_, second_row);
      place_ = (place_ + here) % row_.size();
      begin += here;
    }
  }

  Form form_;
  const Kernels<Word>& kernels_ = kernels<Word>();
  std::size_t lag_;  ///< words from a cell to the one that it is foretold from
  std::vector<Word> all_;
  std::vector<Word> residuals_;
  std::vector<Word> differences_;
  std::vector<Word> last_;        ///< first differences of the last cell of each lane, of the decoder
  std::vector<Word> row_;         ///< differences along the row before
  std::vector<Word> second_row_;  ///< and how these differ from those of the one before it
  std::size_t place_ = 0;
};

}  // namespace fabricmark::codec

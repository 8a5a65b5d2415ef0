#pragma once

#include <vector>

#include "benchmarks/hpl/dataflow_factorization.hpp"

namespace fabricmark::hpl {

/// Between memories: kernels leave their blocks there, from which something else broadcasts them along rows
/// and columns.
template <typename T>
class MemoryFactorization : public DataflowFactorization<T> {
  using Base = DataflowFactorization<T>;

 public:
  using typename Base::Word;

 protected:
  /// What goes from the owner's column along this device's row, or from its row along this device's column.
  struct Broadcast {
    bool is_along_row = false;
    bool is_panel = false;  ///< else a factor
    T* data = nullptr;      ///< null where only time is asked for
    std::size_t count = 0;
  };

  MemoryFactorization(const runtime::Context& context, const Layout& layout, double host_bytes)
      : Base(context, layout, host_bytes) {
    if (!Base::board().computes()) return;
    lower_.resize(layout.block * layout.block);
    upper_.resize(lower_.size());
  }

  /// The device where it begins, as a place in the row or column.
  [[nodiscard]] std::size_t root(const Broadcast& one, const Step& step) const {
    const common::Grid& grid = Base::layout().grid;
    return step.iteration % (one.is_along_row ? grid.columns : grid.rows);
  }
  /// Both at the same time, when all of `after` has ended. Returns those after which they are there.
  virtual device::Events broadcast(const Step& step, const std::vector<Broadcast>& all,
                                   const device::Events& after) = 0;
  /// What broadcasts of a kind and direction are parts of; empty where only time is asked for.
  [[nodiscard]] std::vector<T>& memory(bool is_along_row, bool is_panel) {
    if (is_panel) return Base::panels(/*is_top=*/!is_along_row);
    return is_along_row ? lower_ : upper_;
  }

  [[nodiscard]] static bool is_root(const Broadcast& one, const Step& step) {
    return one.is_along_row ? step.is_in_column : step.is_in_row;
  }

  void carry_factors(const Step& step) override {
    if (step.iteration + 1 == Base::layout().blocks()) return;
    const auto words = static_cast<long>(Base::words());
    const bool computes = Base::board().computes();
    device::Events left;
    if (step.is_owner()) {
      left.push_back(
          Base::start("put L", {}, kernels::put<T>, Base::lower_sent(), words_of(lower_), words, computes));
      left.push_back(
          Base::start("put U", {}, kernels::put<T>, Base::upper_sent(), words_of(upper_), words, computes));
    }
    std::vector<Broadcast> all;
    if (step.is_in_row) all.push_back({true, false, lower_.data(), elements()});
    if (step.is_in_column) all.push_back({false, false, upper_.data(), elements()});
    const device::Events there = broadcast(step, all, left);
    if (step.updates_top()) {
      Base::start("take L", there, kernels::take<T>, words_of(lower_), Base::lower_used(), Base::words(),
                  computes);
    }
    if (step.updates_left()) {
      Base::start("take U", there, kernels::take<T>, words_of(upper_), Base::upper_used(), Base::words(),
                  computes);
    }
  }

  device::Events carry_panels(const Step& step) override {
    device::Events left;
    if (step.updates_top()) left.push_back(put("put top", true, step, step.right.count(), Base::top_sent()));
    if (step.updates_left()) {
      left.push_back(put("put left", false, step, step.below.count(), Base::left_sent()));
    }
    left.insert(left.end(), Base::readers(step).begin(), Base::readers(step).end());
    std::vector<Broadcast> all;
    if (step.below.count() > 0) {
      all.push_back({true, true, elements_of(Base::panel(false, step)), step.below.count() * elements()});
    }
    if (step.right.count() > 0) {
      all.push_back({false, true, elements_of(Base::panel(true, step)), step.right.count() * elements()});
    }
    return broadcast(step, all, left);
  }

 private:
  static Word* words_of(std::vector<T>& values) { return reinterpret_cast<Word*>(values.data()); }
  static T* elements_of(Word* words) { return reinterpret_cast<T*>(words); }
  [[nodiscard]] std::size_t elements() const { return Base::layout().block * Base::layout().block; }
  device::Event put(const char* name, bool is_top, const Step& step, std::size_t blocks,
                    fm::stream<Word>& blocks_sent) {
    return Base::start(name, Base::readers(step), kernels::put<T>, blocks_sent, Base::panel(is_top, step),
                       static_cast<long>(blocks) * Base::words(), Base::board().computes());
  }

  std::vector<T> lower_;
  std::vector<T> upper_;
};

}  // namespace fabricmark::hpl

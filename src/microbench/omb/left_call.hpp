#pragma once

#include <exception>
#include <functional>
#include <optional>

#include "board/dataflow/fiber.hpp"

namespace fabricmark::microbench::omb {

/// A call that is left where it would wait, and gone on with when somebody looks: what does not block is made
/// of what does.
class LeftCall {
 public:
  /// Runs `body` to where it first pauses.
  void begin(std::function<void()> body);
  /// From inside of the body.
  void pause() { fiber_->suspend(); }
  /// Goes on; true when the body has ended. Throws what it has thrown.
  bool look();

 private:
  static constexpr std::size_t kStackBytes = std::size_t{1} << 20U;
  dataflow::Stacks stacks_{kStackBytes};
  std::function<void()> body_;
  std::exception_ptr thrown_;
  std::optional<dataflow::Fiber> fiber_;
};

}  // namespace fabricmark::microbench::omb

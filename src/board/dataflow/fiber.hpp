#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace fabricmark::dataflow {

/// Stacks of fibers that have ended are used again. Below each lies a page that nobody may touch. Fibers may
/// begin and end in several threads at a time.
class Stacks {
 public:
  /// `bytes` of each stack: kernels keep their local memories there. Only what is touched takes memory.
  explicit Stacks(std::size_t bytes);
  ~Stacks();

  boost::context::stack_context take();
  void give_back(const boost::context::stack_context& stack);

 private:
  std::size_t bytes_;
  std::mutex mutex_;
  std::vector<boost::context::stack_context> free_;
};

/// A function with a stack of its own, which stops in the middle and goes on later. It is run by one thread
/// at a time, not always the same one. The sanitizers are told of every change of stack.
class Fiber {
 public:
  /// Thrown where a fiber is suspended when it is cancelled; its body must let it pass.
  struct Cancelled {};

  Fiber(Stacks& stacks, std::function<void()> body);
  /// Cancels what has not ended.
  ~Fiber();

  /// From outside: runs the body until it suspends or ends. What the body throws ends the program: it is
  /// the body's to catch, but for Cancelled.
  void resume();
  /// From inside: goes back to who has resumed it. Throws Cancelled.
  void suspend();
  /// Unwinds its stack.
  void cancel();
  [[nodiscard]] bool has_ended() const { return has_ended_; }

 private:
  class Borrowed;  // gives the stack back
  boost::context::fiber run(boost::context::fiber&& caller);
  void enter();  // says to the sanitizers that this stack runs

  std::function<void()> body_;
  boost::context::stack_context stack_;
  boost::context::fiber inside_;   // where it goes on
  boost::context::fiber outside_;  // where its caller goes on
  bool has_ended_ = false;
  bool is_cancelled_ = false;
  // For the sanitizers.
  const void* caller_stack_ = nullptr;
  std::size_t caller_bytes_ = 0;
  void* own_fake_ = nullptr;
  void* caller_fake_ = nullptr;
  void* own_threads_ = nullptr;
  void* caller_threads_ = nullptr;
};

}  // namespace fabricmark::dataflow

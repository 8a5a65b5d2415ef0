#include "board/dataflow/fiber.hpp"

#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <new>
#include <utility>

#include "base/error.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace fabricmark::dataflow {

namespace {

// What each sanitizer wants to know of a change of stack; nothing without them. They are inlined: the thread
// sanitizer counts the begins and ends of functions, and a function must not begin before a change and end
// after.

[[gnu::always_inline]] inline void leave(void** fake [[maybe_unused]], const void* bottom [[maybe_unused]],
                                         std::size_t bytes [[maybe_unused]]) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
#endif
}

[[gnu::always_inline]] inline void arrive(void* fake [[maybe_unused]], const void** bottom [[maybe_unused]],
                                          std::size_t* bytes [[maybe_unused]]) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
#endif
}

// What is known of memory that was somebody else's stack, or another fiber's that has ended here, is out of
// date.
void begin_stack(const boost::context::stack_context& stack [[maybe_unused]]) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(static_cast<std::byte*>(stack.sp) - stack.size, stack.size);
#endif
}

[[gnu::always_inline]] inline void* new_thread_state() {
#if defined(__SANITIZE_THREAD__)
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

[[gnu::always_inline]] inline void* thread_state() {
#if defined(__SANITIZE_THREAD__)
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

[[gnu::always_inline]] inline void change_thread_state(void* to [[maybe_unused]]) {
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to, 0);
#endif
}

[[gnu::always_inline]] inline void end_thread_state(void* state [[maybe_unused]]) {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(state);
#endif
}

}  // namespace

Stacks::Stacks(std::size_t bytes) : bytes_(bytes) {}

Stacks::~Stacks() {
  boost::context::protected_fixedsize_stack allocator(bytes_);
  for (auto& stack : free_) allocator.deallocate(stack);
}

boost::context::stack_context Stacks::take() {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      const auto stack = free_.back();
      free_.pop_back();
      return stack;
    }
  }
  try {
    return boost::context::protected_fixedsize_stack(bytes_).allocate();
  } catch (const std::bad_alloc&) {
    throw environment_failure("no address space for the stack of one more kernel",
                              "start fewer kernels at the same time, or allow more memory maps "
                              "(vm.max_map_count)");
  }
}

void Stacks::give_back(const boost::context::stack_context& stack) {
  const std::scoped_lock lock(mutex_);
  free_.push_back(stack);
}

class Fiber::Borrowed {
 public:
  explicit Borrowed(Stacks& stacks) : stacks_(&stacks) {}
  void deallocate(boost::context::stack_context& stack) { stacks_->give_back(stack); }

 private:
  Stacks* stacks_;
};

Fiber::Fiber(Stacks& stacks, std::function<void()> body) : body_(std::move(body)), stack_(stacks.take()) {
  begin_stack(stack_);
  own_threads_ = new_thread_state();
  inside_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack_.sp, stack_.size, stack_), Borrowed(stacks),
      [this](boost::context::fiber&& caller) { return run(std::move(caller)); });
}

Fiber::~Fiber() {
  cancel();
  end_thread_state(own_threads_);
}

void Fiber::enter() { arrive(own_fake_, &caller_stack_, &caller_bytes_); }

boost::context::fiber Fiber::run(boost::context::fiber&& caller) {
  outside_ = std::move(caller);
  enter();
  if (!is_cancelled_) {
    try {
      body_();
    } catch (const Cancelled&) {
      body_ = nullptr;  // its stack is unwound, which was all that was wanted
    }
  }
  body_ = nullptr;
  has_ended_ = true;
  leave(nullptr, caller_stack_, caller_bytes_);
  return std::move(outside_);  // functions end here yet: the thread sanitizer hears of the change in resume
}

void Fiber::resume() {
  caller_threads_ = thread_state();
  leave(&caller_fake_, static_cast<std::byte*>(stack_.sp) - stack_.size, stack_.size);
  change_thread_state(own_threads_);
  inside_ = std::move(inside_).resume();
  if (has_ended_) change_thread_state(caller_threads_);
  arrive(caller_fake_, nullptr, nullptr);
}

void Fiber::suspend() {
  leave(&own_fake_, caller_stack_, caller_bytes_);
  change_thread_state(caller_threads_);
  outside_ = std::move(outside_).resume();
  enter();
  if (is_cancelled_) throw Cancelled{};
}

void Fiber::cancel() {
  is_cancelled_ = true;
  if (!has_ended_) resume();
}

}  // namespace fabricmark::dataflow

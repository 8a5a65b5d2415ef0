#include "board/dataflow/thread_pool.hpp"

namespace fabricmark::dataflow {

ThreadPool::ThreadPool(int threads) : gate_(threads) {
  for (int number = 1; number < threads; ++number) {
    threads_.emplace_back([this, number] { serve(number); });
  }
}

ThreadPool::~ThreadPool() {
  if (threads_.empty()) return;
  task_ = nullptr;
  gate_.arrive_and_wait();
}

void ThreadPool::run(const std::function<void(int)>& task) {
  if (threads_.empty()) {
    task(0);
    return;
  }
  task_ = &task;
  gate_.arrive_and_wait();
  task(0);
  gate_.arrive_and_wait();
}

void ThreadPool::serve(int number) {
  for (;;) {
    gate_.arrive_and_wait();
    if (task_ == nullptr) return;
    (*task_)(number);
    gate_.arrive_and_wait();
  }
}

}  // namespace fabricmark::dataflow

#include "benchmarks/host_transfer/overlap.hpp"

#include <cstring>

namespace fabricmark::host_transfer {

namespace {
constexpr std::size_t kWrites = 0;
constexpr std::size_t kKernels = 1;
constexpr std::size_t kReads = 2;
}  // namespace

Overlap::Overlap(const runtime::Context& context, WorkItems work_items, std::size_t piece_bytes,
                 const device::Placement& place)
    : bytes_(piece_bytes / sizeof(std::uint32_t) * sizeof(std::uint32_t)),
      source_(context.device(), kPieces * bytes_),
      target_(context.device(), kPieces * bytes_),
      kernels_(context.replications(static_cast<int>(kPieces), kIncrement)),
      work_items_(work_items),
      queues_{context.device().queue(), context.device().queue(), context.device().queue()} {
  std::memset(target_.data(), 0, target_.bytes());
  for (std::size_t i = 0; i < kPieces; ++i) {
    buffers_.emplace_back(context.device(), bytes_, device::MemoryKind::kBuffer, place);
    kernels_.set(static_cast<int>(i), {{"words", buffers_[i]}, {"count", bytes_ / sizeof(std::uint32_t)}});
  }
}

void Overlap::prepare(std::uint32_t value) {
  auto* const words = reinterpret_cast<std::uint32_t*>(source_.data());
  for (std::size_t i = 0; i < count(); ++i) {
    words[i] = value + static_cast<std::uint32_t>(i);
  }
}

void Overlap::execute(std::size_t piece, const device::Events* after, device::Event* done) {
  kernels_.start_on(queues_[kKernels], static_cast<int>(piece),
                    geometry_of(work_items_, bytes_ / sizeof(std::uint32_t)), after, done);
}

void Overlap::run_serial(bool lose_one) {
  for (std::size_t i = 0; i < kPieces; ++i) {
    const bool is_lost = lose_one && i + 1 == kPieces;
    if (!is_lost) buffers_[i].write(queues_[kKernels], source_.data() + i * bytes_, bytes_);
    execute(i, nullptr, nullptr);
    buffers_[i].read(queues_[kKernels], target_.data() + i * bytes_, bytes_);
    queues_[kKernels].finish();
  }
}

void Overlap::run_overlapped(bool lose_one) {
  for (std::size_t i = 0; i < kPieces; ++i) {
    device::Event written;
    device::Event executed;
    device::Events after_write;
    if (!lose_one || i + 1 != kPieces) {
      buffers_[i].write(queues_[kWrites], source_.data() + i * bytes_, bytes_, 0, &written);
      after_write.push_back(written);
    }
    queues_[kWrites].flush();
    execute(i, &after_write, &executed);
    queues_[kKernels].flush();
    queues_[kReads].begin_after({executed});
    buffers_[i].read(queues_[kReads], target_.data() + i * bytes_, bytes_);
    queues_[kReads].flush();
  }
  for (const device::Queue& queue : queues_) queue.finish();
}

std::size_t Overlap::count_wrong(std::uint32_t value) const {
  const auto* const words = reinterpret_cast<const std::uint32_t*>(target_.data());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count(); ++i) {
    wrong += words[i] != value + static_cast<std::uint32_t>(i) + 1 ? 1 : 0;
  }
  return wrong;
}

}  // namespace fabricmark::host_transfer

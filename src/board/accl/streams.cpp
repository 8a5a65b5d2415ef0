#include "board/accl/streams.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace fabricmark::accl {

StreamEnd::Job StreamEnd::next() {
  dataflow::Kernel& kernel = dataflow::current_kernel();
  if (jobs_.empty()) {
    idle_ = &kernel;
    kernel.wait(dataflow::Kernel::Waits::kForMessage, nullptr);
  }
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  kernel.idle_until(job.at);
  return job;
}

void StreamEnd::write_words(std::span<const std::byte> bytes, const Write& write) {
  for (std::size_t first = 0; first < bytes.size(); first += kWordBytes) {
    std::array<std::byte, kWordBytes> word{};
    const std::size_t count = std::min(kWordBytes, bytes.size() - first);
    std::memcpy(word.data(), bytes.data() + first, count);
    write(word.data(), count, first + kWordBytes >= bytes.size());
  }
}

void StreamEnd::write_feed(Feed& feed, const Write& write) {
  dataflow::Kernel& kernel = dataflow::current_kernel();
  for (;;) {
    while (feed.pieces_.empty() && !feed.is_closed_) {
      feed.waiting_ = &kernel;
      kernel.wait(dataflow::Kernel::Waits::kForMessage, nullptr);
    }
    if (feed.pieces_.empty()) return;
    const auto [at, bytes] = std::move(feed.pieces_.front());
    feed.pieces_.pop_front();
    kernel.idle_until(at);
    write_words(bytes, write);
  }
}

void StreamEnd::read_words(const Job& job, const Read& read) {
  const std::size_t piece = job.piece == 0 ? job.wanted : job.piece;
  for (std::size_t first = 0; first < job.wanted; first += piece) {
    const std::size_t bytes = std::min(piece, job.wanted - first);
    std::vector<std::byte> came((bytes + kWordBytes - 1) / kWordBytes * kWordBytes);
    for (std::size_t place = 0; place < came.size(); place += kWordBytes) {
      const std::size_t kept = read(came.data() + place);
      if (kept >= std::min(kWordBytes, bytes - place)) continue;
      throw bad_use(
          fmt::format("a kernel's word {} for the engine keeps {} bytes of the {} that are called for",
                      (first + place) / kWordBytes + 1, kept, std::min(kWordBytes, bytes - place)),
          "keep all of each word; the engine counts elements");
    }
    came.resize(bytes);
    job.came(dataflow::current_kernel(), std::move(came));
  }
}

void StreamEnd::serve(const Write& write, const Read& read) {
  for (;;) {
    const Job job = next();
    write_words(job.out.bytes, write);
    if (job.feed) write_feed(*job.feed, write);
    if (job.wanted > 0) read_words(job, read);
    if (job.ended) job.ended(dataflow::current_kernel().clock);
  }
}

StreamEnd& Streams::connect(Ends& ends, int number, const std::string& way, const dataflow::AnyStream& words,
                            StreamEnd::Write write, StreamEnd::Read read) {
  auto& end = ends[number];
  if (end) {
    throw bad_use(fmt::format("stream {} {} a kernel is connected already", number, way),
                  "give each stream a number of its own");
  }
  end = std::make_unique<StreamEnd>();
  fabric_.start(device_, fmt::format("engine {} stream {}", way, number), {}, {clock_hz_}, {words.shared()},
                [&end = *end, write = std::move(write), read = std::move(read)] { end.serve(write, read); });
  return *end;
}

StreamEnd* Streams::find(const Ends& ends, int number) {
  const auto found = ends.find(number);
  return found == ends.end() ? nullptr : found->second.get();
}

}  // namespace fabricmark::accl

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "board/accl/call.hpp"
#include "board/dataflow/fabric.hpp"
#include "board/dataflow/stream.hpp"
#include "network/time.hpp"

namespace fabricmark::accl {

/// Bytes that one after the other go to a kernel's stream, or come from one: a fiber of its own at each
/// stream does so, one job after the other. Times are those of the words.
class StreamEnd {
 public:
  /// Bytes to the kernel that come one after the other.
  class Feed {
   public:
    /// `bytes` are whole words, but the last ones.
    void add(network::Time at, std::vector<std::byte> bytes) {
      pieces_.emplace_back(at, std::move(bytes));
      wake();
    }
    /// Nothing comes any more.
    void close() {
      is_closed_ = true;
      wake();
    }

   private:
    friend class StreamEnd;
    void wake() {
      if (waiting_ != nullptr) waiting_->worker().make_ready(*std::exchange(waiting_, nullptr));
    }
    std::deque<std::pair<network::Time, std::vector<std::byte>>> pieces_;
    bool is_closed_ = false;
    dataflow::Kernel* waiting_ = nullptr;
  };
  struct Job {
    network::Time at = 0;          ///< not before
    dataflow::Payload out{};       ///< to the kernel
    std::shared_ptr<Feed> feed{};  ///< to the kernel
    std::size_t wanted = 0;        ///< bytes from the kernel
    std::size_t piece = 0;         ///< of them at a time; 0: all at once
    /// From the kernel: a piece has come, at the clock of the fiber that is given.
    std::function<void(dataflow::Kernel&, std::vector<std::byte>)> came{};
    std::function<void(network::Time)> ended{};
  };

  void add(Job job) {
    jobs_.push_back(std::move(job));
    if (idle_ != nullptr) idle_->worker().make_ready(*std::exchange(idle_, nullptr));
  }
  /// Puts a word with so many bytes; the last one of a packet is told.
  using Write = std::function<void(const std::byte*, std::size_t bytes, bool is_last)>;
  /// Takes a word; returns how many of its bytes count, from the first on.
  using Read = std::function<std::size_t(std::byte*)>;
  /// The body of its fiber; never ends. One of both is there.
  void serve(const Write& write, const Read& read);

 private:
  Job next();
  static void write_words(std::span<const std::byte> bytes, const Write& write);
  static void write_feed(Feed& feed, const Write& write);
  static void read_words(const Job& job, const Read& read);

  std::deque<Job> jobs_;
  dataflow::Kernel* idle_ = nullptr;
};

/// The streams between the kernels of a device and its engine, by their numbers. Words are fm::accl_data, as
/// ACCL has them, with `keep`, `last` at the end of each packet and the stream's number for `dest`; or others
/// of kWordBytes, which have nothing beside their bytes.
class Streams {
 public:
  Streams(dataflow::Fabric& fabric, int device, double clock_hz)
      : fabric_(fabric), device_(device), clock_hz_(clock_hz) {}

  /// A kernel reads what the engine writes.
  template <typename Word>
  StreamEnd& connect_to_kernel(int number, dataflow::stream<Word>& words) {
    return connect(
        to_kernels_, number, "to", words,
        [&words, number](const std::byte* from, std::size_t bytes, bool is_last) {
          Word word;
          if constexpr (std::is_same_v<Word, fm::accl_data>) {
            std::memcpy(word.data, from, sizeof word.data);
            word.keep = kept(bytes);
            word.last = is_last;
            word.dest = static_cast<unsigned char>(number);
          } else {
            static_assert(sizeof(Word) == kWordBytes);
            static_cast<void>(number);  // which such words do not say
            std::memcpy(&word, from, sizeof word);
          }
          words.write(word);
        },
        nullptr);
  }
  template <typename Word>
  StreamEnd& connect_from_kernel(int number, dataflow::stream<Word>& words) {
    return connect(from_kernels_, number, "from", words, nullptr, [&words](std::byte* bytes) {
      const Word word = words.read();
      if constexpr (std::is_same_v<Word, fm::accl_data>) {
        std::memcpy(bytes, word.data, sizeof word.data);
        return kept_bytes(word.keep);
      } else {
        static_assert(sizeof(Word) == kWordBytes);
        std::memcpy(bytes, &word, sizeof word);
        return sizeof word;
      }
    });
  }
  /// Null where there is none.
  [[nodiscard]] StreamEnd* to_kernel(int number) const { return find(to_kernels_, number); }
  [[nodiscard]] StreamEnd* from_kernel(int number) const { return find(from_kernels_, number); }

 private:
  using Ends = std::map<int, std::unique_ptr<StreamEnd>>;
  StreamEnd& connect(Ends& ends, int number, const std::string& way, const dataflow::AnyStream& words,
                     StreamEnd::Write write, StreamEnd::Read read);
  /// `keep` of a word of which so many bytes count.
  static unsigned long long kept(std::size_t bytes) { return ~0ULL >> (kWordBytes - bytes); }
  /// Bytes before the first one that does not count.
  static std::size_t kept_bytes(unsigned long long keep) {
    return static_cast<std::size_t>(std::countr_one(keep));
  }
  static StreamEnd* find(const Ends& ends, int number);

  dataflow::Fabric& fabric_;
  int device_;
  double clock_hz_;
  Ends to_kernels_;
  Ends from_kernels_;
};

}  // namespace fabricmark::accl

// libfabricmark_messages as its users see it: ranks of this process with buffers on the first OpenCL device.
#include <gtest/gtest.h>
#include <fabricmark/messages.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <thread>

namespace fabricmark::messages {
namespace {

using Bytes = std::vector<unsigned char>;

bool mentions(const std::string& text, const std::string& word) {
  return text.find(word) != std::string::npos;
}

/// What it throws says; empty where it throws nothing.
std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class MessagesLibrary : public testing::Test {
 protected:
  void SetUp() override {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr) != CL_SUCCESS) {
      GTEST_SKIP() << "no OpenCL device";
    }
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, nullptr);
  }
  void TearDown() override {
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }

  /// Runs `body` on so many ranks, each a thread with an endpoint.
  void on_ranks(int count, const std::function<void(Endpoint&)>& body, const Options& options = kUnmeasured) {
    std::vector<std::thread> threads;
    for (Ranks& ranks : all_ = ranks_of_threads(count)) {
      threads.emplace_back([&] {
        try {
          Endpoint endpoint(std::move(ranks), context_, device_, options);
          body(endpoint);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// A buffer of the context; released with this.
  class Buffer {
   public:
    Buffer(const MessagesLibrary& test, const Bytes& content) : queue_(test.queue_), bytes_(content.size()) {
      cl_int code = CL_SUCCESS;
      memory_ = clCreateBuffer(test.context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_,
                               const_cast<unsigned char*>(content.data()), &code);
      EXPECT_EQ(code, CL_SUCCESS);
    }
    ~Buffer() { clReleaseMemObject(memory_); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    [[nodiscard]] Region region(std::size_t offset, std::size_t bytes) const {
      return {memory_, offset, bytes};
    }
    [[nodiscard]] Region all() const { return {memory_, 0, bytes_}; }
    [[nodiscard]] Bytes content() const {
      Bytes found(bytes_);
      clEnqueueReadBuffer(queue_, memory_, CL_TRUE, 0, bytes_, found.data(), 0, nullptr, nullptr);
      return found;
    }

   private:
    cl_command_queue queue_;
    std::size_t bytes_;
    cl_mem memory_ = nullptr;
  };

  /// Other bytes for each rank.
  static Bytes content(int rank, std::size_t bytes) {
    Bytes made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
      made[i] = static_cast<unsigned char>(31 * i + i / 251 + static_cast<std::size_t>(rank) * 97 + 1);
    }
    return made;
  }

  static constexpr Options kUnmeasured{.timeout_seconds = 60, .measured_bytes = 0};
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::vector<Ranks> all_;
};

TEST_F(MessagesLibrary, CarriesPartsOfBuffersAroundARing) {
  constexpr std::size_t kGuard = 5;
  const auto round_trip = [&](Endpoint& endpoint) {
    const int next = (endpoint.rank() + 1) % endpoint.size();
    const int last = (endpoint.rank() + endpoint.size() - 1) % endpoint.size();
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{7}, std::size_t{65537}, std::size_t{3} << 20U}) {
      const Buffer out(*this, content(endpoint.rank(), bytes + kGuard));
      const Buffer in(*this, Bytes(bytes + 2 * kGuard));
      endpoint.exchange(out.region(kGuard, bytes), next, in.region(kGuard, bytes), last, 3);
      const Bytes sent = content(last, bytes + kGuard);
      Bytes expected(bytes + 2 * kGuard);
      std::copy(sent.begin() + kGuard, sent.end(), expected.begin() + kGuard);
      EXPECT_EQ(in.content(), expected) << bytes << " bytes, rank " << endpoint.rank();
    }
    EXPECT_FALSE(endpoint.protocols().empty());
  };
  on_ranks(3, round_trip, {.timeout_seconds = 60, .measured_bytes = std::size_t{64} << 10U});
}

TEST_F(MessagesLibrary, BeginsWhenTheUsersCommandsHaveEnded) {
  on_ranks(2, [&](Endpoint& endpoint) {
    const Buffer buffer(*this, content(endpoint.rank(), 1000));
    if (endpoint.rank() == 0) {
      cl_event gate = clCreateUserEvent(context_, nullptr);
      Request sent = endpoint.start_send(buffer.all(), 1, 0, {&gate, 1});
      for (int look = 0; look < 100; ++look) EXPECT_FALSE(sent.has_ended());
      clSetUserEventStatus(gate, CL_COMPLETE);
      sent.wait();
      EXPECT_TRUE(sent.has_ended());
      clReleaseEvent(gate);
    } else {
      endpoint.receive(buffer.all(), 0);
      EXPECT_EQ(buffer.content(), content(0, 1000));
    }
  });
}

TEST_F(MessagesLibrary, MovesBytesOfAnyNumberCollectively) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{24}, std::size_t{998}, std::size_t{30001}}) {
    on_ranks(3, [&](Endpoint& endpoint) {
      const int rank = endpoint.rank();
      const Bytes own = content(rank, bytes);
      Bytes all;
      for (int other = 0; other < 3; ++other) {
        const Bytes of_other = content(other, bytes);
        all.insert(all.end(), of_other.begin(), of_other.end());
      }
      const auto mine = [&](const Bytes& parts) {
        const auto first = parts.begin() + static_cast<std::ptrdiff_t>(bytes) * rank;
        return Bytes(first, first + static_cast<std::ptrdiff_t>(bytes));
      };
      const Buffer one(*this, own);
      const Buffer many(*this, Bytes(3 * bytes));
      endpoint.all_gather(one.all(), many.all());
      EXPECT_EQ(many.content(), all) << "all_gather";
      const Buffer place(*this, own);
      endpoint.broadcast(place.all(), 1);
      EXPECT_EQ(place.content(), content(1, bytes)) << "broadcast";
      const Buffer root(*this, rank == 2 ? all : Bytes(1));
      const Buffer part(*this, Bytes(bytes));
      endpoint.scatter(rank == 2 ? root.all() : Region{}, part.all(), 2);
      EXPECT_EQ(part.content(), mine(all)) << "scatter";
      const Buffer back(*this, Bytes(rank == 0 ? 3 * bytes : 1));
      endpoint.gather(part.all(), rank == 0 ? back.all() : Region{}, 0);
      if (rank == 0) EXPECT_EQ(back.content(), all) << "gather";
      const Buffer out(*this, content(rank, 3 * bytes));
      endpoint.all_to_all(out.all(), many.all());
      Bytes turned;
      for (int other = 0; other < 3; ++other) {
        const Bytes from = mine(content(other, 3 * bytes));
        turned.insert(turned.end(), from.begin(), from.end());
      }
      EXPECT_EQ(many.content(), turned) << "all_to_all";
      endpoint.barrier();
    });
  }
}

template <typename Element>
Bytes bytes_in(const std::vector<Element>& elements) {
  const auto* first = reinterpret_cast<const unsigned char*>(elements.data());
  return {first, first + elements.size() * sizeof(Element)};
}

/// Sums, least and greatest of whole numbers, exact in every type that `Element` stands for.
template <typename Element>
std::vector<Element> operand(int rank, std::size_t count) {
  std::vector<Element> made(count);
  for (std::size_t i = 0; i < count; ++i) {
    made[i] = static_cast<Element>(static_cast<int>((i * 7 + static_cast<std::size_t>(rank) * 13) % 41) - 20);
  }
  return made;
}

template <typename Element>
std::vector<Element> reduced(int ranks, std::size_t count, Reduction reduction) {
  std::vector<Element> made = operand<Element>(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    const std::vector<Element> other = operand<Element>(rank, count);
    for (std::size_t i = 0; i < count; ++i) {
      made[i] = reduction == Reduction::kSum   ? static_cast<Element>(made[i] + other[i])
                : reduction == Reduction::kMin ? std::min(made[i], other[i])
                                               : std::max(made[i], other[i]);
    }
  }
  return made;
}

TEST_F(MessagesLibrary, ReducesWhereTheElementsLie) {
  constexpr int kRanks = 3;
  constexpr std::size_t kEach = 1001;
  const auto reduce_all = [&]<typename Element>(Endpoint& endpoint, Type type, Element /*of the type*/) {
    for (const Reduction reduction : {Reduction::kSum, Reduction::kMin, Reduction::kMax}) {
      const std::size_t count = kRanks * kEach;
      const std::vector<Element> expected = reduced<Element>(kRanks, count, reduction);
      const Buffer own(*this, bytes_in(operand<Element>(endpoint.rank(), count)));
      const Buffer result(*this, Bytes(count * sizeof(Element)));
      endpoint.all_reduce(own.all(), result.all(), type, reduction);
      EXPECT_EQ(result.content(), bytes_in(expected));
      const std::size_t part = kEach * sizeof(Element);
      endpoint.reduce_scatter(own.all(), result.region(0, part), type, reduction);
      const auto first = expected.begin() + static_cast<std::ptrdiff_t>(kEach) * endpoint.rank();
      const Bytes mine = bytes_in(std::vector<Element>(first, first + kEach));
      const Bytes found = result.content();
      EXPECT_TRUE(std::equal(mine.begin(), mine.end(), found.begin()));
      endpoint.reduce(own.all(), endpoint.rank() == 1 ? own.all() : Region{}, 1, type,
                      reduction);  // in place
      EXPECT_EQ(own.content(), endpoint.rank() == 1 ? bytes_in(expected)
                                                    : bytes_in(operand<Element>(endpoint.rank(), count)));
    }
  };
  on_ranks(kRanks, [&](Endpoint& endpoint) {
    reduce_all(endpoint, Type::kInt64, std::int64_t{});  // of both sizes; device_transport_test.cpp has all
    reduce_all(endpoint, Type::kFloat32, float{});
  });
}

TEST_F(MessagesLibrary, RefusesWhatCannotBe) {
  on_ranks(1, [&](Endpoint& endpoint) {
    const Buffer buffer(*this, Bytes(64));
    const auto said = [&](const Region& region, int to, int tag) {
      return message_of([&] { endpoint.send(region, to, tag); });
    };
    EXPECT_TRUE(
        mentions(said(buffer.region(60, 5), 0, 0), "5 bytes from byte 60 on are not in a buffer of 64"));
    EXPECT_TRUE(mentions(said(buffer.all(), 1, 0), "no rank 1"));
    EXPECT_TRUE(mentions(said(buffer.all(), 0, 1 << 14), "16384 is no tag"));
    EXPECT_TRUE(mentions(said({}, 0, 0), "no buffer"));
    cl_context other = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
    EXPECT_TRUE(mentions(said({foreign, 0, 64}, 0, 0), "another context"));
    clReleaseMemObject(foreign);
    clReleaseContext(other);
    const auto reduce = [&](const Region& own, const Region& result) {
      return message_of([&] { endpoint.all_reduce(own, result, Type::kFloat32, Reduction::kSum); });
    };
    EXPECT_TRUE(mentions(reduce(buffer.region(2, 8), buffer.region(32, 8)), "no whole elements of 4 bytes"));
    EXPECT_TRUE(mentions(reduce(buffer.region(0, 8), buffer.region(32, 12)), "8 and 12 bytes"));
    EXPECT_TRUE(mentions(reduce(buffer.region(0, 16), buffer.region(8, 16)), "overlap"));
  });
  EXPECT_TRUE(mentions(message_of([] { ranks_of_threads(0); }), "no group of 0 ranks"));
}

TEST_F(MessagesLibrary, NamesARankThatDoesNotComeAndMessagesOfAnotherLength) {
  const Options impatient{.timeout_seconds = 0.2, .measured_bytes = 0};
  std::atomic<bool> has_ended = false;
  on_ranks(
      2,
      [&](Endpoint& endpoint) {
        const Buffer buffer(*this, Bytes(64));
        if (endpoint.rank() == 0) {
          const std::string late = message_of([&] { endpoint.receive(buffer.all(), 1, 5); });
          EXPECT_TRUE(mentions(late, "rank 1")) << late;
          has_ended = true;
        } else {
          while (!has_ended) std::this_thread::yield();
        }
      },
      impatient);
  on_ranks(2, [&](Endpoint& endpoint) {
    const Buffer buffer(*this, Bytes(64));
    if (endpoint.rank() == 0) {
      const std::string other = message_of([&] { endpoint.receive(buffer.all(), 1); });
      EXPECT_TRUE(mentions(other, "48") && mentions(other, "64")) << other;
      endpoint.fail("rank 0 has seen enough");
    } else {
      const Request sent = endpoint.start_send(buffer.region(0, 48), 0);
      const std::string failed = message_of([&] { endpoint.receive(buffer.all(), 0, 9); });
      EXPECT_TRUE(mentions(failed, "rank 0 has seen enough")) << failed;
    }
  });
}

TEST_F(MessagesLibrary, GivesUpWhatNobodyWaitsFor) {
  on_ranks(2, [&](Endpoint& endpoint) {
    const int other = 1 - endpoint.rank();
    {
      const Buffer buffer(*this, Bytes(64));
      const Request forgotten = endpoint.start_receive(buffer.all(), other, 1);
    }
    const Buffer out(*this, content(endpoint.rank(), 64));
    const Buffer in(*this, Bytes(64));
    endpoint.exchange(out.all(), other, in.all(), other, 2);
    EXPECT_EQ(in.content(), content(other, 64));
  });
}

}  // namespace
}  // namespace fabricmark::messages

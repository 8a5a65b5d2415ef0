// What the transport over MPI lends of a device's memory: addresses, handles, views of them. That MPI gets it
// is for test_programs_mpi.py to see.
#include "transport/mpi/lending.hpp"

#include <set>

#include "ring_support.hpp"
#include "transport_support.hpp"

namespace fabricmark::transport {

namespace {

using device::MemoryKind;
using runtime::Communicator;
using runtime::RunConditions;
using test_support::OnRing;
using test_support::Ring;
using test_support::Setting;

constexpr std::size_t kBytes = std::size_t{1} << 16;

RunConditions with(MemoryKind memory) {
  return {.memory = memory, .fault = std::nullopt, .timeout_seconds = 60};
}

std::vector<std::byte> numbers(std::size_t count, int first) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(static_cast<std::byte>(first + 7 * static_cast<int>(i)));
  return all;
}

/// A rank alone, with a transport that passes memory so.
class Lent : public device::test_support::OnDevice {
 protected:
  void begin(MemoryKind memory, Passing passing) {
    if (memory == MemoryKind::kSvm && !found_.info.has_svm) GTEST_SKIP() << "no shared virtual memory";
    ranks_ = runtime::single_rank();
    setting_.emplace(found_, *ranks_, with(memory), runtime::Parameters{});
    transport_.emplace(setting_->context(), passing);
    memory_ = transport_->allocate(kBytes);
    queue_ = setting_->context().device().queue();
  }
  [[nodiscard]] std::size_t step() const { return found_.info.sub_buffer_alignment_bytes; }
  [[nodiscard]] Message message(std::size_t offset, std::size_t bytes, int tag = 0) const {
    return {{memory_.get(), offset, bytes}, 0, tag};
  }
  Lending lending(bool for_writing) { return {*transport_, queue_, for_writing}; }

  std::unique_ptr<Communicator> ranks_;
  std::optional<Setting> setting_;
  std::optional<MpiTransport> transport_;
  std::unique_ptr<Memory> memory_;
  device::Queue queue_;
};

TEST_F(Lent, SharedMemoryIsLentByItsOwnAddresses) {
  for (const Passing passing : {Passing::kMapped, Passing::kPointer}) {
    begin(MemoryKind::kSvm, passing);
    if (IsSkipped()) return;
    const std::vector<Message> sent{message(0, 10, 1), message(10, 7, 2), message(4099, 3, 3),
                                    message(5000, 0, 4)};
    Lending lent = lending(/*for_writing=*/false);
    lent.lend(sent);
    auto* const first = static_cast<std::byte*>(memory_->device().address());
    ASSERT_EQ(lent.messages().size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const HostMessage& one = lent.messages()[i];
      EXPECT_EQ(one.bytes.size(), sent[i].bytes);
      EXPECT_EQ(one.tag, sent[i].tag);
      EXPECT_EQ(one.bytes.data(), sent[i].bytes > 0 ? first + sent[i].offset : one.bytes.data());
    }
    lent.take_back();
  }
}

TEST_F(Lent, MappedMemoryHasTheDevicesBytesAndGivesItThoseThatArrive) {
  begin(MemoryKind::kSvm, Passing::kMapped);
  if (IsSkipped()) return;
  const std::vector<std::byte> own = numbers(100, 1);
  const std::vector<std::byte> other = numbers(100, 50);
  memory_->write(33, own);
  const Message first = message(33, own.size());
  Lending out = lending(/*for_writing=*/false);
  out.lend({&first, 1});
  EXPECT_TRUE(std::ranges::equal(out.messages().front().bytes, own));
  out.take_back();
  Lending in = lending(/*for_writing=*/true);
  in.lend({&first, 1});
  std::ranges::copy(other, in.messages().front().bytes.begin());
  in.take_back();
  std::vector<std::byte> found(other.size());
  memory_->read(33, found);
  EXPECT_EQ(found, other);
}

TEST_F(Lent, MemoryObjectsAreLentByTheirHandlesAndThoseOfViews) {
  begin(MemoryKind::kBuffer, Passing::kHandle);
  const std::vector<Message> sent{message(0, 64), message(step(), 20), message(4 * step(), 0)};
  Lending lent = lending(/*for_writing=*/false);
  lent.lend(sent);
  ASSERT_EQ(lent.messages().size(), 3U);
  EXPECT_EQ(static_cast<void*>(lent.messages()[0].bytes.data()), memory_->device().address());
  EXPECT_EQ(lent.messages()[0].bytes.size(), 64U) << "of the message, not of the memory";
  EXPECT_EQ(static_cast<void*>(lent.messages()[1].bytes.data()), memory_->part(step(), 20).address());
  EXPECT_NE(memory_->part(step(), 20).address(), memory_->device().address());
  EXPECT_EQ(lent.messages()[1].bytes.size(), 20U);
  EXPECT_TRUE(lent.messages()[2].bytes.empty());
  lent.take_back();
  lent.lend(sent);
  EXPECT_EQ(static_cast<void*>(lent.messages()[1].bytes.data()), memory_->part(step(), 20).address())
      << "the second time the same handle";
}

TEST_F(Lent, MessagesAtOddPlacesGoOverMemoryOfTheirOwn) {
  begin(MemoryKind::kBuffer, Passing::kHandle);
  const std::vector<std::byte> own = numbers(300, 3);
  memory_->write(1, own);
  const std::vector<Message> sent{message(1, 299), message(0, 1), message(300, 1)};
  Lending lent = lending(/*for_writing=*/false);
  lent.lend(sent);
  ASSERT_EQ(lent.messages().size(), 3U);
  std::set<void*> handles;
  for (const HostMessage& one : lent.messages()) handles.insert(one.bytes.data());
  EXPECT_EQ(handles.size(), 3U);
  EXPECT_EQ(static_cast<void*>(lent.messages()[1].bytes.data()), memory_->device().address());
  EXPECT_EQ(lent.messages()[0].bytes.size(), 299U);
  lent.take_back();
  std::vector<std::byte> found(300);
  memory_->read(1, found);
  EXPECT_EQ(found, own) << "what is sent stays";
}

TEST_F(Lent, MessagesThatMpiCannotTakeAsAWholeAreSeveralViews) {
  constexpr std::size_t kLongest = Communicator::kLongestPiece;
  if (found_.info.max_allocation_bytes < kLongest + kBytes)
    GTEST_SKIP() << "the device has too little memory";
  begin(MemoryKind::kBuffer, Passing::kHandle);
  Memory large(setting_->context().device(), kLongest + kBytes, MemoryKind::kBuffer);
  const Message whole{{&large, step(), kLongest + 10}, 0, 3};
  Lending lent = lending(/*for_writing=*/false);
  lent.lend({&whole, 1});
  ASSERT_EQ(lent.messages().size(), 2U);
  EXPECT_EQ(lent.messages()[0].bytes.size(), kLongest);
  EXPECT_EQ(lent.messages()[1].bytes.size(), 10U);
  EXPECT_EQ(static_cast<void*>(lent.messages()[1].bytes.data()), large.part(step() + kLongest, 10).address());
  lent.take_back();
}

class SharedRing : public OnRing, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SharedRing, testing::Values(1, 2, 3));

TEST_P(SharedRing, CarriesMessagesOfMappedMemory) {
  if (!found_.info.has_svm) GTEST_SKIP() << "no shared virtual memory";
  on_ranks(GetParam(), with(MemoryKind::kSvm), [](const auto& context, Communicator& ranks) {
    MpiTransport transport(context, Passing::kMapped);
    transport.check_library();
    for (std::uint32_t round = 1; round <= 3; ++round) {
      Ring ring(transport, ranks, {1, 65536, 0, 7, 100003});
      ring.prepare(round);
      EXPECT_GT(ring.count_wrong(), 0U) << "nothing has arrived yet";
      ring.exchange();
      EXPECT_EQ(ring.count_wrong(), 0U);
    }
  });
}

}  // namespace

}  // namespace fabricmark::transport

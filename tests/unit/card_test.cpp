// The emulated card: its protocol, memories and compute units, without a runtime of AMD's.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "card/service.hpp"
#include "support.hpp"

namespace fabricmark::card {
namespace {

constexpr std::uint64_t kUnit = 65536;
constexpr std::uint64_t kSecondBank = 1048576;
constexpr std::uint32_t kLoad = 3, kAllocate = 4, kFree = 5, kToCard = 6, kFromCard = 7, kWrite = 9,
                        kRead = 11;

/// A card with the kernels of card_kernels.cpp.
class Card {
 public:
  explicit Card(Sharing sharing = Sharing::kPrivate, Fault fault = Fault::kNone) : service_(sharing, fault) {
    call(kLoad, Reply().bytes(1, "unused.xml").bytes(2, CARD_KERNELS).bytes(5, "/nowhere"));
  }
  std::string call(std::uint32_t number, const Reply& message) {
    return service_.answer(number, Fields(message.text()));
  }
  void allocate(std::uint64_t address, std::uint64_t bytes) {
    call(kAllocate, Reply().number(1, address).number(2, bytes).number(3, 0));
  }
  void write(std::uint64_t address, std::string_view bytes) {
    call(kToCard, Reply().number(3, address).bytes(4, bytes).number(5, bytes.size()));
  }
  std::string read(std::uint64_t address, std::uint64_t bytes) {
    const std::string answer = call(kFromCard, Reply().number(4, address).number(5, bytes));
    return std::string(Fields(answer).bytes(2));
  }
  void registers(std::string_view map) { call(kWrite, Reply().number(2, kUnit).bytes(4, map)); }
  void wait() {
    while (true) {
      const std::string answer = call(kRead, Reply().number(2, kUnit).number(3, 4));
      if ((Fields(answer).bytes(2).at(0) & ComputeUnit::kDone) != 0) return;
    }
  }
  Service& service() { return service_; }

 private:
  Service service_;
};

template <typename T>
void put(std::string& map, std::size_t offset, T value) {
  std::memcpy(map.data() + offset, &value, sizeof(value));
}

/// Of the kernel `add`, with the control word of a start.
std::string map(std::uint64_t in, std::uint64_t out) {
  std::string map(72, '\0');
  put(map, 0, std::uint32_t{1});
  put(map, 16, in);
  put(map, 28, out);
  put(map, 40, std::uint8_t{200});
  put(map, 48, std::uint16_t{60000});
  put(map, 56, std::uint32_t{4000000000});
  put(map, 64, std::uint64_t{1} << 40);
  return map;
}

/// The words of the error that `call` throws; empty where it throws none.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Card, RunsAKernelWithScalarsOfEachSize) {
  Card card;
  card.allocate(0, 4);
  card.allocate(kSecondBank, 8);
  const std::uint32_t in = 7;
  card.write(0, {reinterpret_cast<const char*>(&in), sizeof(in)});
  std::string registers = map(0, kSecondBank);
  registers[0] = 0;
  card.registers(registers);  // as the runtime does, once without the start
  registers[0] = 1;
  card.registers(registers);
  card.wait();
  std::uint64_t out = 0;
  std::memcpy(&out, card.read(kSecondBank, 8).data(), sizeof(out));
  EXPECT_EQ(out, 7 + 200 + 60000 + 4000000000U + (std::uint64_t{1} << 40));
}

TEST(Card, FindsABufferInAnotherBank) {
  Card card;
  card.allocate(0, 4);
  card.allocate(4096, 8);
  card.allocate(2 * kSecondBank, 8);
  EXPECT_EQ(error_of([&] { card.registers(map(0, 4096)); }),
            "add_1's argument out is connected to DDR[1], and its buffer lies in DDR[0]; allocate it in the "
            "argument's bank (its group_id, or by kernel and argument)");
  EXPECT_NE(error_of([&] { card.registers(map(0, 2 * kSecondBank)); }).find("lies in no bank"),
            std::string::npos);
}

TEST(Card, FindsAnAddressWithinAWord) {
  Card card;
  card.allocate(0, 64);
  card.allocate(kSecondBank, 128);
  EXPECT_NE(
      error_of([&] { card.registers(map(0, kSecondBank + 8)); }).find("argument out begins within a word"),
      std::string::npos);
  EXPECT_EQ(error_of([&] { card.registers(map(0, kSecondBank + 64)); }), "");
}

TEST(Card, FindsARegisterMapThatIsShort) {
  Card card;
  card.allocate(0, 4);
  card.allocate(kSecondBank, 8);
  EXPECT_NE(
      error_of([&] { card.registers(map(0, kSecondBank).substr(0, 68)); }).find("without its argument eight"),
      std::string::npos);
}

TEST(Card, FindsWhatLiesInNoBuffer) {
  Card card;
  card.allocate(0, 4);
  card.allocate(kSecondBank, 8);
  EXPECT_NE(error_of([&] { static_cast<void>(card.read(0, 5)); }).find("no buffer"), std::string::npos);
  EXPECT_NE(error_of([&] { card.write(kSecondBank - 1, "x"); }).find("no buffer"), std::string::npos);
  card.call(kFree, Reply().number(1, 0));
  EXPECT_NE(error_of([&] { card.registers(map(0, kSecondBank)); }).find("no buffer"), std::string::npos);
  EXPECT_NE(error_of([&] { card.allocate(kSecondBank + 4, 8); }).find("over another one"), std::string::npos);
}

TEST(CardDeathTest, TouchesNothingBesideABuffer) {
  Memory memory(Sharing::kPrivate, ".");
  memory.allocate(0, 4096, false);
  memory.allocate(4096, 4096, false);
  std::byte* const bytes = memory.at(0, 4096);
  EXPECT_DEATH(bytes[4096] = std::byte{1}, "");
  EXPECT_DEATH(bytes[-1] = std::byte{1}, "");
}

TEST(Card, RefusesMoreThanTheHostHas) {
  Card card;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 50, ~std::uint64_t{0}})
    EXPECT_NE(error_of([&] { card.allocate(0, bytes); }).find("has no room"), std::string::npos);
}

TEST(Card, MemoryThatNobodyWroteShows) {
  Card card;
  card.allocate(0, 3);
  EXPECT_EQ(card.read(0, 3), "\xA5\xA5\xA5");
}

TEST(Card, RefusesWhatIsNoneOfItsUnits) {
  Card card;
  EXPECT_NE(error_of([&] {
              card.call(kWrite, Reply().number(2, 2 * kUnit).bytes(4, "abcd"));
            }).find("no compute unit"),
            std::string::npos);
  EXPECT_NE(
      error_of([&] { card.call(kWrite, Reply().number(2, kUnit + 65534).bytes(4, "abcd")); }).find("beyond"),
      std::string::npos);
}

/// As the runtime does where a program loads two: over the file of the first one, which is loaded.
TEST(Card, LoadsABitstreamThatWasWrittenOverTheLastOne) {
  const test::TemporaryFolder folder;
  std::ifstream file(CARD_KERNELS, std::ios::binary);
  const std::string library{std::istreambuf_iterator<char>(file), {}};
  const std::string path = folder.write("dltmp", library).string();
  Card card;
  for (const std::string& content : {library, std::string(library.size(), 'x'), library}) {
    std::ofstream(path, std::ios::binary) << content;
    const std::string error = error_of(
        [&] { card.call(kLoad, Reply().bytes(1, "unused.xml").bytes(2, path).bytes(5, "/nowhere")); });
    EXPECT_EQ(error.empty(), content == library) << error;
  }
  EXPECT_EQ(card.service().running_for(0), "");
}

TEST(Card, SaysWhichKernelDoesNotEnd) {
  Memory memory(Sharing::kPrivate, ".");
  memory.allocate(0, 4, false);
  memory.allocate(kSecondBank, 8, false);
  std::atomic<bool> may_end = false;
  const Bitstream bitstream(CARD_KERNELS, /*meet=*/false);
  ComputeUnit& unit = bitstream.unit_at(kUnit);
  unit.end_after([&](std::uint64_t) { return may_end.load(); });
  EXPECT_EQ(bitstream.running_for(0), "");
  unit.write(0, map(0, kSecondBank), bitstream.design(), memory);
  EXPECT_EQ(bitstream.running_for(0), "add_1");
  EXPECT_EQ(bitstream.running_for(3600), "");
  const std::string twice = error_of([&] { unit.write(0, map(0, kSecondBank), bitstream.design(), memory); });
  EXPECT_NE(twice.find("was started while it runs"), std::string::npos);
  may_end = true;
}

/// As compute units of a board do; two of a kernel would else share its __local memory.
TEST(Card, KeepsMemoryOfItsOwnForEachComputeUnit) {
  Memory memory(Sharing::kPrivate, ".");
  memory.allocate(0, 4096, false);
  const Bitstream bitstream(CARD_KERNELS, /*meet=*/false);
  std::string registers(24, '\0');
  put(registers, 0, std::uint32_t{1});
  for (const std::uint64_t expected : {1, 2}) {
    for (const std::uint64_t base : {524288, 589824}) {
      ComputeUnit& unit = bitstream.unit_at(base);
      unit.write(0, registers, bitstream.design(), memory);
      while ((unit.read(0, 4)[0] & 2) == 0) {  // done, which reading clears
      }
      std::uint64_t starts = 0;
      std::memcpy(&starts, memory.at(0, sizeof(starts)), sizeof(starts));
      EXPECT_EQ(starts, expected) << unit.unit().name;
    }
  }
}

TEST(Card, RefusesDescriptionsByName) {
  const std::string good =
      R"({"version": 1, "platform": "p", "memories": [{"name": "DDR[0]", "bytes": 1}], "units": [{"kernel": "k",
      "name": "k_1", "base": 0, "control": "CONTROL", "arguments": [{"name": "a", "kind": "buffer", "bytes": 8,
      "offset": OFFSET, "banks": [BANK]}]}]})";
  const auto with = [&](const std::string& control, const std::string& offset, const std::string& bank) {
    std::string text = good;
    text.replace(text.find("CONTROL"), 7, control);
    text.replace(text.find("OFFSET"), 6, offset);
    text.replace(text.find("BANK"), 4, bank);
    return error_of([&] { read_design(text); });
  };
  EXPECT_EQ(with("ap_ctrl_hs", "16", "0"), "");
  EXPECT_EQ(with("ap_ctrl_chain", "16", "0"), "");
  EXPECT_NE(with("ap_ctrl_none", "16", "0").find("k_1 has ap_ctrl_none"), std::string::npos);
  EXPECT_NE(with("ap_ctrl_me", "16", "0").find("knows no protocol ap_ctrl_me, by which k_1 is started"),
            std::string::npos);
  EXPECT_NE(with("ap_ctrl_hs\", \"work_items\": 64, \"more\": \"", "16", "0")
                .find("kernels of one work-item, and k_1 has more"),
            std::string::npos);
  EXPECT_NE(with("ap_ctrl_hs", "65530", "0").find("outside of its kernel's registers"), std::string::npos);
  EXPECT_NE(with("ap_ctrl_hs", "16", "1").find("a bank that there is not"), std::string::npos);
  EXPECT_NE(error_of([] { read_design("{"); }).find("cannot be read"), std::string::npos);
}

TEST(Card, BanksFollowEachOther) {
  const Design design{.platform = "", .banks = {{"a", 10}, {"b", 5}}, .units = {}, .streams = {}};
  EXPECT_EQ(bank_of(design, 9), 0U);
  EXPECT_EQ(bank_of(design, 10), 1U);
  EXPECT_EQ(bank_of(design, 15), 2U);
}

TEST(CardWire, ReadsBackWhatItWrites) {
  const Reply reply = Reply().number(1, ~std::uint64_t{0}).bytes(2, std::string_view("a\0b", 3)).number(3, 0);
  const Fields fields(reply.text());
  EXPECT_EQ(fields.number(1), ~std::uint64_t{0});
  EXPECT_EQ(fields.bytes(2), std::string_view("a\0b", 3));
  EXPECT_EQ(fields.number(4), 0U);
  EXPECT_EQ(answer_header(5), std::string("\x09\x05\0\0\0\0\0\0\0", 9));
}

TEST(CardWire, RefusesDamage) {
  for (const std::string_view damaged :
       {std::string_view("\x08", 1), std::string_view("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12),
        std::string_view("\x12\x05zu", 4), std::string_view("\x09\x01", 2), std::string_view("\x00\x01", 2),
        std::string_view("\x0b\x01", 2)})
    EXPECT_THROW(Fields{damaged}, Malformed);
  const std::string number = Reply().number(1, 1).text(), bytes = Reply().bytes(1, "a").text();
  EXPECT_THROW(static_cast<void>(Fields(number).bytes(1)), Malformed);
  EXPECT_THROW(static_cast<void>(Fields(bytes).number(1)), Malformed);
}

/// Whatever comes is answered or refused, and touches nothing outside: under the address sanitizer above all.
TEST(CardWire, AnyBytesAreAnsweredOrRefused) {
  std::mt19937_64 random(20261130);  // NOLINT(bugprone-random-generator-seed): the same each time
  Card card;
  card.allocate(0, 64);
  card.allocate(kSecondBank, 64);
  const std::string start = Reply().number(2, kUnit).bytes(4, map(0, kSecondBank)).text();
  const std::string copy =
      Reply().number(3, 0).bytes(4, std::string(64, 'x')).number(5, 64).number(4, 7).text();
  constexpr int kMessages = 20000;
  int answered = 0;
  for (int i = 0; i < kMessages; ++i) {
    std::string message = i % 2 == 0 ? start : copy;
    const auto changes = 1 + random() % 4;
    for (std::uint64_t change = 0; change < changes; ++change)
      message[random() % message.size()] = static_cast<char>(random());
    if (random() % 4 == 0) message.resize(random() % message.size());
    constexpr std::array kCalls{kToCard, kFromCard, kWrite, kRead, 22U, 50U, 51U, 52U, 1U, 5U + 100};
    const auto call = kCalls.at(random() % kCalls.size());
    if (error_of([&] { static_cast<void>(card.service().answer(call, Fields(message))); }).empty())
      ++answered;
    // What a host copies while a kernel runs is a race of its own.
    while (!card.service().running_for(0).empty()) std::this_thread::yield();
  }
  EXPECT_GT(answered, 0);
  EXPECT_LT(answered, kMessages);
}

}  // namespace
}  // namespace fabricmark::card

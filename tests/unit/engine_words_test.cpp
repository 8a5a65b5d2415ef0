// The words of kernels' commands: what the engine makes of those of ACCL, and of those that cannot be.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "board/accl/exchange_memory.hpp"
#include "engine_support.hpp"
#include "kernels/common/accl.hpp"

namespace fabricmark::accl::command_words {
namespace {

using dataflow::stream;
using Words = std::vector<fm::accl_word>;

Words words_of(const fm::accl_command& command) {
  Words words;
  for (int i = 0; i < fm::accl_words_of_command; ++i) words.push_back(fm::accl_sent_word(command, i));
  return words;
}

/// What a kernel writes to ACCL's port, word by word.
void write_words(stream<fm::accl_word>& to, stream<Status>& statuses, const Words& words,
                 unsigned int* status) {
  for (const fm::accl_word& word : words) to.write(word);
  *status = fm::accl_wait(statuses);
}

struct CommandEnd {
  unsigned int status = ~0U;
  std::string text{};
};

struct WordPort {
  stream<fm::accl_word> words{"words"};
  stream<Status> statuses{"statuses"};
};

std::shared_ptr<WordPort> port_of(const Rank& rank) {
  const auto port = std::make_shared<WordPort>();
  rank.accl.keep(port);
  rank.accl.connect_logic(port->words, port->statuses);
  return port;
}

CommandEnd issued(const Rank& rank, WordPort& port, const Words& words) {
  CommandEnd ended;
  rank.host.start("kernel", {}, write_words, port.words, port.statuses, words, &ended.status).wait();
  ended.text = rank.accl.logic_failure();
  return ended;
}

// Worked out from the order in which ACCL's driver fills the memory of its engine: 2 words and 7 of each of
// three buffers; a communicator of 2 words and 6 of each of four ranks; datapaths of 9 words.
TEST(EngineWords, ExchangeMemoryIsThatOfTheDriver) {
  ExchangeMemory memory(3);
  memory.add_communicator(4);
  memory.add_communicator(2);
  const std::uint32_t first = 4 * (2 + 7 * 3);
  const std::uint32_t datapaths = first + 4 * (2 + 6 * 4);
  EXPECT_EQ(memory.communicator(0), first);
  EXPECT_EQ(memory.datapath(Type::kFloat16, false), datapaths);
  EXPECT_EQ(memory.datapath(Type::kFloat32, true), datapaths + 36);
  EXPECT_EQ(memory.datapath(Type::kFloat32, false), datapaths + 2 * 36);
  EXPECT_EQ(memory.datapath(Type::kFloat64, false), datapaths + 3 * 36);
  EXPECT_EQ(memory.datapath(Type::kInt32, false), datapaths + 4 * 36);
  EXPECT_EQ(memory.datapath(Type::kInt64, false), datapaths + 5 * 36);
  EXPECT_EQ(memory.communicator(1), datapaths + 7 * 36);
  for (std::uint32_t address = 0; address < datapaths + 400; ++address) {
    const auto number = memory.communicator_at(address);
    EXPECT_EQ(number.has_value(), address == first || address == datapaths + 7 * 36) << address;
    const auto found = memory.datapath_at(address);
    EXPECT_EQ(found.has_value(),
              address >= datapaths && address < datapaths + 7 * 36 && (address - datapaths) % 36 == 0)
        << address;
    if (found) {
      EXPECT_EQ(memory.datapath(found->type, found->has_compression), address);
    }
  }
}

TEST(EngineWords, AddressesLeadToElementsAndNowhereElse) {
  std::vector<float> first(5);
  std::vector<double> second(600);
  DeviceMemory memory;
  EXPECT_EQ(memory.add(view(first)), 0U);
  memory.add({reinterpret_cast<std::byte*>(second.data()), 600, Type::kFloat64});
  const std::uint64_t begin = memory.address(0);
  EXPECT_GT(begin >> 32, 0U);
  EXPECT_EQ(memory.at(begin + 8, Type::kFloat32)->count, 3U);
  EXPECT_EQ(memory.at(begin + 8, Type::kFloat32)->data, reinterpret_cast<std::byte*>(&first[2]));
  EXPECT_EQ(memory.at(begin + 20, Type::kFloat32)->count, 0U);
  EXPECT_FALSE(memory.at(begin + 24, Type::kFloat32));
  EXPECT_FALSE(memory.at(begin + 2, Type::kFloat32));
  EXPECT_FALSE(memory.at(begin - 1, Type::kFloat32));
  EXPECT_FALSE(memory.at(begin << 32 | begin >> 32, Type::kFloat32));  // both halves swapped
  EXPECT_EQ(memory.at(memory.address(1) + 8, Type::kFloat64)->count, 599U);
}

// The same call as the 15 words of the port and at once.
TEST(EngineWords, AKernelCallsWordByWord) {
  constexpr std::size_t kCount = 20;
  std::vector<float> result(kCount);
  run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
    const auto port = port_of(rank);
    const fm::accl_use use = rank.accl.use(Type::kFloat32);
    std::vector<float> mine = counting(kCount, 3);
    if (rank.host.device() == 0) {
      const auto from = fm::accl_memory(rank.accl.address_of(view(mine)));
      EXPECT_EQ(issued(rank, *port, words_of(fm::accl_send(use, from, kCount, 1, 5))).status, 0U);
    } else {
      // As ACCLCommand::recv has it: the address in the words of the second operand.
      fm::accl_command recv =
          fm::accl_recv(use, fm::accl_memory(rank.accl.address_of(view(result))), kCount, 0, 5);
      std::swap(recv.b, recv.result);
      EXPECT_EQ(issued(rank, *port, words_of(recv)).status, 0U);
    }
    rank.accl.finish();
  });
  EXPECT_EQ(result, counting(kCount, 3));
}

// As ACCLCommand::copy and combine have them: without a communicator.
TEST(EngineWords, WhatStaysOnTheDeviceNeedsNoCommunicator) {
  std::vector<float> copied(20);
  std::vector<float> sums(20);
  run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
    if (rank.host.device() == 0) {
      const auto port = port_of(rank);
      std::vector<float> mine = counting(20, 3);
      const auto from = fm::accl_memory(rank.accl.address_of(view(mine)));
      fm::accl_use use = rank.accl.use(Type::kFloat32);
      use.communicator = 0;
      const auto to = fm::accl_memory(rank.accl.address_of(view(copied)));
      EXPECT_EQ(issued(rank, *port, words_of(fm::accl_copy(use, from, to, 20))).status, 0U);
      const auto sum = fm::accl_memory(rank.accl.address_of(view(sums)));
      EXPECT_EQ(issued(rank, *port, words_of(fm::accl_combine(use, fm::accl_sum, from, to, sum, 20))).status,
                0U);
    }
    rank.accl.finish();
  });
  EXPECT_EQ(copied, counting(20, 3));
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], 2 * copied[i]);
}

void write_data(stream<fm::accl_data>& to, int words, unsigned long long last_keep) {
  for (int i = 0; i < words; ++i) {
    const std::vector<float> values = counting(16, static_cast<float>(16 * i));
    fm::accl_data word = fm::accl_packed(values.data(), 0);
    if (i + 1 == words) word.keep = last_keep;
    to.write(word);
  }
}

void read_data(stream<fm::accl_data>& from, int words, std::vector<fm::accl_data>* all) {
  for (int i = 0; i < words; ++i) all->push_back(from.read());
}

// A put by the words of ACCL's header, which passes an address that nobody looks at, beside the flags of both
// streams: data arrive with the number of the stream, `last` at the end and `keep` for what counts.
TEST(EngineWords, DataHaveKeepLastAndDest) {
  std::vector<fm::accl_data> all;
  run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
    const auto port = port_of(rank);
    const auto data = std::make_shared<stream<fm::accl_data>>("data");
    rank.accl.keep(data);
    std::vector<float> any(3);
    if (rank.host.device() == 0) {
      rank.accl.connect_from_kernel(0, *data);
      rank.host.start("write_data", {}, write_data, *data, 3, 0xffffULL);
      fm::accl_command put = fm::accl_stream_put(rank.accl.use(Type::kFloat32), fm::accl_stream(0), 36, 1, 9);
      EXPECT_EQ(put.streams, 3U);
      put.a = rank.accl.address_of(view(any));
      EXPECT_EQ(issued(rank, *port, words_of(put)).status, 0U);
    } else {
      rank.accl.connect_to_kernel(9, *data);
      rank.host.start("read_data", {}, read_data, *data, 3, &all).wait();
    }
    rank.accl.finish();
  });
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all[i].dest, 9) << i;
    EXPECT_EQ(all[i].last, i == 2) << i;
    EXPECT_EQ(all[i].keep, i == 2 ? 0xffffULL : ~0ULL) << i;
    float values[16];
    fm::accl_unpack(all[i], values);
    EXPECT_EQ(values[3], static_cast<float>(16 * i + 3));
  }
}

// Words for a stream that no kernel reads come nowhere: the kernel that waits for them is named.
TEST(EngineWords, AWrongDestIsFound) {
  for (const unsigned int stream_of_put : {9U, 12U}) {
    std::array<std::string, 2> told;
    std::vector<fm::accl_data> all;
    run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
      const auto port = port_of(rank);
      const auto data = std::make_shared<stream<fm::accl_data>>("from the engine");
      rank.accl.keep(data);
      std::vector<float> values = counting(32);
      try {
        if (rank.host.device() == 0) {
          const auto from = fm::accl_memory(rank.accl.address_of(view(values)));
          const fm::accl_use use = rank.accl.use(Type::kFloat32);
          issued(rank, *port, words_of(fm::accl_stream_put(use, from, 32, 1, stream_of_put)));
        } else {
          rank.accl.connect_to_kernel(9, *data);
          rank.host.start("read_data", {}, read_data, *data, 2, &all);
        }
        rank.accl.finish();
      } catch (const Error& error) {
        told.at(static_cast<std::size_t>(rank.host.device())) = error.what();
      }
    });
    EXPECT_EQ(all.size(), stream_of_put == 9 ? 2U : 0U);
    EXPECT_EQ(told[1].find("read_data") != std::string::npos, stream_of_put == 12) << told[0] << told[1];
  }
}

TEST(EngineWords, AWordWithoutAllThatCountsEndsTheRun) {
  std::array<std::string, 2> told;
  run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
    const auto data = std::make_shared<stream<fm::accl_data>>("data");
    rank.accl.keep(data);
    std::vector<float> values(36);
    try {
      if (rank.host.device() == 0) {
        rank.accl.connect_from_kernel(0, *data);
        rank.host.start("write_data", {}, write_data, *data, 3, 0xfff7ULL);  // byte 3 does not count
        rank.accl.copy_from_stream(0, view(values)).wait();
      }
      rank.accl.finish();
    } catch (const Error& error) {
      told.at(static_cast<std::size_t>(rank.host.device())) = error.what();
    }
  });
  EXPECT_NE(told[0].find("word 3 for the engine keeps 3 bytes of the 16"), std::string::npos) << told[0];
}

struct WordFault {
  const char* what;
  int word;  ///< that is named; 0: of the data
  std::string name;
  std::function<void(Words&)> make;
};

// Each word of a good command is corrupted in turn: one line names it, and the others are told.
TEST(EngineWords, WhatCannotBeNamesItsWord) {
  const auto set = [](int place, unsigned int value) {
    return [place, value](Words& words) { words[static_cast<std::size_t>(place)].data = value; };
  };
  const std::vector<WordFault> faults{
      {"no such function", 1, "function", set(0, 14)},
      {"ACCL's configuration", 1, "function", set(0, fm::accl_function_config)},
      {"more elements than are registered", 10, "first operand's address, low half", set(1, 21)},
      {"no such communicator", 3, "communicator", set(2, 7)},
      {"no such rank", 4, "root, source or destination", set(3, 2)},
      {"no such reduction", 5, "reduction", set(4, 3)},
      {"no such datapath", 7, "datapath", set(6, 0)},
      {"another operand is compressed", 8, "compression flags", set(7, 1)},
      {"compression without its datapath", 8, "compression flags", set(7, 8)},
      {"an operand of the host's memory", 9, "stream flags", set(8, 0x100)},
      {"a reserved stream", 6, "tag",
       [](Words& words) {
         words[8].data = 2;
         words[5].data = 247;
       }},
      {"halves swapped", 10, "first operand's address, low half",
       [](Words& words) { std::swap(words[9].data, words[10].data); }},
      {"a high half left out", 10, "first operand's address, low half", set(10, 0)},
      {"an address in the midst of an element", 10, "first operand's address, low half",
       [](Words& words) { words[9].data += 2; }},
      // The words behind a missing one come too early.
      {"a word left out", 14, "result's address, low half",
       [](Words& words) { words.erase(words.begin() + 5); }},
      {"a word left out, which is the last", 14, "result's address, low half",
       [](Words& words) {
         words.pop_back();
         words.back().last = true;
       }},
      {"no last word", 15, "result's address, high half", [](Words& words) { words.back().last = false; }},
      {"a word of two bytes", 2, "count", [](Words& words) { words[1].keep = 3; }}};
  for (const WordFault& fault : faults) {
    run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
      std::vector<float> values(20);
      if (rank.host.device() == 1) return rank.host.finish();
      const auto port = port_of(rank);
      Words words = words_of(fm::accl_send(rank.accl.use(Type::kFloat32),
                                           fm::accl_memory(rank.accl.address_of(view(values))), 20, 1, 5));
      fault.make(words);
      const CommandEnd ended = issued(rank, *port, words);
      EXPECT_NE(ended.status, 0U) << fault.what;
      const std::string named = fmt::format("word {} ({}): ", fault.word, fault.name);
      EXPECT_NE(ended.text.find(named), std::string::npos) << fault.what << ": " << ended.text;
      EXPECT_EQ(ended.text.find('\n'), std::string::npos);
      rank.host.finish();
    });
  }
}

// Any words at all: a status, or nothing of the engine's memory is touched and a word is named.
TEST(EngineWords, AnyWordsEnd) {
  Draw draw(11);
  for (int turn = 0; turn < 60; ++turn) {
    run(devices(network::Protocol::kTcp), [&](const Rank& rank) {
      if (rank.host.device() == 1) return rank.host.finish();
      const auto port = port_of(rank);
      std::vector<float> values(20);
      const std::uint64_t address = rank.accl.address_of(view(values));
      Words words = words_of(fm::accl_copy(rank.accl.use(Type::kFloat32), fm::accl_memory(address),
                                           fm::accl_memory(address), 20));
      const std::array<unsigned int, 6> likely{0, 1, 2, 255, ~0U, static_cast<unsigned int>(address)};
      for (int corrupted = 0; corrupted < 3; ++corrupted) {
        words[draw.below(words.size())].data = likely.at(draw.below(likely.size()));
        words[8].data = 0;  // no streams, whose words would be waited for
      }
      const CommandEnd ended = issued(rank, *port, words);
      EXPECT_EQ(ended.status == 0, ended.text.empty()) << ended.text;
      rank.host.finish();
    });
  }
}

// Statuses are bits of ACCL, another one for each end of a call.
TEST(EngineWords, StatusesSayHowACallEnded) {
  for (int i = 0; i <= static_cast<int>(Code::kNoAlgorithm); ++i) {
    const auto code = static_cast<Code>(i);
    EXPECT_EQ(code_of(status_of(code)), code) << i;
    EXPECT_EQ(status_of(code) & (status_of(code) - 1), 0U) << "one bit";
  }
}

}  // namespace
}  // namespace fabricmark::accl::command_words

// Of ACCL's C++ driver what src/board/accl_driver/plugin/plugin.cpp uses, with the same names and types.
#pragma once

#include <experimental/xrt_ip.h>
#include <xrt/xrt_kernel.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "recorded.hpp"

namespace ACCL {

using addr_t = std::uint64_t;
using communicatorId = unsigned int;
constexpr communicatorId GLOBAL_COMM = 0;
enum class dataType { none, int8, float16, float32, float64, int32, int64 };

struct rank_t {
  std::string ip;
  int port;
  int session_id;
  addr_t max_segment_size;
};

inline std::string text(const std::vector<rank_t>& ranks) {
  std::ostringstream all;
  for (const rank_t& one : ranks)
    all << (all.tellp() > 0 ? "," : "") << one.ip << ':' << one.port << '/' << one.session_id << '/'
        << one.max_segment_size;
  return all.str();
}

class ACCL {
 public:
  ACCL(xrt::device& /*device*/, xrt::ip& /*engine*/, xrt::kernel& /*control*/, int memory,
       const std::vector<int>& receives) {
    stub::record("ACCL", memory, receives.at(0));
  }
  ~ACCL() { stub::record("~ACCL"); }
  void initialize(const std::vector<rank_t>& ranks, int rank, int buffers, addr_t bytes, addr_t eager,
                  addr_t rendezvous) {
    stub::record("initialize", text(ranks), rank, buffers, bytes, eager, rendezvous);
    know(ranks, rank);
  }
  void know(const std::vector<rank_t>& ranks, int rank) {
    groups_ = {ranks};
    own_ = {rank};
  }
  void* set_timeout(unsigned int value) {
    stub::record("set_timeout", value);
    return nullptr;
  }
  std::vector<rank_t> get_comm_group(communicatorId of) { return groups_.at(of); }
  communicatorId create_communicator(const std::vector<rank_t>& ranks, int rank) {
    stub::record("create_communicator", text(ranks), rank);
    groups_.push_back(ranks);
    own_.push_back(rank);
    return static_cast<communicatorId>(groups_.size() - 1);
  }
  /// An engine in ACCL's place (engine.hpp) reads from it how many ranks there are, and which one this is.
  addr_t get_communicator_addr(communicatorId of = GLOBAL_COMM) const {
    return 0x324 + 0x10000 * of + 0x1000000 * groups_.at(of).size() + 0x10000000 * own_.at(of);
  }
  addr_t get_arithmetic_config_addr(std::pair<dataType, dataType> types) const {
    return 0x400 + 4 * static_cast<addr_t>(types.first);
  }

 private:
  std::vector<std::vector<rank_t>> groups_;
  std::vector<int> own_;
};

}  // namespace ACCL

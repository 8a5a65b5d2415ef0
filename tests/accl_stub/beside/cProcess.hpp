// What ACCL's own headers take of Coyote, for a compiler that only looks at them (the clone of ACCL has
// Coyote as a submodule).
#pragma once

#include <cstddef>
#include <cstdint>

namespace fpga {

enum class CoyoteAlloc { REG_4K, HUGE_2M, HOST_2M };
enum class CoyoteOper { OFFLOAD, SYNC };
struct csAlloc {
  CoyoteAlloc kind;
  std::uint32_t pages;
};
struct csInvoke {
  CoyoteOper operation;
  void* memory;
  std::uint32_t bytes;
  bool first, second;
  std::uint32_t place;
  bool third;
};
class cProcess {
 public:
  void* getMem(const csAlloc& /*what*/) { return nullptr; }
  void invoke(const csInvoke& /*what*/) {}
  void freeMem(void* /*memory*/) {}
  int getCpid() const { return 0; }
};

}  // namespace fpga

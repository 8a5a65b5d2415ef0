#include "board/accl/result.hpp"

#include <algorithm>
#include <array>

#include "kernels/common/accl_words.hpp"

namespace fabricmark::accl {

namespace {

/// By Code.
constexpr std::array<unsigned int, 13> kStatuses{0,
                                                 fm::accl_pack_sequence_error,
                                                 fm::accl_receive_timeout_error,
                                                 fm::accl_pack_timeout_error,
                                                 fm::accl_dma_slave_error,
                                                 fm::accl_spare_buffer_index_error,
                                                 fm::accl_dma_size_error,
                                                 fm::accl_segmenter_error,
                                                 fm::accl_config_switch_error,
                                                 fm::accl_dma_decode_error,
                                                 fm::accl_kernel_timeout_error,
                                                 fm::accl_not_implemented,
                                                 fm::accl_rendezvous_threshold_invalid};

}  // namespace

unsigned int status_of(Code code) { return kStatuses.at(static_cast<std::size_t>(code)); }

Code code_of(unsigned int status) {
  const auto* const found = std::ranges::find(kStatuses, status);
  return found == kStatuses.end() ? Code::kNotSupported : static_cast<Code>(found - kStatuses.begin());
}

std::string_view name_of(Code code) {
  constexpr std::array kNames{"done",         "packets lost",   "time-out",         "peer dead",
                              "peer failed",  "credits differ", "message too long", "calls differ",
                              "unknown rank", "unknown memory", "unknown stream",   "not supported",
                              "no algorithm"};
  return kNames.at(static_cast<std::size_t>(code));
}

}  // namespace fabricmark::accl

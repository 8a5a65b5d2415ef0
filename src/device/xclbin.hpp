#pragma once

#include <cstdint>
#include <string>

#include "device/device.hpp"

namespace fabricmark::device {

/// What is wrong with a file that is to be loaded as an .xclbin; empty where nothing is. XRT reads where the
/// file says that something is, whether or not it ends before; and what a board's emulation lacks ends the
/// program. `info`: of the device, whose name is compared where it is emulated: a board compares it itself.
std::string fault_of_xclbin(const std::string& content, const DeviceInfo& info);

/// The XML of its kernels and arguments, of a container without a fault; empty where it has none.
std::string metadata_of_xclbin(const std::string& content);
/// Whether its kernels are those of the suite's own emulated card (docs/xrt.md), of a container without a
/// fault.
bool is_of_emulated_card(const std::string& content);
/// Of one with many compute units, what to try with XRT's schedulers; empty for fewer, for what is no
/// container, and where the xrt.ini that XRT reads speaks of them. Source: Meyer 2024, section 3.3.3; keys of
/// [Runtime] as in XRT's config_reader.h. Not tried on a board.
std::string scheduler_advice(const std::string& content);
/// The number of the first memory that an argument is connected to; 0 where none is.
int first_memory_of_xclbin(const std::string& content);
/// Bytes of the memory with this number, of a container without a fault; 0 where there is none.
std::uint64_t memory_bytes_of_xclbin(const std::string& content, int number);
/// Bytes of all its memories that are used; 0 of what is no whole container.
std::uint64_t memory_bytes_of_xclbin(const std::string& content);

}  // namespace fabricmark::device

#pragma once

#include <string>
#include <vector>

namespace fabricmark::runtime {

class Parameters;
struct Overrides;
struct VariantSpec;

/// The engine of messages that a bitstream has beside dataflow kernels, as the table `engine` of its sidecar
/// says: what the kernels are joined to is settled when they are linked.
struct LinkedEngine {
  std::vector<std::string> transports;  ///< whose network it has
  std::vector<std::string> modes;       ///< values of the parameter `mode` that its streams and units serve
};

/// For the dataflow kernels of whatever program, before a bitstream is loaded: kernels that wait for an
/// engine which was linked for something else wait for ever. Throws Error (bad use) where the sidecar does
/// not say that the bitstream is linked for the transport and the mode of the run; nothing is asked where the
/// transport has no engine.
void require_linked_engine(const Overrides& sidecar, const VariantSpec& variant,
                           const Parameters& parameters);

}  // namespace fabricmark::runtime

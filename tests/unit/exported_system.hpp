#pragma once

#include <nlohmann/json.hpp>
#include <string>

/// Parts of a file of `fabricmark systems export`.
namespace fabricmark::test {

inline nlohmann::json published(double number) { return {{"value", number}, {"kind", "published"}}; }

/// A network of packets with an engine on each board; `headers`: bytes of a frame beside its payload.
inline nlohmann::json packet_network(const std::string& id, double headers) {
  return {{"id", id},
          {"kind", "packet"},
          {"topology", "switch"},
          {"values",
           {{"latency_seconds", published(1.26e-6)},
            {"switch_seconds", published(1e-6)},
            {"start_seconds", published(0.24e-6)},
            {"host_start_seconds", published(30e-6)},
            {"copy_seconds", published(1.7e-6)},
            {"copy_bytes_per_second", published(14e9)},
            {"link_bytes_per_second", published(12.3e9)},
            {"line_bytes_per_second", published(12.5e9)},
            {"frame_bytes", published(8960)},
            {"frame_overhead_bytes", published(headers)}}}};
}

}  // namespace fabricmark::test

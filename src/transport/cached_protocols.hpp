#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "transport/tuning.hpp"

namespace fabricmark::transport {

/// What the fastest protocols depend on. Other values, other files.
struct TuningPlace {
  std::string transport;
  std::string processor;  ///< of the host
  std::string device;     ///< "none" where messages are between hosts' memories
  std::string driver;
  std::string ranks;  ///< "threads" of a process, or "mpi"
  int count = 0;      ///< of ranks
  Pattern pattern = Pattern::kExchange;
};

/// `device`: that of the transport, where it has one.
TuningPlace tuning_place(const device::DeviceInfo& device, const Transport& transport, Pattern pattern);

/// $FABRICMARK_CACHE/tuning/<digest>.json, or as device::cache_folder has it; empty where there is no home.
std::filesystem::path kept_file(const TuningPlace& place);

/// What is kept: the text of a JSON document, of schemas/tuning-2.schema.json.
std::string tuning_document(const TuningPlace& place, const std::vector<TunedSize>& sizes);
/// Writes it into that file. Throws Error as write_atomically does, and (environment)
/// where there is no folder for it.
void cache_protocols(const TuningPlace& place, const std::vector<TunedSize>& sizes);

/// What `fabricmark tune` has found.
struct CachedProtocols {
  std::string created;                 ///< UTC
  std::vector<std::string> protocols;  ///< [size class]
};

/// Absent where nothing was kept for this place. Throws Error (bad use) naming the file that is no such.
std::optional<CachedProtocols> cached_protocols(const TuningPlace& place);

/// What the transport takes now.
struct SettledProtocols {
  std::vector<std::string> protocols;  ///< [size class]; none where there was nothing to choose
  std::string said;                    ///< what was chosen, and from where, in words
};

/// Has the transport take the protocols that are kept for this machine, its device, as many ranks and this
/// pattern of messages, where all ranks have the same and it knows them; else measures them for messages of
/// up to so many bytes, and says what is wrong with a file that it could not read. Collective.
SettledProtocols settle_protocols(Transport& transport, const device::DeviceInfo& device,
                                  std::size_t largest_bytes, Pattern pattern);

}  // namespace fabricmark::transport

// The plugin for ACCL's engine on a card: its C++ driver (driver/xrt and driver/utils/accl_network_utils of
// https://github.com/Xilinx/ACCL, read at commit 723d8ec) sets up network, receive buffers, communicator and
// arithmetic; then kernels call the engine. Compiled against these headers, never run on a card.
#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <experimental/xrt_ip.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>
#include <accl.hpp>
#include <accl_network_utils.hpp>
#include <vnx/cmac.hpp>
#include <vnx/networklayer.hpp>

#include "interface.hpp"

namespace fabricmark::accl_driver {

struct Engine {
  std::unique_ptr<ACCL::ACCL> accl;
  std::int32_t rank = 0;
};

namespace {

thread_local std::string words_of_thread;

template <typename Action>
Outcome guarded(const Action& action) {
  try {
    action();
    return kDone;
  } catch (const std::exception& error) {
    words_of_thread = error.what();
  } catch (...) {
    words_of_thread = "ACCL threw what is no exception";
  }
  return kRefused;
}

const char* last_words() { return words_of_thread.c_str(); }

/// As generate_ranks of accl_network_utils makes them: a rank's session is its number.
std::vector<ACCL::rank_t> ranks_of(const Settings& settings) {
  std::vector<ACCL::rank_t> ranks;
  for (int i = 0; i < settings.rank_count; ++i) {
    const Rank& one = settings.ranks[i];
    ranks.push_back({one.address, one.port, i, settings.receive_bytes});
  }
  return ranks;
}

/// Memory banks of the engine, of its receive buffers, and its units: those of ACCL's reference designs,
/// which python/fabricmark/build/rules/accl.toml links.
constexpr int kEngineBank = 0;
constexpr int kReceiveBank = 1;

/// ACCL's initialize_accl looks for other names of the units of UDP (cmac_0 and networklayer_0) than its own
/// gen_config.py gives them, so that here is what it does, with these.
std::unique_ptr<ACCL::ACCL> over_udp(const Settings& settings, xrt::device& device,
                                     const std::vector<ACCL::rank_t>& ranks) {
  const xrt::uuid id = device.get_xclbin_uuid();
  vnx::CMAC port(xrt::ip(device, id, "cmac_0:{cmac}"));
  vnx::Networklayer network(xrt::ip(device, id, "networklayer:{poe_0}"));
  accl_network_utils::configure_vnx(port, network, ranks, settings.rank);
  xrt::ip engine(device, id, "ccl_offload:{ccl_offload_0}");
  xrt::kernel control(device, id, "hostctrl:{hostctrl_0_0}", xrt::kernel::cu_access_mode::exclusive);
  auto accl =
      std::make_unique<ACCL::ACCL>(device, engine, control, kEngineBank, std::vector<int>{kReceiveBank});
  constexpr std::uint64_t kMostAtRendezvous = 4 << 20;
  const std::uint64_t all = std::uint64_t{settings.receive_buffers} * settings.receive_bytes;
  accl->initialize(ranks, settings.rank, static_cast<int>(settings.receive_buffers), settings.receive_bytes,
                   settings.receive_bytes, std::min(all, kMostAtRendezvous));
  return accl;
}

std::unique_ptr<ACCL::ACCL> over_tcp(const Settings& settings, const xrt::device& device,
                                     std::vector<ACCL::rank_t>& ranks) {
  return accl_network_utils::initialize_accl(
      ranks, settings.rank, /*simulator=*/false, accl_network_utils::acclDesign::TCP, device,
      settings.bitstream, settings.receive_buffers, settings.receive_bytes, settings.receive_bytes);
}

Outcome open(const Settings* settings, Engine** opened) {
  return guarded([&] {
    xrt::device device(static_cast<xclDeviceHandle>(settings->device));
    std::vector<ACCL::rank_t> ranks = ranks_of(*settings);
    auto engine = std::make_unique<Engine>();
    engine->accl =
        settings->protocol == kTcp ? over_tcp(*settings, device, ranks) : over_udp(*settings, device, ranks);
    engine->rank = settings->rank;
    engine->accl->set_timeout(settings->timeout);
    *opened = engine.release();
  });
}

ACCL::dataType type_of(std::int32_t type) {
  switch (type) {
    case kFloat32:
      return ACCL::dataType::float32;
    case kFloat64:
      return ACCL::dataType::float64;
    case kInt32:
      return ACCL::dataType::int32;
    case kInt64:
      return ACCL::dataType::int64;
    case kFloat16:
      return ACCL::dataType::float16;
    default:
      throw std::invalid_argument("ACCL has no arithmetic for elements of type " + std::to_string(type));
  }
}

Outcome places(Engine* engine, std::uint32_t communicator, std::int32_t type, Places* found) {
  return guarded([&] {
    const ACCL::dataType elements = type_of(type);
    found->communicator = static_cast<std::uint32_t>(engine->accl->get_communicator_addr(communicator));
    found->datapath =
        static_cast<std::uint32_t>(engine->accl->get_arithmetic_config_addr({elements, elements}));
  });
}

/// As ACCL's own test of several communicators makes one: of the ranks that the first one knows.
Outcome communicator(Engine* engine, const std::int32_t* ranks, std::int32_t count, std::uint32_t* made) {
  return guarded([&] {
    const std::vector<ACCL::rank_t> all = engine->accl->get_comm_group(ACCL::GLOBAL_COMM);
    std::vector<ACCL::rank_t> group;
    int own = 0;
    for (std::int32_t i = 0; i < count; ++i) {
      if (ranks[i] == engine->rank) own = i;
      group.push_back(all.at(static_cast<std::size_t>(ranks[i])));
    }
    *made = engine->accl->create_communicator(group, own);
  });
}

void close(Engine* engine) {
  static_cast<void>(guarded([&] { delete engine; }));
}

}  // namespace

}  // namespace fabricmark::accl_driver

/// The one name that the plugin offers (kEntry).
extern "C" __attribute__((visibility("default"))) const fabricmark::accl_driver::Functions*
fabricmark_accl_functions() {
  using namespace fabricmark::accl_driver;
  static const Functions all = {kVersion, last_words, open, places, close, communicator};
  return &all;
}

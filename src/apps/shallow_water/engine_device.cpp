// Halos by an engine of messages: sent from a stream, received in memory and put in order there (Meyer 2024,
// section 5.2.1).
#include "apps/shallow_water/emulated_device.hpp"
#include "base/error.hpp"
#include "board/accl/accl.hpp"

namespace fabricmark::shallow_water {

namespace {

/// Elements of the engine in a message of so many of the mesh.
std::size_t floats_of(std::size_t elements) { return halo_bytes(elements) / sizeof(float); }

class EngineDevice final : public EmulatedDevice {
 public:
  EngineDevice(const runtime::Context& context, const DevicePart& part, DeviceKernels& kernels)
      : context_(context),
        part_(part),
        board_(context, network::Topology::circuits("none", context.ranks().size(), {}),
               board::Clocked::kAsBitstream) {
    kernels.connect(board_.engine(), board_.is_called_by_logic());
  }
  double advance(DeviceKernels& kernels, const Steps& steps, const Physics& physics,
                 const std::vector<Forcing>& forcing) override {
    const double before = context_.simulated_clock().seconds();
    board_.run(
        [&] {
          kernels.start(board_.host(), steps, physics, forcing);
          if (board_.is_called_by_logic()) {
            kernels.start_engine(board_.host());
          } else if (!part_.neighbours.empty()) {
            kernels.start_sending(board_.host(), /*tells=*/false);
            for (std::int64_t step = steps.first; step < steps.first + steps.count; ++step) {
              call_for_halos(kernels, step);
            }
          }
        },
        board::Counted::kKernels);
    kernels.check_calls();
    return context_.simulated_clock().seconds() - before;
  }

 private:
  /// Each call when the one before has ended, and then the kernel that takes what came.
  void call_for_halos(DeviceKernels& kernels, std::int64_t step) {
    for (const DevicePart::Neighbour& other : part_.neighbours) {
      finish(board_.engine().start({.kind = accl::Kind::kSend,
                                    .peer = other.rank,
                                    .tag = 0,
                                    .count = floats_of(other.sent),
                                    .type = collectives::Type::kFloat32,
                                    .a = {{}, 0}}));
    }
    const collectives::View memory{kernels.arrived().data(), kernels.arrived().size() / sizeof(float),
                                   collectives::Type::kFloat32};
    std::size_t first = 0;
    for (const DevicePart::Neighbour& other : part_.neighbours) {
      const std::size_t count = floats_of(other.received);
      finish(board_.engine().recv(memory.part(first, count), other.rank, 0));
      first += count;
    }
    kernels.start_receiving(board_.host(), step);
  }
  static void finish(accl::Request request) {
    const accl::Result& result = request.wait();
    if (result.is_done()) return;
    throw Error(ExitCode::kInvalidResult, result.text, "see the first rank that says so");
  }

  const runtime::Context& context_;
  const DevicePart& part_;
  board::Board board_;
};

}  // namespace

void require_halos_in_memory(const runtime::Context& context) {
  if (context.parameters().text("mode") != "streaming") return;
  throw bad_use("--mode streaming: halos leave word by word and are received in memory",
                "leave it out: there is no other way to put them in order");
}

std::unique_ptr<EmulatedDevice> make_device_on_engine(const runtime::Context& context, const DevicePart& part,
                                                      DeviceKernels& kernels) {
  require_halos_in_memory(context);
  return std::make_unique<EngineDevice>(context, part, kernels);
}

}  // namespace fabricmark::shallow_water

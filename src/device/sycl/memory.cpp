#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "device/memory.hpp"
#include "device/sycl/sycl.hpp"

namespace fabricmark::device::sycl {

std::shared_ptr<std::byte> allocate(const Opened& on, const std::string& name, std::size_t bytes,
                                    plugin::MemoryKind kind, std::int32_t location) {
  void* memory = nullptr;
  const plugin::Outcome outcome = on.functions->allocate(on.device.get(), kind, location, bytes, &memory);
  if (outcome != plugin::kDone && location != plugin::kUsualMemory) {
    throw environment_failure(
        name + " gives no buffer of " + std::to_string(bytes) + " bytes in its memory " +
            std::to_string(location) + ", where the kernel reads it (" + last_words(*on.functions) + ")",
        "choose a smaller size, or build the library with the numbers of this board's board_spec.xml");
  }
  if (outcome != plugin::kDone) {
    throw environment_failure(name + " has no room for a buffer of " + std::to_string(bytes) + " bytes (" +
                                  last_words(*on.functions) + ")",
                              "choose a smaller size or another device");
  }
  return {static_cast<std::byte*>(memory),
          [on](std::byte* pointer) { on.functions->release_memory(on.device.get(), pointer); }};
}

void Memory::write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
                   Event* done) {
  with_event(on_, done, "a copy to the device", [&](plugin::Event** event) {
    return on_.functions->copy(handle(queue), bytes_.get() + offset, source, bytes, event);
  });
}

void Memory::read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
                  Event* done) const {
  with_event(on_, done, "a copy from the device", [&](plugin::Event** event) {
    return on_.functions->copy(handle(queue), destination, bytes_.get() + offset, bytes, event);
  });
}

void Memory::copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
                     std::size_t to) const {
  std::byte* const target = dynamic_cast<Memory&>(other).bytes_.get() + to;
  check(*on_.functions,
        on_.functions->copy(handle(queue), target, bytes_.get() + from, bytes, /*done=*/nullptr),
        "a copy in the device");
}

void Memory::fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) {
  check(
      *on_.functions,
      on_.functions->fill(handle(queue), bytes_.get() + offset, std::to_integer<unsigned char>(value), bytes),
      "to fill memory");
}

void Queue::migrate(std::span<backend::Memory* const> memories, bool /*to_host*/, Event* done) {
  for (const backend::Memory* const one : memories) {
    if (dynamic_cast<const Memory&>(*one).is_shared()) continue;
    throw bad_use("SYCL does not move a whole buffer between host and device",
                  "leave out what migrates, or use OpenCL for this device");
  }
  if (done != nullptr) *done = Event();
}

std::byte* Memory::map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                       Event* done) {
  if (done != nullptr) *done = Event();
  if (kind_ != plugin::kDeviceMemory) return bytes_.get() + offset;
  // The host must not touch a device's memory, not even where it is the host's own.
  if (!view_) {
    view_ = allocate(on_, "the host", size_, plugin::kHostMemory);
    ask_for_huge_pages(view_.get(), size_);
  }
  std::byte* const view = view_.get() + offset;
  if (for_writing) {
    written_.push_back({view, bytes});
  } else {
    read(queue, view, bytes, offset, done);
  }
  return view;
}

void Memory::unmap(backend::Queue& queue, std::byte* mapped, Event* done) {
  if (done != nullptr) *done = Event();
  const auto found = std::ranges::find(written_, mapped, &Written::view);
  if (found == written_.end()) return;
  const Written written = *found;
  written_.erase(found);
  write(queue, mapped, written.bytes, static_cast<std::size_t>(mapped - view_.get()), done);
}

std::shared_ptr<backend::Memory> Memory::part(std::size_t bytes, std::size_t offset) const {
  return std::make_shared<Memory>(on_, std::shared_ptr<std::byte>(bytes_, bytes_.get() + offset), bytes,
                                  kind_, location_);
}

}  // namespace fabricmark::device::sycl

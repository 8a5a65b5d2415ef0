#include <algorithm>
#include <cstring>

#include "base/error.hpp"
#include "base/watchdog.hpp"
#include "device/xrt/xrt.hpp"

namespace fabricmark::device::xrt {

namespace {

Handle released_with(void* buffer) {
  return {buffer, [](void* one) { static_cast<void>(library().release(one)); }};
}

/// As xrt_mem.h has them.
std::uint64_t flags_of(MemoryKind kind) {
  if (kind == MemoryKind::kHostPointer) return Library::kHostOnly;
  if (kind == MemoryKind::kPeer) return Library::kPeerToPeer;
  return 0;
}

/// To a buffer of another board, which reaches this one over the bus.
void copy_between_boards(void* device, void* to, void* from, std::size_t bytes, std::size_t to_offset,
                         std::size_t from_offset) {
  const int exported = library().export_buffer(from);
  if (exported < 0) throw Refusal("xrtBOExport with '" + last_words() + "'");
  void* const imported = library().import_buffer(device, exported);
  if (imported == nullptr) throw Refusal("xrtBOImport with '" + last_words() + "'");
  const Handle held = released_with(imported);
  check(library().copy(to, held.get(), bytes, to_offset, from_offset), "xrtBOCopy");
}

}  // namespace

/// What parts of one allocation share.
struct Memory::Whole {
  /// Where the host sees it. Allocates it in the usual group where nobody has placed it.
  std::byte* host() {
    const std::scoped_lock lock(mutex);
    place(*on.usual_group);
    return mapped;
  }
  void* handle() {
    const std::scoped_lock lock(mutex);
    place(*on.usual_group);
    return buffer.get();
  }
  /// With the lock. Throws Error (environment) where there is no room.
  void place(int usual) {
    if (buffer) return;
    const Watched watched(Awaiting::kDevice);
    void* const made = library().allocate(on.device.get(), bytes, flags_of(kind),
                                          static_cast<std::uint32_t>(group >= 0 ? group : usual));
    if (made == nullptr) {
      throw environment_failure(
          on.info.name + " has no room for a buffer of " + std::to_string(bytes) + " bytes in its memory " +
              std::to_string(group >= 0 ? group : usual) + " (" + last_words() + ")",
          kind == MemoryKind::kBuffer ? "choose a smaller size or another device"
                                      : "choose a smaller size, have `xbutil configure` switch on what it "
                                        "needs (--host-mem, --p2p), or use --memory buffer");
    }
    buffer = released_with(made);
    mapped = static_cast<std::byte*>(library().map(made));
    if (mapped == nullptr) throw Refusal("xrtBOMap with '" + last_words() + "'");
  }
  void synchronise(Library::Direction direction, std::size_t count, std::size_t offset) {
    if (count > 0) check(library().synchronise(handle(), direction, count, offset), "xrtBOSync");
  }

  Opened on;
  MemoryKind kind = MemoryKind::kBuffer;
  std::size_t bytes = 0;
  int group = -1;
  std::mutex mutex;
  Handle buffer;
  std::byte* mapped = nullptr;
  std::vector<std::pair<std::byte*, std::size_t>> for_writing;  // views of the host, with their lengths
};

std::shared_ptr<Memory> allocate(const Opened& on, std::size_t bytes, MemoryKind kind, int group) {
  const auto whole = std::make_shared<Memory::Whole>();
  whole->on = on;
  whole->kind = kind;
  whole->bytes = bytes;
  whole->group = group;
  if (group >= 0) static_cast<void>(whole->host());  // where it finds no room it says so now
  return std::make_shared<Memory>(whole, bytes, 0);
}

void Memory::write(backend::Queue& queue, const void* source, std::size_t bytes, std::size_t offset,
                   Event* done) {
  as_own(queue).add(
      [whole = whole_, source, bytes, place = offset_ + offset] {
        std::memcpy(whole->host() + place, source, bytes);
        whole->synchronise(Library::kToDevice, bytes, place);
      },
      done);
}

void Memory::read(backend::Queue& queue, void* destination, std::size_t bytes, std::size_t offset,
                  Event* done) const {
  as_own(queue).add(
      [whole = whole_, destination, bytes, place = offset_ + offset] {
        whole->synchronise(Library::kFromDevice, bytes, place);
        std::memcpy(destination, whole->host() + place, bytes);
      },
      done);
}

void Memory::copy_to(backend::Queue& queue, backend::Memory& other, std::size_t bytes, std::size_t from,
                     std::size_t to) const {
  const Memory& own = dynamic_cast<Memory&>(other);
  as_own(queue).add(
      [source = whole_, target = own.whole_, bytes, first = offset_ + from, second = own.offset_ + to] {
        if (source->on.device != target->on.device && source->kind == MemoryKind::kPeer) {
          copy_between_boards(target->on.device.get(), target->handle(), source->handle(), bytes, second,
                              first);
          return;
        }
        source->synchronise(Library::kFromDevice, bytes, first);
        std::memmove(target->host() + second, source->host() + first, bytes);
        target->synchronise(Library::kToDevice, bytes, second);
      },
      nullptr);
}

void Memory::fill(backend::Queue& queue, std::byte value, std::size_t bytes, std::size_t offset) {
  as_own(queue).add(
      [whole = whole_, value, bytes, place = offset_ + offset] {
        std::memset(whole->host() + place, std::to_integer<int>(value), bytes);
        whole->synchronise(Library::kToDevice, bytes, place);
      },
      nullptr);
}

std::byte* Memory::map(backend::Queue& queue, bool for_writing, std::size_t bytes, std::size_t offset,
                       Event* done) {
  std::byte* const view = whole_->host() + offset_ + offset;
  if (for_writing) {
    as_own(queue).finish();  // what is in progress may still read it
    whole_->for_writing.emplace_back(view, bytes);
    if (done != nullptr) *done = Event();
  } else {
    as_own(queue).add([whole = whole_, bytes,
                       place = offset_ + offset] { whole->synchronise(Library::kFromDevice, bytes, place); },
                      done);
  }
  return view;
}

void Memory::unmap(backend::Queue& queue, std::byte* mapped, Event* done) {
  auto& views = whole_->for_writing;
  const auto found = std::ranges::find(views, mapped, &std::pair<std::byte*, std::size_t>::first);
  const std::size_t bytes = found == views.end() ? 0 : found->second;
  if (found != views.end()) views.erase(found);
  const auto place = static_cast<std::size_t>(mapped - whole_->host());
  as_own(queue).add([whole = whole_, bytes, place] { whole->synchronise(Library::kToDevice, bytes, place); },
                    done);
}

std::uint64_t Memory::physical_address() const { return library().address(whole_->handle()) + offset_; }

void Memory::move(backend::Queue& queue, bool to_host, Event* done) {
  as_own(queue).add(
      [whole = whole_, bytes = bytes_, place = offset_, to_host] {
        whole->synchronise(to_host ? Library::kFromDevice : Library::kToDevice, bytes, place);
      },
      done);
}

std::shared_ptr<backend::Memory> Memory::part(std::size_t bytes, std::size_t offset) const {
  return std::make_shared<Memory>(whole_, bytes, offset_ + offset);
}

Handle Memory::as_argument(int group) const {
  const std::scoped_lock lock(whole_->mutex);
  whole_->place(group);
  if (offset_ == 0) return whole_->buffer;
  void* const made = library().part(whole_->buffer.get(), bytes_, offset_);
  if (made == nullptr) throw Refusal("xrtBOSubAlloc with '" + last_words() + "'");
  return {made, [whole = whole_](void* one) { static_cast<void>(library().release(one)); }};
}

}  // namespace fabricmark::device::xrt

#include "device/guards.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <span>
#include <utility>

#include "base/crash.hpp"
#include "base/error.hpp"
#include "base/forbidden_pages.hpp"
#include "base/random_bits.hpp"
#include "device/device.hpp"
#include "device/memory.hpp"

namespace fabricmark::device {

namespace {

// Of a buffer a sixteenth on each side, so that what runs over by a row or a block of a matrix meets it; no
// less than catches a row of work-items, no more than is read in a moment.
constexpr std::size_t kLeastZoneBytes = std::size_t{64} << 10;
constexpr std::size_t kMostZoneBytes = std::size_t{1} << 20;
constexpr std::size_t kShare = 16;
// Where a device's memory is the host's, pages behind them that cost nothing, and that nobody may touch: what
// is written further outside ends the run, and not up in another buffer or the runtime's own data. All of
// them together are this share of the device's memory.
constexpr std::size_t kForbiddenBytes = std::size_t{16} << 20;
constexpr std::size_t kForbiddenShare = 16;
std::atomic<std::size_t> forbidden_bytes{0};

/// Whether there may be such pages: known of PoCL alone that it works on its memory as it lies.
bool may_forbid(const DeviceInfo& info) {
  if (!info.is_in_host_memory() || !info.is_of_pocl()) return false;
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY) return false;
  return forbidden_bytes + 2 * kForbiddenBytes <= info.global_memory_bytes / kForbiddenShare;
}

/// A multiple of what every device aligns parts and pages by.
std::size_t zone_bytes(std::size_t buffer_bytes) {
  const std::size_t wanted = std::clamp(buffer_bytes / kShare, kLeastZoneBytes, kMostZoneBytes);
  return wanted / kLeastZoneBytes * kLeastZoneBytes;
}

/// What zones hold: no byte that a kernel is likely to write, and none that is like its neighbours.
std::span<const std::byte> pattern() {
  static const auto* const bytes = [] {
    auto* const made = new std::array<std::uint64_t, kMostZoneBytes / sizeof(std::uint64_t)>;
    for (std::size_t i = 0; i < made->size(); ++i) (*made)[i] = mixed_bits(kRandomStep * (i + 1));
    return made;
  }();
  return std::as_bytes(std::span(*bytes));
}

}  // namespace

struct Guards::Findings {
  explicit Findings(Queue with) : queue(std::move(with)) {}
  Queue queue;
  std::mutex mutex;
  std::vector<BrokenGuard> of_released;
  bool is_watching = true;  ///< until the last look
};

/// The two zones of a buffer.
class GuardZone {
 public:
  GuardZone(std::shared_ptr<Guards::Findings> findings, std::shared_ptr<backend::Memory> whole,
            std::size_t zone, std::size_t bytes, std::size_t far)
      : findings_(std::move(findings)), whole_(std::move(whole)), zone_(zone), far_(far), bytes_(bytes) {
    if (far_ > 0) forbid();
    write();
  }
  ~GuardZone() {
    forbidden_bytes -= 2 * far_;
    const std::scoped_lock lock(findings_->mutex);
    if (!findings_->is_watching) return;
    try {
      look(findings_->of_released);
    } catch (...) {  // NOLINT(bugprone-empty-catch): a device that fails says so elsewhere
    }
  }
  GuardZone(const GuardZone&) = delete;
  GuardZone& operator=(const GuardZone&) = delete;

  void look(std::vector<BrokenGuard>& found) {
    std::vector<std::byte> both(2 * zone_);
    backend::Queue& queue = findings_->queue.implementation();
    whole_->read(queue, both.data(), zone_, far_, nullptr);
    whole_->read(queue, both.data() + zone_, zone_, far_ + zone_ + bytes_, nullptr);
    findings_->queue.finish();
    const std::size_t before = found.size();
    compare(std::span(both).first(zone_), /*is_behind=*/false, found);
    compare(std::span(both).last(zone_), /*is_behind=*/true, found);
    if (found.size() > before) write();
  }
  /// Of all the arguments that it is, in turn; a few are enough.
  void name_it(const std::string& kernel, const std::string& argument) {
    constexpr std::size_t kMost = 4;
    const auto is_it = [&](const auto& name) { return name.second == argument && name.first == kernel; };
    if (names_.size() == kMost || std::ranges::any_of(names_, is_it)) return;
    names_.emplace_back(kernel, argument);
    name_.clear();
    for (const auto& [of_kernel, one] : names_) {
      name_ += fmt::format("{}'{}'", name_.empty() ? "" : " or ", one);
      if (of_kernel != kernel) name_ += " of the kernel " + of_kernel;
    }
    name_ += " of the kernel " + kernel;
    for (std::optional<ForbiddenPages>* const pages : {&before_, &behind_}) {
      if (*pages) (*pages)->name_it(lasting_name(name_));
    }
  }
  [[nodiscard]] std::size_t checked_bytes() const { return 2 * zone_; }

 private:
  void write() {
    backend::Queue& queue = findings_->queue.implementation();
    whole_->write(queue, pattern().data(), zone_, far_, nullptr);
    whole_->write(queue, pattern().data(), zone_, far_ + zone_ + bytes_, nullptr);
    findings_->queue.finish();
  }
  void forbid() {
    forbidden_bytes += 2 * far_;
    backend::Queue& queue = findings_->queue.implementation();
    std::byte* const start =
        whole_->map(queue, /*for_writing=*/false, bytes_ + 2 * (zone_ + far_), 0, nullptr);
    findings_->queue.finish();
    whole_->unmap(queue, start, nullptr);
    findings_->queue.finish();
    std::byte* const own = start + far_ + zone_;
    before_.emplace(start, far_, /*is_behind=*/false, own);
    behind_.emplace(own + bytes_ + zone_, far_, /*is_behind=*/true, own + bytes_);
  }
  void compare(std::span<const std::byte> zone, bool is_behind, std::vector<BrokenGuard>& found) const {
    const std::span<const std::byte> right = pattern().first(zone_);
    if (std::ranges::equal(zone, right)) return;
    BrokenGuard broken{.buffer = name_.empty() ? fmt::format("a buffer of {} bytes", bytes_) : name_,
                       .is_behind = is_behind};
    broken.nearest = zone_;
    for (std::size_t i = 0; i < zone_; ++i) {
      if (zone[i] == right[i]) continue;
      const std::size_t away = is_behind ? i : zone_ - 1 - i;
      ++broken.changed;
      broken.farthest = std::max(broken.farthest, away);
      if (away >= broken.nearest) continue;
      broken.nearest = away;
      broken.expected = std::to_integer<unsigned char>(right[i]);
      broken.found = std::to_integer<unsigned char>(zone[i]);
    }
    found.push_back(broken);
  }

  std::shared_ptr<Guards::Findings> findings_;
  std::shared_ptr<backend::Memory> whole_;
  std::size_t zone_;
  std::size_t far_;    // of forbidden pages before and behind the zones
  std::size_t bytes_;  // of the buffer
  std::optional<ForbiddenPages> before_, behind_;
  std::string name_;
  std::vector<std::pair<std::string, std::string>> names_;  // kernel, argument
};

std::string BrokenGuard::place() const {
  return fmt::format("{} bytes {} {}, {} to {} bytes away from it", changed, is_behind ? "behind" : "before",
                     buffer, nearest, farthest);
}

Guards::Guarded Guards::allocate(const Device& device, std::size_t bytes, MemoryKind kind,
                                 const Placement& placement) {
  const backend::Device& implementation = device.implementation();
  const DeviceInfo& info = device.info();
  if (!are_on_ || info.is_dry_run) return {implementation.allocate(bytes, kind, placement), nullptr};
  const std::size_t zone = zone_bytes(bytes);
  // A board's banks are filled to their last byte, and what its runtime makes of parts is not known.
  if (info.device_class == DeviceClass::kFpga) {
    ++without_;
    return {implementation.allocate(bytes, kind, placement), nullptr};
  }
  const auto of_size = [&](std::size_t whole_bytes) -> std::shared_ptr<backend::Memory> {
    if (whole_bytes > info.max_allocation_bytes) return nullptr;
    try {
      return implementation.allocate(whole_bytes, kind, placement);
    } catch (const Error&) {
      return nullptr;
    }
  };
  std::size_t far = may_forbid(info) ? kForbiddenBytes : 0;
  std::shared_ptr<backend::Memory> whole = of_size(bytes + 2 * (zone + far));
  if (!whole && far > 0) whole = of_size(bytes + 2 * (zone + std::exchange(far, 0)));
  std::shared_ptr<backend::Memory> memory;
  try {
    if (whole) memory = whole->part(bytes, far + zone);
  } catch (const std::exception&) {  // a runtime without parts of memories
    whole.reset();
  }
  if (!memory) {
    ++without_;
    return {implementation.allocate(bytes, kind, placement), nullptr};
  }
  if (!findings_) findings_ = std::make_shared<Findings>(device.untimed_queue());
  auto made = std::make_shared<GuardZone>(findings_, std::move(whole), zone, bytes, far);
  std::erase_if(zones_, [](const auto& one) { return one.expired(); });
  zones_.push_back(made);
  return {std::move(memory), std::move(made)};
}

std::vector<BrokenGuard> Guards::broken() {
  if (!findings_) return {};
  std::vector<BrokenGuard> found;
  for (const std::weak_ptr<GuardZone>& one : zones_) {
    if (const std::shared_ptr<GuardZone> zone = one.lock()) zone->look(found);
  }
  const std::scoped_lock lock(findings_->mutex);
  found.insert(found.end(), findings_->of_released.begin(), findings_->of_released.end());
  findings_->of_released.clear();
  return found;
}

void Guards::end() {
  if (!findings_) return;
  const std::scoped_lock lock(findings_->mutex);
  findings_->is_watching = false;
}

std::size_t Guards::checked_bytes() const {
  std::size_t bytes = 0;
  for (const std::weak_ptr<GuardZone>& one : zones_) {
    if (const std::shared_ptr<GuardZone> zone = one.lock()) bytes += zone->checked_bytes();
  }
  return bytes;
}

void name_guarded(const std::shared_ptr<GuardZone>& zone, const std::string& kernel,
                  const std::string& argument) {
  if (zone) zone->name_it(kernel, argument);
}

}  // namespace fabricmark::device

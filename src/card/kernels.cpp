#include "card/kernels.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/steady_seconds.hpp"

namespace fabricmark::card {

namespace {

using nlohmann::json;

constexpr const char* kRemedy =
    "build the bitstream with `fabricmark build --target sw_emu --tool fabricmark`";
constexpr std::array kProtocols{std::pair("ap_ctrl_hs", Protocol::kHandshake),
                                std::pair("ap_ctrl_chain", Protocol::kChain),
                                std::pair("ap_ctrl_none", Protocol::kNone)};
constexpr const char* kDescription = "fabricmark_card_description";
constexpr const char* kMemory = "fabricmark_card_memory";
constexpr const char* kStartPrefix = "fabricmark_card_start_";
constexpr std::chrono::microseconds kPollInterval{100};
constexpr std::uint64_t kBusBytes = 64;  // 512 bits, the widest

thread_local const char* unit_here = nullptr;  // NOLINT: asked by a signal handler

Argument read_argument(const json& one) {
  Argument argument{.name = one.at("name"),
                    .is_buffer = one.at("kind") == "buffer",
                    .is_stream = one.at("kind") == "axis",
                    .offset = one.at("offset"),
                    .bytes = one.at("bytes"),
                    .banks = {}};
  if (argument.is_buffer) argument.banks = one.at("banks").get<std::vector<std::size_t>>();
  const bool is_number =
      argument.bytes == 1 || argument.bytes == 2 || argument.bytes == 4 || argument.bytes == 8;
  if (!is_number || argument.offset > Design::kRegisters - argument.bytes)
    throw bad_use("the argument " + argument.name + " lies outside of its kernel's registers", kRemedy);
  return argument;
}

Protocol read_protocol(const json& one) {
  const auto* const found =
      std::ranges::find_if(kProtocols, [&](const auto& known) { return one.at("control") == known.first; });
  if (found == kProtocols.end()) {
    throw bad_use("the emulated card knows no protocol " + one.at("control").get<std::string>() +
                      ", by which " + one.at("name").get<std::string>() + " is started",
                  "build it with ap_ctrl_hs, ap_ctrl_chain or ap_ctrl_none");
  }
  return found->second;
}

Design::Unit read_unit(const json& one) {
  Design::Unit unit{one.at("kernel"), one.at("name"), one.at("base"), read_protocol(one), {}};
  if (one.value("work_items", 1) != 1) {
    throw bad_use("the emulated card starts kernels of one work-item, and " + unit.name + " has more",
                  "build one of a single work-item (--variant base)");
  }
  std::ranges::transform(one.at("arguments"), std::back_inserter(unit.arguments), read_argument);
  const auto is_stream = [](const Argument& argument) { return argument.is_stream; };
  if (unit.protocol == Protocol::kNone &&
      (unit.arguments.empty() || !std::ranges::all_of(unit.arguments, is_stream))) {
    throw bad_use(unit.name + " has ap_ctrl_none, and arguments that are no streams, which nobody would set",
                  "give it streams only, or ap_ctrl_hs");
  }
  return unit;
}

/// "link_3.tx": whether it is the end of a cable that is written to, or, `writes` false, read from.
bool is_of_cable(const std::string& end, bool writes) {
  static const std::regex sends("link_\\d{1,3}\\.tx"), receives("link_\\d{1,3}\\.rx");
  return std::regex_match(end, writes ? sends : receives);
}

/// All of them have both ends, and each stream of a unit is one of them.
void check_streams(const Design& design) {
  std::set<std::string> ends, known;
  for (const Design::Unit& unit : design.units) {
    for (const Argument& argument : unit.arguments) {
      if (argument.is_stream) known.insert(unit.name + "." + argument.name);
    }
  }
  for (const Design::Stream& stream : design.streams) {
    for (const bool writes : {true, false}) {
      const std::string& end = writes ? stream.from : stream.to;
      if (!known.contains(end) && !is_of_cable(end, !writes)) {
        throw bad_use(
            "a stream leads " + std::string(writes ? "from " : "to ") + end + ", which is no stream",
            "name a stream of a compute unit, link_N.tx to send or link_N.rx to receive");
      }
      if (!ends.insert(end).second) throw bad_use(end + " is joined twice", "join each stream once");
    }
    if (is_of_cable(stream.from, false) && is_of_cable(stream.to, true))
      throw bad_use(stream.from + " is joined to " + stream.to, "put a compute unit between two cables");
  }
  for (const std::string& end : known) {
    if (!ends.contains(end))
      throw bad_use(end + " is joined to nothing, so that its kernel would wait for ever",
                    "give it a stream_connect");
  }
}

/// A copy in memory; not open where there can be none.
FileDescriptor copied(const std::filesystem::path& file) {
  std::ifstream from(file, std::ios::binary);
  FileDescriptor copy(memfd_create("fabricmark-card", MFD_CLOEXEC));
  std::array<char, 65536> part{};
  while (copy.is_open() && (from.read(part.data(), part.size()) || from.gcount() > 0)) {
    if (write(copy.number(), part.data(), static_cast<std::size_t>(from.gcount())) != from.gcount())
      return {};
  }
  return from.eof() ? std::move(copy) : FileDescriptor();
}

std::string names_of(const Design& design, const std::vector<std::size_t>& banks) {
  if (banks.empty()) return "no bank";
  const auto name = [&](std::size_t bank) { return design.banks.at(bank).name; };
  return banks.size() == 1 ? name(banks.front()) : name(banks.front()) + " to " + name(banks.back());
}

}  // namespace

const char* unit_of_this_thread() { return unit_here; }

Design read_design(const std::string& text) try {
  const json document = json::parse(text);
  if (document.at("version") != Design::kVersion)
    throw bad_use("the bitstream is for another version of the emulated card", kRemedy);
  Design design{.platform = document.at("platform"),
                .clock_hz = 1e6 * document.value("clock_mhz", 0.0),
                .banks = {},
                .units = {},
                .streams = {}};
  for (const json& bank : document.at("memories"))
    design.banks.push_back({bank.at("name"), bank.at("bytes")});
  std::ranges::transform(document.at("units"), std::back_inserter(design.units), read_unit);
  for (const json& stream : document.value("streams", json::array()))
    design.streams.push_back({stream.at("from"), stream.at("to"), stream.at("depth")});
  check_streams(design);
  for (const Design::Unit& unit : design.units) {
    for (const Argument& argument : unit.arguments) {
      if (std::ranges::any_of(argument.banks, [&](std::size_t bank) { return bank >= design.banks.size(); }))
        throw bad_use(unit.name + "'s argument " + argument.name + " is in a bank that there is not",
                      kRemedy);
    }
  }
  return design;
} catch (const json::exception& error) {
  throw bad_use(std::string("the bitstream's description cannot be read (") + error.what() + ")", kRemedy);
}

std::size_t bank_of(const Design& design, std::uint64_t address) {
  std::size_t bank = 0;
  for (; bank < design.banks.size() && address >= design.banks[bank].bytes; ++bank)
    address -= design.banks[bank].bytes;
  return bank;
}

ComputeUnit::ComputeUnit(Design::Unit unit, Start starter, Ends ends)
    : unit_(std::move(unit)), start_(starter), ends_(std::move(ends)) {
  if (unit_.protocol == Protocol::kNone) thread_ = std::thread([this] { run_freely(); });
}

ComputeUnit::~ComputeUnit() {
  {
    const std::scoped_lock lock(mutex_);
    is_closing_ = true;
    ended_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

std::uint64_t ComputeUnit::value(const Argument& argument) const {
  std::uint64_t number = 0;
  std::memcpy(&number, registers_.data() + argument.offset, argument.bytes);
  return number;
}

bool ComputeUnit::starts(std::uint64_t offset, std::string_view bytes) {
  return offset == 0 && !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & kStart) != 0;
}

void ComputeUnit::write(std::uint64_t offset, std::string_view bytes, const Design& design,
                        const Memory& memory) {
  if (offset > registers_.size() || bytes.size() > registers_.size() - offset)
    throw bad_use("a write beyond the registers of " + unit_.name, "look for a wrong offset");
  const bool is_start = starts(offset, bytes);
  if (is_start) require_idle();
  std::ranges::copy(bytes, registers_.begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(is_written_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), true);
  if (unit_.protocol == Protocol::kChain && offset == 0 && !bytes.empty() &&
      (static_cast<unsigned char>(bytes[0]) & kContinue) != 0) {
    const std::scoped_lock lock(mutex_);
    control_ &= ~std::uint32_t{kDone};
    ended_.notify_all();
  }
  if (is_start) start(design, memory);
}

void ComputeUnit::require_idle() const {
  const std::scoped_lock lock(mutex_);
  if (!is_running_) return;
  if (unit_.protocol == Protocol::kChain && !next_) return;
  throw bad_use(
      unit_.name + " was started while it runs" + (next_ ? ", and another start waits for that" : ""),
      "wait for it before it is started again");
}

std::uint64_t ComputeUnit::port(const Argument& argument) const {
  fabricmark_card::Port* const end = ends_.at(argument.name);
  return reinterpret_cast<std::uint64_t>(end);
}

std::uint64_t ComputeUnit::address(const Argument& argument, const Design& design,
                                   const Memory& memory) const {
  const std::uint64_t number = value(argument);
  const std::size_t bank = bank_of(design, number);
  if (std::ranges::find(argument.banks, bank) == argument.banks.end()) {
    throw bad_use(unit_.name + "'s argument " + argument.name + " is connected to " +
                      names_of(design, argument.banks) + ", and its buffer lies in " +
                      (bank < design.banks.size() ? design.banks[bank].name : "no bank"),
                  "allocate it in the argument's bank (its group_id, or by kernel and argument)");
  }
  if (number % kBusBytes != 0)
    throw bad_use(unit_.name + "'s argument " + argument.name + " begins within a word of the memory's bus",
                  "give an address that is a multiple of " + std::to_string(kBusBytes) + " bytes");
  return reinterpret_cast<std::uint64_t>(memory.at(number, 1));
}

ComputeUnit::Slots ComputeUnit::slots(const Design& design, const Memory& memory) const {
  Slots slots;
  for (const Argument& argument : unit_.arguments) {
    if (argument.is_stream) {
      slots.push_back(port(argument));
      continue;
    }
    const auto first = is_written_.begin() + static_cast<std::ptrdiff_t>(argument.offset);
    if (!std::all_of(first, first + static_cast<std::ptrdiff_t>(argument.bytes),
                     [](bool one) { return one; }))
      throw bad_use(
          unit_.name + " was started without its argument " + argument.name + " in the register map",
          "set every argument, and give scalars whole words in the .xclbin");
    slots.push_back(argument.is_buffer ? address(argument, design, memory) : value(argument));
  }
  return slots;
}

void ComputeUnit::start(const Design& design, const Memory& memory) {
  Slots given = slots(design, memory);
  {
    const std::scoped_lock lock(mutex_);
    ++starts_;
    if (is_running_) {
      control_ |= kStart;
      next_ = std::move(given);
      return;
    }
  }
  if (thread_.joinable()) thread_.join();
  {
    const std::scoped_lock lock(mutex_);
    control_ = kStart | (unit_.protocol == Protocol::kChain ? control_ & kDone : 0);
    is_running_ = true;
    started_ = steady_seconds();
  }
  thread_ = std::thread([this, given = std::move(given)] { run(given); });
}

bool ComputeUnit::call(Slots& slots) {
  std::vector<void*> pointers;
  for (std::uint64_t& slot : slots) pointers.push_back(&slot);
  try {
    start_(pointers.data());
    return true;
  } catch (const Stopped&) {
    return false;
  } catch (const Error& error) {
    const std::scoped_lock lock(mutex_);
    // Cards end one after the other: a kernel that nobody started is owed no word by one that has gone.
    if (unit_.protocol == Protocol::kNone && dynamic_cast<const OtherCardGone*>(&error) != nullptr)
      gone_ = error.cause();
    else
      failure_ = "the kernel of " + unit_.name + " cannot go on: " + error.what();
    return false;
  }
}

void ComputeUnit::run(Slots slots) {
  unit_here = unit_.name.c_str();
  for (std::optional<Slots> now = std::move(slots); now; now = end_run()) {
    std::uint64_t number = 0;
    {
      const std::scoped_lock lock(mutex_);
      number = starts_;
      // A chain's kernel has its arguments, so that the next start may come (ap_ready).
      if (unit_.protocol == Protocol::kChain) control_ &= ~std::uint32_t{kStart};
    }
    if (!call(*now)) return;  // it never ends: who waits for it is told why
    while (may_end_ && !may_end_(number)) std::this_thread::sleep_for(kPollInterval);
    if (at_end_) at_end_();
  }
}

std::optional<ComputeUnit::Slots> ComputeUnit::end_run() {
  std::unique_lock lock(mutex_);
  if (unit_.protocol == Protocol::kChain)
    ended_.wait(lock, [this] { return is_closing_ || (control_ & kDone) == 0; });
  std::optional<Slots> next = std::exchange(next_, std::nullopt);
  is_running_ = next.has_value();
  control_ = kDone | (is_running_ ? control_ & kStart : kIdle);
  started_ = steady_seconds();
  ended_.notify_all();
  return next;
}

void ComputeUnit::run_freely() {
  unit_here = unit_.name.c_str();
  Slots ports;
  for (const Argument& argument : unit_.arguments) ports.push_back(port(argument));
  while (call(ports)) {
  }
}

std::string ComputeUnit::waits() const {
  for (const auto& [name, end] : ends_) {
    if (const std::string what = end->waits_for(); !what.empty()) return ", which waits for " + what + ",";
  }
  return "";
}

std::string ComputeUnit::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

std::string ComputeUnit::gone() const {
  const std::scoped_lock lock(mutex_);
  return gone_;
}

std::string ComputeUnit::read(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > registers_.size() || bytes > registers_.size() - offset)
    throw bad_use("a read beyond the registers of " + unit_.name, "look for a wrong offset");
  if (offset != 0) return registers_.substr(offset, bytes);
  std::unique_lock lock(mutex_);
  // The runtime asks without a pause, and would take the core from the kernel.
  ended_.wait_for(lock, kPollInterval, [this] { return !is_running_ || (control_ & kDone) != 0; });
  std::memcpy(registers_.data(), &control_, sizeof(control_));
  return registers_.substr(0, bytes);
}

double ComputeUnit::seconds() const {
  const std::scoped_lock lock(mutex_);
  return is_running_ ? steady_seconds() - started_ : 0;
}

std::uint64_t ComputeUnit::starts() const {
  const std::scoped_lock lock(mutex_);
  return starts_;
}

Bitstream::Library::Library(const std::filesystem::path& file)
    : copy_(copied(file)),
      handle_(
          dlopen(copy_.is_open() ? ("/proc/self/fd/" + std::to_string(copy_.number())).c_str() : file.c_str(),
                 RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const why = dlerror();
  throw bad_use("the bitstream holds no kernels of the emulated card (" +
                    std::string(why != nullptr ? why : "it cannot be loaded") + ")",
                kRemedy);
}

Bitstream::Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Bitstream::Library::find(const std::string& name) const { return dlsym(handle_, name.c_str()); }

Bitstream::Bitstream(const std::filesystem::path& file, bool meet, const CablePlace& cables, WordFault fault,
                     const fabricmark_card::Memory* memory) {
  const auto* const text = static_cast<const char*>(libraries_.emplace_back(file).find(kDescription));
  if (text == nullptr) throw bad_use("the bitstream does not describe its kernels", kRemedy);
  design_ = read_design(text);
  join(cables, fault);
  for (const Design::Unit& unit : design_.units) {
    void* const start = libraries_.emplace_back(file).find(kStartPrefix + unit.kernel);
    if (start == nullptr) throw bad_use("the bitstream has no kernel " + unit.kernel, kRemedy);
    if (void* const asks = libraries_.back().find(kMemory); asks != nullptr)
      *static_cast<const fabricmark_card::Memory**>(asks) = memory;
    ComputeUnit::Ends ends;
    for (const Argument& argument : unit.arguments) {
      if (argument.is_stream) ends[argument.name] = ends_.at(unit.name + "." + argument.name).get();
    }
    units_.push_back(
        std::make_unique<ComputeUnit>(unit, reinterpret_cast<ComputeUnit::Start>(start), std::move(ends)));
  }
  keep_times(cables);
  if (!meet) return;
  for (const auto& one : units_) {
    one->end_after([this](std::uint64_t start) {
      return std::ranges::all_of(units_, [&](const auto& other) {
        return other->unit().protocol == Protocol::kNone || other->starts() >= start;
      });
    });
  }
}

void Bitstream::keep_times(const CablePlace& place) {
  if (!place.modelling) return;
  times_ = std::make_unique<TimesFile>(place.modelling, place.card, design_.clock_hz);
  for (const auto& one : units_) {
    const std::string& name = one->unit().name;
    one->at_end([this, name, &clock = clocks_.at(name)] { times_->add_end(name, clock.now); });
  }
}

void Bitstream::join(const CablePlace& place, WordFault fault) {
  const Time cycle = place.modelling ? network::period(design_.clock_hz) : 0;
  for (const Design::Unit& unit : design_.units) clocks_[unit.name].cycle = cycle;
  const auto clock_of = [&](const std::string& end) -> UnitClock& {
    return clocks_.at(end.substr(0, end.find('.')));
  };
  std::map<std::string, Channel*> cables;  // by the name of their port
  const auto cable = [&](const std::string& end) {
    const std::string port = end.substr(0, end.find('.'));
    Channel*& found = cables[port];
    if (found == nullptr) {
      if (place.card < 0) {
        throw environment_failure("the card does not know its number, which says where " + port + " leads",
                                  "start it by XRT, which names it in EMULATION_SOCKETID");
      }
      const int even = place.card / 2 * 2;
      const std::string name = "fabricmark-" + std::to_string(even) + "-" + port;
      channels_.push_back(
          std::make_unique<Cable>(place.folder / name, place.card == even, port,
                                  place.modelling ? CableTimes(place.modelling->network) : CableTimes()));
      found = channels_.back().get();
    }
    return found;
  };
  for (const Design::Stream& stream : design_.streams) {
    const bool leaves = is_of_cable(stream.to, true), arrives = is_of_cable(stream.from, false);
    Channel* const channel = leaves || arrives
                                 ? cable(leaves ? stream.to : stream.from)
                                 : channels_.emplace_back(std::make_unique<Fifo>(stream.depth, cycle)).get();
    if (!arrives) {
      auto end = std::make_unique<End>(stream.from, *channel, /*writes=*/true, clock_of(stream.from));
      end->corrupt(std::exchange(fault, WordFault::kNone));
      ends_[stream.from] = std::move(end);
    }
    if (!leaves)
      ends_[stream.to] = std::make_unique<End>(stream.to, *channel, /*writes=*/false, clock_of(stream.to));
  }
}

Bitstream::~Bitstream() {
  for (const auto& channel : channels_) channel->stop();
  units_.clear();
}

ComputeUnit& Bitstream::unit_at(std::uint64_t address) const {
  for (const auto& one : units_) {
    const std::uint64_t base = one->unit().base;
    if (address >= base && address - base < Design::kRegisters) return *one;
  }
  throw bad_use("no compute unit has registers at the address " + std::to_string(address), kRemedy);
}

std::string Bitstream::running_for(double seconds) const {
  const auto found = std::ranges::find_if(units_, [&](const auto& one) { return one->seconds() > seconds; });
  if (found == units_.end()) return "";
  std::string text = (*found)->unit().name + (*found)->waits();
  for (const auto& one : units_) {
    if (const std::string gone = one->gone(); !gone.empty()) text += " (" + gone + ")";
  }
  return text;
}

std::string Bitstream::failure() const {
  for (const auto& one : units_) {
    if (std::string text = one->failure(); !text.empty()) return text;
  }
  return "";
}

}  // namespace fabricmark::card

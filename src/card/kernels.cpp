#include "card/kernels.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/steady_seconds.hpp"

namespace fabricmark::card {

namespace {

using nlohmann::json;

constexpr const char* kRemedy =
    "build the bitstream with `fabricmark build --target sw_emu --tool fabricmark`";
constexpr const char* kProtocol = "ap_ctrl_hs";
constexpr const char* kDescription = "fabricmark_card_description";
constexpr const char* kStartPrefix = "fabricmark_card_start_";
constexpr std::chrono::microseconds kPollInterval{100};
constexpr std::uint64_t kBusBytes = 64;  // 512 bits, the widest

thread_local const char* unit_here = nullptr;  // NOLINT: asked by a signal handler

Argument read_argument(const json& one) {
  Argument argument{one.at("name"), one.at("kind") == "buffer", one.at("offset"), one.at("bytes"), {}};
  if (argument.is_buffer) argument.banks = one.at("banks").get<std::vector<std::size_t>>();
  const bool is_number =
      argument.bytes == 1 || argument.bytes == 2 || argument.bytes == 4 || argument.bytes == 8;
  if (!is_number || argument.offset > Design::kRegisters - argument.bytes)
    throw bad_use("the argument " + argument.name + " lies outside of its kernel's registers", kRemedy);
  return argument;
}

Design::Unit read_unit(const json& one) {
  Design::Unit unit{one.at("kernel"), one.at("name"), one.at("base"), {}};
  if (one.at("control") != kProtocol) {
    throw bad_use("the emulated card starts kernels by " + std::string(kProtocol) + ", and " + unit.name +
                      " has " + one.at("control").get<std::string>(),
                  "build it with that protocol");
  }
  std::ranges::transform(one.at("arguments"), std::back_inserter(unit.arguments), read_argument);
  return unit;
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
  Design design{.platform = document.at("platform"), .banks = {}, .units = {}};
  for (const json& bank : document.at("memories"))
    design.banks.push_back({bank.at("name"), bank.at("bytes")});
  std::ranges::transform(document.at("units"), std::back_inserter(design.units), read_unit);
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

ComputeUnit::~ComputeUnit() {
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
  if (is_start && seconds() > 0)
    throw bad_use(unit_.name + " was started while it runs", "wait for it before it is started again");
  std::ranges::copy(bytes, registers_.begin() + static_cast<std::ptrdiff_t>(offset));
  std::fill_n(is_written_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), true);
  if (is_start) start(design, memory);
}

void ComputeUnit::start(const Design& design, const Memory& memory) {
  auto slots = std::make_shared<std::vector<std::uint64_t>>();
  for (const Argument& argument : unit_.arguments) {
    const auto first = is_written_.begin() + static_cast<std::ptrdiff_t>(argument.offset);
    if (!std::all_of(first, first + static_cast<std::ptrdiff_t>(argument.bytes),
                     [](bool one) { return one; }))
      throw bad_use(
          unit_.name + " was started without its argument " + argument.name + " in the register map",
          "set every argument, and give scalars whole words in the .xclbin");
    std::uint64_t number = value(argument);
    if (argument.is_buffer) {
      const std::size_t bank = bank_of(design, number);
      if (std::ranges::find(argument.banks, bank) == argument.banks.end()) {
        throw bad_use(unit_.name + "'s argument " + argument.name + " is connected to " +
                          names_of(design, argument.banks) + ", and its buffer lies in " +
                          (bank < design.banks.size() ? design.banks[bank].name : "no bank"),
                      "allocate it in the argument's bank (its group_id, or by kernel and argument)");
      }
      if (number % kBusBytes != 0)
        throw bad_use(
            unit_.name + "'s argument " + argument.name + " begins within a word of the memory's bus",
            "give an address that is a multiple of " + std::to_string(kBusBytes) + " bytes");
      number = reinterpret_cast<std::uint64_t>(memory.at(number, 1));
    }
    slots->push_back(number);
  }
  if (thread_.joinable()) thread_.join();
  {
    const std::scoped_lock lock(mutex_);
    control_ = kStart;
    started_ = steady_seconds();
    ++starts_;
  }
  thread_ = std::thread([this, slots, number = starts_] {
    unit_here = unit_.name.c_str();
    std::vector<void*> pointers;
    for (std::uint64_t& slot : *slots) pointers.push_back(&slot);
    start_(pointers.data());
    while (may_end_ && !may_end_(number)) std::this_thread::sleep_for(kPollInterval);
    const std::scoped_lock lock(mutex_);
    control_ = kDone | kIdle;
    ended_.notify_all();
  });
}

std::string ComputeUnit::read(std::uint64_t offset, std::uint64_t bytes) {
  if (offset > registers_.size() || bytes > registers_.size() - offset)
    throw bad_use("a read beyond the registers of " + unit_.name, "look for a wrong offset");
  if (offset != 0) return registers_.substr(offset, bytes);
  std::unique_lock lock(mutex_);
  // The runtime asks without a pause, and would take the core from the kernel.
  ended_.wait_for(lock, kPollInterval, [this] { return control_ != kStart; });
  std::memcpy(registers_.data(), &control_, sizeof(control_));
  return registers_.substr(0, bytes);
}

double ComputeUnit::seconds() const {
  const std::scoped_lock lock(mutex_);
  return control_ == kStart ? steady_seconds() - started_ : 0;
}

std::uint64_t ComputeUnit::starts() const {
  const std::scoped_lock lock(mutex_);
  return starts_;
}

Bitstream::Bitstream(const std::filesystem::path& file, bool meet)
    : library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    const char* const why = dlerror();
    throw bad_use("the bitstream holds no kernels of the emulated card (" +
                      std::string(why != nullptr ? why : "it cannot be loaded") + ")",
                  kRemedy);
  }
  const auto* const text = static_cast<const char*>(dlsym(library_, kDescription));
  if (text == nullptr) throw bad_use("the bitstream does not describe its kernels", kRemedy);
  design_ = read_design(text);
  for (const Design::Unit& unit : design_.units) {
    void* const start = dlsym(library_, (kStartPrefix + unit.kernel).c_str());
    if (start == nullptr) throw bad_use("the bitstream has no kernel " + unit.kernel, kRemedy);
    units_.push_back(std::make_unique<ComputeUnit>(unit, reinterpret_cast<ComputeUnit::Start>(start)));
  }
  if (!meet) return;
  for (const auto& one : units_) {
    one->end_after([this](std::uint64_t start) {
      return std::ranges::all_of(units_, [&](const auto& other) { return other->starts() >= start; });
    });
  }
}

Bitstream::~Bitstream() {
  units_.clear();
  dlclose(library_);
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
  return found == units_.end() ? "" : (*found)->unit().name;
}

}  // namespace fabricmark::card

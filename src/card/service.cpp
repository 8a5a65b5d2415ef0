#include "card/service.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <span>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace fabricmark::card {

namespace {

/// Numbers of the runtime's calls, as its description (rpc_messages.proto, Apache-2.0) has them.
enum Call : std::uint32_t {
  kClose = 1,
  kLoadBitstream = 3,
  kAllocate = 4,
  kFree = 5,
  kToDevice = 6,
  kFromDevice = 7,
  kWriteControl = 9,
  kReadControl = 11,
  kCopyToFile = 22,
  kCopyFromFile = 50,
  kWriteRegister = 51,
  kReadRegister = 52,
  kVersion = 53,
};

std::uint64_t count(const Fields& fields, unsigned field) {
  const std::uint64_t bytes = fields.number(field);
  if (bytes > kMostBytes) throw Malformed("a count of " + std::to_string(bytes) + " bytes");
  return bytes;
}

std::string done() { return Reply().number(1, 1).text(); }

FileDescriptor opened(std::string_view path, int flags) {
  FileDescriptor file(open(std::string(path).c_str(), flags | O_CLOEXEC));
  if (!file.is_open())
    throw environment_failure("the emulated card cannot open '" + std::string(path) + "' of another one (" +
                                  std::strerror(errno) + ")",
                              "leave FABRICMARK_CARD_MEMORY unset: private memory is not shared");
  return file;
}

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

}  // namespace

Fault fault_of(const std::string& name) {
  constexpr std::array kNames{std::pair("", Fault::kNone),           std::pair("signal", Fault::kSignal),
                              std::pair("exit", Fault::kExit),       std::pair("silence", Fault::kSilence),
                              std::pair("endless", Fault::kEndless), std::pair("meeting", Fault::kMeeting),
                              std::pair("flipped", Fault::kFlipped), std::pair("lost", Fault::kLost)};
  const auto* const found = std::ranges::find_if(kNames, [&](const auto& one) { return name == one.first; });
  if (found == kNames.end())
    throw bad_use("FABRICMARK_CARD_FAULT=" + name + " is no fault",
                  "use signal, exit, silence, endless, meeting, flipped or lost");
  return found->second;
}

const Bitstream& Service::bitstream() const {
  if (!bitstream_)
    throw bad_use("the emulated card was used before a bitstream was loaded", "load an .xclbin first");
  return *bitstream_;
}

void Service::load(const Fields& fields) {
  memory_.put_files_in(fields.bytes(5).empty() ? "." : std::string(fields.bytes(5)));
  if (fields.bytes(2).empty()) return;
  const auto take = [this](std::unique_ptr<const Bitstream> next) {
    const std::scoped_lock lock(mutex_);
    bitstream_.swap(next);
    return next;
  };
  take(nullptr).reset();  // its kernels end first
  const WordFault of_words = fault_ == Fault::kFlipped ? WordFault::kFlipped
                             : fault_ == Fault::kLost  ? WordFault::kLost
                                                       : WordFault::kNone;
  take(std::make_unique<const Bitstream>(std::string(fields.bytes(2)), fault_ == Fault::kMeeting, cables_,
                                         of_words, &memory_));
}

std::string Service::allocate(const Fields& fields) {
  const std::string file = memory_.allocate(fields.number(1), fields.number(2), fields.number(3) != 0);
  Reply reply;
  reply.number(1, 1);
  if (!file.empty()) reply.bytes(2, file);
  return reply.text();
}

void Service::write_memory(const Fields& fields) {
  const std::uint64_t bytes = count(fields, 5);
  const std::string_view content = fields.bytes(4);
  if (content.size() < bytes) throw Malformed("a copy to the card with too few bytes");
  std::ranges::copy(std::as_bytes(std::span(content.substr(0, bytes))), memory_.at(fields.number(3), bytes));
}

std::string Service::read_memory(const Fields& fields) {
  const std::uint64_t bytes = count(fields, 5);
  const auto* const content = reinterpret_cast<const char*>(memory_.at(fields.number(4), bytes));
  return Reply().number(1, bytes).bytes(2, {content, bytes}).text();
}

void Service::write_registers(std::uint64_t address, std::string_view bytes) {
  ComputeUnit& unit = bitstream().unit_at(address);
  const std::uint64_t offset = address - unit.unit().base;
  switch (ComputeUnit::starts(offset, bytes) ? std::exchange(fault_, Fault::kNone) : Fault::kNone) {
    case Fault::kSignal:
      raise(SIGKILL);
      break;
    case Fault::kExit:
      std::exit(EXIT_SUCCESS);  // NOLINT(concurrency-mt-unsafe): as a kernel would
    case Fault::kSilence:
      sleep_for_ever();
    case Fault::kEndless:
      unit.never_end();
      break;
    case Fault::kMeeting:
    case Fault::kFlipped:
    case Fault::kLost:
    case Fault::kNone:
      break;
  }
  unit.write(offset, bytes, bitstream().design(), memory_);
}

std::string Service::read_registers(std::uint64_t address, std::uint64_t bytes) const {
  ComputeUnit& unit = bitstream().unit_at(address);
  return Reply().number(1, 1).bytes(2, unit.read(address - unit.unit().base, bytes)).text();
}

void Service::copy_to_file(const Fields& fields) const {
  const std::uint64_t bytes = count(fields, 3);
  const std::byte* const from = memory_.at(fields.number(1) + fields.number(4), bytes);
  const FileDescriptor file = opened(fields.bytes(2), O_RDWR);
  if (pwrite(file.number(), from, bytes, static_cast<off_t>(fields.number(5))) != static_cast<ssize_t>(bytes))
    throw environment_failure("a copy between emulated cards ended early", "make room in their folders");
}

void Service::copy_from_file(const Fields& fields) const {
  const std::uint64_t bytes = count(fields, 3);
  std::byte* const to = memory_.at(fields.number(1) + fields.number(5), bytes);
  const FileDescriptor file = opened(fields.bytes(2), O_RDONLY);
  if (pread(file.number(), to, bytes, static_cast<off_t>(fields.number(4))) != static_cast<ssize_t>(bytes))
    throw environment_failure("a copy between emulated cards ended early", "make room in their folders");
}

std::string Service::answer(std::uint32_t call, const Fields& fields) {
  switch (call) {
    case kClose:
      is_closed_ = fields.number(3) != 0;
      return done();
    case kLoadBitstream:
      load(fields);
      return done();
    case kAllocate:
      return allocate(fields);
    case kFree:
      memory_.release(fields.number(1));
      return done();
    case kToDevice:
      write_memory(fields);
      return Reply().number(1, fields.number(5)).text();
    case kFromDevice:
      return read_memory(fields);
    case kWriteControl:
      write_registers(fields.number(2), fields.bytes(4));
      return done();
    case kReadControl:
      return read_registers(fields.number(2), fields.number(3));
    case kWriteRegister:
      write_registers(fields.number(1) + fields.number(2), fields.bytes(3));
      return done();
    case kReadRegister:
      return read_registers(fields.number(1) + fields.number(2), fields.number(3));
    case kCopyToFile:
      copy_to_file(fields);
      return done();
    case kCopyFromFile:
      copy_from_file(fields);
      return done();
    case kVersion:  // only later runtimes ask: they map one file for the card
      if (memory_.sharing() == Sharing::kFiles) memory_.share_as(Sharing::kOneFile);
      return done();
    default:  // of set-up and of what this card has none of: they are told that it was done
      return done();
  }
}

std::string Service::running_for(double seconds) const {
  const std::scoped_lock lock(mutex_);
  return bitstream_ ? bitstream_->running_for(seconds) : "";
}

std::string Service::failure() const {
  const std::scoped_lock lock(mutex_);
  return bitstream_ ? bitstream_->failure() : "";
}

}  // namespace fabricmark::card

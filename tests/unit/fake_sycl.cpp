// Stands in for the SYCL plugin: one device, whose memory is the host's and whose commands end at once.
// FAKE_SYCL says what is wrong with it: "version", "no-device", or the name of the one function that refuses;
// or in which of its four memories kernels are to find their buffers.
#include <cstdlib>
#include <cstring>
#include <string>

#include "device/sycl/plugin/interface.hpp"

namespace fabricmark::sycl_plugin {

struct Device {};
struct Queue {};
struct Event {};
struct Program {};
struct Kernel {};

namespace {

std::string trouble() {
  const char* const text = std::getenv("FAKE_SYCL");
  return text != nullptr ? text : "";
}

Outcome outcome_of(const char* function) { return trouble() == function ? kRefused : kDone; }

/// Makes one of what only the plugin knows.
template <typename T>
Outcome make(const char* function, T** made) {
  const Outcome outcome = outcome_of(function);
  if (outcome == kDone) *made = new T;
  return outcome;
}

template <typename T>
void release(T* made) {
  delete made;
}

void put(Text& text, const char* words) { std::strcpy(text, words); }

Outcome describe(std::size_t /*device*/, DeviceFacts* facts) {
  put(facts->platform, "Fake Platform");
  put(facts->platform_version, "libsycl 0.0");
  put(facts->name, trouble() == "emulation" ? "Fake Emulation Device" : "Fake Board");
  put(facts->vendor, "nobody");
  put(facts->driver, "1");
  facts->kind = kAccelerator;
  facts->compute_units = 4;
  facts->global_memory_bytes = facts->max_allocation_bytes = 1 << 20;
  facts->max_work_group_size = 8;
  facts->alignment_bytes = 64;
  facts->has_shared_memory = 1;
  return outcome_of("describe");
}

Outcome open(std::size_t /*device*/, std::int32_t /*share*/, std::int32_t shares, Device** opened,
             std::uint64_t* units) {
  *units = 4 / static_cast<std::uint64_t>(shares);
  return make("open", opened);
}

Outcome copy(Queue* /*queue*/, void* to, const void* from, std::size_t bytes, Event** done) {
  std::memcpy(to, from, bytes);
  if (done != nullptr) *done = new Event;
  return outcome_of("copy");
}

Outcome times(Event* /*event*/, Times* times) {
  *times = {1, 2, 3};
  return outcome_of("times");
}

Outcome text(Program* /*program*/, Bytes* bytes) {
  *bytes = {"one;two", 7};
  return outcome_of("text");
}

Outcome describe_argument(Kernel* /*kernel*/, std::uint32_t /*index*/, ArgumentFacts* facts) {
  put(facts->space, "global");
  put(facts->type, "float*");
  put(facts->name, "values");
  return trouble() == "describe_argument" ? kThereIsNone : kDone;
}

Functions all() {
  Functions own{};
  own.version = trouble() == "version" ? kVersion + 1 : kVersion;
  own.last_words = [] { return "no luck\nat all"; };
  own.count_devices = [](std::size_t* count) {
    *count = trouble() == "no-device" ? 0 : 1;
    return outcome_of("count_devices");
  };
  own.describe = describe;
  own.open = open;
  own.close = release<Device>;
  own.make_queue = [](Device*, std::int32_t, Queue** queue) { return make("make_queue", queue); };
  own.release_queue = release<Queue>;
  own.flush = [](Queue*) { return outcome_of("flush"); };
  own.finish = [](Queue*) { return outcome_of("finish"); };
  own.begin_after = [](Queue*, Event* const*, std::size_t) { return outcome_of("begin_after"); };
  own.allocate = [](Device*, std::int32_t, std::int32_t location, std::size_t bytes, void** memory) {
    if (trouble() == "allocate" || location >= 4) return kRefused;
    *memory = std::calloc(bytes, 1);
    return kDone;
  };
  own.release_memory = [](Device*, void* memory) { std::free(memory); };
  own.copy = copy;
  own.fill = [](Queue*, void* memory, unsigned char value, std::size_t bytes) {
    std::memset(memory, value, bytes);
    return outcome_of("fill");
  };
  own.has_ended = [](Event*, std::int32_t* ended) {
    *ended = 1;
    return outcome_of("has_ended");
  };
  own.wait = [](Event*) { return outcome_of("wait"); };
  own.times = times;
  own.release_event = release<Event>;
  own.build = [](Device*, const char* source, const char*, Program** program) {
    return std::strlen(source) == 0 ? kDoesNotBuild : make("build", program);
  };
  own.load = [](Device*, const void*, std::size_t, Program** program) { return make("load", program); };
  own.release_program = release<Program>;
  own.binary = text;
  own.kernel_names = text;
  own.make_kernel = [](Program*, const char* name, Kernel** kernel) {
    return std::string(name) == "one" ? make("make_kernel", kernel) : kThereIsNone;
  };
  own.release_kernel = release<Kernel>;
  own.set_memory = [](Kernel*, std::uint32_t, void*) { return outcome_of("set_memory"); };
  own.set_number = [](Kernel*, std::uint32_t, const void*, std::size_t) { return outcome_of("set_number"); };
  own.count_arguments = [](Kernel*, std::size_t* count) {
    *count = 1;
    return outcome_of("count_arguments");
  };
  own.describe_argument = describe_argument;
  own.location = [](Kernel*, std::uint32_t, std::int32_t* location) {
    *location = trouble() == "in memory 2" ? 2 : trouble() == "in memory 9" ? 9 : kUsualMemory;
    return outcome_of("location");
  };
  own.start = [](Queue*, Kernel*, std::size_t, std::size_t, Event* const*, std::size_t, Event** done) {
    if (done != nullptr) *done = new Event;
    return outcome_of("start");
  };
  return own;
}

}  // namespace

}  // namespace fabricmark::sycl_plugin

extern "C" const fabricmark::sycl_plugin::Functions* fabricmark_sycl_functions() {
  static fabricmark::sycl_plugin::Functions functions;
  functions = fabricmark::sycl_plugin::all();
  return &functions;
}

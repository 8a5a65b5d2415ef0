#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "device/sycl/sycl.hpp"

namespace fabricmark::device::sycl {

namespace {

class Kernel : public backend::Kernel {
 public:
  Kernel(const Opened& on, plugin::Kernel* kernel) : on_(on), kernel_(kernel, on.functions->release_kernel) {}
  void set_memory(unsigned index, const backend::Memory& memory) override {
    require_place(index, dynamic_cast<const Memory&>(memory).location());
    check(*on_.functions, on_.functions->set_memory(kernel_.get(), index, memory.address()),
          "memory as an argument");
  }
  void set_number(unsigned index, const void* value, std::size_t bytes) override {
    check(*on_.functions, on_.functions->set_number(kernel_.get(), index, value, bytes),
          "a number as an argument");
  }
  void start(backend::Queue& queue, const Geometry& geometry, const Events* after,
             Event* done) const override {
    const std::vector<plugin::Event*> waits =
        after != nullptr ? handles(*after) : std::vector<plugin::Event*>();
    with_event(on_, done, "to start a kernel", [&](plugin::Event** event) {
      return on_.functions->start(handle(queue), kernel_.get(), geometry.global, geometry.local, waits.data(),
                                  waits.size(), event);
    });
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override {
    std::size_t count = 0;
    check(*on_.functions, on_.functions->count_arguments(kernel_.get(), &count), "the number of arguments");
    return count;
  }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override {
    const std::size_t count = argument_count().value_or(0);
    std::vector<TakenArgument> arguments;
    for (std::uint32_t index = 0; index < count; ++index) {
      plugin::ArgumentFacts facts{};
      if (on_.functions->describe_argument(kernel_.get(), index, &facts) != plugin::kDone)
        return std::nullopt;
      arguments.push_back({facts.space, facts.type, facts.name});
    }
    return arguments;
  }
  /// Of the board's memories, where the buffer that is its argument of this number lies.
  [[nodiscard]] std::int32_t location(unsigned index) const {
    std::int32_t found = plugin::kUsualMemory;
    check(*on_.functions, on_.functions->location(kernel_.get(), index, &found), "the place of an argument");
    return found;
  }

 private:
  /// A kernel that is linked to one memory would read in it what lies at the same address of another.
  void require_place(unsigned index, std::int32_t place) const {
    const std::int32_t wanted = location(index);
    if (wanted == place) return;
    plugin::ArgumentFacts facts{};
    (void)on_.functions->describe_argument(kernel_.get(), index, &facts);
    throw bad_use("the argument '" + std::string(facts.name) + "' of a kernel is in " + named(wanted) +
                      " of the board, and its buffer in " + named(place),
                  "build a library in which all kernels that take the buffer have it in the same memory");
  }
  static std::string named(std::int32_t place) {
    return place == plugin::kUsualMemory ? "the usual memory" : "memory " + std::to_string(place);
  }

  Opened on_;
  std::shared_ptr<plugin::Kernel> kernel_;
};

class Program : public backend::Program {
 public:
  Program(const Opened& on, plugin::Program* program)
      : on_(on), program_(program, on.functions->release_program) {}
  [[nodiscard]] std::unique_ptr<backend::Kernel> kernel(const std::string& name) const override {
    plugin::Kernel* kernel = nullptr;
    const plugin::Outcome outcome = on_.functions->make_kernel(program_.get(), name.c_str(), &kernel);
    if (outcome == plugin::kThereIsNone) return nullptr;
    check(*on_.functions, outcome, "to make a kernel");
    return std::make_unique<Kernel>(on_, kernel);
  }
  [[nodiscard]] std::string kernel_names() const override {
    plugin::Bytes names{};
    check(*on_.functions, on_.functions->kernel_names(program_.get(), &names), "the names of kernels");
    return {names.data, names.size};
  }
  [[nodiscard]] std::string binary() const override {
    plugin::Bytes bytes{};
    check(*on_.functions, on_.functions->binary(program_.get(), &bytes), "a program's binary");
    return {bytes.data, bytes.size};
  }

 private:
  Opened on_;
  std::shared_ptr<plugin::Program> program_;
};

std::shared_ptr<const backend::Program> built(const Opened& on, plugin::Outcome outcome,
                                              plugin::Program* program) {
  if (outcome == plugin::kDoesNotBuild) throw BuildFailure("SYCL", on.functions->last_words());
  check(*on.functions, outcome, "to build a program");
  return std::make_shared<Program>(on, program);
}

}  // namespace

std::int32_t location_of(const backend::Kernel& kernel, unsigned index) {
  return dynamic_cast<const Kernel&>(kernel).location(index);
}

std::shared_ptr<const backend::Program> build(const Opened& on, const std::string& source,
                                              const std::string& options) {
  plugin::Program* program = nullptr;
  const plugin::Outcome outcome =
      on.functions->build(on.device.get(), source.c_str(), options.c_str(), &program);
  return built(on, outcome, program);
}

std::shared_ptr<const backend::Program> load(const Opened& on, const std::string& binary) {
  plugin::Program* program = nullptr;
  const plugin::Outcome outcome = on.functions->load(on.device.get(), binary.data(), binary.size(), &program);
  if (outcome == plugin::kDoesNotBuild) {  // in a line: a loader's words, or OpenCL's code
    const std::string words = on.functions->last_words();
    throw BuildFailure("SYCL: " + words.substr(0, words.find('\n')));
  }
  return built(on, outcome, program);
}

}  // namespace fabricmark::device::sycl

#include <cstring>
#include <map>
#include <regex>

#include "base/error.hpp"
#include "device/xclbin.hpp"
#include "device/xrt/xrt.hpp"

namespace fabricmark::device::xrt {

namespace {

/// What the metadata of a container says of an argument.
struct Declared {
  std::string name;
  std::string type;
  bool is_buffer = false;
  bool is_stream = false;  ///< joined to others in the bitstream: the host sets nothing
};
using Kernels = std::map<std::string, std::vector<Declared>>;

std::string attribute(const std::string& element, const std::string& name) {
  std::smatch found;
  return std::regex_search(element, found, std::regex("\\s" + name + "=\"([^\"]*)\"")) ? found[1].str() : "";
}

/// The kernels of the XML in the section EMBEDDED_METADATA; arguments in order.
Kernels declared_in(const std::string& metadata) {
  Kernels kernels;
  std::vector<Declared>* current = nullptr;
  const std::regex element(R"(<(kernel|arg)\s[^>]*>)");
  for (std::sregex_iterator one(metadata.begin(), metadata.end(), element), end; one != end; ++one) {
    const std::string text = one->str();
    if ((*one)[1] == "kernel") {
      current = &kernels[attribute(text, "name")];
    } else if (current != nullptr) {
      const std::string qualifier = attribute(text, "addressQualifier");
      current->push_back(
          {attribute(text, "name"), attribute(text, "type"), qualifier == "1", qualifier == "4"});
    }
  }
  return kernels;
}

/// What is set before a start: a buffer, or a number's bytes.
struct Value {
  Handle buffer;
  std::uint64_t number = 0;
  std::size_t bytes = 0;
};

class Kernel : public backend::Kernel {
 public:
  Kernel(std::shared_ptr<void> kernel, std::vector<Declared> arguments)
      : kernel_(std::move(kernel)), arguments_(std::move(arguments)), values_(arguments_.size()) {
    void* const run = library().open_run(kernel_.get());
    if (run == nullptr) throw Refusal("xrtRunOpen with '" + last_words() + "'");
    run_ = {run, [kernel = kernel_](void* one) { static_cast<void>(library().close_run(one)); }};
  }
  void set_memory(unsigned index, const backend::Memory& memory) override {
    value_at(index) = {dynamic_cast<const Memory&>(memory).as_argument(group(index)), 0, 0};
  }
  void set_number(unsigned index, const void* value, std::size_t bytes) override {
    Value number{.buffer = nullptr, .number = 0, .bytes = bytes};
    if (bytes > sizeof(number.number)) throw Refusal("a number of " + std::to_string(bytes) + " bytes");
    std::memcpy(&number.number, value, bytes);
    value_at(index) = std::move(number);
  }
  void start(backend::Queue& queue, const Geometry& geometry, const Events* after,
             Event* done) const override {
    if (geometry.global != 1)
      throw bad_use("XRT natively starts kernels of one work-item",
                    "use --variant base, or --backend opencl");
    if (after != nullptr) queue.begin_after(*after);
    as_own(queue).add(
        [run = run_, values = values_, arguments = arguments_] {
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (!arguments[i].is_stream) set(run.get(), static_cast<int>(i), values[i], arguments[i]);
          }
          check(library().start(run.get()), "xrtRunStart");
          constexpr int kCompleted = 4;  // ERT_CMD_STATE_COMPLETED
          const int state = library().wait(run.get());
          if (state != kCompleted) throw Refusal("xrtRunWait with the state " + std::to_string(state));
        },
        done);
  }
  [[nodiscard]] std::optional<std::size_t> argument_count() const override { return arguments_.size(); }
  [[nodiscard]] std::optional<std::vector<TakenArgument>> arguments() const override { return std::nullopt; }
  [[nodiscard]] int group(unsigned index) const {
    const int found = library().group_of_argument(kernel_.get(), static_cast<int>(index));
    if (found < 0) throw Refusal("xrtKernelArgGroupId with '" + last_words() + "'");
    return found;
  }

 private:
  Value& value_at(unsigned index) {
    if (index >= values_.size())
      throw bad_use("the kernel has no argument " + std::to_string(index),
                    "give the kernel those of kernel.toml");
    return values_[index];
  }
  /// By the type that C passes to a function without a prototype.
  static void set(void* run, int index, const Value& value, const Declared& argument) {
    if (argument.is_buffer) {
      check(library().set_argument(run, index, value.buffer.get()), "xrtRunSetArg");
    } else if (argument.type == "float") {
      float number = 0;
      std::memcpy(&number, &value.number, sizeof(number));
      check(library().set_argument(run, index, static_cast<double>(number)), "xrtRunSetArg");
    } else if (argument.type == "double") {
      double number = 0;
      std::memcpy(&number, &value.number, sizeof(number));
      check(library().set_argument(run, index, number), "xrtRunSetArg");
    } else if (value.bytes == sizeof(std::uint64_t)) {
      check(library().set_argument(run, index, value.number), "xrtRunSetArg");
    } else {
      check(library().set_argument(run, index, static_cast<unsigned>(value.number)), "xrtRunSetArg");
    }
  }

  std::shared_ptr<void> kernel_;
  std::vector<Declared> arguments_;
  std::vector<Value> values_;
  std::shared_ptr<void> run_;
};

class Program : public backend::Program {
 public:
  Program(Opened on, std::string binary, const Library::Id& id)
      : on_(std::move(on)),
        binary_(std::move(binary)),
        id_(id),
        kernels_(declared_in(metadata_of_xclbin(binary_))) {}
  [[nodiscard]] std::unique_ptr<backend::Kernel> kernel(const std::string& name) const override {
    const auto found = kernels_.find(name.substr(0, name.find(':')));
    if (found == kernels_.end()) return nullptr;
    void* const kernel = library().open_kernel(on_.device.get(), id_.data(), name.c_str());
    if (kernel == nullptr) return nullptr;
    return std::make_unique<Kernel>(
        std::shared_ptr<void>(
            kernel, [device = on_.device](void* one) { static_cast<void>(library().close_kernel(one)); }),
        found->second);
  }
  [[nodiscard]] std::string kernel_names() const override {
    std::string names;
    for (const auto& [name, arguments] : kernels_) names += (names.empty() ? "" : ";") + name;
    return names;
  }
  [[nodiscard]] std::string binary() const override { return binary_; }

 private:
  Opened on_;
  std::string binary_;
  Library::Id id_;
  Kernels kernels_;
};

}  // namespace

int group_of(const backend::Kernel& kernel, unsigned argument) {
  return dynamic_cast<const Kernel&>(kernel).group(argument);
}

std::shared_ptr<const backend::Program> load(const Opened& on, const std::string& binary) {
  if (const std::string fault = fault_of_xclbin(binary, on.info); !fault.empty()) throw BuildFailure(fault);
  if (library().load(on.device.get(), binary.data()) != 0)
    throw BuildFailure("xrtDeviceLoadXclbin: " + last_words());
  *on.usual_group = first_memory_of_xclbin(binary);
  Library::Id id{};
  check(library().loaded_id(on.device.get(), id.data()), "xrtDeviceGetXclbinUUID");
  return std::make_shared<Program>(on, binary, id);
}

}  // namespace fabricmark::device::xrt

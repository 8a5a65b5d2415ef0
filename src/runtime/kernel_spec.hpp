#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/arguments.hpp"
#include "device/device.hpp"
#include "device/program.hpp"
#include "device/replicas.hpp"
#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

/// One parameter of kernel.toml.
struct ParameterSpec {
  enum class Type { kInteger, kNumber, kFlag, kText };
  enum class Stage { kBuild, kRun };
  std::string name;
  Type type = Type::kInteger;
  Stage stage = Stage::kRun;
  std::optional<double> minimum;
  std::optional<double> maximum;
  std::vector<Value> values;              ///< the only ones allowed, where not empty
  std::map<std::string, Value> defaults;  ///< by device class, or "" for every class
  std::string unit;
  std::string meaning;
};

/// One argument of an entry point: its name and "buffer", "uchar", "uint", "ulong", "float", "double", or
/// "real", which is double where the parameter data_type is, else float.
struct ArgumentSpec {
  std::string name;
  std::string kind;
};

/// One kind of kernel: base, throughput, ...
struct VariantSpec {
  std::string name;
  std::string file;
  std::vector<std::string> entry_points;
  std::vector<std::string>
      replicated;  ///< those of which there are as many as the parameter replications says
  std::map<std::string, std::vector<ArgumentSpec>> arguments;    ///< by entry point; none where it is missing
  std::map<std::string, std::map<std::string, Value>> defaults;  ///< parameter -> device class or "" -> value
  std::map<std::string, double> largest;                         ///< parameter -> largest value of this kind
};

struct ConstraintSpec {
  std::string expression;
  std::string meaning;
};

/// A kernel.toml. Lists keep the order of the file.
struct KernelSpec {
  std::string benchmark;
  std::string summary;
  std::filesystem::path folder;
  std::vector<VariantSpec> variants;
  std::vector<ParameterSpec> parameters;
  std::vector<ConstraintSpec> constraints;

  /// Throws Error (bad use) naming the variants that there are.
  [[nodiscard]] const VariantSpec& variant(const std::string& name) const;
  [[nodiscard]] const ParameterSpec* find(const std::string& name) const;
};

/// Reads a kernel.toml. Throws Error (bad use) with file, line or key, and what is expected there.
KernelSpec load_kernel_spec(const std::filesystem::path& file);
/// The same from text; `file` is the name in messages.
KernelSpec parse_kernel_spec(const std::string& text, const std::filesystem::path& file);

/// Folder of kernel.toml files: $FABRICMARK_KERNELS, the source tree's, or share/fabricmark/kernels.
std::filesystem::path kernels_folder();

/// An entry point with its arguments; `parameters` say what type "real" is.
device::EntryPoint entry_point(const VariantSpec& variant, const std::string& name,
                               const Parameters& parameters);

/// All kernels of a program, replicas that have entry points of their own among them.
std::vector<device::EntryPoint> built_entry_points(const VariantSpec& variant, const Parameters& parameters,
                                                   device::Replicas replicas);
/// How many replicas the sources of a program have: one, where they need no entry points of their own.
std::int64_t replicas_in_source(const VariantSpec& variant, const Parameters& parameters,
                                device::Replicas replicas);

/// The spec for a device: where each replica is built in, the parameter replications of a variant that has
/// replicated entry points is one of the build.
KernelSpec built_for(KernelSpec spec, const std::string& variant, device::Replicas replicas);

/// What a default may refer to by name.
struct DeviceFacts {
  device::DeviceClass device_class = device::DeviceClass::kCpu;
  std::int64_t cores = 1;  ///< "cores": compute units of the device, or of this rank's part of it
  std::int64_t banks = 1;  ///< "banks": memory banks, from the system file
};

/// A system file or a bitstream's sidecar: settings that come before the class's defaults.
struct Overrides {
  std::string origin;  ///< file name for messages
  std::optional<std::int64_t> banks;
  std::optional<std::string> variant;
  std::map<std::string, Value> parameters;
};

/// Content of a regular file; `what` it is for the message. Throws Error (bad use).
std::string file_text(const std::filesystem::path& file, const std::string& what,
                      const std::string& remedy = "check its name");
/// Reads the sidecar of a bitstream (`benchmark`, `variant`, `[parameters]`): the bitstream's name with
/// .toml. With a `digest` there, a bitstream with other contents is refused: drivers crash on damaged ones.
Overrides load_sidecar(const std::filesystem::path& bitstream, const KernelSpec& spec);
/// The sidecar's text for the bitstream with these contents, built with these parameters.
std::string sidecar_text(const KernelSpec& spec, const std::string& variant, const Parameters& parameters,
                         const std::string& bitstream);

/// Values by precedence: command line (texts), sidecar, system, variant, device class. Checks types, ranges
/// and constraints, and refuses a command line that disagrees with the sidecar on a build parameter. Throws
/// Error (bad use) naming the parameter.
Parameters resolve(const KernelSpec& spec, const std::string& variant, const DeviceFacts& facts,
                   const std::map<std::string, std::string>& command_line,
                   const std::optional<Overrides>& system, const std::optional<Overrides>& sidecar);

/// -D definitions of the build-stage parameters: vector_width = 16 becomes VECTOR_WIDTH=16.
device::Definitions build_definitions(const KernelSpec& spec, const Parameters& parameters,
                                      const device::DeviceInfo& info);

}  // namespace fabricmark::runtime

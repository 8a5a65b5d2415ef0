#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/arguments.hpp"
#include "device/board_memory.hpp"
#include "device/device_class.hpp"
#include "device/replicas.hpp"
#include "runtime/linked_engine.hpp"
#include "runtime/parameters.hpp"
#include "runtime/tuned_values.hpp"

namespace fabricmark::runtime {

/// One parameter of kernel.toml.
struct ParameterSpec {
  enum class Type { kInteger, kNumber, kFlag, kText };  ///< as the types of a Value follow each other
  static constexpr std::array kTypes{"int", "float", "bool", "string"};  ///< their names in kernel.toml
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
  // How `fabricmark scale` treats it.
  bool is_total = false;         ///< of all ranks together, not of each one
  int dimensions = 1;            ///< the power of it that the work's data grow with
  std::string compiler_option;   ///< of OpenCL's, with which the kernels are built where a flag is true
  std::string rounded_to;        ///< the parameter that it should be a whole multiple of; empty: none
  bool is_of_transport = false;  ///< of a transport.toml
};

/// One argument of an entry point: its name and "buffer", "uchar", "uint", "ulong", "float", "double", or
/// "real", which is double where the parameter data_type is, else float.
struct ArgumentSpec {
  std::string name;
  std::string kind;
  std::string access;  ///< such as "read-write"; empty where nothing says
  std::string bank;    ///< an expression of `replica` and `part`; "shared" or empty: the runtime's choice
  /// Of one buffer by class of devices, or "" for every class: a formula (memory_plan.hpp), or the name of an
  /// argument of as many. None: its memory is another argument's, or nothing says.
  std::map<std::string, std::string> bytes{};
  std::string buffers{};  ///< a formula of how many there are, one for each replica or part; empty: one
};

/// A loop of a kernel, of those that run one after the other. `repeat` times it takes the longer of its
/// cycles, which are interval * trips + depth, and of what it does with the memory: bytes at the rate of a
/// bank, cycles of the memory's clock, and so many times each of the system's `waits`. All are formulas
/// (base/expression.hpp) of the arguments and parameters; an empty one is zero, an empty interval or repeat
/// one.
struct LoopSpec {
  std::string meaning;
  std::string phase;  ///< of a run, as reports name it; several loops may be one
  std::string repeat;
  std::string trips;
  std::string interval;
  std::string depth;
  std::string memory_bytes;
  std::string memory_cycles;
  std::map<std::string, std::string> waits;  ///< by the name of a value in seconds, zero where it has none
  std::string efficiency;                    ///< the name of what divides its time; one where it has no value

  /// Those that are there, with their keys.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> formulas() const;
};

/// What a work-group of a variant's kernels takes of a device: expressions (base/expression.hpp) of whole
/// parameters and of `value_bytes`, of a number of the data type.
struct WorkGroupSpec {
  std::string work_items;           ///< empty: one
  std::string local_bytes;          ///< of local memory; empty: none
  std::vector<std::string> shrink;  ///< parameters whose defaults become smaller until it fits, in turn
  std::vector<std::string> on;      ///< classes of devices that it is true of; empty: all
};

/// One kind of kernel: base, throughput, ...
struct VariantSpec {
  std::string name;
  std::string file;
  std::string hls;        ///< file of the same kernels in HLS C++; empty: there is none
  bool has_sycl = false;  ///< whether `file` is SYCL C++, too (kernels/common/sycl.hpp)
  std::string style;      ///< such as "nd-range"; empty where nothing says
  std::vector<std::string> entry_points;
  std::vector<std::string>
      replicated;  ///< those of which there are as many as the parameter replications says
  std::vector<std::string>
      autorun;  ///< kernels that start by themselves with the bitstream, without arguments
  std::vector<std::string> transports;  ///< of kernels, that these are for; dataflow kernels are for all
  std::vector<std::string> usual_on;    ///< classes of devices that take it where nothing says which one
  /// By entry point; none where it is missing. Under "" what the host allocates beside them, of which only
  /// name, bytes and buffers are known.
  std::map<std::string, std::vector<ArgumentSpec>> arguments;
  std::vector<std::string> given;  ///< names in these formulas of what only a run knows (KernelSpec::given)
  std::map<std::string, std::vector<LoopSpec>> costs;            ///< by entry point; none where it is missing
  std::string costs_of;                                          ///< the variant that these are of, or empty
  std::map<std::string, std::map<std::string, Value>> defaults;  ///< parameter -> device class or "" -> value
  /// The same over transports of kernels; null where its messages cannot go that way.
  std::optional<std::map<std::string, std::map<std::string, Value>>> over_fabric;
  std::map<std::string, double> largest;  ///< parameter -> largest value of this kind
  std::map<std::string, std::vector<std::string>>
      lacks;  ///< parameter -> its values that this kind does not have
  /// Parameter -> device class -> values among which `fabricmark tune --kernels` looks for the fastest.
  std::map<std::string, std::map<std::string, std::vector<Value>>> tuned{};
  std::map<std::string, std::map<std::string, Value>> tuned_at{};  ///< what a run has that tries them
  /// What its modelled time goes to, in words, by what host code and models call it.
  std::map<std::string, std::string> phases{};
  WorkGroupSpec work_group;

  /// Kernels in HLS C++, compiled into the program: they run on an emulated fabric, and on no device.
  [[nodiscard]] bool is_dataflow() const { return style == "dataflow"; }
  /// Whether all that it does over this transport, or its messages alone, run on an emulated fabric.
  [[nodiscard]] bool is_emulated_over(const std::string& transport) const;
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
  /// Numbers that formulas of memory name and that only a run knows, each with the parameter that it follows
  /// from.
  std::map<std::string, std::string> given;
  /// Named formulas that the variants' are made of, each written out to parameters and numbers of a plan.
  std::map<std::string, std::string> quantities;

  /// Throws Error (bad use) naming the variants that there are.
  [[nodiscard]] const VariantSpec& variant(const std::string& name) const;
  [[nodiscard]] const ParameterSpec* find(const std::string& name) const;
};

/// What a transport is between. The first two move messages between memories (transport::make_transport), the
/// others join the boards of dataflow kernels (board::Board).
enum class Between : std::uint8_t {
  kDevices,  ///< memories of devices
  kHosts,    ///< memories of hosts
  kStreams,  ///< streams of dataflow kernels, whose words go over direct links
  kEngines,  ///< engines beside dataflow kernels, which carry their messages
};

/// A transport.toml: a transport and its own options. One with `protocols` is a transport for each,
/// FOLDER-PROTOCOL.
struct TransportSpec {
  std::string name;
  std::string folder;    ///< whose code it is
  std::string protocol;  ///< of `protocols`; empty where there are none
  std::string summary;
  Between between = Between::kHosts;
  std::string memory{};  ///< kind of device memory that it moves best; empty: any
  std::vector<ParameterSpec> parameters;
  std::filesystem::path library{};  ///< that has its code; empty: the programs have it

  [[nodiscard]] bool is_between_memories() const {
    return between == Between::kDevices || between == Between::kHosts;
  }
};

/// Every folder of src/transport and src/board that has one, in the order of their names, then those outside
/// of the sources (outside_transports.hpp). Throws Error (bad use) for one of these that is wrong.
const std::vector<TransportSpec>& transport_specs();

/// Their names.
std::vector<std::string> transport_names();
/// One of them by its name; null: there is none.
const TransportSpec* find_transport(const std::string& name);
/// The same. Throws Error (bad use) that names all.
const TransportSpec& transport_spec(const std::string& name);
/// The kind of device memory of a run over a transport, by its name: what --memory asks for, or where that is
/// empty what the transport moves best. An empty transport has none that is best.
std::string memory_over(const std::string& transport, const std::string& asked);
/// Names of those that are between one of these.
std::vector<std::string> transports_between(std::initializer_list<Between> kinds);

/// Reads a kernel.toml. Throws Error (bad use) with file, line or key, and what is expected there.
KernelSpec load_kernel_spec(const std::filesystem::path& file);
/// The same from text; `file` is the name in messages.
KernelSpec parse_kernel_spec(const std::string& text, const std::filesystem::path& file);

/// Throws Error (bad use) with file and key where values, defaults and constraints do not fit each other.
void check_kernel_spec(const KernelSpec& spec, const std::filesystem::path& file);

/// Folder of kernel.toml files: $FABRICMARK_KERNELS, the source tree's, or share/fabricmark/kernels.
std::filesystem::path kernels_folder();

/// An entry point with its arguments; `parameters` say what type "real" is.
device::EntryPoint entry_point(const VariantSpec& variant, const std::string& name,
                               const Parameters& parameters);

/// An argument of a replica of a variant's entry point, which is given by its number. `part`: of an array
/// that is spread over several buffers, each in a bank of its own; absent: there is one, wherever it lies.
struct ArgumentPlace {
  std::size_t entry = 0;
  int replica = 0;
  std::string argument;
  std::optional<int> part{};
};

/// Whether all replicas take the same memory for it.
bool is_shared(const VariantSpec& variant, const ArgumentPlace& place);

/// The bank that kernel.toml wants its memory in; negative: the runtime's choice.
int bank_of(const VariantSpec& variant, const ArgumentPlace& place);

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
  /// "cores": compute units of the device, or of this rank's part of it; nothing where they are not known.
  std::optional<std::int64_t> cores = 1;
  std::int64_t banks = 1;  ///< "banks": memory banks, from the system file
  /// "separate_banks": those among which the host chooses for each buffer, from there too; 0: nothing is
  /// known, or somebody else chooses.
  std::int64_t separate_banks = 0;
  /// "device_matrix_units": device::DeviceInfo::matrix_units.
  std::int64_t matrix_units = 0;
  device::Replicas replicas = device::Replicas::kOneEntry;  ///< what the device needs
  // Of a work-group; nothing where they are not known.
  std::optional<std::uint64_t> most_work_items{};
  std::optional<std::uint64_t> local_bytes{};
  std::string device = "the device";  ///< its name, for messages
  std::vector<TunedValues> tuned{};   ///< what comes before the defaults of kernel.toml on it
};

/// What a bitstream is, as its sidecar or a system says: all that is known of it.
struct Design {
  std::string board{};      ///< id of systems/boards
  std::string bitstream{};  ///< FILE/NAME of systems/bitstreams
  std::string language{};   ///< of the sources that it was made from; empty: OpenCL C
  double clock_hz = 0;      ///< that the tools reached; 0: not known
  std::string tools{};
  std::string shell{};
  std::map<std::string, std::int64_t> resources{};  ///< logic, registers, bram, uram, dsps
};

/// A system file or a bitstream's sidecar: settings that come before the class's defaults.
struct Overrides {
  std::string origin;  ///< file name for messages
  std::optional<std::int64_t> banks;
  device::BoardMemory memory{};
  Design design{};
  std::optional<LinkedEngine> engine{};
  std::optional<std::string> variant;
  std::map<std::string, Value> parameters;
};

/// What a run takes of a system: the banks of a device and, where it has one for the benchmark, a bitstream.
struct SystemChoice {
  std::string system;
  std::string device;
  std::string bitstream;  ///< FILE/NAME, or empty
  Overrides overrides;

  /// For the notes of the result.
  [[nodiscard]] std::string note() const;
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

/// Values by precedence: command line (texts), sidecar, system, variant, device class. Checks types, ranges,
/// constraints and what a work-group takes, and refuses a command line that disagrees with the sidecar on a
/// build parameter. Throws Error (bad use) naming the parameter. A default is one that the device can run:
/// what follows from its numbers is kept within the parameter's range, and made smaller until constraints
/// hold.
Parameters resolve(const KernelSpec& spec, const std::string& variant, const DeviceFacts& facts,
                   const std::map<std::string, std::string>& command_line,
                   const std::optional<Overrides>& system, const std::optional<Overrides>& sidecar);

/// What a command line says of the kernel.
struct Wanted {
  std::string variant;                            ///< empty: the bitstream's, else the usual one of the class
  std::filesystem::path bitstream;                ///< empty: none
  std::filesystem::path system;                   ///< empty: none
  std::string bitstream_id;                       ///< of the system; empty: the only one of the benchmark
  std::map<std::string, std::string> parameters;  ///< given ones by name, as texts
};

/// What is built and run. `spec`: for the device; `banks`: of the system, else of the device.
struct Resolved {
  KernelSpec spec;
  std::string variant;
  Parameters parameters;
  std::int64_t banks = 1;
  std::optional<SystemChoice> system;
  std::optional<Design> loaded;  ///< the bitstream, as its sidecar says
};

/// All that is asked for, with the files that it names. Throws Error (bad use) as above.
Resolved resolve(const KernelSpec& spec, DeviceFacts facts, const Wanted& wanted);

/// The value of a text, or a value of a file, as the parameter has it; `origin` is for the message. Throws
/// Error (bad use) where it may not have that value.
Value checked_text(const ParameterSpec& spec, const std::string& text);
Value checked_value(const ParameterSpec& spec, Value value, const std::string& origin);
/// Throws Error (bad use) for a name that is no parameter of the benchmark; `origin` is the file that says
/// it, or empty.
void require_parameter(const KernelSpec& spec, const std::string& name, const std::string& origin);
/// Throws Error (bad use) for an option without a value: an empty text, or the next option.
void check_given(const std::string& option, const std::string& text);
/// "--buffer-size" for buffer_size.
std::string option_name(const std::string& parameter);
/// Throws Error (bad use) where a constraint cannot be evaluated or names what is no number of the file.
void check_constraint(const KernelSpec& spec, const ConstraintSpec& constraint, const std::string& where);

/// -D definitions of the build-stage parameters: vector_width = 16 becomes VECTOR_WIDTH=16.
std::map<std::string, std::string> build_definitions(const KernelSpec& spec, const Parameters& parameters,
                                                     device::DeviceClass device_class);

}  // namespace fabricmark::runtime

#pragma once

#include <map>
#include <string>

#include "runtime/kernel_spec.hpp"
#include "runtime/toml_reader.hpp"

namespace fabricmark::runtime {

/// Reads the table `given` of kernel.toml into KernelSpec::given. Throws Error (bad use) naming the key of a
/// name that is taken, or of what is no parameter.
void read_given(const TomlReader& reader, KernelSpec& spec);

/// Formulas of kernel.toml that have names, its table `quantities`: what several others are made of.
class Quantities {
 public:
  /// None where the file has no such table. Throws Error (bad use) naming the key of one that is no text,
  /// that is called like a parameter or an argument, or that follows from itself.
  Quantities(const TomlReader& reader, const KernelSpec& spec);

  /// Puts them, in parentheses, where formulas of the variants name them, and into KernelSpec::quantities.
  void write_out(KernelSpec& spec) const;

 private:
  [[nodiscard]] std::string written_out(const std::string& text) const;

  std::map<std::string, std::string> formulas_;
};

}  // namespace fabricmark::runtime

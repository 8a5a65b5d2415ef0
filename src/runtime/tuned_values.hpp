#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/parameters.hpp"

namespace fabricmark::runtime {

struct KernelSpec;

/// The fastest values of a variant's parameters on a device, as `fabricmark tune --kernels` measured them.
struct TunedValues {
  std::string variant;
  std::string data_type;  ///< empty: any
  std::string created;    ///< UTC
  std::map<std::string, Value> parameters;

  [[nodiscard]] bool is_of(const std::string& kernel, const Parameters& chosen) const {
    return variant == kernel &&
           (data_type.empty() || (chosen.has("data_type") && chosen.text("data_type") == data_type));
  }
};

/// What the fastest values depend on.
struct TunedPlace {
  std::string processor;  ///< of the host
  std::string device;
  std::string driver;
};

/// What is kept for this benchmark and place in $FABRICMARK_CACHE/tuning/kernels/<benchmark>.json
/// (schemas/kernel-tuning-1.schema.json); none where there is no such file. Throws Error (bad use) naming the
/// file that is no such, or that says what kernel.toml does not have tuned.
std::vector<TunedValues> kept_values(const KernelSpec& spec, const TunedPlace& place);

/// The same text for the same values, for ranks to compare.
std::string as_text(const std::vector<TunedValues>& values);

/// Which of the parameters of a run are as tuned, in words for the notes of its result; empty: none.
std::string tuned_note(const std::vector<TunedValues>& values, const std::string& variant,
                       const Parameters& parameters, const std::map<std::string, std::string>& given);

}  // namespace fabricmark::runtime

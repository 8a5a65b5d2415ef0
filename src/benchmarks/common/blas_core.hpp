// OpenBLAS, for all that calls it: no other file includes its header.
#pragma once

#include <cblas.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace fabricmark::common {

/// Vector instructions that a CPU has, or that kernels of OpenBLAS use.
enum class VectorLevel { kOlder, kAvx2, kAvx512 };

/// Of OpenBLAS's kernels, by its name for the core that they are written for.
inline VectorLevel level_of_core(std::string_view core) {
  constexpr std::array kAvx512Cores{"SkylakeX", "Cooperlake", "SapphireRapids"};
  constexpr std::array kAvx2Cores{"Haswell", "Zen", "Excavator"};
  const auto is_core = [core](const char* name) { return core == name; };
  if (std::ranges::any_of(kAvx512Cores, is_core)) return VectorLevel::kAvx512;
  return std::ranges::any_of(kAvx2Cores, is_core) ? VectorLevel::kAvx2 : VectorLevel::kOlder;
}

inline VectorLevel level_of_cpu() {
#if defined(__x86_64__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512cd");
  if (has_avx512) return VectorLevel::kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorLevel::kAvx2;
#endif
  return VectorLevel::kOlder;
}

/// The core whose kernels OpenBLAS should take instead; empty where its choice is as good. A version that is
/// older than the CPU takes those of a CPU of 2004 (Prescott): 0.3.21 does on Emerald Rapids, a sixth as
/// fast.
inline std::string better_core(std::string_view found, VectorLevel cpu) {
  if (level_of_core(found) != VectorLevel::kOlder || cpu == VectorLevel::kOlder) return {};
  return cpu == VectorLevel::kAvx512 ? "SkylakeX" : "Haswell";
}

/// OpenBLAS chooses its kernels when it is loaded: where it chose badly, the program starts once more with
/// OPENBLAS_CORETYPE, unless that is set.
inline bool choose_core() noexcept try {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  if (std::getenv(kVariable) != nullptr) return false;
  const std::string core = better_core(openblas_get_corename(), level_of_cpu());
  if (core.empty() || setenv(kVariable, core.c_str(), /*overwrite=*/0) != 0) return false;
  std::vector<std::string> words;
  std::ifstream command("/proc/self/cmdline");
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length > 0 && !words.empty()) execv(path.data(), arguments.data());
  return false;                    // it goes on as it is
} catch (const std::exception&) {  // without memory for the words
  return false;
}

/// Before main, in each program that has a source with this header.
inline const bool kIsStartedAgain = choose_core();

}  // namespace fabricmark::common

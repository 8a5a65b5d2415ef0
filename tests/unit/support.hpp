#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>

#include "base/error.hpp"

namespace fabricmark::test {

/// A folder of its own for a test, gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fabricmark-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The message of the Error that `action` throws; fails the test when it throws none, or one that a user
/// could not act on: every message is one line with a cause and a remedy.
inline std::string message_of(const std::function<void()>& action, ExitCode code = ExitCode::kBadUse) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(error.code(), code) << message;
    EXPECT_NE(message.find("; "), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kMutations = 4000;  ///< of a text; these builds are an order of magnitude slower
#else
constexpr int kMutations = 20000;
#endif

/// `text` with one to four random changes: bytes overwritten, inserted or removed, or a stretch doubled.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return random() % std::max<std::size_t>(limit, 1); };
  const std::string interesting = "[]{}=\"'#,.\n\\0x9e-_\xff";
  for (std::size_t change = 1 + below(4); change > 0; --change) {
    const std::size_t place = below(text.size());
    const std::size_t length = std::min(below(40), text.size() - place);
    switch (below(4)) {
      case 0:
        text.insert(place, 1, interesting[below(interesting.size())]);
        break;
      case 1:
        text.erase(place, length);
        break;
      case 2:
        if (place < text.size()) text[place] = static_cast<char>(below(256));
        break;
      default:
        text.insert(below(text.size()), text.substr(place, length));
        break;
    }
  }
  return text;
}

}  // namespace fabricmark::test

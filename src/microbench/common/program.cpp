#include "microbench/common/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/number_from.hpp"

namespace fabricmark::microbench {

namespace {

constexpr std::size_t kLargestBytes = std::size_t{1} << 32U;

}  // namespace

Error explained(const CLI::App& app, const CLI::ParseError& error) {
  std::string cause = error.what();
  const auto words = app.remaining();
  if (!words.empty()) cause = fmt::format("'{}' is not expected", words.front());
  std::ranges::replace(cause, '\n', ' ');
  return bad_use(cause, fmt::format("see {} --help", app.get_name()));
}

std::string text_or_parsed(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + "\n";
  } catch (const CLI::ParseError& error) {
    throw explained(app, error);
  }
  return {};
}

void add_selection(CLI::App& app, device::Selection& selection) {
  app.add_option("--platform", selection.platform,
                 "of devices by the wall clock: index or part of the OpenCL platform's name");
  app.add_option("--device", selection.device, "index or part of the device's name");
}

std::size_t bytes_of_text(std::string_view text) {
  constexpr std::array kUnits{std::pair{"KiB", std::size_t{1} << 10U},
                              std::pair{"MiB", std::size_t{1} << 20U},
                              std::pair{"GiB", std::size_t{1} << 30U}};
  std::size_t factor = 1;
  std::string_view digits = text;
  for (const auto& [unit, bytes] : kUnits) {
    if (!digits.ends_with(unit)) continue;
    factor = bytes;
    digits.remove_suffix(3);
    break;
  }
  const std::size_t number = number_from<std::size_t>(digits).value_or(0);
  if (number == 0 || number > kLargestBytes / factor) {
    throw bad_use(fmt::format("'{}' is no size", text), "write for example 64, 4KiB or 1MiB, up to 4GiB");
  }
  return number * factor;
}

std::pair<std::size_t, std::size_t> sizes_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t smallest = bytes_of_text(std::string_view(text).substr(0, colon));
  const std::size_t largest =
      colon == std::string::npos ? smallest : bytes_of_text(std::string_view(text).substr(colon + 1));
  if (largest < smallest) {
    throw bad_use(fmt::format("the sizes {} end before they begin", text), "write the smallest first");
  }
  return {smallest, largest};
}

}  // namespace fabricmark::microbench

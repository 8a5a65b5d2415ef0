#include "microbench/common/description.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace fabricmark::microbench {

namespace {

constexpr const char* kPlan = "--plan";

/// Words of a user may be no UTF-8.
std::string line_of(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<OptionText> option_texts(const CLI::App& app) {
  std::vector<OptionText> texts;
  for (const CLI::Option* option : app.get_options()) {
    const std::string names = option->get_name(true, true);
    if (names != app.get_help_ptr()->get_name(true, true) && !option->check_lname("version")) {
      texts.push_back({names, option->get_description()});
    }
  }
  return texts;
}

int describe(std::string_view program, const std::string& file, const std::vector<Description>& programs,
             int usual_ranks, const std::vector<OptionText>& options) {
  nlohmann::ordered_json document{{"programs", nlohmann::ordered_json::array()},
                                  {"usual_ranks", usual_ranks},
                                  {"options", nlohmann::ordered_json::array()}};
  for (const Description& one : programs) {
    document["programs"].push_back(
        {{"name", one.name}, {"summary", one.summary}, {"short_words", one.short_words}});
  }
  for (const OptionText& one : options) {
    document["options"].push_back({{"names", one.names}, {"meaning", one.meaning}});
  }
  try {
    write_atomically(file, line_of(document));
  } catch (const Error& error) {
    std::cerr << program << ": error: " << error.what() << '\n';
    return static_cast<int>(error.code());
  }
  return static_cast<int>(ExitCode::kValid);
}

bool take_plan(std::vector<std::string>& command) { return std::erase(command, kPlan) > 0; }

int answer_plan(const std::function<bool()>& takes_device) {
  nlohmann::ordered_json answer;
  ExitCode code = ExitCode::kValid;
  try {
    answer["takes_device"] = takes_device();
  } catch (const Error& error) {
    code = error.code();
    answer["error"] = {
        {"cause", error.cause()}, {"remedy", error.remedy()}, {"code", static_cast<int>(code)}};
  }
  write_standard_output(line_of(answer));
  return static_cast<int>(code);
}

}  // namespace fabricmark::microbench

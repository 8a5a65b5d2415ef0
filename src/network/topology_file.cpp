// Topologies from files: JSON, read event by event, so that every fault has its line.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.hpp"
#include "base/number_from.hpp"
#include "network/topology.hpp"
#include "runtime/kernel_spec.hpp"

namespace fabricmark::network {

namespace {

using Json = nlohmann::json;

constexpr const char* kTopologyFormat = "fabricmark-topology/1";
constexpr const char* kTopologyRemedy = "see docs/fabric.md for what a file has";
constexpr const char* kEndRemedy = "write an end as \"NODE:PORT\"";
constexpr int kMostPorts = 4096;  // of a node: a table has a place for each up to the highest

/// Hands a parser the text and counts its lines; what is counted goes to `line`.
class Counted {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Counted(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  Counted& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  bool operator==(const Counted& other) const { return at_ == other.at_; }
  bool operator!=(const Counted& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int* line_;
};

struct Text {
  std::string text;
  int line = 0;
};

/// Takes the events of nlohmann's parser; the shape of a file is checked here, what it means after it.
class FileReader : public Json::json_sax_t {
 public:
  FileReader(const std::string& origin, const int& line) : origin_(origin), line_(line) {}

  std::map<std::string, std::vector<Text>> lists;
  std::vector<std::vector<Text>> cables;
  std::map<std::string, Text> texts;

  [[noreturn]] void fail(const std::string& cause, const std::string& remedy) const {
    fail(line_, cause, remedy);
  }
  [[noreturn]] void fail(int line, const std::string& cause, const std::string& remedy) const {
    throw bad_use(fmt::format("'{}' line {}: {}", origin_, line, cause), remedy);
  }

  bool null() override { fail("null stands for nothing", kTopologyRemedy); }
  bool boolean(bool /*value*/) override { fail("true and false stand for nothing", kTopologyRemedy); }
  bool number_integer(number_integer_t /*value*/) override { return no_number(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return no_number(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return no_number(); }
  bool binary(binary_t& /*value*/) override { return no_number(); }
  bool string(string_t& value) override {
    check_printable(value);
    if (depth_ == 1 && is_text()) {
      texts[key_] = {value, line_};
    } else if (depth_ == 2 && is_list()) {
      lists[key_].push_back({value, line_});
    } else if (depth_ == 3) {
      cables.back().push_back({value, line_});
    } else {
      fail(fmt::format("\"{}\" stands where a {} belongs", value, depth_ == 0 ? "table" : "list"),
           kTopologyRemedy);
    }
    return true;
  }
  bool start_object(std::size_t /*elements*/) override {
    if (depth_ != 0) fail("a table stands where none belongs", kTopologyRemedy);
    ++depth_;
    return true;
  }
  bool key(string_t& value) override {
    check_printable(value);
    key_ = value;
    if (!is_text() && !is_list() && key_ != "cables") {
      fail(fmt::format("unknown key {}", value), "use schema, name, devices, switches, cables");
    }
    if (!seen_.insert(key_).second) fail(fmt::format("{} stands twice", key_), "leave one of them out");
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*elements*/) override {
    const bool fits = (depth_ == 1 && !is_text()) || (depth_ == 2 && key_ == "cables");
    if (!fits) fail("a list stands where none belongs", kTopologyRemedy);
    if (depth_ == 2) cables.emplace_back();
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    if (depth_ == 2 && cables.back().size() != 2) fail("a cable has two ends", kEndRemedy);
    return true;
  }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    fail("not JSON", "correct that place");
  }

 private:
  [[nodiscard]] bool is_text() const { return key_ == "schema" || key_ == "name"; }
  [[nodiscard]] bool is_list() const { return key_ == "devices" || key_ == "switches"; }
  /// Messages are one line.
  void check_printable(const std::string& text) const {
    if (std::ranges::any_of(text, [](unsigned char one) { return std::iscntrl(one) != 0; })) {
      fail("a control character in a text", "leave it out");
    }
  }
  bool no_number() { fail("a number stands where none belongs", kTopologyRemedy); }

  std::string origin_;
  const int& line_;
  int depth_ = 0;
  std::string key_;
  std::set<std::string> seen_;
};

/// What the parts of a file mean together.
class FileMeaning {
 public:
  explicit FileMeaning(FileReader& read) : read_(read) {
    for (const char* list : {"devices", "switches"}) {
      for (const Text& name : read_.lists[list]) add_node(name);
    }
    for (const auto& ends : read_.cables) {
      cables_.push_back({end(ends[0]), end(ends[1])});
    }
    check_devices();
  }

  Topology made(const std::string& origin) {
    const auto found = read_.texts.find("name");
    const std::string name =
        found == read_.texts.end() || found->second.text.empty() ? origin : found->second.text;
    const int devices = static_cast<int>(read_.lists["devices"].size());
    const int switches = static_cast<int>(names_.size()) - devices;
    for (std::string& node : names_) node = fmt::format("'{}'", node);
    return {name, devices, switches, std::move(cables_), std::move(names_)};
  }

 private:
  void add_node(const Text& name) {
    if (name.text.empty() || name.text.find(':') != std::string::npos) {
      read_.fail(name.line, fmt::format("'{}' is no name", name.text), "use a text without colon");
    }
    if (!numbers_.emplace(name.text, static_cast<int>(names_.size())).second) {
      read_.fail(name.line, fmt::format("'{}' stands twice", name.text), "give each node a name of its own");
    }
    names_.push_back(name.text);
  }

  Port end(const Text& text) {
    const auto colon = text.text.find(':');
    const std::string name = text.text.substr(0, colon);
    const auto node = numbers_.find(name);
    if (node == numbers_.end()) {
      read_.fail(text.line, fmt::format("unknown node '{}'", name), "list it in devices or switches");
    }
    Port found{.node = node->second, .port = -1};
    if (colon != std::string::npos)
      found.port = number_from<int>(std::string_view(text.text).substr(colon + 1)).value_or(-1);
    if (found.port < 0 || found.port >= kMostPorts) {
      read_.fail(text.line, fmt::format("'{}' names no port from 0 to {}", text.text, kMostPorts - 1),
                 kEndRemedy);
    }
    const auto [before, is_new] = used_.emplace(std::pair(found.node, found.port), text.line);
    if (!is_new) {
      read_.fail(text.line, fmt::format("'{}' has a cable already, in line {}", text.text, before->second),
                 "give each cable two ports of its own");
    }
    return found;
  }

  void check_devices() {
    std::set<int> connected;
    for (const auto& [port, line] : used_) connected.insert(port.first);
    for (const Text& device : read_.lists["devices"]) {
      if (connected.contains(numbers_[device.text])) continue;
      read_.fail(device.line, fmt::format("'{}' has no cable", device.text), "connect it, or leave it out");
    }
  }

  FileReader& read_;
  std::vector<std::string> names_;
  std::map<std::string, int> numbers_;
  std::vector<Cable> cables_;
  std::map<std::pair<int, int>, int> used_;  ///< line by node and port
};

}  // namespace

Topology read_topology(const std::string& json, const std::string& origin) {
  int line = 1;
  FileReader read(origin, line);
  const char* begin = json.data();
  Json::sax_parse(Counted(begin, &line), Counted(begin + json.size(), &line), &read);
  const auto schema = read.texts.find("schema");
  if (schema == read.texts.end() || schema->second.text != kTopologyFormat) {
    read.fail(schema == read.texts.end() ? 1 : schema->second.line, fmt::format("no {}", kTopologyFormat),
              fmt::format(R"(write "schema": "{}")", kTopologyFormat));
  }
  return FileMeaning(read).made(origin);
}

Topology load_topology(const std::filesystem::path& file) {
  return read_topology(runtime::file_text(file, "topology file", kTopologyRemedy), file.string());
}

}  // namespace fabricmark::network

#include "apps/tsunami/gauges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/number_from.hpp"

namespace fabricmark::tsunami {

namespace {

constexpr std::string_view kNameCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";

Error no_gauge(const std::string& text, const std::string& why) {
  return bad_use(fmt::format("--gauges has '{}', {}", text, why),
                 "write a name, then :column,row or @longitude,latitude, as in \"buoy:120,64\"");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Two numbers with a comma between.
std::optional<std::array<double, 2>> pair_of(std::string_view text) {
  std::array<double, 2> found{};
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const std::array parts{trimmed(text.substr(0, comma)), trimmed(text.substr(comma + 1))};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = number_from<double>(parts[i]);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    found[i] = *number;
  }
  return found;
}

/// The cell of a place in degrees, in parts of cells from the south-west corner.
std::array<double, 2> cells_of_degrees(const std::array<double, 2>& at, const Ocean& ocean,
                                       const std::string& text) {
  if (!ocean.degrees) {
    throw bad_use(fmt::format("--gauges has '{}', and nothing says where the grid lies", text),
                  "give --depths of `fabricmark bathymetry`, or column and row");
  }
  const auto [west, east, south, north] = *ocean.degrees;
  const double longitude = at[0] - 360 * std::floor((at[0] - west) / 360);  // -150 is 210
  return {(longitude - west) / (east - west) * static_cast<double>(ocean.problem.columns),
          (at[1] - south) / (north - south) * static_cast<double>(ocean.problem.rows)};
}

Gauge gauge_of(const std::string& text, const Ocean& ocean) {
  const std::size_t mark = text.find_first_of(":@");
  if (mark == std::string::npos) throw no_gauge(text, "which is no gauge");
  const std::string name(trimmed(std::string_view(text).substr(0, mark)));
  if (name.empty() || name.find_first_not_of(kNameCharacters) != std::string::npos)
    throw no_gauge(text, "whose name has more than letters, digits, '-', '_' and '.'");
  std::optional<std::array<double, 2>> at = pair_of(std::string_view(text).substr(mark + 1));
  if (!at) throw no_gauge(text, "which has no two numbers");
  if (text[mark] == '@') {
    at = cells_of_degrees(*at, ocean, text);
  } else if (std::floor((*at)[0]) != (*at)[0] || std::floor((*at)[1]) != (*at)[1]) {
    throw no_gauge(text, "whose column and row are no whole numbers");
  }
  const auto [column, row] = *at;
  const auto is_inside = [](double place, std::size_t length) {
    return place >= 0 && place < static_cast<double>(length);
  };
  if (!is_inside(column, ocean.problem.columns) || !is_inside(row, ocean.problem.rows)) {
    throw bad_use(fmt::format("the gauge '{}' lies outside of the {} x {} cells", name, ocean.problem.columns,
                              ocean.problem.rows),
                  "name cells of the grid with --gauges");
  }
  return {name, {static_cast<std::size_t>(column), static_cast<std::size_t>(row)}};
}

/// Where the water is that is nearest to a gauge on land.
std::optional<stencil::Place> nearest_water(const Ocean& ocean, const stencil::Place& place) {
  constexpr std::int64_t kReach = 20;
  std::optional<stencil::Place> nearest;
  std::int64_t best = 0;
  for (std::int64_t y = -kReach; y <= kReach; ++y) {
    for (std::int64_t x = -kReach; x <= kReach; ++x) {
      const stencil::Place other{
          place.column + static_cast<std::size_t>(x),
          place.row + static_cast<std::size_t>(y)};  // below 0 they are beyond the last
      if (other.column >= ocean.problem.columns || other.row >= ocean.problem.rows) continue;
      if (ocean.problem.kind(other) != kWater || (nearest && x * x + y * y >= best)) continue;
      nearest = other;
      best = x * x + y * y;
    }
  }
  return nearest;
}

std::vector<std::string> entries_of(const std::string& text) {
  std::string content = text;
  std::error_code none;
  const bool is_file = std::filesystem::is_regular_file(text, none);
  if (is_file) {
    std::ifstream stream(text, std::ios::binary);
    if (!stream) throw bad_use(fmt::format("cannot read the gauges '{}'", text), "check the file's rights");
    content.assign(std::istreambuf_iterator<char>(stream), {});
  }
  std::vector<std::string> entries;
  for (std::size_t begin = 0; begin <= content.size();) {
    const std::size_t end = std::min(content.find_first_of(is_file ? "\n" : ";", begin), content.size());
    const std::string_view entry = std::string_view(content).substr(begin, end - begin);
    const std::string_view kept = trimmed(entry.substr(0, entry.find('#')));
    if (!kept.empty()) entries.emplace_back(kept);
    begin = end + 1;
  }
  if (entries.empty()) throw bad_use(fmt::format("--gauges '{}' names none", text), "leave it out");
  return entries;
}

}  // namespace

std::vector<Gauge> gauges_of(const std::string& text, const Ocean& ocean) {
  std::vector<Gauge> gauges;
  for (const std::string& entry : entries_of(text)) {
    const Gauge gauge = gauge_of(entry, ocean);
    if (std::ranges::find(gauges, gauge.name, &Gauge::name) != gauges.end())
      throw bad_use(fmt::format("--gauges names '{}' twice", gauge.name), "give each gauge its own name");
    if (ocean.problem.kind(gauge.place) != kWater) {
      const std::optional<stencil::Place> water = nearest_water(ocean, gauge.place);
      throw bad_use(fmt::format("the gauge '{}' lies on land, in column {}, row {}", gauge.name,
                                gauge.place.column, gauge.place.row),
                    water
                        ? fmt::format("the nearest water is {}:{},{}", gauge.name, water->column, water->row)
                        : std::string("move it by more than 20 cells"));
    }
    gauges.push_back(gauge);
  }
  return gauges;
}

}  // namespace fabricmark::tsunami

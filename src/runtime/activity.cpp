#include "runtime/activity.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/modelled_time.hpp"

namespace fabricmark::runtime {

namespace {

constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
constexpr std::array kKinds{
    "compute",          "wait-for-word", "wait-for-space", "wait-for-link", "wait-for-memory",
    "wait-for-message", "launch",        "copy",           "message",       "link"};

ActivityKind kind_named(const std::string& name) {
  const auto* const found = std::ranges::find(kKinds, name);
  if (found != kKinds.end()) return static_cast<ActivityKind>(found - kKinds.begin());
  throw Error(ExitCode::kEnvironment, "a timeline has the unknown activity " + name,
              "run the same version on all ranks");
}

std::int64_t sum_of(std::int64_t first, std::int64_t second) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(first, second, &sum) ? kLongest : sum;
}

void join(ActivityLog::Piece& into, const ActivityLog::Piece& other) {
  into.from = std::min(into.from, other.from);
  into.to = std::max(into.to, other.to);
  into.busy = sum_of(into.busy, other.busy);
  into.count += other.count;
}

/// Joins what is not apart by more than `resolution`; the pieces are in order.
void join_near(std::vector<ActivityLog::Piece>& pieces, std::int64_t resolution) {
  std::size_t last = 0;
  for (std::size_t next = 1; next < pieces.size(); ++next) {
    if (pieces[next].from - pieces[last].to <= resolution) {
      join(pieces[last], pieces[next]);
    } else {
      pieces[++last] = pieces[next];
    }
  }
  if (!pieces.empty()) pieces.resize(last + 1);
}

}  // namespace

const char* name_of(ActivityKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

void ActivityLog::add(const Activity& activity) { add(line(activity), activity.from, activity.to); }

ActivityLog::Line ActivityLog::line(const Activity& like) {
  const std::scoped_lock lock(mutex_);
  return find(like);
}

ActivityLog::Line ActivityLog::find(const Activity& like) {
  const auto [place, is_new] =
      lines_.try_emplace({like.device, like.lane, like.kind, like.what, like.whom}, series_.size());
  if (!is_new) return place->second;
  if (series_.size() >= most_series_) {
    lines_.erase(place);
    return kNoLine;
  }
  series_.push_back({like.device, like.lane, like.kind, like.what, like.whom, {}});
  return place->second;
}

void ActivityLog::add(Line line, std::int64_t from, std::int64_t to) {
  if (from < 0 || to < from) {
    throw Error(ExitCode::kEnvironment, fmt::format("an activity lasts from {} to {} fs", from, to),
                "report this: times of a timeline start at 0 and grow");
  }
  if (from == to) return;
  const std::scoped_lock lock(mutex_);
  insert(line, {from, to, to - from, 1});
}

void ActivityLog::insert(Line line, const Piece& piece) {
  if (line == kNoLine) {
    left_out_.count += piece.count;
    left_out_.busy = sum_of(left_out_.busy, piece.busy);
    return;
  }
  auto& pieces = series_[line].pieces;
  auto next = pieces.end();
  while (next != pieces.begin() && std::prev(next)->from > piece.from) --next;
  if (next != pieces.begin() && piece.from - std::prev(next)->to <= resolution_) {
    --next;
    join(*next, piece);
  } else {
    next = pieces.insert(next, piece);
    ++kept_;
  }
  // Only what came late has others after it.
  auto after = std::next(next);
  for (; after != pieces.end() && after->from - next->to <= resolution_; ++after) join(*next, *after);
  kept_ -= static_cast<std::size_t>(after - std::next(next));
  pieces.erase(std::next(next), after);
  if (kept_ > most_) coarsen();
}

// Joining by growing gaps gives what the last gap alone would give, and that is the smallest power of two
// with which all fit, since what comes later in a series never joins two of its earlier pieces.
void ActivityLog::coarsen() {
  while (kept_ > most_ && resolution_ < kLongest) {
    resolution_ = resolution_ > kLongest / 2 ? kLongest : std::max<std::int64_t>(1, 2 * resolution_);
    kept_ = 0;
    for (Series& entry : series_) {
      join_near(entry.pieces, resolution_);
      kept_ += entry.pieces.size();
    }
  }
}

std::vector<ActivityLog::Series> ActivityLog::series() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Series> found;
  for (const auto& [key, line] : lines_) {
    if (!series_[line].pieces.empty()) found.push_back(series_[line]);
  }
  return found;
}

std::int64_t ActivityLog::resolution() const {
  const std::scoped_lock lock(mutex_);
  return resolution_;
}

ActivityLog::LeftOut ActivityLog::left_out() const {
  const std::scoped_lock lock(mutex_);
  return left_out_;
}

ActivityLog::Part ActivityLog::take(int device) {
  const std::scoped_lock lock(mutex_);
  Part part{.series = {}, .resolution = resolution_, .left_out = std::exchange(left_out_, {})};
  for (const auto& [key, line] : lines_) {
    Series& own = series_[line];
    if (own.device != device || own.pieces.empty()) continue;
    kept_ -= own.pieces.size();
    part.series.push_back(own);
    own.pieces.clear();
  }
  return part;
}

void ActivityLog::merge(const Part& part) {
  const std::scoped_lock lock(mutex_);
  resolution_ = std::max(resolution_, part.resolution);
  for (Series& entry : series_) {
    kept_ -= entry.pieces.size();
    join_near(entry.pieces, resolution_);
    kept_ += entry.pieces.size();
  }
  left_out_.count += part.left_out.count;
  left_out_.busy = sum_of(left_out_.busy, part.left_out.busy);
  for (const Series& entry : part.series) {
    const Line line = find({entry.device, entry.lane, 0, 0, entry.kind, entry.what, entry.whom});
    for (const Piece& piece : entry.pieces) insert(line, piece);
  }
}

void ActivityLog::merge(const nlohmann::json& timeline) {
  const auto time = [](const nlohmann::json& seconds) {
    return modelled::from_seconds(seconds.get<double>());
  };
  Part part{.series = {},
            .resolution = time(timeline.at("resolution")),
            .left_out = {timeline.at("left_out").at("count").get<std::uint64_t>(),
                         time(timeline.at("left_out").at("seconds"))}};
  for (const auto& entry : timeline.at("series")) {
    Series& own = part.series.emplace_back(Series{entry.at("device").get<int>(),
                                                  entry.at("lane").get<std::string>(),
                                                  kind_named(entry.at("kind").get<std::string>()),
                                                  entry.at("what").get<std::string>(),
                                                  entry.at("whom").get<std::string>(),
                                                  {}});
    for (const auto& piece : entry.at("activities")) {
      own.pieces.push_back(
          {time(piece.at(0)), time(piece.at(1)), time(piece.at(2)), piece.at(3).get<std::uint64_t>()});
    }
  }
  merge(part);
}

nlohmann::json timeline_document(const ActivityLog& log, const std::string& program,
                                 const std::string& title) {
  nlohmann::json series = nlohmann::json::array();
  for (const ActivityLog::Series& entry : log.series()) {
    nlohmann::json activities = nlohmann::json::array();
    for (const ActivityLog::Piece& piece : entry.pieces) {
      activities.push_back({modelled::seconds(piece.from), modelled::seconds(piece.to),
                            modelled::seconds(piece.busy), piece.count});
    }
    series.push_back({{"device", entry.device},
                      {"lane", entry.lane},
                      {"kind", name_of(entry.kind)},
                      {"what", entry.what},
                      {"whom", entry.whom},
                      {"activities", std::move(activities)}});
  }
  const ActivityLog::LeftOut left_out = log.left_out();
  return {{"schema", "fabricmark-timeline/1"},
          {"program", program},
          {"title", title},
          {"kind", "modelled"},
          {"resolution", modelled::seconds(log.resolution())},
          {"left_out", {{"count", left_out.count}, {"seconds", modelled::seconds(left_out.busy)}}},
          {"series", std::move(series)}};
}

std::string timeline_text(const ActivityLog& log) {
  return timeline_document(log, "", "").dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_timeline(const std::filesystem::path& path, const ActivityLog& log, const std::string& program,
                    const std::string& title) {
  using Json = nlohmann::json;
  const Json document = timeline_document(log, program, title);
  write_atomically(path, document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace fabricmark::runtime

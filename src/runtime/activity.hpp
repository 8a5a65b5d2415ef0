#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace fabricmark::runtime {

/// What a device, a kernel or a link does in modelled time.
enum class ActivityKind {
  kCompute,
  kWaitForWord,     ///< from a stream
  kWaitForSpace,    ///< in a stream
  kWaitForLink,     ///< that carries earlier words
  kWaitForMemory,   ///< of the device
  kWaitForMessage,  ///< that an engine sends or receives
  kLaunch,          ///< of a kernel by its host
  kCopy,
  kMessage,
  kLink,  ///< it carries words
};

/// As timeline files say it, for example "wait-for-word".
const char* name_of(ActivityKind kind);

/// One activity. Times are femtoseconds since the start of the modelled run (base/modelled_time.hpp).
struct Activity {
  int device = 0;    ///< or rank; of a link, the one that sends
  std::string lane;  ///< what it is drawn beside: kernel, link, host
  std::int64_t from = 0;
  std::int64_t to = 0;
  ActivityKind kind = ActivityKind::kCompute;
  std::string what{};  ///< stream that is waited for, kernel that is launched, ...
  std::string whom{};  ///< who it is that is waited for, in words
};

/// Who did what in modelled time, for the report. Activities that touch are kept as one; where there are too
/// many, those with the shortest gaps are joined too, and keep how long they really took. So its memory is
/// bounded. Any thread may add; what the log holds does not depend on how threads take turns, where each
/// adds the activities of a lane in their order.
class ActivityLog {
 public:
  /// One or several activities: `busy` femtoseconds of those from `from` to `to`.
  struct Piece {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t busy = 0;
    std::uint64_t count = 0;
    auto operator<=>(const Piece&) const = default;
  };
  /// Activities that differ in nothing but their times.
  struct Series {
    int device = 0;
    std::string lane;
    ActivityKind kind = ActivityKind::kCompute;
    std::string what;
    std::string whom;
    std::vector<Piece> pieces{};  ///< by time, apart by more than the log's resolution
  };
  /// What was not kept: that of series beyond the most.
  struct LeftOut {
    std::uint64_t count = 0;
    std::int64_t busy = 0;
  };
  /// What a log has of a device.
  struct Part {
    std::vector<Series> series;
    std::int64_t resolution = 0;
    LeftOut left_out{};  ///< of all devices, since somebody took a part
  };
  /// Names a series of this log.
  using Line = std::size_t;
  static constexpr std::size_t kMost = 20'000;
  static constexpr Line kNoLine = ~Line{0};

  /// Keeps at most so many pieces, of at most a tenth as many series.
  explicit ActivityLog(std::size_t most = kMost) : most_(most), most_series_(most / 10 + 1) {}

  /// What takes no time is not kept. Throws Error (environment) for what ends before it begins, or begins
  /// before 0.
  void add(const Activity& activity);
  /// The same for those who add often: the series of an activity, whose times do not matter, and more of it.
  Line line(const Activity& like);
  void add(Line line, std::int64_t from, std::int64_t to);
  /// Gives up what it has of a device, as far as it was told. Lines stay.
  Part take(int device);
  void merge(const Part& part);
  /// All that a document of `timeline_document` holds, such as that of another rank.
  void merge(const nlohmann::json& timeline);

  /// Those that are not empty, by device, lane, kind, what and whom.
  [[nodiscard]] std::vector<Series> series() const;
  /// Gaps up to it do not keep equal activities apart [fs].
  [[nodiscard]] std::int64_t resolution() const;
  [[nodiscard]] LeftOut left_out() const;

 private:
  using Key = std::tuple<int, std::string, ActivityKind, std::string, std::string>;
  Line find(const Activity& like);
  void insert(Line line, const Piece& piece);
  void coarsen();

  mutable std::mutex mutex_;
  std::size_t most_;
  std::size_t most_series_;
  std::int64_t resolution_ = 0;
  std::size_t kept_ = 0;  // pieces of all series
  LeftOut left_out_;
  std::map<Key, Line> lines_;
  std::vector<Series> series_;
};

/// The log as a timeline document (python/fabricmark/schemas/timeline-1.schema.json); `program` and `title`
/// say what ran, in words.
nlohmann::json timeline_document(const ActivityLog& log, const std::string& program,
                                 const std::string& title);

/// The same as text, without names: for `merge` in another process.
std::string timeline_text(const ActivityLog& log);

/// Writes it as a file of its own, whole or not at all. Throws as write_atomically does.
void write_timeline(const std::filesystem::path& path, const ActivityLog& log, const std::string& program,
                    const std::string& title);

}  // namespace fabricmark::runtime

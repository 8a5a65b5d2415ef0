#include "runtime/modelled_timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace fabricmark::runtime {

namespace {

ActivityKind kind_of(CostKind kind) {
  constexpr std::array kOfCost{ActivityKind::kLaunch, ActivityKind::kCompute, ActivityKind::kCopy,
                               ActivityKind::kMessage};
  return kOfCost.at(static_cast<std::size_t>(kind));
}

/// What is left of a piece from `begin` on, which ends after it.
ActivityLog::Piece after(ActivityLog::Piece piece, modelled::Time begin) {
  if (piece.from >= begin) return piece;
  const double left = static_cast<double>(piece.to - begin) / static_cast<double>(piece.to - piece.from);
  const bool is_whole = piece.busy == piece.to - piece.from;
  piece.busy = is_whole ? piece.to - begin : std::llround(static_cast<double>(piece.busy) * left);
  piece.from = begin;
  return piece;
}

/// All ranks together keep as much as one log does, since every rank gets what all say.
std::size_t share_of(const Communicator& ranks) {
  constexpr std::size_t kFewest = 100;
  return std::max(kFewest, ActivityLog::kMost / static_cast<std::size_t>(ranks.size()));
}

}  // namespace

ModelledTimeline::ModelledTimeline(const Communicator& ranks) : rank_(ranks.rank()), log_(share_of(ranks)) {}

void ModelledTimeline::took(CostKind kind, const std::string& lane, const std::string& what, double from,
                            double to) {
  log_.add({rank_, lane, modelled::later(offset_, modelled::from_seconds(from)),
            modelled::later(offset_, modelled::from_seconds(to)), kind_of(kind), what});
}

void ModelledTimeline::add(ActivityLog::Part part, modelled::Time begin, double seconds) {
  const modelled::Time zero = modelled::later(offset_, modelled::from_seconds(seconds));
  for (ActivityLog::Series& entry : part.series) {
    std::erase_if(entry.pieces, [begin](const ActivityLog::Piece& piece) { return piece.to <= begin; });
    for (ActivityLog::Piece& piece : entry.pieces) {
      piece = after(piece, begin);
      piece.from = modelled::later(zero, piece.from - begin);
      piece.to = modelled::later(zero, piece.to - begin);
    }
  }
  log_.merge(part);
}

void ModelledTimeline::end_part(const std::string& name, double slowest_seconds) {
  const modelled::Time end = modelled::later(offset_, modelled::from_seconds(slowest_seconds));
  // All ranks begin and end it together.
  if (rank_ == 0) log_.add({rank_, "timed region", offset_, end, ActivityKind::kCompute, name});
  offset_ = end;
}

std::shared_ptr<const ActivityLog> ModelledTimeline::gathered(Communicator& ranks) const {
  const auto texts = ranks.all_gather_texts(timeline_text(log_));
  if (!ranks.is_root()) return nullptr;
  auto all = std::make_shared<ActivityLog>();
  for (const std::string& text : texts) all->merge(nlohmann::json::parse(text));
  return all;
}

}  // namespace fabricmark::runtime

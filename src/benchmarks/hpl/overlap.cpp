#include "benchmarks/hpl/overlap.hpp"

#include <algorithm>

namespace fabricmark::hpl {

namespace {

struct Span {
  double begin = 0;
  double end = 0;
};

/// The spans of an operation in order of time, joined where they overlap.
std::vector<Span> spans_of(const std::vector<device::KernelTimes>& times, const std::string& operation) {
  std::vector<Span> spans;
  for (const device::KernelTimes& entry : times) {
    if (entry.operation == operation) spans.push_back({entry.started, entry.ended});
  }
  std::ranges::sort(spans, [](const Span& left, const Span& right) { return left.begin < right.begin; });
  std::vector<Span> joined;
  for (const Span& span : spans) {
    if (!joined.empty() && span.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, span.end);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

}  // namespace

std::optional<double> hidden_share(const std::vector<device::KernelTimes>& times, const std::string& hidden,
                                   const std::string& hiding) {
  const std::vector<Span> covers = spans_of(times, hiding);
  double all = 0;
  double covered = 0;
  auto cover = covers.begin();
  for (const Span& span : spans_of(times, hidden)) {
    all += span.end - span.begin;
    while (cover != covers.end() && cover->end <= span.begin) ++cover;
    for (auto next = cover; next != covers.end() && next->begin < span.end; ++next) {
      covered += std::min(next->end, span.end) - std::max(next->begin, span.begin);
    }
  }
  if (all <= 0) return std::nullopt;
  return covered / all;
}

}  // namespace fabricmark::hpl

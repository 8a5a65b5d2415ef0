#include "harness/agreement.hpp"

#include <fmt/format.h>

#include <new>

#include "device/opencl.hpp"

namespace fabricmark::harness {

std::optional<Failure> attempt(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const PeerFailure&) {
    throw;
  } catch (const Error& error) {
    return Failure{error.code(), error.what()};
  } catch (const cl::Error& error) {
    return Failure{ExitCode::kEnvironment,
                   fmt::format("the device refused {} with {}; try a smaller size or another device",
                               error.what(), device::error_name(error.err()))};
  } catch (const std::bad_alloc&) {
    return Failure{ExitCode::kEnvironment,
                   "the host has no memory left; choose a smaller size or fewer ranks"};
  } catch (const std::exception& error) {
    return Failure{ExitCode::kEnvironment,
                   fmt::format("{}; please report this with the command line", error.what())};
  }
}

void give_up_together(Ranks& ranks, const std::optional<Failure>& own) {
  // The code travels as the first character, so that one exchange is enough.
  const std::string text =
      own ? fmt::format("{}{}", static_cast<int>(own->code), own->message) : std::string();
  AgreedFailure agreed;
  const std::vector<std::string> texts = ranks.gather_texts(text);
  for (std::size_t rank = texts.size(); rank-- > 0;) {
    if (texts[rank].empty()) continue;
    agreed.code = static_cast<ExitCode>(texts[rank].front() - '0');
    agreed.message = texts[rank].substr(1);
    if (ranks.size() > 1) agreed.message += fmt::format(" (rank {})", rank);
  }
  throw agreed;
}

void together(Ranks& ranks, const std::function<void()>& action) {
  const std::optional<Failure> failure = attempt(action);
  if (ranks.largest(failure ? kRankFailed : 0) >= kRankFailed) give_up_together(ranks, failure);
}

}  // namespace fabricmark::harness

#include "runtime/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "device/backend.hpp"

namespace fabricmark::runtime {

namespace {

Asked unpack(const std::string& packed) {
  Asked asked;
  std::size_t start = 0;
  const auto next = [&] {
    const std::size_t end = packed.find('\0', start);
    const std::string text = packed.substr(start, end - start);
    start = end + 1;
    return text;
  };
  while (start < packed.size()) {
    std::string name = next();
    asked.emplace_back(std::move(name), next());
  }
  return asked;
}

Error differs(const std::string& name, const std::string& first, const std::string& second,
              std::ptrdiff_t rank) {
  return bad_use(fmt::format("the ranks were not asked the same: {} is {} on rank 0 and {} on rank {}", name,
                             first, second, rank),
                 "start all ranks with the same program and options");
}

}  // namespace

std::optional<Failure> attempt(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const PeerFailure&) {
    throw;
  } catch (const DeadlineError& error) {
    return Failure{error.code(), error.what(), /*is_deadline=*/true, error.awaited()};
  } catch (const Error& error) {
    return Failure{error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return Failure{ExitCode::kEnvironment,
                   "the host has no memory left; choose a smaller size or fewer ranks"};
  } catch (const std::exception& error) {
    if (const std::optional<device::RefusedCall> refused = device::refusal_of(error)) {
      return Failure{ExitCode::kEnvironment,
                     fmt::format("the device refused {}; {}", refused->call, refused->remedy)};
    }
    return Failure{ExitCode::kEnvironment,
                   fmt::format("{}; please report this with the command line", error.what())};
  }
}

void require_same(Communicator& communicator, const Asked& own) {
  std::string packed;
  for (const auto& [name, value] : own) packed.append(name).append(1, '\0').append(value).append(1, '\0');
  const std::vector<std::string> all = communicator.all_gather_texts(packed);
  const auto other = std::ranges::find_if(all, [&](const std::string& text) { return text != all.front(); });
  if (other == all.end()) return;
  const Asked first = unpack(all.front());
  const Asked second = unpack(*other);
  const auto rank = other - all.begin();
  for (const auto& [name, value] : first) {
    const auto found = std::ranges::find(second, name, &Asked::value_type::first);
    if (found != second.end() && found->second != value) throw differs(name, value, found->second, rank);
    if (found == second.end()) throw differs(name, value, "nothing", rank);
  }
  for (const auto& [name, value] : second) {
    const auto found = std::ranges::find(first, name, &Asked::value_type::first);
    if (found == first.end()) throw differs(name, "nothing", value, rank);
  }
}

}  // namespace fabricmark::runtime

#include "base/version.hpp"

#include "git_state.hpp"

namespace fabricmark {

std::string version() { return FABRICMARK_VERSION; }
std::string git_state() { return kGitState; }
std::string compiler() { return FABRICMARK_COMPILER; }
std::string build_type() { return FABRICMARK_BUILD_TYPE; }

}  // namespace fabricmark

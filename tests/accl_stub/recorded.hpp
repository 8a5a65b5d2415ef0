// A line for each call that reaches a stub, in the file that ACCL_STUB_LOG names; a call that ACCL_STUB_FAILS
// names throws.
#ifndef FABRICMARK_STUB_RECORDED_HPP
#define FABRICMARK_STUB_RECORDED_HPP

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace stub {

template <typename... Values>
void record(const std::string& call, const Values&... values) {
  std::ostringstream line;
  line << call;
  ((line << ' ' << values), ...);
  if (const char* const file = std::getenv("ACCL_STUB_LOG"))
    std::ofstream(file, std::ios::app) << line.str() << '\n';
  const char* const fails = std::getenv("ACCL_STUB_FAILS");
  if (fails != nullptr && call == fails) throw std::runtime_error("no luck with " + call);
}

}  // namespace stub

#endif

#include "runtime/complain.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>

namespace fabricmark::runtime {

void complain(const std::string& program, std::string message) {
  // Arguments and file names in it may hold line breaks; the message stays one line.
  std::ranges::replace_if(
      message, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
  std::cerr << program << ": error: " << message << '\n';
}

}  // namespace fabricmark::runtime

#pragma once

#include <string>

#include "stencil/application.hpp"

namespace fabricmark::stencil {

/// The whole main function of an application, whose kernels are in kernels/<name>.
int run(int argc, char** argv, const std::string& name, const MakeApplication& make);

}  // namespace fabricmark::stencil

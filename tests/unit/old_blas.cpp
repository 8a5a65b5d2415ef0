// Preloaded, it says that OpenBLAS took its kernels for a CPU of 2004, as a version does that is older than
// the CPU, until OPENBLAS_CORETYPE names others.
#include <cstdlib>

extern "C" const char* openblas_get_corename() {
  const char* const chosen = std::getenv("OPENBLAS_CORETYPE");
  return chosen != nullptr ? chosen : "Prescott";
}

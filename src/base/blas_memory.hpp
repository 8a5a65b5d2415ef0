#pragma once

namespace fabricmark {

/// To be called before a product of OpenBLAS on `threads` threads: it asks again for ever for memory that a
/// limit of the address space (`ulimit -v`) does not let it have. Throws Error (environment) where there is
/// too little. Looks only until a thread has had enough once: OpenBLAS keeps what it has.
void require_blas_memory(int threads);

}  // namespace fabricmark

// All of it stands in sycl.hpp of this stub.
#include <sycl/sycl.hpp>

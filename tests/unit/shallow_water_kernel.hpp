#pragma once

namespace fabricmark::shallow_water_kernel {

/// Additions, subtractions, multiplications, divisions and square roots of an element in a stage with
/// Rusanov's flux, of an element within the mesh; negative where the stage found trouble.
template <int order>
long operations_of_stage();
template <>
long operations_of_stage<0>();
template <>
long operations_of_stage<1>();
template <>
long operations_of_stage<2>();

}  // namespace fabricmark::shallow_water_kernel

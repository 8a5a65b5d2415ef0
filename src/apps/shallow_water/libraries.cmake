target_link_libraries(fm_shallow_water PRIVATE fabricmark_mesh)
# Fields of the dataflow kernels have the bits of the OpenCL ones with exact = true.
target_compile_options(fm_shallow_water PRIVATE -ffp-contract=off)

target_link_libraries(fm_tsunami PRIVATE fabricmark_stencil)
# The cell's header stands in two of its sources, once for numbers of type double. Cells of the dataflow kernels have
# the bits of the OpenCL ones with exact = true.
set_source_files_properties(apps/tsunami/next_row.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
target_compile_options(fm_tsunami PRIVATE -ffp-contract=off)

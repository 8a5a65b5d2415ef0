target_link_libraries(fm_gemm PRIVATE PkgConfig::openblas)
target_compile_options(fm_gemm PRIVATE ${FABRICMARK_UNTIMED})  # its checks take the host's BLAS

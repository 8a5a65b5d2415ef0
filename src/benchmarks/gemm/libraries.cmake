target_link_libraries(fm_gemm PRIVATE PkgConfig::openblas)

target_link_libraries(fm_hpl PRIVATE PkgConfig::openblas)
target_compile_options(fm_hpl PRIVATE ${FABRICMARK_UNTIMED})  # its checks take the host's BLAS

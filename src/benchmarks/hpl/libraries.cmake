target_link_libraries(fm_hpl PRIVATE PkgConfig::openblas)

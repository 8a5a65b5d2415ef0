target_link_libraries(fm_fft PRIVATE PkgConfig::fftw)

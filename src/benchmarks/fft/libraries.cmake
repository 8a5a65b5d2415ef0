target_link_libraries(fm_fft PRIVATE PkgConfig::fftw fftw3_threads)

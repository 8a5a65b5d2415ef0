target_link_libraries(fm_fft PRIVATE fabricmark_board PkgConfig::fftw fftw3_threads)

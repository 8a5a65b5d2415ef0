target_link_libraries(fm_collective PRIVATE fabricmark_engine CLI11::CLI11)

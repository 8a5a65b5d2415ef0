target_link_libraries(fm_tune PRIVATE fabricmark_microbench nlohmann_json::nlohmann_json)
target_compile_options(fm_tune PRIVATE ${FABRICMARK_UNTIMED})

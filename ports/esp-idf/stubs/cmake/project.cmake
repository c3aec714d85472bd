# Stub of ESP-IDF's build system: what the component's CMake files call, for tests/ports/esp_idf/test_cmake.sh. Sources
# become an object library of the host; the partition table is STUB_PARTITIONS, "name offset size encrypted" each.
enable_language(C)

function(partition_table_get_partition_info result arguments field)
    set(${result} "" PARENT_SCOPE)
    foreach(row IN LISTS STUB_PARTITIONS)
        string(REPLACE " " ";" row "${row}")
        list(GET row 0 name)
        if("--partition-name ${name}" STREQUAL "${arguments}")
            list(FIND STUB_FIELDS "${field}" at)
            list(GET row ${at} value)
            set(${result} "${value}" PARENT_SCOPE)
        endif()
    endforeach()
endfunction()
set(STUB_FIELDS name offset size encrypted)

function(fail_at_build_time target)
    add_custom_target(${target} ALL COMMAND ${CMAKE_COMMAND} -E echo ${ARGN} COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endfunction()

function(idf_component_register)
    cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS;REQUIRES;PRIV_REQUIRES" ${ARGN})
    add_library(component OBJECT ${arg_SRCS})
    target_include_directories(component PUBLIC ${arg_INCLUDE_DIRS} PRIVATE ${arg_PRIV_INCLUDE_DIRS} "${STUB_DIR}")
    target_compile_definitions(component PRIVATE _GNU_SOURCE)
    target_compile_options(component PRIVATE -std=c99 -Wall -Wextra -Werror)
    set(COMPONENT_LIB component PARENT_SCOPE)
endfunction()

function(idf_component_get_property result component property)
    set(${result} "--stub" PARENT_SCOPE)
endfunction()

function(esptool_py_flash_target target main_args sub_args)
    add_custom_target(${target} COMMAND ${CMAKE_COMMAND} -E echo "flash ${target}")
endfunction()

function(esptool_py_flash_to_partition target partition image)
    file(APPEND "${CMAKE_BINARY_DIR}/flashed.txt" "${target} ${partition} ${image}\n")
endfunction()

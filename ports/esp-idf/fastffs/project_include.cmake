# fastffs_create_partition_image(<partition> <directory> [FLASH_IN_PROJECT] [DEPENDS <target>...])
#
# Makes <partition>.bin from the files in <directory> at every build, with the host tool `fastffs`: FASTFFS_TOOL if set,
# else one in PATH, else one that is built here with the host's compiler. With FLASH_IN_PROJECT `idf.py flash` writes it;
# `idf.py <partition>-flash` always does.
set(FASTFFS_COMPONENT_DIR "${CMAKE_CURRENT_LIST_DIR}")

# Sets `result` to the tool, and makes the target fastffs_host_tool if it has to be built.
function(fastffs_host_tool result)
    if(FASTFFS_TOOL)
        set(${result} "${FASTFFS_TOOL}" PARENT_SCOPE)
        return()
    endif()
    find_program(FASTFFS_TOOL_FOUND fastffs)
    if(FASTFFS_TOOL_FOUND)
        set(${result} "${FASTFFS_TOOL_FOUND}" PARENT_SCOPE)
        return()
    endif()
    set(core "${FASTFFS_COMPONENT_DIR}/core")
    if(NOT EXISTS "${core}/sources.mk")
        get_filename_component(core "${FASTFFS_COMPONENT_DIR}/../../.." ABSOLUTE)
    endif()
    set(out "${CMAKE_BINARY_DIR}/fastffs-host")
    if(NOT TARGET fastffs_host_tool)
        # CC is set for the target in an ESP-IDF build: the host's compiler is asked for by name.
        add_custom_target(fastffs_host_tool
            COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CFLAGS make -C "${core}" "BUILD=${out}"
                    "CFLAGS=-DFFFS_NAME_MAX=${CONFIG_FASTFFS_NAME_MAX}" "${out}/fastffs"
            COMMENT "Building the host tool of FASTFFS" VERBATIM)
    endif()
    set(${result} "${out}/fastffs" PARENT_SCOPE)
endfunction()

function(fastffs_create_partition_image partition directory)
    cmake_parse_arguments(arg "FLASH_IN_PROJECT" "" "DEPENDS" ${ARGN})
    get_filename_component(directory "${directory}" ABSOLUTE)
    partition_table_get_partition_info(size "--partition-name ${partition}" "size")
    partition_table_get_partition_info(offset "--partition-name ${partition}" "offset")
    if("${size}" STREQUAL "" OR "${offset}" STREQUAL "")
        set(message "There is no partition '${partition}' in the partition table. Add one, such as:"
            "${partition}, data, undefined, , 1M,")
        fail_at_build_time(fastffs_${partition}_bin ${message})
        return()
    endif()

    partition_table_get_partition_info(encrypted "--partition-name ${partition}" "encrypted")
    if("${encrypted}" STREQUAL "True")
        # Free space that went through the encryption is not erased any more.
        fail_at_build_time(fastffs_${partition}_bin
            "'${partition}' is encrypted: an image can not be flashed to it. Let the device format it and write its files.")
        return()
    endif()

    set(image "${CMAKE_BINARY_DIR}/${partition}.bin")
    fastffs_host_tool(tool)
    # Segments lie on 64 KiB blocks of the chip, so the image depends on where the partition begins.
    math(EXPR phase "${offset} % 65536")
    # Always runs: CMake can not watch a directory.
    add_custom_target(fastffs_${partition}_bin ALL
        COMMAND "${tool}" create "${image}" --size "${size}" --from "${directory}"
                --block-offset "${phase}" --name-max "${CONFIG_FASTFFS_NAME_MAX}" --quiet
        DEPENDS ${arg_DEPENDS} VERBATIM)
    if(TARGET fastffs_host_tool)
        add_dependencies(fastffs_${partition}_bin fastffs_host_tool)
    endif()
    set_property(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" APPEND PROPERTY ADDITIONAL_CLEAN_FILES "${image}")

    if(arg_FLASH_IN_PROJECT)
        set(flash_targets "flash")
    endif()
    if(COMMAND esp_partition_register_target)
        if(arg_FLASH_IN_PROJECT)
            esp_partition_register_target("${partition}" "${image}" FLASH_IN_PROJECT DEPENDS fastffs_${partition}_bin)
        else()
            esp_partition_register_target("${partition}" "${image}" DEPENDS fastffs_${partition}_bin)
        endif()
        return()
    endif()
    idf_component_get_property(main_args esptool_py FLASH_ARGS)
    idf_component_get_property(sub_args esptool_py FLASH_SUB_ARGS)
    esptool_py_flash_target(${partition}-flash "${main_args}" "${sub_args}")
    esptool_py_flash_to_partition(${partition}-flash "${partition}" "${image}")
    add_dependencies(${partition}-flash fastffs_${partition}_bin)
    if(arg_FLASH_IN_PROJECT)
        esptool_py_flash_to_partition(flash "${partition}" "${image}")
        add_dependencies(flash fastffs_${partition}_bin)
    endif()
endfunction()

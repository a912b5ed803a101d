# SPDX-License-Identifier: Apache-2.0
# squall_bpf(TARGET NAME.bpf.c): compiles a BPF program and gives TARGET the skeleton header "NAME.skel.h", with the
# object in it, and libbpf.
find_program(BPF_CLANG NAMES clang-14 clang)
find_program(BPFTOOL bpftool PATHS /usr/sbin /sbin)
pkg_check_modules(BPF IMPORTED_TARGET libbpf>=1.1)

function(squall_bpf target source)
	foreach(tool BPF_CLANG:clang BPFTOOL:bpftool BPF_FOUND:libbpf-dev)
		string(REPLACE ":" ";" tool ${tool})
		list(GET tool 0 variable)
		list(GET tool 1 package)
		if(NOT ${variable})
			message(FATAL_ERROR "BPF programs (${source}) are built with ${package}, which was not found. "
				"Install it: apt-get install ${package}, or run scripts/deps.sh as root.")
		endif()
	endforeach()
	get_filename_component(name ${source} NAME_WE)
	set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
	set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/bpf/${name}.skel.h)
	# Debian keeps asm/types.h, which linux/bpf.h includes, in the folder of the machine's own architecture.
	add_custom_command(OUTPUT ${object}
		COMMAND ${BPF_CLANG} -target bpf -mcpu=v3 -O2 -g -ffreestanding -std=gnu11 -Wall -Wextra -Werror
			-I${CMAKE_SOURCE_DIR} -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
			-MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
		DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d
		COMMENT "BPF ${source}" VERBATIM)
	add_custom_command(OUTPUT ${skeleton}
		COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/bpf
		COMMAND ${CMAKE_COMMAND} -DBPFTOOL=${BPFTOOL} -DOBJECT=${object} -DNAME=${name} -DSKELETON=${skeleton}
			-P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BpfSkeleton.cmake
		DEPENDS ${object} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BpfSkeleton.cmake
		COMMENT "BPF skeleton ${name}.skel.h" VERBATIM)
	target_sources(${target} PRIVATE ${skeleton})
	target_include_directories(${target} SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/bpf)
	target_link_libraries(${target} PRIVATE PkgConfig::BPF)
endfunction()

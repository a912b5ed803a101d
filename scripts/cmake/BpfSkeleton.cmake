# SPDX-License-Identifier: Apache-2.0
# Writes bpftool's skeleton of OBJECT to SKELETON, marked so that clang-tidy leaves it alone.
execute_process(COMMAND ${BPFTOOL} gen skeleton ${OBJECT} name ${NAME} OUTPUT_VARIABLE text RESULT_VARIABLE failed)
if(failed)
	message(FATAL_ERROR "bpftool gen skeleton ${OBJECT}: exit ${failed}")
endif()
file(WRITE ${SKELETON} "/* NOLINTBEGIN */\n${text}/* NOLINTEND */\n")

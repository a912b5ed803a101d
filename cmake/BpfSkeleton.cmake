# SPDX-License-Identifier: Apache-2.0
# bpftool writes the skeleton to its standard output.
execute_process(COMMAND ${BPFTOOL} gen skeleton ${OBJECT} name ${NAME} OUTPUT_FILE ${SKELETON} RESULT_VARIABLE failed)
if(failed)
	file(REMOVE ${SKELETON})
	message(FATAL_ERROR "bpftool gen skeleton ${OBJECT}: exit ${failed}")
endif()

# berth_embed(NAME surface_report SYMBOL d3 FILE path)
#
# Puts the bytes of a file, inside or outside the repository, into the module NAME, which sees them as
#   extern "C" const char d3_begin[];
#   extern "C" const char d3_end[];     // one past the last byte; a zero byte is there
# The file is read by the assembler, so a changed file is taken in by the next build.
function(berth_embed)
  cmake_parse_arguments(ARG "" "NAME;SYMBOL;FILE" "" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS OR NOT ARG_NAME OR NOT ARG_SYMBOL OR NOT ARG_FILE)
    message(FATAL_ERROR "berth_embed: wanted NAME module SYMBOL name FILE path, found: ${ARGN}")
  endif()
  get_filename_component(file ${ARG_FILE} ABSOLUTE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "berth_embed: ${file} does not exist")
  endif()

  set(source ${CMAKE_CURRENT_BINARY_DIR}/${ARG_SYMBOL}_embed.S)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT
[[
  .section .rodata
  .global @ARG_SYMBOL@_begin
  .global @ARG_SYMBOL@_end
  .balign 16
@ARG_SYMBOL@_begin:
  .incbin "@file@"
@ARG_SYMBOL@_end:
  .byte 0
  .section .note.GNU-stack,"",%progbits
]])
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  set(target berth_${ARG_NAME}_${ARG_SYMBOL}_embed)
  add_library(${target} STATIC ${source})

  get_target_property(type berth_${ARG_NAME} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(berth_${ARG_NAME} INTERFACE ${target})
  else()
    target_link_libraries(berth_${ARG_NAME} PRIVATE ${target})
  endif()
endfunction()

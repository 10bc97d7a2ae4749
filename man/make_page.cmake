# Makes a manual page: replaces each line ".so parts/NAME.mdoc" of IN by that file, and each line
# "@TABLE:type@" by the attribute table that TOOL prints for the type.
# Run as: cmake -DTOOL=program -DIN=page -DOUT=page -P make_page.cmake
file(READ "${IN}" page)
get_filename_component(folder "${IN}" DIRECTORY)
while(page MATCHES "\n\\.so (parts/[a-z_]+\\.mdoc)\n")
  set(line "${CMAKE_MATCH_0}")
  file(READ "${folder}/${CMAKE_MATCH_1}" part)
  string(REPLACE "${line}" "\n${part}" page "${page}")
endwhile()
while(page MATCHES "@TABLE:([a-z_]+)@")
  set(type "${CMAKE_MATCH_1}")
  execute_process(COMMAND "${TOOL}" ${type} OUTPUT_VARIABLE table OUTPUT_STRIP_TRAILING_WHITESPACE
                          COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "@TABLE:${type}@" "${table}" page "${page}")
endwhile()
file(WRITE "${OUT}" "${page}")

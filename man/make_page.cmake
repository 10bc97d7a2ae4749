# Puts attribute tables into a manual page: each line "@TABLE:type@" of IN is replaced by what TOOL prints for
# the type. Run as: cmake -DTOOL=program -DIN=page.in -DOUT=page -P make_page.cmake
file(READ "${IN}" page)
foreach(
  type
  policy
  time_window
  fs_group
  server
  queue
  sched
  pbs_server
  pbs_queue
  pbs_node
  pbs_sched
  pbs_resource)
  execute_process(COMMAND "${TOOL}" ${type} OUTPUT_VARIABLE table OUTPUT_STRIP_TRAILING_WHITESPACE
                          COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "@TABLE:${type}@" "${table}" page "${page}")
endforeach()
if(page MATCHES "@TABLE:([a-z_]+)@")
  message(FATAL_ERROR "${IN}: no table of ${CMAKE_MATCH_1}")
endif()
file(WRITE "${OUT}" "${page}")

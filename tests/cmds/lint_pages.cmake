# Fails if mandoc warns about one of the files in the list PAGES. Run it as: cmake -DMANDOC=program
# -DPAGES=list -P lint_pages.cmake
foreach(page ${PAGES})
  if(NOT EXISTS "${page}")
    message(SEND_ERROR "${page}: no such page")
    continue()
  endif()
  execute_process(COMMAND "${MANDOC}" -T lint -W warning "${page}" OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[^\n]*unknown manual section: Dt ... [37]B\n" "" said "${said}")
  if(NOT said STREQUAL "")
    message(SEND_ERROR "${said}")
  endif()
endforeach()

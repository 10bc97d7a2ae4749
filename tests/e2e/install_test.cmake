# Installs a build under a prefix that it wasn't configured for, and builds and starts a program with what
# pkg-config says there.
#   cmake -DBUILD=folder -DCC=compiler -DWORK=folder -P install_test.cmake
file(REMOVE_RECURSE ${WORK})
function(must)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${result}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(GLOB_RECURSE pc ${WORK}/prefix/pbspolicy.pc)
file(GLOB_RECURSE example ${WORK}/prefix/stat_objects.c)
get_filename_component(folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
must(pkg-config --cflags --libs pbspolicy)
separate_arguments(flags UNIX_COMMAND "${out}")
must(pkg-config --variable=libdir pbspolicy)
string(STRIP "${out}" libdir)
must(${CC} ${example} -o ${WORK}/stat_objects ${flags} -Wl,-rpath,${libdir})
# There is no server: it says so, as it has been linked and finds the library.
set(ENV{PBS_SERVER} localhost:1)
execute_process(COMMAND ${WORK}/stat_objects OUTPUT_VARIABLE out ERROR_VARIABLE out)
if(NOT out MATCHES "cannot connect")
  message(FATAL_ERROR "${out}")
endif()

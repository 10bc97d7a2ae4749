# Settings that every target of this project shares.

# lld, where it is installed, links sanitizer builds in a fifth of the time.
find_program(PBSPOLICY_LLD ld.lld)

# pbs_target_settings(TARGET [UNCOVERED]): sets the options of every target. UNCOVERED: fuzz targets don't
# look for paths in this code, which then compiles faster.
function(pbs_target_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(
    ${target}
    PRIVATE -Wall
            -Wextra
            -Wshadow
            -Wpointer-arith
            -Wcast-qual
            -Wformat=2
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor
            -Woverloaded-virtual
            -Wextra-semi>
            $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
  if(PBSPOLICY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(NOT PBSPOLICY_SANITIZE)
    # Drops unused functions, so that a program loads only the libraries that the functions in use call,
    # though files are compiled together.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-ffunction-sections -fdata-sections>)
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-Wl,--gc-sections,--as-needed>)
  endif()
  if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Let gcc collect garbage only from a gigabyte on: it saves a seventh of the time, and the largest file
    # takes 1.2 GB.
    target_compile_options(${target} PRIVATE --param=ggc-min-heapsize=1048576)
    # gcc takes a source file that is compiled with others for a header, and warns of its local types.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
  endif()
  if(PBSPOLICY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${PBSPOLICY_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PRIVATE -fsanitize=${PBSPOLICY_SANITIZE})
    # ctest starts a program for each test. A large program that is position-independent would spend a third
    # of an empty test's time on relocation.
    target_link_options(${target} PRIVATE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
    if(PBSPOLICY_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      target_link_options(${target} PRIVATE -fuse-ld=lld)
    endif()
    # C programs that load C++ need the C++ part of the sanitizers, which clang links only as C++.
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  if(PBSPOLICY_FUZZ AND NOT "UNCOVERED" IN_LIST ARGN)
    # Coverage for libFuzzer in the code under test, not in third-party code.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# pbs_precompile(NAME LIBRARY|EXECUTABLE HEADERS...): precompiles headers that many files include, for targets
# of that kind (REUSE_FROM). tests/structure finds files that include a header only by this.
function(pbs_precompile name kind)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "int main() { return 0; }\n")
  if(kind STREQUAL "EXECUTABLE")
    add_executable(${name} ${PROJECT_BINARY_DIR}/${name}.cc)
  else()
    add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  endif()
  target_link_libraries(${name} PRIVATE fmt::fmt tl::expected)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
set(pbs_common_headers <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <set> <span> <string>
                       <string_view> <unordered_map> <vector> <fmt/format.h> <tl/expected.hpp>)

# pbs_use_precompiled(TARGET NAME): lets a target use the headers of pbs_precompile(NAME ...), where they are
# enabled.
function(pbs_use_precompiled target name)
  if(PBSPOLICY_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # gcc 12 warns of std::string's own code when it inlines that from a precompiled header.
      target_compile_options(${target} PRIVATE -Wno-error=array-bounds -Wno-error=restrict
                                               -Wno-error=stringop-overflow -Wno-error=stringop-overread)
    endif()
    # A precompiled header is valid only with the definitions with which it was compiled: link the libraries
    # that make them.
    target_link_libraries(${target} PRIVATE fmt::fmt tl::expected)
  endif()
endfunction()

# pbs_optimise_under_sanitizers(LIBRARY): optimises a library whose tests and fuzz targets would otherwise
# take longer than the optimising.
function(pbs_optimise_under_sanitizers target)
  if(PBSPOLICY_SANITIZE MATCHES "address")
    target_compile_options(${target} PRIVATE -O1)
    # Don't use precompiled headers, which aren't optimised.
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# Libraries in which short runs of the fuzz targets look for paths. Long runs look everywhere
# (PBSPOLICY_FUZZ_ALL), which makes the rest compile a fifth longer.
set(pbs_parsers pbs_ifl_codec pbs_migrate_lib pbs_objects pbs_objects_schema pbs_rrule pbs_text pbs_values)

# pbs_library(NAME [COLD] SOURCES...): makes a static library of one folder. Headers are included from the top, as
# in "objects/store.h". COLD: of programs that run for a moment, or wait for people; it is optimised less, which
# saves a third of the time to compile it.
function(pbs_library name)
  cmake_parse_arguments(L "COLD" "" "" ${ARGN})
  add_library(${name} STATIC ${L_UNPARSED_ARGUMENTS})
  # Compile files together: headers are then read once, and each template is instantiated once. With 40 files a
  # scheduler takes two thirds of the time that it takes with 16.
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 40)
  if(PBSPOLICY_FUZZ AND NOT PBSPOLICY_FUZZ_ALL AND NOT name IN_LIST pbs_parsers)
    pbs_target_settings(${name} UNCOVERED)
    pbs_use_precompiled(${name} pbs_uncovered_pch)
  elseif(L_COLD AND NOT PBSPOLICY_SANITIZE)
    pbs_cold_settings(${name})
    pbs_use_precompiled(${name} pbs_cold_pch)
    target_link_libraries(${name} PRIVATE nlohmann_json::nlohmann_json)
  else()
    pbs_target_settings(${name})
    pbs_use_precompiled(${name} pbs_pch)
  endif()
endfunction()

function(pbs_cold_settings target)
  pbs_target_settings(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# pbs_program(NAME SOURCES...): makes a program in build/bin, installed to bin.
function(pbs_program name)
  add_executable(${name} ${ARGN})
  pbs_target_settings(${name})
  pbs_use_precompiled(${name} pbs_program_pch)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# pbs_cli_program(NAME SOURCES...): makes a pbs_program() that reads its arguments with CLI11. It isn't
# optimised: CLI11's headers would take longer than a whole folder of this project, and the code that is worth
# optimising is in the libraries.
function(pbs_cli_program name)
  add_executable(${name} ${ARGN})
  pbs_cli_settings(${name})
  pbs_use_precompiled(${name} pbs_cli_pch)
  target_link_libraries(${name} PRIVATE CLI11::CLI11)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
function(pbs_cli_settings target)
  pbs_target_settings(${target})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# Compiles tests without optimisation and without a search for undefined behaviour. Both matter for the code
# under test; in tests, they would only make compiling take a third longer.
function(pbs_test_settings target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  # gcc, unlike clang, warns if only some members of an initializer are named, and of GoogleTest's macros
  # without braces.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-missing-field-initializers$<SEMICOLON>-Wno-dangling-else>)
  if(PBSPOLICY_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

# Target for sanitizer builds: all test programs of pbs_test() except those with the label e2e.
add_custom_target(sanitize_tests)
# Target for ThreadSanitizer: the test programs with the label threads.
add_custom_target(thread_tests)

# pbs_test(NAME LIBS libs... SOURCES files... [LABELS labels...] [TIMEOUT seconds] [FIRST suites...]): makes a
# GoogleTest program; ctest sees each of its tests. FIRST: suites that take longest, to be run first.
function(pbs_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "LIBS;SOURCES;LABELS;FIRST" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  pbs_target_settings(${name} UNCOVERED)
  set(without_unit_tests ON)
  if(PBSPOLICY_UNIT_TESTS)
    set(without_unit_tests OFF)
  endif()
  set(sanitized 0)
  if(PBSPOLICY_SANITIZE)
    set(sanitized 1)
  endif()
  target_compile_definitions(${name} PRIVATE PBS_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             PBS_BUILD_DIR="${PROJECT_BINARY_DIR}"
                                             PBS_SANITIZED=${sanitized})
  pbs_test_settings(${name})
  target_precompile_headers(${name} REUSE_FROM pbs_test_pch)
  # Libraries of the precompiled headers, with their definitions.
  target_link_libraries(${name} PRIVATE ${T_LIBS} fmt::fmt tl::expected GTest::gmock GTest::gtest
                                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)
  # The longest tests take two minutes under the sanitizers on a busy machine.
  if(NOT T_TIMEOUT AND PBSPOLICY_SANITIZE)
    set(T_TIMEOUT 400)
  elseif(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if("threads" IN_LIST T_LABELS)
    add_dependencies(thread_tests ${name})
  endif()
  if(NOT "e2e" IN_LIST T_LABELS)
    add_dependencies(sanitize_tests ${name})
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ${without_unit_tests})
  endif()
  if(PBSPOLICY_SANITIZE)
    file(
      GENERATE
      OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_groups.cmake
      CONTENT
        "set(PROGRAM \"$<TARGET_FILE:${name}>\")
set(NAME ${name})
set(TIMEOUT ${T_TIMEOUT})
set(LABELS \"${T_LABELS}\")
set(MOST 8)
set(ENVIRONMENT)
set(LEFT_OUT)
set(FIRST \"${T_FIRST}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/TestGroups.cmake\")
")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_groups.cmake)
    return()
  endif()
  gtest_discover_tests(
    ${name}
    TEST_PREFIX ${name}.
    DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "${T_LABELS}")
endfunction()

# pbs_static_imports(): takes the static archives of imported libraries, with what these need themselves.
function(pbs_static_imports)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target ${targets})
    get_target_property(location ${target} IMPORTED_LOCATION_NONE)
    if(target MATCHES "^absl::" AND location)
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" location ${location})
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE ${location})
    endif()
  endforeach()
  add_library(pbs_absl STATIC ${PROJECT_SOURCE_DIR}/packaging/portable/absl.cc)
  set_target_properties(absl::raw_hash_set PROPERTIES IMPORTED_LOCATION_NONE ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libpbs_absl.a)
  foreach(library tinfo bsd md)
    find_library(PBSPOLICY_${library} ${library} REQUIRED)
    set_property(TARGET PkgConfig::libedit APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${PBSPOLICY_${library}})
  endforeach()
endfunction()

# gcc of Debian 12 with the C library of an older Debian, which packaging/portable/sysroot makes in the build's folder.
set(PBSPOLICY_SYSROOT ${CMAKE_BINARY_DIR}/sysroot)
if(DEFINED ENV{PBSPOLICY_SYSROOT})
  set(PBSPOLICY_SYSROOT $ENV{PBSPOLICY_SYSROOT})
elseif(NOT EXISTS ${PBSPOLICY_SYSROOT}/usr/lib/x86_64-linux-gnu/libm_nonshared.a)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/sysroot ${PBSPOLICY_SYSROOT} COMMAND_ERROR_IS_FATAL ANY)
endif()
# Pass the sysroot on to try_compile(), whose CMAKE_BINARY_DIR is another.
set(ENV{PBSPOLICY_SYSROOT} ${PBSPOLICY_SYSROOT})

set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(flags "--sysroot=${PBSPOLICY_SYSROOT} -B${PBSPOLICY_SYSROOT}/usr/lib/x86_64-linux-gnu")
set(CMAKE_C_FLAGS_INIT ${flags})
# libstdc++ of Debian 12 is made for a C library that has threads in it.
set(CMAKE_CXX_FLAGS_INIT "${flags} -D_GLIBCXX_GTHREAD_USE_WEAK=0 -DFMT_HEADER_ONLY")
# Hide the symbols of the libraries that are linked in.
set(linked "-static-libgcc -Wl,--exclude-libs,ALL")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "${linked}")
endforeach()
# Link the libraries that newer C libraries contain.
set(CMAKE_C_STANDARD_LIBRARIES_INIT "-Wl,--as-needed -lpthread -ldl -lrt -lm")
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "-static-libstdc++ ${CMAKE_C_STANDARD_LIBRARIES_INIT}")

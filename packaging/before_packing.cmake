# Compresses manual pages and changelogs, as Debian wants them, without a time stamp.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*
     ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog.Debian)
foreach(file ${files})
  if(NOT file MATCHES "\\.gz$")
    execute_process(COMMAND gzip -9nf ${file} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
# Puts the unit of an RPM where systemd finds it.
file(GLOB units ${CPACK_TEMPORARY_DIRECTORY}/*/opt/pbspolicy/lib/systemd)
foreach(unit ${units})
  string(REPLACE /opt/pbspolicy/lib/systemd /usr/lib place ${unit})
  file(MAKE_DIRECTORY ${place})
  file(RENAME ${unit} ${place}/systemd)
endforeach()

# Makes one archive and one RPM for OpenPBS hosts, of the components openpbs, tools and dev and all on which
# they depend.
set(CPACK_COMPONENTS_ALL openpbs tools dev)
set(before)
while(NOT CPACK_COMPONENTS_ALL STREQUAL before)
  set(before ${CPACK_COMPONENTS_ALL})
  foreach(component ${before})
    string(TOUPPER ${component} name)
    list(APPEND CPACK_COMPONENTS_ALL ${CPACK_COMPONENT_${name}_DEPENDS})
  endforeach()
  list(REMOVE_DUPLICATES CPACK_COMPONENTS_ALL)
endwhile()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION share/doc/pbspolicy COMPONENT openpbs)

set(CPACK_PACKAGE_VENDOR pbspolicy)
# The RPM can't be relocated: its scripts name the place where it is installed.
set(CPACK_PACKAGE_RELOCATABLE OFF)
set(CPACK_GENERATOR TGZ RPM)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/per_generator.cmake)
set(CPACK_PACKAGE_FILE_NAME pbspolicy-openpbs-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_NAME pbspolicy-openpbs)
set(CPACK_RPM_PACKAGE_RELEASE ${PBSPOLICY_PACKAGE_RELEASE})
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
string(REPLACE "\n" ";" description "${CPACK_COMPONENT_OPENPBS_DESCRIPTION}")
list(POP_FRONT description CPACK_RPM_PACKAGE_SUMMARY)
list(JOIN description "\n" CPACK_RPM_PACKAGE_DESCRIPTION)
set(CPACK_RPM_COMPRESSION_TYPE xz)
# libpbspolicy is neither provided nor required: no other package uses it. Build-ids would be links with the
# names of other packages' links.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __provides_exclude_from ^${CMAKE_INSTALL_PREFIX}/
%define __requires_exclude ^libpbspolicy
%define _build_id_links none")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /opt /usr/lib/systemd /usr/lib/systemd/system)
set(CPACK_RPM_POST_INSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/rpm/post)
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/rpm/preun)
set(CPACK_RPM_POST_UNINSTALL_SCRIPT_FILE ${CMAKE_CURRENT_LIST_DIR}/rpm/postun)

// Reads the custom resources of a PBS server from server_priv/resourcedef (OpenPBS, src/server/setup_resc.c).
// qmgr writes the file; in older versions the administrator did.
//
// Format: a line is empty; a comment, which begins with '#'; or
//
//     NAME [type=TYPE] [flag=FLAGS]
//
// Without a type, values are of type long.
#pragma once

#include <string>
#include <string_view>

#include "migrate/problem.h"
#include "migrate/qmgr_print.h"

namespace pbs::migrate {

// Converts the file to directives of qmgr that create these resources, and lists the resources by kind
// (QmgrPrint). Mistakes: lines that the older server couldn't read; they are left out.
QmgrPrint parse_resourcedef(std::string_view text, const std::string& file);

}  // namespace pbs::migrate

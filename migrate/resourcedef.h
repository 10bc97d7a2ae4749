// The resources that a PBS server was given in server_priv/resourcedef (OpenPBS, src/server/setup_resc.c),
// which qmgr writes there, and in older versions the administrator did.
//
// Format: a line is empty, a comment, whose first character is '#', or
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

// The directives of qmgr that make these resources, with their kinds as in a print. Mistakes: lines that the
// older server didn't read; they are left out.
QmgrPrint parse_resourcedef(std::string_view text, const std::string& file);

}  // namespace pbs::migrate

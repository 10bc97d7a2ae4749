// Converts Grid Engine's configuration, as qconf prints it, to objects of a PBS server.
//
// A folder has a file for each command: `ssconf` for `qconf -ssconf`, likewise `sconf`, `srqs`, `sstree` and
// `sc`; and `sq/all.q` for `qconf -sq all.q`, likewise scal/, sp/, shgrp/, su/, suser/ and sprj/. All of them
// may be missing.
//
//     folder.h      the files as one text, and their lines with places
//     output.h      the objects, remarks and problems that the readers below produce
//     settings.cc   ssconf: the policy's weights and tickets
//     rqs.cc        srqs: quotas; with the lists in shgrp/ and su/ that its rules name
//     share_tree.cc sstree: the fs_group
//     calendar.cc   scal/: time_windows
//     queues.cc     sq/: the windows of queues, and their load_thresholds
//     owners.cc     su/, suser/, sprj/, sconf: shares and override tickets of owners
//     host_groups.cc   shgrp/: the report alone
//     environments.cc  sp/: urgency_size
//     complexes.cc  sc: resources and their urgency; and the PBS names of complexes
//     convert.cc    gives the objects to the server
//
// The report has every line of every file: with the attribute that it became, or in a note that says why it
// became none. Grid Engine refuses files with mistakes, so a mistake stops the migration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"
#include "migrate/qmgr_print.h"
#include "objects/schema.h"

namespace pbs::migrate {

// A value of an object, or with an empty attribute the object itself, which has to be made.
struct Wanted {
    objects::ObjectType type = objects::ObjectType::policy;
    std::string object;
    std::string attribute;  // empty: the object is made
    std::string value;
    std::string from;   // place and name in the files: "conf/ssconf:29 weight_ticket"
    std::string key{};  // for an attribute with keys: the name of a quota's rule
};

struct GridEngine {
    std::vector<Wanted> wanted;
    QmgrPrint resources;             // the site's own complexes
    std::vector<std::string> notes;  // on lines that become nothing, or something that differs in meaning
};

// Reads a folder's text (folder.h); `folder` is its name in messages.
Result<GridEngine> parse_grid_engine(std::string_view text, const std::string& folder);

}  // namespace pbs::migrate

// Reads shgrp/: the report names the lines of each group of hosts. Rules of quotas have the hosts in place of
// the groups (rqs.cc).
#include <set>

#include "migrate/grid_engine/output.h"

namespace pbs::migrate::grid_engine {

void read_host_groups(Output& out) {
    for (const File* file : out.folder().of_kind("shgrp")) {
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file->lines) {
            const Field field = field_of(line);
            if (!out.is_first(*file, line, field.name, seen)) continue;
            if (field.name == "group_name" && field.value != file->name)
                out.problem(*file, line, field.value.empty() ? field.name : field.value, field.name,
                            "isn't the file's name, expected that");
            out.left_out(
                *file, line, field.name,
                "groups of hosts aren't made: rules of quotas have the hosts of those that they name");
        }
        if (!seen.contains("group_name"))
            out.problem(*file, file->lines.front(), file->lines.front().text, "",
                        "has no line group_name, expected one");
    }
}

}  // namespace pbs::migrate::grid_engine

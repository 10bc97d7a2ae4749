// The rows of the table "Where jobs start differently" of docs/migration.md, each with a site that shows it.
#pragma once

#include <string>
#include <vector>

#include "tests/openpbs/random_site.h"

namespace pbs::e2e {

struct Difference {
    std::string row;  // first cell of the row
    RandomSite site;
    // Outcomes of the jobs: "0 R (v0:ncpus=4), 1 Q". Outcomes that depend on how fast a start is are
    // separated by " | ".
    std::string theirs;
    std::string ours;
    bool sometimes = false;  // the row says "may": on this site both servers do the same
};

std::vector<Difference> differences();

}  // namespace pbs::e2e

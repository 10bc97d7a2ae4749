// The rows of the table "Where jobs start differently" of docs/migration.md, each with a site that shows the
// difference.
#pragma once

#include <string>
#include <vector>

#include "tests/openpbs/random_site.h"

namespace pbs::e2e {

struct Difference {
    std::string row;  // the first cell of the row
    RandomSite site;
    // The outcomes of the jobs at each server, such as "0 R (v0:ncpus=4), 1 Q". If the outcomes depend on how
    // fast jobs start, the text has all possible ones, separated by " | ".
    std::string theirs;
    std::string ours;
    bool sometimes = false;  // the row says "may": on this site both servers do the same
};

std::vector<Difference> differences();

}  // namespace pbs::e2e

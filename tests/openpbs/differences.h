// The rows of the table "Where jobs start differently" of docs/migration.md, each with a site that shows it.
#pragma once

#include <string>
#include <vector>

#include "tests/openpbs/random_site.h"

namespace pbs::e2e {

struct Difference {
    std::string row;  // the first cell
    RandomSite site;
    // What becomes of the jobs: "0 R (v0:ncpus=4), 1 Q". Where that depends on how fast a start is, there are
    // several, with a " | " between.
    std::string theirs;
    std::string ours;
    bool sometimes = false;  // the row says "may": here it is the same at both
};

std::vector<Difference> differences();

}  // namespace pbs::e2e

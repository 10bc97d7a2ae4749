// The sched_formula file of PBS, sched_priv/sched_formula, where its server wrote job_sort_formula for the
// scheduler.
//
// Format: the first line is a comment of PBS's, "### PBS INTERNAL FILE DO NOT MODIFY ###"; what follows is
// the formula. Here any line that begins with '#' is a comment.
#pragma once

#include <string>
#include <string_view>

#include "migrate/problem.h"

namespace pbs::migrate {

struct SchedFormula {
    std::string file;
    std::string formula;  // on one line; empty: there is none
    int line = 0;         // line in which the formula begins
    Problems mistakes;    // unprintable bytes: the formula is left out
};

// Reads the text of a file; `file` is its name in messages.
SchedFormula parse_sched_formula(std::string_view text, const std::string& file);

}  // namespace pbs::migrate

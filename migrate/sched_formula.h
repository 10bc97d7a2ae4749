// Reads the sched_formula file of PBS, sched_priv/sched_formula, in which PBS's server wrote job_sort_formula
// for the scheduler.
//
// Format: the first line is PBS's comment "### PBS INTERNAL FILE DO NOT MODIFY ###", and the formula follows.
// This reader skips any line that begins with '#'.
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

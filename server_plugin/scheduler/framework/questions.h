// Rules that need answers of programs and files of the site. The host asks them (Scheduler::questions())
// and tells the scheduler the answers.
//
// To add one: a `const QuestionRule` beside the rule that goes by the answer, and its name in
// profiles/rules.h and in the tables of the profiles that have it.
#pragma once

#include <string_view>
#include <vector>

#include "server_plugin/scheduler/model/question.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {

struct QuestionRule {
    std::string_view name;
    // Adds the policy's questions at this instant.
    void (*ask)(const Tables& tables, const Settings& settings, Instant now,
                std::vector<Question>& questions);
};

}  // namespace pbs::sched

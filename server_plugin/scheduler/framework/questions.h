// Rules that need answers of programs and files of the site. The host gets the questions by
// Scheduler::questions() and passes the answers to the scheduler.
//
// To add one: write an `extern const QuestionRule` beside the rule that uses the answer, and name it in
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

// Starts jobs, with a comment if the profile has one.

#include <array>

#include "server_plugin/scheduler/framework/decide.h"
#include "server_plugin/scheduler/framework/outcome.h"

namespace pbs::sched {
namespace {

void decide_starts(Outcome& outcome) {
    const CycleContext& cycle = outcome.cycle();
    Tables& t = cycle.tables;
    const QueueSlot special_queue = cycle.setup.special;
    std::array<std::string_view, 2> texts;  // the comments of normal and of special jobs
    for (const Started& started : cycle.started) {
        const bool special = special_queue != kNoSlot && t.jobs.queue[started.job] == special_queue;
        std::string_view& line = texts[special ? 1 : 0];
        if (line.empty() && cycle.profile.comments_starts)
            line = outcome.keep_text(started_text(ctime_text(cycle.in.now, t.zone, t.last_ctime), special));
        outcome.start(started, line);
    }
}

}  // namespace

extern const Decide kStartsDecide;
const Decide kStartsDecide{.name = "starts", .decide = decide_starts};

}  // namespace pbs::sched

#include "tools/simulate/tickets.h"

#include <utility>

#include "tools/simulate/job_records.h"

namespace pbs::simulate {

void TicketWatch::begin(std::vector<std::string> scheds, std::size_t jobs, Instant now) {
    scheds_ = std::move(scheds);
    jobs_ = jobs;
    last_ = now;
}

void TicketWatch::look(sched::Scheduler& scheduler, Instant now) {
    if (now > last_ && !held_.empty()) {
        sums_.resize(jobs_);
        const auto seconds = static_cast<double>((now - last_).count());
        for (const Held& held : held_) {
            TicketsOfRun& sum = sums_[held.job];
            sum.by_override += seconds * held.by_override;
            sum.functional += seconds * held.functional;
            sum.share += seconds * held.share;
            if (held.runs) sum.running += seconds * (held.by_override + held.functional + held.share);
        }
    }
    last_ = now;
    held_.clear();
    for (const std::string& sched : scheds_)
        for (const sched::TicketRow& row : scheduler.inspect().tickets({now, sched, {}, {}}).rows)
            if (row.sum() > 0)
                held_.push_back({job_of(row.job), row.runs, row.by_override, row.functional, row.share});
}

}  // namespace pbs::simulate

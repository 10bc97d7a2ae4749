#include "server_plugin/scheduler/framework/range_search.h"

namespace pbs::sched {

RangeSearch::RangeSearch(CycleContext& context, Candidate& job)
    : CyclePart(context),
      job_(job),
      asked_(job.request_number),
      numbers_(job.request->range.numbers(s_.max_range_chunks)) {}

void RangeSearch::use(std::int64_t chunks) {
    const std::uint32_t request = t_.requests.acquire_with_chunks(asked_, chunks, t_.resources);
    c_.own_requests.push_back(request);
    job_.request_number = request;
    job_.request = &t_.requests[request];
}

std::int64_t RangeSearch::missed_now() const {
    std::int64_t missed = 0;
    for (const Part& part : state_.placement)
        missed += part.count * state_.vnodes->missed(part.vnode, job_.request->preferences);
    return missed;
}

void RangeSearch::keep() const {
    c_.resized.emplace(job_.job, std::exchange(t_.jobs.request[job_.job], job_.request_number));
}

}  // namespace pbs::sched

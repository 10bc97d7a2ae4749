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

void RangeSearch::keep() const {
    c_.resized.emplace(job_.job, std::exchange(t_.jobs.request[job_.job], job_.request_number));
}

}  // namespace pbs::sched

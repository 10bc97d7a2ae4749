// JobScript: takes a piece of the script of the job that this connection submits.
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/common.h"

namespace pbs::host {
namespace {
constexpr int64_t kDefaultLargestScript = int64_t{100} << 20;
constexpr uint32_t kScriptFile = 0;
}  // namespace

ifl::Reply job_script(Context& context) {
    const auto& body = std::get<ifl::JobScript>(context.request.body);
    auto& submission = context.session.submission;
    if (!submission || body.file != kScriptFile ||
        (!body.job.empty() && submission->arrival == 0 && context.state().job(body.job) != nullptr))
        return ifl::Reply::error(PBSE_IVALREQ);
    const int64_t largest = context.state().server.integer("jobscript_max_size", kDefaultLargestScript);
    if (static_cast<int64_t>(submission->script.size() + body.data.size()) > largest) {
        submission.reset();
        return ifl::Reply::error(PBSE_JOBSCRIPTMAXSIZE);
    }
    submission->script += body.data;
    return ifl::Reply::ok();
}

}  // namespace pbs::host

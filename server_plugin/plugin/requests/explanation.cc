#include "server_plugin/plugin/requests/explanation.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/cycle.h"
#include "server_plugin/plugin/text.h"
#include "server_plugin/record/explanation.h"

namespace pbs::plugin {
namespace {

class ExplanationQuery final : public BackgroundQuery {
  public:
    ExplanationQuery(State& state, std::string job) : state_(state), job_(std::move(job)) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        now_ = now;
        found_ = scheduler.explain(now, job_);
    }
    int32_t answer(const pbs_status_request& request, bool, Reply reply) override {
        if (!found_) return reply.error(PBSE_UNKJOBID, {});
        if (!may_see_job_before(request.who)) {
            found_->job_before.clear();
            found_->terms_before.clear();
        }
        // The answers of the gates are those that the program's own questions and checked starts get.
        if (found_->outcome != sched::JobOutcome::not_considered &&
            is_external(state_, now_, found_->sched)) {
            found_->outcome = sched::JobOutcome::not_considered;
            found_->reason =
                fmt::format("by policy {}, algorithm = external, a program starts the jobs", found_->policy);
        }
        show_explanation(*found_, reply);
        return PBSE_NONE;
    }

  private:
    // Users may not see others' jobs, unless the server lets them (query_other_jobs), of which the plugin
    // isn't told.
    bool may_see_job_before(const pbs_identity& who) const {
        constexpr uint32_t kSeeAll = PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT;
        return (who.privilege & kSeeAll) != 0 || view(who.user) == found_->owner_before;
    }

    State& state_;
    sched::Instant now_{};
    std::string job_;
    std::optional<sched::Explanation> found_;
};

}  // namespace

void show_explanation(const sched::Explanation& found, Reply reply) {
    for (const record::ExplainedObject& object : record::explained_objects(found)) {
        std::vector<ShownAttribute> shown;
        for (const auto& [name, value, resource] : object.attributes)
            shown.push_back({name, value, resource});
        reply.object(PBS_OBJ_EXPLANATION, object.name, shown);
    }
}

int32_t status_explanation(State& state, const pbs_status_request& request, Reply reply) {
    if (!view(request.extend).empty())
        return reply.error(PBSE_NOSUP,
                           fmt::format("explanation '{}': this host's jobs are explained as a cycle sees "
                                       "them: expected no place",
                                       view(request.extend)));
    const auto make = [&state, &request] {
        return std::make_shared<ExplanationQuery>(state, std::string(view(request.object_name)));
    };
    return state.queries.answer(state, request, make, reply);
}

}  // namespace pbs::plugin

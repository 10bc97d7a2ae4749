#include "server_plugin/plugin/requests/status.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/requests/shown.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// About the most counters and jobs in one part of a reply, so that a part takes a few milliseconds.
constexpr std::size_t kToldAtOnce = 1000;

// The most jobs in one object. The next jobs of the counter are in further objects.
constexpr std::size_t kJobsOfAnObject = 1000;

// The most counters and jobs that are freed in one step.
constexpr std::size_t kFreedAtOnce = 10'000;

class QuotaQuery final : public BackgroundQuery {
  public:
    // `user`: only counters that name this user; nullopt: all counters.
    QuotaQuery(std::string sched, std::optional<std::string> user, bool with_jobs)
        : sched_(std::move(sched)), user_(std::move(user)), with_jobs_(with_jobs) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        found_ = scheduler.quotas(now, sched_, with_jobs_, user_);
    }
    int32_t answer(const pbs_status_request&, bool in_parts, Reply reply) override {
        for (std::size_t told = 0; !all_told();) {
            if (in_parts && told >= kToldAtOnce) {
                reply.attribute({"offset", std::to_string(objects_), {}});
                return PBSE_NONE;
            }
            told += 1 + tell_next(reply);
            ++objects_;
        }
        return PBSE_NONE;
    }
    bool all_told() const override { return next_ == found_.size(); }
    bool is_large() const override { return with_jobs_; }
    bool free_some() override {
        for (std::size_t freed = 0; freed < kFreedAtOnce && !found_.empty(); ++freed) {
            std::vector<sched::QuotaUse::Job>& jobs = found_.back().jobs;
            if (jobs.empty()) {
                found_.pop_back();
            } else {
                jobs.pop_back();
            }
        }
        return !found_.empty();
    }

  private:
    // Adds the next object to the reply. Returns the number of its jobs.
    std::size_t tell_next(Reply reply) {
        const sched::QuotaUse& use = found_[next_];
        const auto rest = std::span(use.jobs).subspan(job_);
        const auto jobs = rest.first(std::min(rest.size(), kJobsOfAnObject));
        ShownAttributes shown;
        if (job_ == 0) {
            shown.add("rule", use.rule);
            for (const auto& [subject, value] : use.of) shown.add("of", value, subject);
            shown.add("used", use.used, use.resource);
            shown.add("limit", use.limit, use.resource);
            shown.add("enabled", use.enabled ? "True" : "False");
            shown.add("in_force", use.in_force ? "True" : "False");
        } else {
            shown.add("continues", "True");
        }
        for (const auto& [id, amount] : jobs) shown.add("job", amount, id);
        reply.object(PBS_OBJ_QUOTA_USE, use.quota, shown.attributes());
        if (jobs.size() < rest.size()) {
            job_ += jobs.size();
        } else {
            job_ = 0;
            ++next_;
        }
        return jobs.size();
    }

    std::string sched_;
    std::optional<std::string> user_;
    bool with_jobs_;
    std::vector<sched::QuotaUse> found_;
    std::size_t next_ = 0;     // the counter that is told next
    std::size_t job_ = 0;      // the first of its jobs that isn't told yet
    std::size_t objects_ = 0;  // the number of objects that are told
};

}  // namespace

int32_t status_quota_use(State& state, const pbs_status_request& request, Reply reply) {
    if (state.queries.knows(ticket_of(state, request)))
        return state.queries.answer(state, request, {}, reply);
    const std::string sched =
        request.object_name.len == 0 ? "default" : std::string(view(request.object_name));
    const bool with_jobs = view(request.extend) == "jobs";
    if (request.wanted_count != 0 || (request.extend.len != 0 && !with_jobs))
        return reply.error(
            PBSE_IVALREQ, "the use of quotas is shown whole: expected no attributes, and no option but jobs");
    if (!state.sched_priv.contains(sched)) return reply.error(PBSE_UNKSCHED, {});
    constexpr uint32_t kSeeAll = PBS_PRIV_OPERATOR | PBS_PRIV_MANAGER | PBS_PRIV_ROOT;
    const bool all = (request.who.privilege & kSeeAll) != 0;
    const auto make = [&] {
        return std::make_shared<QuotaQuery>(
            sched, all ? std::nullopt : std::optional(std::string(view(request.who.user))), with_jobs);
    };
    return state.queries.answer(state, request, make, reply);
}

}  // namespace pbs::plugin

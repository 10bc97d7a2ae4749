#include "server_plugin/plugin/requests/status.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/requests/shown.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// The most counters in one part of a reply. A part takes a few milliseconds.
constexpr std::size_t kCountersAtOnce = 1000;

class QuotaQuery final : public BackgroundQuery {
  public:
    // `user`: only counters that name this user; nullopt: all counters.
    QuotaQuery(std::string sched, std::optional<std::string> user, bool with_jobs)
        : sched_(std::move(sched)), user_(std::move(user)), with_jobs_(with_jobs) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        found_ = scheduler.quotas(now, sched_, with_jobs_);
        if (!user_) return;
        std::erase_if(found_, [&](const sched::QuotaUse& use) {
            return std::ranges::none_of(
                use.of, [&](const auto& of) { return of.first == "users" && of.second == *user_; });
        });
    }
    int32_t answer(const pbs_status_request&, bool in_parts, Reply reply) override {
        for (std::size_t told = 0; next_ < found_.size(); ++next_) {
            if (in_parts && told >= kCountersAtOnce) {
                reply.attribute({"offset", std::to_string(next_), {}});
                return PBSE_NONE;
            }
            const sched::QuotaUse& use = found_[next_];
            told += 1 + use.jobs.size();
            ShownAttributes shown;
            shown.add("rule", use.rule);
            for (const auto& [subject, value] : use.of) shown.add("of", value, subject);
            shown.add("used", use.used, use.resource);
            shown.add("limit", use.limit, use.resource);
            shown.add("enabled", use.enabled ? "True" : "False");
            shown.add("in_force", use.in_force ? "True" : "False");
            for (const auto& [id, amount] : use.jobs) shown.add("job", amount, id);
            reply.object(PBS_OBJ_QUOTA_USE, use.quota, shown.attributes());
        }
        return PBSE_NONE;
    }
    bool all_told() const override { return next_ == found_.size(); }

  private:
    std::string sched_;
    std::optional<std::string> user_;
    bool with_jobs_;
    std::vector<sched::QuotaUse> found_;
    std::size_t next_ = 0;
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

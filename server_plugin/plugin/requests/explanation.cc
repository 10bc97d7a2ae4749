#include "server_plugin/plugin/requests/explanation.h"

#include <fmt/format.h>

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

void add_filters(Shown& shown, const std::vector<sched::FilterAnswer>& filters) {
    for (const sched::FilterAnswer& answer : filters) {
        shown.add("gate", answer.why, answer.filter);
        shown.add_if_any("gate_attributes", std::string(answer.attributes), answer.filter);
        if (answer.decides) shown.add("decides", "True", answer.filter);
        for (const sched::AnswerFact& fact : answer.facts)
            shown.add("gate_fact", fmt::format("{},{}", fact.name, fact.value), answer.filter);
    }
}

// Adds the terms of a weighted priority: "value,least,greatest,normalised,weight,product" of each.
void add_terms(Shown& shown, std::string_view attribute, const std::vector<sched::PriorityTerm>& terms) {
    for (const sched::PriorityTerm& term : terms)
        shown.add(attribute,
                  fmt::format("{},{},{},{},{},{}", term.value, term.least, term.greatest, term.normalised,
                              term.weight, term.product()),
                  term.name);
}

void add_order(Shown& shown, const sched::Explanation& found) {
    if (found.place == 0) return;
    shown.add("class", found.job_class);
    shown.add("place", std::to_string(found.place));
    shown.add("jobs", std::to_string(found.jobs));
    shown.add("class_place", std::to_string(found.class_place));
    shown.add("class_jobs", std::to_string(found.class_jobs));
    for (const sched::OrderKey& key : found.keys) {
        shown.add("order", key.value, key.name);
        if (key.largest_first) shown.add("order_largest_first", "True", key.name);
        shown.add_if_any("order_attributes", std::string(key.attributes), key.name);
    }
    add_terms(shown, "priority_term", found.priority_terms);
    shown.add_if_any("job_before", found.job_before);
    add_terms(shown, "term_before", found.terms_before);
    if (found.past_usage) shown.add("past_usage", fmt::format("{}", *found.past_usage));
}

void add_shares(Shown& shown, const sched::EntityShares& shares) {
    shown.add("share_group", shares.group);
    shown.add("share_entity", shares.entity);
    shown.add("share_usage", fmt::format("{}", shares.usage));
    shown.add("share_target", fmt::format("{}", shares.target));
    shown.add("share_actual", fmt::format("{}", shares.actual));
    shown.add("share_place", std::to_string(shares.place));
    shown.add("share_entities", std::to_string(shares.entities));
}

void add_job(Reply& reply, const sched::Explanation& found) {
    Shown shown;
    shown.add("outcome", std::string(sched::outcome_name(found.outcome)));
    shown.add_if_any("reason", found.reason);
    shown.add_if_any("queue", found.queue);
    shown.add_if_any("sched", found.sched);
    shown.add_if_any("policy", found.policy);
    shown.add_if_any("sched_algorithm", found.algorithm);
    if (found.expected_start) shown.add_instant("expected_start", *found.expected_start);
    if (found.test_only) shown.add("test_only", "True");
    for (const auto& [job, methods] : found.preempts) shown.add("preempts", methods, job);
    shown.add_if_any("preempts_none", found.preempts_none);
    for (const auto& [preference, vnodes] : found.missed) shown.add("missed", vnodes, preference);
    add_order(shown, found);
    if (found.shares) add_shares(shown, *found.shares);
    add_filters(shown, found.filters);
    reply.object(PBS_OBJ_EXPLANATION, found.job, shown.attributes());
}

void add_queue(Reply& reply, const sched::QueueAnswers& answers) {
    Shown shown;
    if (answers.earliest_start) shown.add_instant("earliest_start", *answers.earliest_start);
    if (answers.drained_until) shown.add_instant("drained_until", *answers.drained_until);
    if (answers.chunks) {
        shown.add("chunks", answers.chunks->range);
        shown.add("chunks_now", std::to_string(answers.chunks->now));
        shown.add("chunks_most", std::to_string(answers.chunks->most));
        if (answers.chunks->most_from) shown.add_instant("chunks_most_start", *answers.chunks->most_from);
    }
    for (const sched::Awaited& awaited : answers.awaited)
        shown.add("awaited", std::to_string(awaited.until.time_since_epoch().count()), awaited.what);
    for (const sched::Layer& layer : answers.layers)
        shown.add("layer",
                  fmt::format("{},{},{},{},{}{}", layer.resource, layer.asked, layer.free, layer.total,
                              layer.lacks ? "short" : "enough", layer.narrowest ? ",narrowest" : ""),
                  layer.name);
    add_filters(shown, answers.filters);
    const std::string name = answers.host.empty() ? answers.queue : answers.queue + "@" + answers.host;
    reply.object(PBS_OBJ_EXPLANATION, name, shown.attributes());
}

class ExplanationQuery final : public BackgroundQuery {
  public:
    explicit ExplanationQuery(std::string job) : job_(std::move(job)) {}

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        found_ = scheduler.explain(now, job_);
    }
    int32_t answer(const pbs_status_request& request, bool, Reply reply) override {
        if (!found_) return reply.error(PBSE_UNKJOBID, {});
        if (!may_see_job_before(request.who)) {
            found_->job_before.clear();
            found_->terms_before.clear();
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

    std::string job_;
    std::optional<sched::Explanation> found_;
};

}  // namespace

void show_explanation(const sched::Explanation& found, Reply reply) {
    add_job(reply, found);
    for (const sched::QueueAnswers& answers : found.queues) add_queue(reply, answers);
}

int32_t status_explanation(State& state, const pbs_status_request& request, Reply reply) {
    if (!view(request.extend).empty())
        return reply.error(PBSE_NOSUP,
                           fmt::format("explanation '{}': this host's jobs are explained as a cycle sees "
                                       "them: expected no place",
                                       view(request.extend)));
    const auto make = [&request] {
        return std::make_shared<ExplanationQuery>(std::string(view(request.object_name)));
    };
    return state.queries.answer(state, request, make, reply);
}

}  // namespace pbs::plugin

#include "server_plugin/record/explanation.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace pbs::record {
namespace {

class ExplainedAttributes {
  public:
    void add(std::string_view name, std::string value, std::string_view resource = {}) {
        attributes_.push_back({std::string(name), std::move(value), std::string(resource)});
    }
    void add_if_any(std::string_view name, const std::string& value, std::string_view resource = {}) {
        if (!value.empty()) add(name, value, resource);
    }
    void add_instant(std::string_view name, sched::Instant at) {
        add(name, std::to_string(at.time_since_epoch().count()));
    }
    std::vector<ExplainedObject::Attribute> take() { return std::move(attributes_); }

  private:
    std::vector<ExplainedObject::Attribute> attributes_;
};

void add_filters(ExplainedAttributes& shown, const std::vector<sched::FilterAnswer>& filters) {
    for (const sched::FilterAnswer& answer : filters) {
        shown.add("gate", answer.why, answer.filter);
        shown.add_if_any("gate_attributes", std::string(answer.attributes), answer.filter);
        if (answer.decides) shown.add("decides", "True", answer.filter);
        for (const sched::AnswerFact& fact : answer.facts)
            shown.add("gate_fact", fmt::format("{},{}", fact.name, fact.value), answer.filter);
    }
}

// Adds the terms of a weighted priority: "value,least,greatest,normalised,weight,product" of each.
void add_terms(ExplainedAttributes& shown, std::string_view attribute,
               const std::vector<sched::PriorityTerm>& terms) {
    for (const sched::PriorityTerm& term : terms)
        shown.add(attribute,
                  fmt::format("{},{},{},{},{},{}", term.value, term.least, term.greatest, term.normalised,
                              term.weight, term.product()),
                  term.name);
}

void add_order(ExplainedAttributes& shown, const sched::Explanation& found) {
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

void add_shares(ExplainedAttributes& shown, const sched::EntityShares& shares) {
    shown.add("share_group", shares.group);
    shown.add("share_entity", shares.entity);
    shown.add("share_usage", fmt::format("{}", shares.usage));
    shown.add("share_target", fmt::format("{}", shares.target));
    shown.add("share_actual", fmt::format("{}", shares.actual));
    shown.add("share_place", std::to_string(shares.place));
    shown.add("share_entities", std::to_string(shares.entities));
}

ExplainedObject job_object(const sched::Explanation& found) {
    ExplainedAttributes shown;
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
    return {found.job, shown.take()};
}

ExplainedObject queue_object(const sched::QueueAnswers& answers) {
    ExplainedAttributes shown;
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
    for (const std::string& note : answers.notes) shown.add("note", note);
    add_filters(shown, answers.filters);
    return {answers.host.empty() ? answers.queue : answers.queue + "@" + answers.host, shown.take()};
}

}  // namespace

std::vector<ExplainedObject> explained_objects(const sched::Explanation& found) {
    std::vector<ExplainedObject> objects{job_object(found)};
    for (const sched::QueueAnswers& answers : found.queues) objects.push_back(queue_object(answers));
    return objects;
}

}  // namespace pbs::record

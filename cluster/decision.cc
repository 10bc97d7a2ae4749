#include "cluster/decision.h"

#include <fmt/format.h>

#include "cluster/amount.h"
#include "cluster/records.h"

namespace pbs::cluster {
namespace {

Decision::Kind kind_of(std::int32_t kind) {
    if (kind < PBS_DECIDE_RUN || kind > PBS_DECIDE_WEIGH) return Decision::Kind::comment;
    return static_cast<Decision::Kind>(kind - PBS_DECIDE_RUN);
}

// Returns the amounts that a job takes from the vnode of this place. A chunk may also request resources such
// as mpiprocs, which take nothing from a vnode: these are left out.
Amounts used_up(const pbs_place& place, const Names& names) {
    Amounts out;
    for (std::size_t i = 0; i < place.amount_count; ++i) {
        const pbs_amount& amount = place.amounts[i];
        const auto resource = names.resource(amount.resource);
        if (resource && resource->on_vnodes) out[amount.resource] += amount.number;
    }
    return out;
}

}  // namespace

Decision decision_of(const pbs_decision& in, const Names& names) {
    Decision out;
    out.kind = kind_of(in.kind);
    out.job = in.job;
    out.queue = in.queue;
    out.text = view(in.text);
    for (std::size_t i = 0; i < in.set_resource_count; ++i) {
        const pbs_amount& amount = in.set_resources[i];
        const auto resource = names.resource(amount.resource);
        if (!resource) continue;
        out.set_resources.emplace_back(amount.resource, is_text(resource->kind)
                                                            ? std::string(view(amount.text))
                                                            : amount_text(resource->kind, amount.number));
    }
    for (std::size_t i = 0; i < in.place_count; ++i) {
        Place place;
        place.node = in.places[i].vnode;
        place.node_name = names.vnode_name(place.node);
        place.amounts = used_up(in.places[i], names);
        place.joined = in.joined != nullptr && in.joined[i] == 1;
        place.next_occurrence = in.joined != nullptr && in.joined[i] == 2;
        out.places.push_back(std::move(place));
    }
    if (out.kind == Decision::Kind::estimate || out.kind == Decision::Kind::confirm) out.start = in.start;
    out.for_job = in.for_job;
    for (const std::uint8_t method : in.methods)
        if (method != 0) out.methods += static_cast<char>(method);
    out.after_preemptions = in.after_preemptions != 0;
    out.together = in.together;
    out.accrue_type = in.accrue_type;
    out.weight = in.weight;
    return out;
}

std::string occasion_of_preemption(std::string_view for_job) {
    return for_job.empty() ? "at the end of its queue's time_window" : fmt::format("for job {}", for_job);
}

std::string resumed_comment(std::string_view comment, std::string_view exec_vnode) {
    const bool by_hours = comment.starts_with("Suspended until ") ||
                          comment.find(occasion_of_preemption({})) != std::string_view::npos;
    return fmt::format("Job resumed {} on {}",
                       by_hours ? "as its queue's time_window has opened" : "after a preemption", exec_vnode);
}

bool names_preemption(std::string_view comment) {
    return comment.starts_with("Not Running: Preempted by ");
}

}  // namespace pbs::cluster

#include "server_plugin/scheduler/framework/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "server_plugin/scheduler/framework/shares.h"
#include "server_plugin/scheduler/framework/weighted_priority.h"

namespace pbs::sched {

Result<Formula> Formula::compile(const std::string& text) {
    auto expression = objects::Formula::compile(text);
    if (!expression)
        return tl::unexpected(Error{fmt::format("job_sort_formula \"{}\": at position {}: {}", text,
                                                expression.error().at + 1, expression.error().text)});
    return Formula(*std::move(expression));
}

Formula::Formula(objects::Formula expression)
    : expression_(std::move(expression)), sum_(expression_.as_sum()), values_(expression_.names().size()) {
    for (const auto& name : expression_.names()) {
        const auto* const term = std::ranges::find(kTerms, name.name, &Term::name);
        const Meaning what = term != kTerms.end() ? term->what : Meaning::nothing;
        reads_.push_back({what, what});
    }
}

struct Formula::Parts : WeightedPriority::Terms {};

double Formula::read(std::size_t name, const OrderContext& c, const Resources& resources, JobSlot job,
                     const Parts& parts) const {
    switch (reads_[name].what) {
        case Meaning::eligible_time:
            if (const auto counted = c.tables->accrual(job))
                return static_cast<double>(counted->at(c.now).count());
            return static_cast<double>((c.now - c.jobs.eligible[job]).count());
        case Meaning::accrue_type:
            return static_cast<double>(c.tables->accrual(job).value_or(Accrual{}).type);
        case Meaning::queue_priority:
            return c.queues[c.jobs.queue[job]].priority;
        case Meaning::job_priority:
            return c.jobs.priority[job];
        case Meaning::walltime:
            return static_cast<double>(std::max(Seconds(0), c.jobs.walltime[job]).count());
        case Meaning::share:
        case Meaning::tree_usage:
        case Meaning::share_factor: {
            if (c.shares == nullptr) return 0;
            const FairShares::Node entity = c.shares->entity(*c.tables, job);
            if (reads_[name].what == Meaning::share) return c.shares->tree.share(entity);
            return reads_[name].what == Meaning::tree_usage ? c.shares->tree.tree_usage(entity, c.now)
                                                            : c.shares->tree.factor(entity, c.now);
        }
        case Meaning::urgency:
            return parts.urgency;
        case Meaning::urgency_norm:
            return parts.urgency_norm;
        case Meaning::priority_norm:
            return parts.priority_norm;
        case Meaning::tickets:
            return parts.tickets;
        case Meaning::tickets_norm:
            return parts.tickets_norm;
        case Meaning::nothing:
            return 0;
        case Meaning::resource:
            break;
    }
    const std::uint32_t resource = reads_[name].resource;
    const auto asked = number_of(c.requests[c.jobs.request[job]].totals, resource).value_or(0);
    return formula_amount(asked, resources.find(resource)->kind);
}

void Formula::resolve(const Resources& resources) {
    for (std::size_t i = 0; i < reads_.size(); ++i) {
        Read& read = reads_[i];
        if (read.term != Meaning::nothing && !is_of_priorities(read.term)) continue;
        read.what = read.term;
        read.resource = resources.id(expression_.names()[i].name);
        if (read.resource != kNoResource)
            read.what = read.resource == resources.known().walltime ? Meaning::walltime : Meaning::resource;
    }
    known_resources_ = resources.version();
}

double Formula::value(const OrderContext& context, const Resources& resources, JobSlot job) {
    if (known_resources_ != resources.version()) resolve(resources);
    Parts parts;
    if (context.priorities != nullptr && reads_priorities()) parts = {context.priorities->terms(job)};
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = read(i, context, resources, job, parts);
    return expression_.value(values_).value_or(0);
}

std::optional<double> Formula::growth() const {
    if (!sum_) return std::nullopt;
    double growth = 0;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
        const Meaning what = reads_[i].term;
        if (what == Meaning::eligible_time)
            growth = sum_->factors[i];
        else if (what == Meaning::accrue_type || is_of_shares(what) || is_of_priorities(what))
            return std::nullopt;
    }
    return growth;
}

bool Formula::is_exact(const OrderContext& context, const Resources& resources, JobSlot job) {
    (void)value(context, resources, job);
    constexpr double kSeconds = 14e9;  // from the Epoch until 2400
    double most = sum_->most.back();
    bool whole = true;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        const bool grows = reads_[i].what == Meaning::eligible_time;
        most += sum_->most[i] * std::max(std::abs(values_[i]), grows ? kSeconds : 0);
        whole = whole && values_[i] == std::floor(values_[i]);
        if (values_[i] * 1024 != std::floor(values_[i] * 1024)) return false;
    }
    return most < static_cast<double>(1LL << (whole ? 52 : 42));
}

}  // namespace pbs::sched

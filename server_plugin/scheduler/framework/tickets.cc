#include "server_plugin/scheduler/framework/tickets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pbs::sched {
namespace {

constexpr std::string_view kOwnTickets = "override_tickets";  // a resource
constexpr std::array<std::string_view, kOwnerKinds + 1> kClasses = {"user", "group", "project", "queue",
                                                                    "job"};

FunctionalRules functional_rules(const Settings& settings) {
    FunctionalRules rules;
    rules.tickets = static_cast<double>(settings.tickets_functional);
    for (const NamedWeight& weight : settings.functional_weights)
        if (const auto* const found = std::ranges::find(kClasses, weight.name); found != kClasses.end())
            rules.weights[static_cast<std::size_t>(found - kClasses.begin())] = weight.weight;
    rules.divide = settings.share_functional_shares;
    rules.most_jobs = static_cast<std::size_t>(settings.max_functional_jobs);
    return rules;
}

// Returns the requested total of a resource, in the unit of formulas; 0: none is requested.
double amount_of(const Request& request, const Resources& resources, std::uint32_t resource) {
    if (resource == kNoResource) return 0;
    const std::int64_t asked = std::max<std::int64_t>(0, number_of(request.totals, resource).value_or(0));
    return formula_amount(asked, resources.find(resource)->kind);
}

// Returns the CPUs of the whole job, which are at least 1. For a waiting job with a select_range the least
// number of chunks counts.
double least_cpus(const Request& request, std::uint32_t ncpus) {
    const auto of_chunk = [&](const Chunk& chunk) -> double {
        const auto need = std::ranges::find(chunk.needs, ncpus, &Need::resource);
        return need == chunk.needs.end() ? 0 : static_cast<double>(need->amount);
    };
    double cpus = static_cast<double>(request.ncpus);
    if (!request.range.empty()) {
        const Chunk& first = request.chunks.front();
        cpus += static_cast<double>(request.range.least() - first.count) * of_chunk(first);
    }
    return std::max(1.0, cpus);
}

}  // namespace

double normalised(double value, double least, double greatest) {
    constexpr double kAlike = 0.00001;
    return greatest - least < kAlike ? 0.5 : (value - least) / (greatest - least);
}

bool gives_tickets(const Settings& settings, const Resources& resources) {
    return settings.tickets_functional > 0 || settings.tickets_share > 0 ||
           !settings.override_tickets.empty() || resources.id(kOwnTickets) != kNoResource;
}

Tickets::Tickets(const Settings& settings, Tables& tables, SchedShares* shares, Instant now,
                 std::span<const QueueSlot> queues)
    : settings_(settings), tables_(tables) {
    const JobTable& jobs = tables.jobs;
    std::vector<JobSlot> slots;
    for (const QueueSlot queue : queues)
        for (const auto* list : {&tables.queues[queue].queued, &tables.queues[queue].running})
            std::ranges::copy_if(*list, std::back_inserter(slots),
                                 [&](JobSlot job) { return jobs.state[job] != 'S'; });
    std::ranges::sort(slots, {}, [&](JobSlot job) { return std::pair(jobs.ctime[job], jobs.sequence[job]); });
    const std::uint32_t job_shares = tables.resources.id("job_shares");
    const std::uint32_t own = tables.resources.id(kOwnTickets);
    const bool by_tree = settings.tickets_share > 0 && shares != nullptr;
    number_.resize(jobs.handle.size());
    for (const JobSlot slot : slots) {
        const Request& request = tables.requests[jobs.request[slot]];
        const std::string_view queue = tables.queues[jobs.queue[slot]].name;
        jobs_.push_back(
            {.runs = jobs.state[slot] != 'Q',
             .names = {jobs.owner[slot], jobs.group[slot], jobs.project[slot], tables.strings.id(queue)},
             .job_shares = amount_of(request, tables.resources, job_shares),
             .own_override = amount_of(request, tables.resources, own),
             .leaf = by_tree ? shares->entity(tables, slot) : FairShares::kRoot,
             .cpus = least_cpus(request, tables.resources.known().ncpus)});
        number_[slot] = static_cast<std::uint32_t>(jobs_.size());
    }

    std::vector<double> so_far(jobs_.size());
    of_.resize(jobs_.size());
    std::string order = settings.ticket_order == "NONE" ? "" : settings.ticket_order;
    const std::string dependent = order;
    for (const char kind : {'O', 'F', 'S'})
        if (order.find(kind) == std::string::npos) order += kind;
    for (const char kind : order) {
        const std::span<const double> seen =
            dependent.find(kind) == std::string::npos ? std::span<const double>{} : so_far;
        std::vector<double> given;
        double Of::*const of_kind = kind == 'O'   ? &Of::by_override
                                    : kind == 'F' ? &Of::functional
                                                  : &Of::share;
        if (kind == 'O') {
            given = override_tickets(jobs_, OwnerShares(settings.override_tickets, tables.strings),
                                     settings.share_override_tickets, seen);
        } else if (kind == 'F' && settings.tickets_functional > 0) {
            given = functional_tickets(jobs_, OwnerShares(settings.functional_shares, tables.strings),
                                       functional_rules(settings), seen);
        } else if (kind == 'S' && by_tree) {
            share_ =
                share_tickets(jobs_, shares->tree, now, static_cast<double>(settings.tickets_share), seen);
            given = share_->tickets;
        }
        for (std::size_t i = 0; i < given.size(); ++i) {
            of_[i].*of_kind = given[i];
            so_far[i] += given[i];
        }
    }
    for (std::size_t i = 0; i < of_.size(); ++i) {
        const double first = share_ && jobs_[i].runs ? share_->with_waiting[i] - of_[i].share : 0;
        greatest_ = std::max(greatest_, of_[i].sum() + std::max(0.0, first));
    }
}

Tickets::Of Tickets::of(JobSlot job) const {
    const std::uint32_t number = entry_of(job);
    return number == 0 ? Of{} : of_[number - 1];
}

double Tickets::normalised(JobSlot job) const {
    return sched::normalised(of(job).sum(), 0, greatest_);
}

// Lists the owners of the job that have shares, with the shares and the jobs of each.
std::string Tickets::owners_text(std::span<const OwnerWeight> weights, JobSlot job) const {
    std::string all;
    const std::uint32_t number = entry_of(job);
    if (number == 0) return all;
    OwnerShares shares(weights, tables_.strings);
    const TicketJob& own = jobs_[number - 1];
    const OwnerShares::Owners owners = shares.owners(own.names);
    for (std::size_t k = 0; k < kOwnerKinds; ++k) {
        if (owners[k] == OwnerShares::kNobody) continue;
        const auto same = [&](bool runs) {
            return std::ranges::count_if(jobs_, [&](const TicketJob& other) {
                return other.names[k] == own.names[k] && other.runs == runs;
            });
        };
        all += fmt::format("{}{} {}: {:g} over {} running and {} waiting jobs", all.empty() ? "" : "; ",
                           kClasses[k], tables_.strings.text(own.names[k]), shares[owners[k]].shares,
                           same(true), same(false));
    }
    return all;
}

std::string Tickets::text(JobSlot job) const {
    const Of found = of(job);
    const auto in_brackets = [](const std::string& facts) { return facts.empty() ? "" : " (" + facts + ")"; };
    const std::uint32_t number = entry_of(job);
    std::string leaf;
    if (share_ && number != 0) {
        const ShareTarget& target = share_->targets[jobs_[number - 1].leaf];
        leaf = fmt::format("part {:.6g} of all for {} running and {} waiting jobs", target.overall,
                           target.running, target.jobs - target.running);
    }
    return fmt::format(
        "override {:.6g}{}, functional {:.6g}{}, share {:.6g}{}", found.by_override,
        in_brackets(owners_text(settings_.override_tickets, job)), found.functional,
        in_brackets(settings_.tickets_functional > 0 ? owners_text(settings_.functional_shares, job)
                                                     : std::string()),
        found.share, in_brackets(leaf));
}

}  // namespace pbs::sched

#include "server_plugin/scheduler/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <map>

#include "server_plugin/scheduler/gate/gate.h"
#include "server_plugin/scheduler/order/past_usage.h"
#include "server_plugin/scheduler/order/round_robin.h"
#include "server_plugin/scheduler/sorted_jobs.h"

namespace pbs::sched {
namespace {

constexpr std::chrono::seconds min_comment_age{300};

using Targets = std::vector<QueueView*>;

// What all jobs have in common that no gate can tell apart.
struct Category {
    const Targets* targets;
    Seconds walltime;
    std::uint32_t request;
    std::uint32_t run_host;
    std::uint32_t owner;
    std::uint32_t group;
    QueueSlot home;
    JobClass job_class;
    friend bool operator==(const Category&, const Category&) = default;
};
struct CategoryHash {
    std::size_t operator()(const Category& c) const {
        std::uint64_t h = reinterpret_cast<std::uintptr_t>(c.targets);
        const auto mix = [&](std::uint64_t value) {
            h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
            h ^= h >> 29;
        };
        mix(static_cast<std::uint64_t>(c.walltime.count()));
        mix(std::uint64_t{c.request} << 32 | c.run_host);
        mix(std::uint64_t{c.owner} << 32 | c.group);
        mix(std::uint64_t{c.home} << 8 | static_cast<std::uint64_t>(c.job_class));
        return h;
    }
};

struct Verdict {
    Reason reason;  // nothing: it may start in `view`
    QueueView* view = nullptr;
    bool rejected = false;
    bool lasting = true;     // holds whatever else is started
    bool waits = false;      // for running jobs to end
    std::size_t starts = 0;  // how many had been started when it was made
};

struct Started {
    JobSlot job;
    QueueView* view;
    Placement placement;
    Instant end;
};

struct Refused {
    JobSlot job;
    Reason reason;
    bool rejected;
};

class Cycle {
  public:
    explicit Cycle(const CycleInput& input);
    Decisions run();

  private:
    // Setting up.
    void set_up_state();
    void set_up_time();
    void count_running();
    Targets views_of(const std::vector<QueueSpec>& specs, bool dedicated);
    QueueView* make_view(QueueSlot slot, std::uint32_t host, bool dedicated);
    void fill_view(QueueView& view);
    void count_into(QueueView& view, JobSlot job, int sign) const;
    std::int64_t node_limit(const Queue& queue) const;
    std::int64_t nodes_of(JobSlot job) const;

    // Classify and order.
    void make_origin_list();
    void make_standard_list();
    void add_job(JobSlot job, JobClass job_class);
    bool is_waiting(JobSlot job) const;
    void order_class(JobClass job_class, bool prime_order);
    void deal_by_past_usage(std::vector<OrderedJob>& jobs);
    std::vector<std::uint32_t> queue_ranks() const;

    // Gates, place, decide.
    void consider_all(std::span<const OrderedJob> jobs);
    const Targets& targets_of(const OrderedJob& job);
    void consider(const OrderedJob& job, const Targets& targets);
    Verdict ask(Candidate& job, const Targets& targets);
    Reason ask_queue(Candidate& job, QueueView& view, Verdict& verdict);
    Verdict rejection(const Candidate& job);
    Candidate candidate(const OrderedJob& job) const;
    void set_walltime(Candidate& job, const QueueView& view) const;
    void start(const Candidate& job, QueueView& view);
    void refused(const OrderedJob& job, Candidate& candidate, const Verdict& verdict, const Targets& targets);
    bool reads_user(const Targets& targets) const;

    // Waiting and top jobs.
    void drain_for(Candidate& job, const Targets& targets);
    void reserve_for(Candidate& job, QueueView& view);
    std::optional<Instant> earliest_start(Candidate& job, QueueView& view);
    void reserve_at(Instant start, Candidate& job, QueueView& view);
    struct Ending {
        Instant end;
        JobSlot job;
        const Started* started;  // null: it ran before the cycle
    };
    std::vector<Ending> endings() const;
    void end_job(const Ending& ending, int sign);
    bool could_start(Candidate& job, QueueView& view, Instant at);
    bool holds_up(const OrderedJob& job, const Candidate& candidate, const Verdict& verdict,
                  const Targets& targets);

    // Early non-prime time.
    void start_non_prime_early();
    bool may_go_early(const QueueView& view) const;
    bool wants_to_go_early(QueueView& view);

    // Output.
    void decide(Decisions& out);
    void decide_start(Decisions& out, const Started& started, std::string_view text);
    void decide_comments(Decisions& out);
    void say_what_would_be_done(Decisions& out);
    std::string_view keep_text(Decisions& out, std::string_view text) const;
    ReasonContext reason_context() const { return {t_.zone, t_.jobs, t_.queues, t_.resources}; }

    const CycleInput& in_;
    Tables& t_;
    const Settings& s_;
    CycleState state_;
    std::optional<Vnodes> fake_vnodes_;
    std::vector<const Gate*> gates_;
    std::vector<const JobGate*> job_gates_;

    std::deque<QueueView> views_;
    Targets batch_;                                    // origin: batch_queues
    std::unordered_map<QueueSlot, Targets> in_place_;  // queues whose jobs start where they are
    std::unordered_map<const Targets*, bool> reads_user_;
    QueueSlot submit_ = no_slot;
    QueueSlot special_ = no_slot;

    std::array<std::vector<OrderedJob>, 6> classes_;
    std::unordered_map<Category, Verdict, CategoryHash> verdicts_;
    std::deque<Started> started_;
    std::vector<Refused> refused_;
    std::vector<std::uint32_t> refusal_of_;  // by job: index into refused_ and 1
    bool only_early_ = false;                // the second pass, over queues without prime time
    bool drained_ = false;
    JobSlot top_job_ = no_slot;  // strict_ordering without backfilling: nothing starts after it
    std::unordered_map<QueueSlot, std::int64_t> reservations_;
    std::int64_t considered_ = 0;
};

// ---- Setting up.

Cycle::Cycle(const CycleInput& input) : in_(input), t_(*input.tables), s_(input.policy->settings) {
    set_up_state();
    set_up_time();
    gates_ = gates_of(s_, in_.now);
    job_gates_ = job_gates_of(s_, in_.now);
    count_running();
    refusal_of_.assign(t_.jobs.handle.size(), 0);
}

void Cycle::set_up_state() {
    state_.now = in_.now;
    state_.settings = &s_;
    state_.jobs = &t_.jobs;
    state_.queues = &t_.queues;
    state_.requests = &t_.requests;
    state_.resources = &t_.resources;
    state_.server = &t_.server;
    state_.strings = &t_.strings;
    state_.vnodes = &t_.vnodes;
    state_.node_size = {s_.ssinode_cpus, s_.ssinode_mem};
    // Only together with TEST_ONLY: what is decided on such vnodes can't be carried out.
    if (s_.algorithm == Algorithm::origin && s_.fake_machine_mult > 1 && s_.test_only.holds(in_.now)) {
        fake_vnodes_ = t_.vnodes;
        fake_vnodes_->multiply(s_.fake_machine_mult);
        state_.vnodes = &*fake_vnodes_;
    }
    state_.vnodes->clear_reservations();
}

void Cycle::set_up_time() {
    const bool origin = s_.algorithm == Algorithm::origin;
    const rrule::WindowSet& prime = origin ? s_.prime : in_.configuration->prime;
    state_.prime_enforced = origin && s_.enforce_prime_time.holds(in_.now);
    state_.prime = PrimePeriods(prime, in_.now);
    state_.prime_now = state_.prime_enforced && state_.prime.now_inside();
    if (s_.backfill_prime) state_.prime_change = prime.next_change(in_.now);
    if (!origin || s_.enforce_dedicated_time.holds(in_.now))
        state_.dedicated = in_.configuration->dedicated.at_or_after(in_.now);
    state_.dedicated_now = state_.dedicated && state_.dedicated->start <= in_.now;
}

void Cycle::count_running() {
    state_.server_in_use.assign(t_.server.resources_available.size(), 0);
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        for (const JobSlot job : t_.queues[q].running) {
            state_.counts.count(q, t_.jobs.owner[job], t_.jobs.group[job]);
            ++state_.running;
            for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
                state_.server_in_use[i] += number_of(t_.requests[t_.jobs.request[job]].totals,
                                                     t_.server.resources_available[i].resource)
                                               .value_or(0);
        }
    }
}

Targets Cycle::views_of(const std::vector<QueueSpec>& specs, bool dedicated) {
    Targets targets;
    for (const QueueSpec& spec : specs) {
        const QueueSlot slot = t_.queues.find(spec.queue);
        if (slot == no_slot || t_.queues[slot].partition != in_.partition) continue;
        targets.push_back(make_view(slot, t_.strings.id(spec.host), dedicated));
    }
    for (QueueView* view : targets) fill_view(*view);
    return targets;
}

QueueView* Cycle::make_view(QueueSlot slot, std::uint32_t host, bool dedicated) {
    QueueView& view = views_.emplace_back();
    view.slot = slot;
    view.queue = &t_.queues[slot];
    view.host = host;
    view.dedicated = dedicated;
    view.pool = state_.vnodes->pool(view.queue->handle, host, in_.partition);
    view.node_limit = s_.algorithm == Algorithm::origin ? node_limit(*view.queue) : -1;
    view.in_use.assign(view.queue->resources_available.size(), 0);
    const auto walltime = number_of(view.queue->resources_max, t_.resources.known().walltime);
    if (walltime) view.max_walltime = Seconds(*walltime);
    if (const auto windows = in_.configuration->queue_windows.find(view.queue->name);
        windows != in_.configuration->queue_windows.end()) {
        view.has_windows = true;
        view.open = windows->second.contains(in_.now);
        (view.open ? view.closes : view.opens) = windows->second.next_change(in_.now);
    }
    if (const auto early = in_.memory->early_until.find(slot);
        early != in_.memory->early_until.end() && state_.prime_now)
        view.early = in_.now < early->second;
    return &view;
}

void Cycle::fill_view(QueueView& view) {
    // The same queue on several hosts (execute@a, execute@b): each has its own jobs.
    const bool shared = std::ranges::count(views_, view.slot, &QueueView::slot) > 1;
    view.empties = in_.now;
    for (const JobSlot job : view.queue->running) {
        if (shared && !state_.vnodes->holds_in(view.pool, job)) continue;
        count_into(view, job, 1);
        view.empties = std::max(view.empties, t_.jobs.end(job));
        if (view.dedicated) ++state_.dedicated_running;
    }
}

void Cycle::count_into(QueueView& view, JobSlot job, int sign) const {
    view.running += sign;
    view.nodes += sign * nodes_of(job);
    const Request& request = t_.requests[t_.jobs.request[job]];
    for (std::size_t i = 0; i < view.in_use.size(); ++i)
        view.in_use[i] +=
            sign * number_of(request.totals, view.queue->resources_available[i].resource).value_or(0);
}

// The nodes of a queue: what resources_available or resources_max say in ssinodes, else what resources_max
// has in CPUs and memory.
std::int64_t Cycle::node_limit(const Queue& queue) const {
    const auto& known = t_.resources.known();
    if (const auto nodes = number_of(queue.resources_available, known.ssinodes)) return *nodes;
    if (const auto nodes = number_of(queue.resources_max, known.ssinodes)) return *nodes;
    const auto ncpus = number_of(queue.resources_max, known.ncpus);
    const auto mem = number_of(queue.resources_max, known.mem);
    if (!ncpus && !mem) return -1;
    return state_.node_size.nodes(ncpus.value_or(-1), mem.value_or(-1));
}

std::int64_t Cycle::nodes_of(JobSlot job) const {
    const Request& request = t_.requests[t_.jobs.request[job]];
    if (request.ncpus < 0 && request.mem < 0 && request.ssinodes > 0) return request.ssinodes;
    return state_.node_size.nodes(request.ncpus, request.mem);
}

// ---- Classify and order.

void Cycle::add_job(JobSlot job, JobClass job_class) {
    const auto nodes = static_cast<std::uint32_t>(std::min<std::int64_t>(nodes_of(job), UINT32_MAX));
    classes_[static_cast<std::size_t>(job_class)].push_back({job, job_class, nodes, 0});
}

bool Cycle::is_waiting(JobSlot job) const {
    const Seconds waited = in_.now - t_.jobs.eligible[job];
    if ((t_.jobs.flags[job] & job_interactive) != 0)
        return s_.interactive_long_wait > Seconds(0) && state_.prime_now &&
               waited > t_.jobs.expected_walltime(job) + s_.interactive_long_wait;
    return s_.max_queued_time > Seconds(0) && waited > s_.max_queued_time;
}

void Cycle::make_origin_list() {
    batch_ = views_of(s_.batch_queues, false);
    const auto in_place = [&](const std::vector<QueueSpec>& specs, bool dedicated) {
        for (const QueueSpec& spec : specs) {
            const QueueSlot slot = t_.queues.find(spec.queue);
            if (slot == no_slot || in_place_.contains(slot)) continue;
            auto views = views_of({spec}, dedicated);
            if (views.empty()) continue;
            in_place_.emplace(slot, std::move(views));
            for (const JobSlot job : t_.queues[slot].queued)
                add_job(job, dedicated ? JobClass::dedicated : JobClass::rest);
        }
    };
    in_place(s_.dedicated_queues, true);
    const auto source = [&](const std::vector<QueueSpec>& spec) {
        const QueueSlot slot = spec.empty() ? no_slot : t_.queues.find(spec[0].queue);
        return slot == no_slot || t_.queues[slot].partition != in_.partition || in_place_.contains(slot)
                   ? no_slot
                   : slot;
    };
    special_ = source(s_.special_queue);
    submit_ = source(s_.submit_queue);
    if (special_ != no_slot)
        for (const JobSlot job : t_.queues[special_].queued) add_job(job, JobClass::special);
    if (submit_ != no_slot && submit_ != special_)
        for (const JobSlot job : t_.queues[submit_].queued)
            add_job(job, is_waiting(job) ? JobClass::waiting : JobClass::normal);
    in_place(s_.external_queues, false);
    for (const JobClass c :
         {JobClass::waiting, JobClass::special, JobClass::normal, JobClass::dedicated, JobClass::rest})
        order_class(c, state_.prime_now);
}

void Cycle::order_class(JobClass job_class, bool prime_order) {
    auto& jobs = classes_[static_cast<std::size_t>(job_class)];
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, {}};
    sort_by(origin_chain(job_class, prime_order), context, jobs);
    if (job_class == JobClass::normal && s_.sort_by_past_usage.holds(in_.now)) deal_by_past_usage(jobs);
}

void Cycle::deal_by_past_usage(std::vector<OrderedJob>& jobs) {
    std::vector<std::uint32_t> number(t_.strings.size(), UINT32_MAX);  // of a user, among those with jobs
    std::vector<double> usage;
    std::vector<UsageJob> dealt;
    dealt.reserve(jobs.size());
    for (const OrderedJob& job : jobs) {
        auto& user = number[t_.jobs.user[job.job]];
        if (user == UINT32_MAX) {
            user = static_cast<std::uint32_t>(usage.size());
            usage.push_back(t_.usage.usage(t_.strings.text(t_.jobs.group[job.job]),
                                           t_.strings.text(t_.jobs.owner[job.job])));
        }
        dealt.push_back(
            {user, past_usage_charge(s_.past_usage_charge, job.nodes, t_.jobs.expected_walltime(job.job))});
    }
    std::vector<OrderedJob> result;
    result.reserve(jobs.size());
    for (const auto i : permute_by_past_usage(dealt, std::move(usage))) result.push_back(jobs[i]);
    jobs = std::move(result);
}

std::vector<std::uint32_t> Cycle::queue_ranks() const {
    std::vector<QueueSlot> order(t_.queues.size());
    for (QueueSlot q = 0; q < order.size(); ++q) order[q] = q;
    std::ranges::sort(order, [&](QueueSlot a, QueueSlot b) {
        const Queue& x = t_.queues[a];
        const Queue& y = t_.queues[b];
        return x.priority != y.priority ? x.priority > y.priority : x.handle < y.handle;
    });
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    return rank;
}

void Cycle::make_standard_list() {
    auto& jobs = classes_[static_cast<std::size_t>(JobClass::normal)];
    for (QueueSlot q = 0; q < t_.queues.size(); ++q) {
        const Queue& queue = t_.queues[q];
        if (!queue.known || !queue.execution || queue.partition != in_.partition) continue;
        const bool dedicated = std::ranges::any_of(
            s_.dedicated_queues, [&](const QueueSpec& spec) { return spec.queue == queue.name; });
        Targets own = {make_view(q, 0, dedicated)};
        fill_view(*own[0]);
        in_place_.emplace(q, std::move(own));
        for (const JobSlot job : queue.queued) {
            const bool starving = s_.help_starving_jobs && in_.now - t_.jobs.eligible[job] > s_.max_starve;
            jobs.push_back({job, starving ? JobClass::waiting : JobClass::normal, 1, 0});
        }
    }
    const auto ranks = queue_ranks();
    const OrderContext context{in_.now, s_, t_.jobs, t_.queues, t_.requests, ranks};
    Policy& policy = *in_.policy;
    if (policy.resources_seen != t_.resources.size()) {
        policy.standard_chain = standard_chain(s_, t_.resources);
        policy.resources_seen = t_.resources.size();
    }
    if (policy.formula)
        for (OrderedJob& job : jobs) job.score = policy.formula->value(context, t_.resources, job.job);
    sort_by(policy.standard_chain, context, jobs);
    if (s_.round_robin) round_robin(context, jobs);
}

// ---- Gates, place, decide.

Candidate Cycle::candidate(const OrderedJob& job) const {
    Candidate c;
    c.job = job.job;
    c.job_class = job.job_class;
    c.owner = t_.jobs.owner[job.job];
    c.group = t_.jobs.group[job.job];
    c.request = &t_.requests[t_.jobs.request[job.job]];
    c.nodes = job.nodes;
    c.asked = t_.jobs.walltime[job.job];
    c.walltime = t_.jobs.expected_walltime(job.job);
    return c;
}

// A job that asks for no walltime gets the queue's maximum.
void Cycle::set_walltime(Candidate& job, const QueueView& view) const {
    if (job.asked >= Seconds(0)) return;
    job.walltime = view.max_walltime >= Seconds(0) ? view.max_walltime : unlimited_walltime;
}

const Targets& Cycle::targets_of(const OrderedJob& job) {
    const auto own = in_place_.find(t_.jobs.queue[job.job]);
    return own != in_place_.end() ? own->second : batch_;
}

bool Cycle::reads_user(const Targets& targets) const {
    return std::ranges::any_of(gates_, [&](const Gate* gate) {
        return gate->reads_user != nullptr && std::ranges::any_of(targets, [&](const QueueView* view) {
                   return gate->reads_user(state_, *view);
               });
    });
}

void Cycle::consider_all(std::span<const OrderedJob> jobs) {
    for (const OrderedJob& job : jobs) consider(job, targets_of(job));
}

void Cycle::consider(const OrderedJob& job, const Targets& targets) {
    if (!only_early_) ++considered_;
    const auto [user, made] = reads_user_.try_emplace(&targets, false);
    if (made) user->second = reads_user(targets);
    const Category category{&targets,
                            t_.jobs.walltime[job.job],
                            t_.jobs.request[job.job],
                            t_.jobs.run_host[job.job],
                            user->second ? t_.jobs.owner[job.job] : 0,
                            user->second ? t_.jobs.group[job.job] : 0,
                            t_.jobs.queue[job.job],
                            job.job_class};
    Verdict* known = nullptr;
    if (in_.categories) {
        const auto [place, fresh] = verdicts_.try_emplace(category);
        known = &place->second;
        if (!fresh && known->reason && (known->lasting || known->starts == started_.size())) {
            Candidate c = candidate(job);
            return refused(job, c, *known, targets);
        }
    }
    Candidate c = candidate(job);
    Verdict verdict;
    const QueueSlot home = t_.jobs.queue[job.job];
    if (top_job_ != no_slot)
        verdict.reason = {Because::after_top_job, UINT32_MAX, top_job_};
    else if (!t_.queues[home].started)
        verdict.reason = {Because::queue_not_started, home};
    else
        verdict = ask(c, targets);
    verdict.starts = started_.size();
    if (!verdict.reason) return start(c, *verdict.view);
    if (known != nullptr) *known = verdict;
    refused(job, c, verdict, targets);
}

// Asks the queues one after the other. The reason is that of the first one that the job fits.
Verdict Cycle::ask(Candidate& job, const Targets& targets) {
    Verdict verdict;
    for (const JobGate* gate : job_gates_) {
        verdict.reason = gate->check(state_, job);
        if (!verdict.reason) continue;
        verdict.rejected = true;
        return verdict;
    }
    Reason best;
    bool fits = false;
    bool fits_and_may = false;
    for (QueueView* view : targets) {
        const bool other_pass = view->early != only_early_ && job.job_class == JobClass::normal;
        if (other_pass && only_early_) continue;
        set_walltime(job, *view);
        Verdict of_queue;
        Reason reason = ask_queue(job, *view, of_queue);
        if (!reason && !other_pass) {
            verdict.view = view;
            verdict.reason = {};
            return verdict;
        }
        if (!reason) reason = {Because::next_pass, view->slot};
        verdict.lasting = verdict.lasting && of_queue.lasting;
        verdict.waits = verdict.waits || of_queue.waits;
        const bool unfit =
            reason.because >= Because::above_queue_maximum && reason.because <= Because::above_queue_nodes;
        const bool not_allowed = reason.because == Because::not_in_acl;
        if (unfit) {
            if (!fits && !best) best = reason;
        } else if (not_allowed) {
            if (!fits) best = reason;
            fits = true;
        } else {
            if (!fits_and_may) best = reason;
            fits = fits_and_may = true;
        }
    }
    verdict.reason = best;
    if (!fits && &targets == &batch_ && !only_early_) return rejection(job);
    return verdict;
}

// A job that fits no batch queue is rejected; if there is no batch queue at all, it can only wait.
Verdict Cycle::rejection(const Candidate& job) {
    Verdict verdict;
    verdict.rejected = !batch_.empty();
    verdict.reason = {Because::fits_no_queue, UINT32_MAX, 0, job.nodes,
                      std::max(Seconds(0), job.asked).count()};
    return verdict;
}

Reason Cycle::ask_queue(Candidate& job, QueueView& view, Verdict& verdict) {
    for (const Gate* gate : gates_) {
        const Reason reason = gate->check(state_, job, view);
        if (!reason) continue;
        verdict.lasting = (gate->traits & lifted_by_start) == 0;
        verdict.waits = (gate->traits & waits_for_jobs) != 0;
        if ((gate->traits & about_prime) != 0 && may_go_early(view))
            view.refused_for_prime.push_back(job.job);
        return reason;
    }
    return {};
}

void Cycle::start(const Candidate& job, QueueView& view) {
    state_.vnodes->take(state_.placement, *job.request, state_.place_rules(job, view).node_size);
    state_.vnodes->use_reserved(state_.placement, *job.request, state_.place_rules(job, view).node_size,
                                state_.ends(job));
    count_into(view, job.job, 1);
    view.empties = std::max(view.empties, state_.ends(job));
    if (view.drained_for != no_slot && state_.ends(job) > view.drain_until) {
        view.spare_nodes -= job.nodes;
        --view.spare_jobs;
    }
    if (view.dedicated) ++state_.dedicated_running;
    ++state_.running;
    state_.counts.count(view.slot, job.owner, job.group);
    for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
        state_.server_in_use[i] +=
            number_of(job.request->totals, t_.server.resources_available[i].resource).value_or(0);
    started_.push_back({job.job, &view, std::exchange(state_.placement, {}), state_.ends(job)});
    if (auto& refusal = refusal_of_[job.job]; refusal != 0) {
        refused_[refusal - 1].job = no_slot;
        refusal = 0;
    }
}

void Cycle::refused(const OrderedJob& job, Candidate& c, const Verdict& verdict, const Targets& targets) {
    if (!only_early_) {
        refused_.push_back({job.job, verdict.reason, verdict.rejected});
        refusal_of_[job.job] = static_cast<std::uint32_t>(refused_.size());
    } else if (auto& first = refused_[refusal_of_[job.job] - 1].reason; first.because == Because::next_pass) {
        first = verdict.reason;
    }
    if (verdict.rejected) return;
    if (s_.algorithm == Algorithm::origin) {
        if (job.job_class == JobClass::waiting && !drained_ && verdict.waits) drain_for(c, targets);
    } else if (holds_up(job, c, verdict, targets)) {
        top_job_ = job.job;
    }
}

// ---- Waiting and top jobs.

// The standard algorithm: the first jobs that wait for others to end get reservations, as many as
// backfill_depth says; with strict_ordering and no backfilling they hold up all that come after them.
bool Cycle::holds_up(const OrderedJob& job, const Candidate& c, const Verdict& verdict,
                     const Targets& targets) {
    if (!verdict.waits || top_job_ != no_slot) return false;
    if (!s_.strict_ordering && job.job_class != JobClass::waiting) return false;
    QueueView& view = *targets[0];
    const bool own = view.queue->backfill_depth >= 0;
    const std::int64_t depth = own ? view.queue->backfill_depth : s_.backfill_depth;
    if (depth == 0) return s_.strict_ordering;
    auto& made = reservations_[own ? view.slot : no_slot];
    if (made >= depth) return false;
    ++made;
    Candidate top = c;
    set_walltime(top, view);
    reserve_for(top, view);
    return false;
}

void Cycle::reserve_for(Candidate& job, QueueView& view) {
    if (const auto at = earliest_start(job, view)) reserve_at(*at, job, view);
}

// Origin: the queue that the job fits soonest is drained for it.
void Cycle::drain_for(Candidate& job, const Targets& targets) {
    QueueView* soonest = nullptr;
    std::optional<Instant> start;
    for (QueueView* view : targets) {
        Verdict verdict;
        set_walltime(job, *view);
        if (!ask_queue(job, *view, verdict) || !verdict.waits) continue;
        const auto at = earliest_start(job, *view);
        if (at && (!start || *at < *start)) {
            start = at;
            soonest = view;
        }
    }
    if (soonest == nullptr) return;
    drained_ = true;
    set_walltime(job, *soonest);
    reserve_at(*start, job, *soonest);
}

std::vector<Cycle::Ending> Cycle::endings() const {
    std::vector<Ending> list;
    for (QueueSlot q = 0; q < t_.queues.size(); ++q)
        for (const JobSlot job : t_.queues[q].running)
            // What runs longer than it asked for ends any moment, but not now.
            list.push_back({std::max(t_.jobs.end(job), in_.now + Seconds(60)), job, nullptr});
    for (const Started& started : started_) list.push_back({started.end, started.job, &started});
    std::ranges::sort(list, [&](const Ending& a, const Ending& b) {
        return a.end != b.end ? a.end < b.end : t_.jobs.sequence[a.job] < t_.jobs.sequence[b.job];
    });
    return list;
}

// Takes a running job out of everything that is counted (sign -1), or puts it back (1).
void Cycle::end_job(const Ending& ending, int sign) {
    const JobSlot job = ending.job;
    const Request& request = t_.requests[t_.jobs.request[job]];
    if (ending.started != nullptr) {
        const NodeSize size = s_.algorithm == Algorithm::origin ? state_.node_size : NodeSize{};
        if (sign < 0)
            state_.vnodes->give_back(ending.started->placement, request, size);
        else
            state_.vnodes->take(ending.started->placement, request, size);
        count_into(*ending.started->view, job, sign);
    } else {
        const QueueSlot slot = t_.jobs.queue[job];
        const bool shared = std::ranges::count(views_, slot, &QueueView::slot) > 1;
        for (QueueView& view : views_)
            if (view.slot == slot && (!shared || state_.vnodes->holds_in(view.pool, job)))
                count_into(view, job, sign);
        if (sign < 0)
            state_.vnodes->release_held(job);
        else
            state_.vnodes->retake_held(job);
    }
    const QueueSlot counted = ending.started != nullptr ? ending.started->view->slot : t_.jobs.queue[job];
    state_.counts.count(counted, t_.jobs.owner[job], t_.jobs.group[job], sign);
    state_.running += sign;
    for (std::size_t i = 0; i < state_.server_in_use.size(); ++i)
        state_.server_in_use[i] +=
            sign * number_of(request.totals, t_.server.resources_available[i].resource).value_or(0);
}

// Would all that waits for running jobs be there at that time?
bool Cycle::could_start(Candidate& job, QueueView& view, Instant at) {
    const Instant now = std::exchange(state_.now, at);
    state_.looking_ahead = true;
    const bool could = std::ranges::all_of(gates_, [&](const Gate* gate) {
        return (gate->traits & waits_for_jobs) == 0 || !gate->check(state_, job, view);
    });
    state_.looking_ahead = false;
    state_.now = now;
    return could;
}

// When enough running jobs have ended for the job to start in the queue. Everything is as before afterwards.
std::optional<Instant> Cycle::earliest_start(Candidate& job, QueueView& view) {
    const auto list = endings();
    std::optional<Instant> start;
    std::size_t ended = 0;
    while (ended < list.size() && !start) {
        const Instant at = list[ended].end;
        while (ended < list.size() && list[ended].end == at) end_job(list[ended++], -1);
        if (could_start(job, view, at)) start = at;
    }
    while (ended > 0) end_job(list[--ended], 1);
    return start;
}

// Keeps what the job needs at `start` from jobs that would still run then.
void Cycle::reserve_at(Instant start, Candidate& job, QueueView& view) {
    const auto list = endings();
    std::size_t ended = 0;
    while (ended < list.size() && list[ended].end <= start) end_job(list[ended++], -1);
    if (could_start(job, view, start)) {
        state_.vnodes->reserve(start, state_.placement, *job.request,
                               state_.place_rules(job, view).node_size);
        state_.reserved_for.push_back(job.job);
        if (s_.algorithm == Algorithm::origin) {
            view.drained_for = job.job;
            view.drain_until = start;
            view.spare_nodes = view.node_limit < 0 ? INT64_MAX / 2 : view.node_limit - view.nodes - job.nodes;
            const auto most = view.queue->max_running;
            view.spare_jobs = most < 0 ? INT64_MAX / 2 : most - view.running - 1;
        }
    }
    while (ended > 0) end_job(list[--ended], 1);
}

// ---- Early non-prime time (NP_DRAIN_BACKTIME, NP_DRAIN_IDLETIME).

// Close enough to the boundary, and nothing has run in the queue for long enough?
bool Cycle::may_go_early(const QueueView& view) const {
    if (!state_.prime_now || view.early || s_.np_drain_backtime == Seconds(0) ||
        s_.np_drain_idletime == Seconds(0) || !s_.nonprime_drain_sys.holds(in_.now))
        return false;
    const auto boundary = state_.prime.boundary();
    return boundary && *boundary - in_.now <= s_.np_drain_backtime && view.running == 0 &&
           view.queue->idle_since != Instant{} && in_.now - view.queue->idle_since > s_.np_drain_idletime;
}

// Is there a job that only prime time keeps from starting in the queue?
bool Cycle::wants_to_go_early(QueueView& view) {
    if (!may_go_early(view)) return false;
    view.early = true;
    const bool wanted = std::ranges::any_of(view.refused_for_prime, [&](JobSlot slot) {
        Candidate job = candidate({slot, JobClass::normal, static_cast<std::uint32_t>(nodes_of(slot)), 0});
        set_walltime(job, view);
        Verdict verdict;
        return !ask_queue(job, view, verdict);
    });
    view.early = false;
    return wanted;
}

// Queues that don't observe prime time any more go through the normal jobs in non-prime order.
void Cycle::start_non_prime_early() {
    for (QueueView* view : batch_) {
        if (!wants_to_go_early(*view)) continue;
        const auto next_prime = state_.prime.next_start(*state_.prime.boundary());
        in_.memory->early_until[view->slot] = next_prime.value_or(Instant::max());
        view->early = true;
    }
    if (std::ranges::none_of(batch_, &QueueView::early)) return;
    auto& normal = classes_[static_cast<std::size_t>(JobClass::normal)];
    std::vector<bool> gone(t_.jobs.handle.size(), false);
    for (const Started& started : started_) gone[started.job] = true;
    for (const Refused& refusal : refused_)
        if (refusal.job != no_slot && refusal.rejected) gone[refusal.job] = true;
    std::erase_if(normal, [&](const OrderedJob& job) { return gone[job.job]; });
    order_class(JobClass::normal, false);
    verdicts_.clear();
    only_early_ = true;
    consider_all(normal);
    only_early_ = false;
}

// ---- Output.

Decisions Cycle::run() {
    if (s_.algorithm == Algorithm::origin)
        make_origin_list();
    else
        make_standard_list();
    Decisions out;
    out.memory = std::make_unique<std::pmr::monotonic_buffer_resource>(64 * 1024);
    if (!s_.sorted_job_dumpfile.empty() && s_.algorithm == Algorithm::origin) {
        std::vector<OrderedJob> all;
        for (const QueueView& view : views_)
            for (const JobSlot job : view.queue->running) add_job(job, JobClass::running);
        order_class(JobClass::running, false);
        for (const auto& jobs : classes_) all.insert(all.end(), jobs.begin(), jobs.end());
        out.sorted_jobs =
            FileToWrite{s_.sorted_job_dumpfile, sorted_jobs_text(t_, s_, in_.now, state_.prime_now, all)};
        classes_[static_cast<std::size_t>(JobClass::running)].clear();
    }
    for (const auto& jobs : classes_) consider_all(jobs);
    if (s_.algorithm == Algorithm::origin) start_non_prime_early();
    out.jobs_considered = considered_;
    if (s_.algorithm == Algorithm::origin && s_.test_only.holds(in_.now))
        say_what_would_be_done(out);
    else
        decide(out);
    for (const Started& started : started_) {
        const NodeSize size = s_.algorithm == Algorithm::origin ? state_.node_size : NodeSize{};
        state_.vnodes->give_back(started.placement, t_.requests[t_.jobs.request[started.job]], size);
    }
    state_.vnodes->clear_reservations();
    return out;
}

std::string_view Cycle::keep_text(Decisions& out, std::string_view text) const {
    char* kept = static_cast<char*>(out.memory->allocate(std::max<std::size_t>(1, text.size()), 1));
    std::memcpy(kept, text.data(), text.size());
    return {kept, text.size()};
}

void Cycle::decide(Decisions& out) {
    const auto normal_text = keep_text(out, started_text(in_.now, false, t_.zone));
    const auto special_text = keep_text(out, started_text(in_.now, true, t_.zone));
    for (const Started& started : started_) {
        const bool special = special_ != no_slot && t_.jobs.queue[started.job] == special_;
        decide_start(out, started, special ? special_text : normal_text);
    }
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot || !refusal.rejected) continue;
        out.list.push_back({DecisionKind::reject,
                            t_.jobs.handle[refusal.job],
                            {},
                            keep_text(out, text(refusal.reason, reason_context())),
                            {},
                            {}});
    }
    decide_comments(out);
}

void Cycle::decide_start(Decisions& out, const Started& started, std::string_view text) {
    std::pmr::polymorphic_allocator<> memory(out.memory.get());
    const Request& request = t_.requests[t_.jobs.request[started.job]];
    const bool origin = s_.algorithm == Algorithm::origin;
    const auto ssinodes = t_.resources.known().ssinodes;
    Decision decision{
        DecisionKind::run, t_.jobs.handle[started.job], started.view->queue->handle, text, {}, {}};
    if (origin && ssinodes != no_resource) {
        auto* amount = memory.new_object<Amount>(Amount{ssinodes, nodes_of(started.job), {}});
        decision.set_resources = {amount, 1};
    }
    auto* places = memory.allocate_object<Place>(started.placement.size());
    for (std::size_t i = 0; i < started.placement.size(); ++i) {
        const Part& part = started.placement[i];
        const Chunk& chunk = request.chunks[part.chunk];
        auto* amounts = memory.allocate_object<Amount>(chunk.needs.size() + 1);
        std::size_t n = 0;
        std::int64_t ncpus = -1;
        std::int64_t mem = -1;
        for (const Need& need : chunk.needs) {
            if (need.resource == t_.resources.known().ncpus) ncpus = need.amount;
            if (need.resource == t_.resources.known().mem) mem = need.amount;
            if (origin && need.resource == ssinodes) continue;
            std::construct_at(&amounts[n++], Amount{need.resource, need.amount * part.count, {}});
        }
        if (origin && ssinodes != no_resource)
            std::construct_at(&amounts[n++],
                              Amount{ssinodes, state_.node_size.nodes(ncpus, mem) * part.count, {}});
        std::construct_at(&places[i], Place{(*state_.vnodes)[part.vnode].handle, {amounts, n}});
    }
    decision.places = {places, started.placement.size()};
    out.list.push_back(decision);
}

// Lazy commenting (origin-overview): a comment is set only if the job arrived after the last cycle, or has
// none, or wasn't touched for some time; and never again with the same text.
void Cycle::decide_comments(Decisions& out) {
    struct Text {
        std::string_view text;
        std::uint32_t number;
    };
    std::map<Reason, Text> texts;
    JobTable& jobs = t_.jobs;
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot || refusal.rejected) continue;
        auto& flags = jobs.flags[refusal.job];
        const bool fresh = (flags & job_fresh) != 0;
        const bool has_comment = (flags & job_has_comment) != 0;
        flags &= static_cast<std::uint8_t>(~job_fresh);
        if (!fresh && has_comment && in_.now - jobs.mtime[refusal.job] < min_comment_age) continue;
        const auto [place, made] = texts.try_emplace(refusal.reason);
        Text& line = place->second;
        if (made) {
            line.text = keep_text(out, text(refusal.reason, reason_context()));
            line.number = static_cast<std::uint32_t>(std::hash<std::string_view>{}(line.text)) | 1U;
        }
        if (has_comment && jobs.comment[refusal.job] == line.number) continue;
        jobs.comment[refusal.job] = line.number;
        out.list.push_back({DecisionKind::comment, jobs.handle[refusal.job], {}, line.text, {}, {}});
    }
}

// TEST_ONLY: lines for the log instead of decisions.
void Cycle::say_what_would_be_done(Decisions& out) {
    for (const Started& started : started_)
        out.log.push_back(fmt::format("test_only: would start job {} in queue {}", t_.jobs.id[started.job],
                                      started.view->queue->name));
    for (const Refused& refusal : refused_) {
        if (refusal.job == no_slot) continue;
        out.log.push_back(fmt::format("test_only: would {} job {}: {}",
                                      refusal.rejected ? "reject" : "not start", t_.jobs.id[refusal.job],
                                      text(refusal.reason, reason_context())));
    }
}

}  // namespace

Decisions run_cycle(const CycleInput& input) {
    return Cycle(input).run();
}

std::optional<double> start_charge(const Tables& tables, const Settings& settings, Instant now, JobSlot job) {
    if (settings.algorithm != Algorithm::origin || !settings.sort_by_past_usage.holds(now))
        return std::nullopt;
    const Request& request = tables.requests[tables.jobs.request[job]];
    const NodeSize size{settings.ssinode_cpus, settings.ssinode_mem};
    const bool given = request.ncpus < 0 && request.mem < 0 && request.ssinodes > 0;
    return past_usage_charge(settings.past_usage_charge,
                             given ? request.ssinodes : size.nodes(request.ncpus, request.mem),
                             tables.jobs.expected_walltime(job));
}

}  // namespace pbs::sched

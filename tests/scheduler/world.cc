#include "tests/scheduler/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/scheduler/journal.h"

namespace pbs::sched::test {
namespace {

// Adds what a job or a reservation asks of the arrangement of its chunks.
void add_wishes(const auto& options, std::vector<Amount>& asked) {
    if (!options.select_range.empty()) asked.push_back({select_range, 0, options.select_range});
    if (!options.chunk_order.empty()) asked.push_back({chunk_order, 0, options.chunk_order});
    if (options.per_host >= 0) asked.push_back({per_host, options.per_host, {}});
    if (!options.prefer.empty()) asked.push_back({prefer, 0, options.prefer});
}

}  // namespace

World::World(rrule::Zone zone) : scheduler(zone), zone_(std::move(zone)) {
    const auto define = [&](std::uint32_t id, ResourceKind kind, const char* name, bool consumable) {
        scheduler.resource_defined({id, kind, name, consumable});
    };
    define(ncpus, ResourceKind::integer, "ncpus", true);
    define(mem, ResourceKind::size, "mem", true);
    define(walltime, ResourceKind::duration, "walltime", false);
    define(ssinodes, ResourceKind::integer, "ssinodes", true);
    define(select_, ResourceKind::string, "select", false);
    define(place, ResourceKind::string, "place", false);
    define(host, ResourceKind::string, "host", false);
    define(hpm, ResourceKind::integer, "hpm", false);
    define(gpus, ResourceKind::integer, "ngpus", true);
    define(arch, ResourceKind::string, "arch", false);
    define(bigmem, ResourceKind::boolean, "bigmem", false);
    define(deadline, ResourceKind::string, "deadline", false);
    define(select_range, ResourceKind::string, "select_range", false);
    define(chunk_order, ResourceKind::string, "chunk_order", false);
    define(per_host, ResourceKind::integer, "per_host", false);
    define(prefer, ResourceKind::string, "prefer", false);
    define(start_within, ResourceKind::integer, "start_within", false);
    scheduler.sched_changed({"default", true, "", "/sched_priv"});
    configuration.scheds["default"] = {"p1"};
}

Settings& World::origin(const std::vector<std::string>& batch_queues) {
    Settings& s = policy();
    s.name = "p1";
    s.algorithm = Algorithm::origin;
    s.submit_queue = {{"submit"}};
    s.sort_by_past_usage = {false};
    s.avoid_fragmentation = {false};
    queue({.name = "submit"});
    for (const std::string& name : batch_queues) {
        s.batch_queues.push_back(parse_queue_spec(name));
        queue({.name = s.batch_queues.back().queue});
    }
    return s;
}

rrule::WindowSet World::window(const std::string& rule, int from_hour, int to_hour, bool on_holidays,
                               const std::vector<std::string>& holidays) {
    auto made = rrule::Window::make(
        {rule, std::chrono::hours(from_hour), std::chrono::hours(to_hour), on_holidays}, zone_);
    auto days = rrule::NonWorkDays::parse(holidays, zone_);
    EXPECT_TRUE(made.has_value() && days.has_value());
    rrule::WindowSet set({*made}, *days);
    if (journal_ != nullptr) {
        note([=, number = windows_.size()] {
            return fmt::format("const auto w{} = world.window({});", number,
                               window_arguments(rule, from_hour, to_hour, on_holidays, holidays));
        });
        windows_.push_back(set);
    }
    return set;
}

void World::prime_time(int from_hour, int to_hour) {
    configuration.prime = window("FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", from_hour, to_hour);
}

void World::configure() {
    for (auto& [name, settings] : configuration.policies) {
        settings.name = name;
        settings.prime = configuration.prime;
    }
    note([c = configuration, names = WindowNames(windows_)] { return text_of(c, names); });
    const auto set = scheduler.set_configuration(configuration);
    ASSERT_TRUE(set.has_value()) << set.error().message;
}

std::vector<EntityLimitRecord> records_of(const std::vector<LimitOptions>& limits) {
    std::vector<EntityLimitRecord> records;
    records.reserve(limits.size());
    for (const LimitOptions& limit : limits)
        records.push_back({limit.entity, limit.name, limit.resource, limit.most, limit.soft});
    return records;
}

void World::keep_journal() {
    journal_ = std::make_shared<Journal>();
}

void World::paste_on_failure() {
    journal_ = std::make_shared<Journal>(Journal::Prints::on_failure);
}

void World::note(std::function<std::string()> call) {
    if (journal_ != nullptr) journal_->note(std::move(call));
}

std::string World::journal() const {
    return journal_ == nullptr ? std::string() : journal_->text();
}

void World::server(const ServerRecord& record) {
    if (journal_ != nullptr) note([text = text_of(record)] { return text; });
    EXPECT_TRUE(scheduler.server_changed(record));
}

void World::queue(const QueueOptions& o) {
    note([o] { return fmt::format("world.queue({});", text_of(o)); });
    set_queue(o);
}

void World::set_queue(const QueueOptions& o) {
    const auto [place_, made] = queues_.emplace(o.name, QueueHandle(queues_.size() + 1));
    std::vector<Amount> maximum;
    std::vector<Amount> minimum;
    std::vector<Amount> available;
    if (o.nodes >= 0) maximum.push_back({ssinodes, o.nodes, {}});
    if (o.max_ncpus >= 0) maximum.push_back({ncpus, o.max_ncpus, {}});
    if (o.max_mem >= 0) maximum.push_back({mem, o.max_mem, {}});
    if (o.max_walltime >= 0) maximum.push_back({walltime, o.max_walltime, {}});
    if (o.min_ncpus >= 0) minimum.push_back({ncpus, o.min_ncpus, {}});
    if (o.available_ncpus >= 0) available.push_back({ncpus, o.available_ncpus, {}});
    if (o.available_gpus >= 0) available.push_back({gpus, o.available_gpus, {}});
    std::vector<std::string_view> acl(o.acl_users.begin(), o.acl_users.end());
    QueueRecord r;
    r.queue = place_->second;
    r.name = o.name;
    r.execution = o.execution;
    r.started = o.started;
    r.user_acl = !o.acl_users.empty();
    r.priority = o.priority;
    r.max_running = o.max_running;
    r.max_user_run = o.max_user_run;
    r.max_group_run = o.max_group_run;
    r.resources_max = maximum;
    r.resources_min = minimum;
    r.resources_available = available;
    r.acl_users = acl;
    r.partition = o.partition;
    r.backfill_depth = o.backfill_depth;
    r.execution_type = o.execution_type;
    const auto limits = records_of(o.limits);
    r.limits = limits;
    r.node_group_key = o.node_group_key;
    scheduler.queue_changed(r);
}

void World::vnode(const VnodeOptions& o) {
    note([o] { return fmt::format("world.vnode({});", text_of(o)); });
    const auto [place_, made] = vnodes_.emplace(o.name, VnodeHandle(vnodes_.size() + 1));
    vnode_names_[static_cast<std::uint64_t>(place_->second)] = o.name;
    std::vector<Amount> available = {{ncpus, o.ncpus, {}}, {mem, o.mem, {}}};
    if (o.gpus >= 0) available.push_back({gpus, o.gpus, {}});
    if (!o.arch.empty()) available.push_back({arch, 0, o.arch});
    if (!o.host_resource.empty()) available.push_back({host, 0, o.host_resource});
    if (o.bigmem >= 0) available.push_back({bigmem, o.bigmem, {}});
    for (const HeldAmount& amount : o.more) available.push_back({amount.resource, amount.number, {}});
    VnodeRecord r;
    r.vnode = place_->second;
    r.name = o.name;
    r.host = o.host.empty() ? o.name : o.host;
    r.free = o.free;
    r.priority = o.priority;
    if (!o.queue.empty()) r.queue = queues_.at(o.queue);
    r.partition = o.partition;
    r.resources_available = available;
    r.load_thousandths = o.load;
    r.system_time_thousandths = o.systime;
    r.load_at = o.load_at;
    r.max_load_thousandths = o.max_load;
    r.busy = o.busy;
    r.sharing = o.sharing;
    scheduler.vnode_changed(r);
}

void World::vnodes(int count, const VnodeOptions& options) {
    for (int i = 0; i < count; ++i) {
        VnodeOptions one = options;
        if (i > 0) one.name += std::to_string(i);
        vnode(one);
    }
}

std::string World::id(int job) const {
    const JobOptions& o = options(job);
    const std::string index = o.subjob > 0 ? "[" + std::to_string(o.subjob) + "]" : "";
    return std::to_string(o.array > 0 ? o.array : job) + index + ".server";
}

void World::send(int number, Instant now) {
    const Job& j = jobs_.at(number);
    const JobOptions& o = j.options;
    std::vector<Amount> asked;
    const auto cpus = o.ncpus >= 0 ? o.ncpus : o.nodes >= 0 ? o.nodes * 2 : -1;
    if (cpus >= 0) asked.push_back({ncpus, cpus, {}});
    if (o.mem >= 0) asked.push_back({mem, o.mem, {}});
    if (o.walltime >= 0) asked.push_back({walltime, o.walltime, {}});
    if (o.gpus >= 0) asked.push_back({gpus, o.gpus, {}});
    if (o.hpm >= 0) asked.push_back({hpm, o.hpm, {}});
    if (o.ssinodes >= 0) asked.push_back({ssinodes, o.ssinodes, {}});
    if (!o.select.empty()) asked.push_back({select_, 0, o.select});
    add_wishes(o, asked);
    if (!o.deadline.empty()) asked.push_back({deadline, 0, o.deadline});
    if (!o.arch.empty()) asked.push_back({arch, 0, o.arch});
    if (o.bigmem >= 0) asked.push_back({bigmem, o.bigmem, {}});
    if (o.start_within >= 0) asked.push_back({start_within, o.start_within, {}});
    if (!o.place.empty()) asked.push_back({place, 0, o.place});
    std::vector<std::vector<Amount>> amounts;
    std::vector<Place> held;
    amounts.reserve(j.places.size());
    for (const auto& [vnode, list] : j.places) {
        auto& one = amounts.emplace_back();
        for (const HeldAmount& a : list) one.push_back({a.resource, a.number, {}});
        held.push_back({VnodeHandle(vnode), one});
    }
    const std::string id = this->id(number);
    JobRecord r;
    r.job = JobHandle(static_cast<std::uint64_t>(number));
    r.sequence = static_cast<std::uint64_t>(number);
    r.id = id;
    r.owner = o.owner;
    r.group = o.group;
    r.project = o.project;
    r.origin_queue = o.origin_queue.empty() ? o.queue : o.origin_queue;
    r.run_host = o.run_host;
    r.queue = queues_.at(j.queue);
    r.state = j.state;
    r.together = o.together;
    r.priority = o.priority;
    r.interactive = o.interactive;
    r.rerunnable = o.rerunnable;
    r.checkpointable = o.checkpointable;
    r.not_preemptable = o.not_preemptable;
    r.topjob_ineligible = o.topjob_ineligible;
    r.elsewhere = o.elsewhere;
    r.suspended = j.state == 'S';
    r.preempted_at = j.preempted_at;
    if (r.suspended) r.elapsed = (j.preempted_at - j.started).count();
    r.has_comment = j.has_comment;
    r.ctime = r.qtime = o.queued;
    r.etime = o.eligible == Instant{} ? o.queued : o.eligible;
    r.accrual = j.accrual;
    r.stime = j.started;
    r.mtime = j.modified;
    r.walltime = Seconds(o.walltime);
    r.soft_walltime = Seconds(o.soft_walltime);
    r.extended = o.extended;
    r.requested = asked;
    r.places = held;
    r.account = o.account;
    const Amount used[] = {{mem, o.used_mem, {}}};
    if (o.used_mem >= 0) r.used = used;
    scheduler.job_changed(now, r);
}

int World::job(const JobOptions& options, Instant now) {
    const int number = next_job_++;
    note([=] { return fmt::format("world.job({}, {});  // {}", text_of(options), text_of(now), number); });
    jobs_[number] = {options,
                     options.queue,
                     options.state,
                     {},
                     options.modified == Instant{} ? options.queued : options.modified,
                     options.has_comment,
                     {},
                     {}};
    send(number, now);
    return number;
}

void World::alter(int job, const JobOptions& options, Instant now) {
    note([=] { return fmt::format("world.alter({}, {}, {});", job, text_of(options), text_of(now)); });
    jobs_.at(job).options = options;
    send(job, now);
}

void World::change(int number, const JobOptions& options, Instant now) {
    note([=] { return fmt::format("world.change({}, {}, {});", number, text_of(options), text_of(now)); });
    Job& job = jobs_.at(number);
    job.options = options;
    const bool goes_on = job.state == 'S' && options.state == 'Q';  // it stays suspended
    if (!goes_on) {
        job.state = options.state;
        job.places.clear();
        if (options.state != 'Q') job.preempted_at = {};
    }
    job.queue = options.queue;
    job.has_comment = options.has_comment;
    if (options.modified != Instant{}) job.modified = options.modified;
    send(number, now);
}

void World::run(int number, const std::string& queue, const std::string& vnode, Instant started) {
    note([=] {
        return fmt::format("world.run({}, \"{}\", \"{}\", {});", number, queue, vnode, text_of(started));
    });
    Job& job = jobs_.at(number);
    job.state = 'R';
    job.queue = queue;
    job.started = started;
    job.preempted_at = {};
    job.options.together = 0;
    const JobOptions& o = job.options;
    std::vector<HeldAmount> amounts = {{ncpus, o.ncpus >= 0 ? o.ncpus : o.nodes * 2}};
    if (o.mem >= 0) amounts.push_back({mem, o.mem});
    job.places = {{static_cast<std::uint64_t>(vnodes_.at(vnode)), amounts}};
    send(number, started);
}

void World::finish(int number, Instant now) {
    note([=] { return fmt::format("world.finish({}, {});", number, text_of(now)); });
    remove(number, now);
}

void World::remove(int number, Instant now) {
    jobs_.erase(number);
    scheduler.job_removed(now, JobHandle(static_cast<std::uint64_t>(number)));
}

void World::preempt(int number, char method, Instant now) {
    if (method == 'D') return remove(number, now);
    Job& job = jobs_.at(number);
    job.preempted_at = now;
    job.state = method == 'S' ? 'S' : 'Q';
    if (method != 'S') job.places.clear();
    send(number, now);
}

// The walltime of a suspended job stands still. So resume() moves the job's start forward by the duration of
// the suspension.
void World::resume(Job& job, Instant now) {
    job.started += now - job.preempted_at;
    job.state = 'R';
    job.preempted_at = {};
}

void World::hours(const std::string& queue, rrule::WindowSet open, AtClose at_close) {
    note([=, names = WindowNames(windows_)] {
        return fmt::format("world.hours(\"{}\", {}, AtClose({}));", queue, names.of(open),
                           static_cast<int>(at_close));
    });
    configuration.queue_hours.insert_or_assign(queue, QueueHours(open, {{queue + "_hours", at_close, open}}));
}

Outcome World::cycle(Instant now, bool apply, const std::string& sched, CycleTrigger trigger) {
    note([=] {
        return fmt::format("world.cycle({}, {}, \"{}\", CycleTrigger({}));", text_of(now), apply, sched,
                           static_cast<int>(trigger));
    });
    return take(scheduler.cycle(now, sched, trigger), now, apply);
}

std::string World::exec_vnode(std::span<const Place> places) const {
    std::string text;
    for (const Place& p : places) {
        text += text.empty() ? "(" : p.joined ? "+" : ")+(";
        text += vnode_names_.at(static_cast<std::uint64_t>(p.vnode));
        for (const Amount& a : p.amounts) {
            if (a.resource == ncpus) text += ":ncpus=" + std::to_string(a.number);
            if (a.resource == mem) text += ":mem=" + std::to_string(a.number / kMb) + "mb";
        }
    }
    return text.empty() ? text : text + ")";
}

int World::reserve(const ReservationOptions& options) {
    const int number = next_reservation_++;
    note([=] { return fmt::format("world.reserve({});  // {}", text_of(options), number); });
    set_queue({.name = queue_of_reservation(number), .started = false});
    reservations_[number] = {options};
    send_reservation(number);
    return number;
}

void World::ask_again(int number, const ReservationOptions& options) {
    note([=] { return fmt::format("world.ask_again({}, {});", number, text_of(options)); });
    Reserved& reserved = reservations_.at(number);
    reserved.options = options;
    reserved.asked = true;
    send_reservation(number);
}

void World::begin_reservation(int number) {
    note([=] { return fmt::format("world.begin_reservation({});", number); });
    reservations_.at(number).begun = true;
    set_queue({.name = queue_of_reservation(number)});
}

void World::end_reservation(int number, Instant now) {
    note([=] { return fmt::format("world.end_reservation({}, {});", number, text_of(now)); });
    drop_reservation(number, now);
}

void World::drop_reservation(int number, Instant now) {
    std::vector<int> jobs;
    for (const auto& [job, known] : jobs_)
        if (known.queue == queue_of_reservation(number)) jobs.push_back(job);
    for (const int job : jobs) remove(job, now);
    scheduler.reservation_removed(ReservationHandle(static_cast<std::uint64_t>(number) + 1'000'000));
    scheduler.queue_removed(queues_.at(queue_of_reservation(number)));
    reservations_.erase(number);
}

void World::send_reservation(int number) {
    const Reserved& reserved = reservations_.at(number);
    const ReservationOptions& o = reserved.options;
    std::vector<Amount> asked{{select_, 0, o.select}};
    if (!o.place.empty()) asked.push_back({place, 0, o.place});
    add_wishes(o, asked);
    std::vector<Amount> later_asked;
    if (!o.later_select.empty()) later_asked = {{select_, 0, o.later_select}};
    std::deque<std::vector<Amount>> amounts;
    std::deque<std::vector<Place>> lists;
    const auto held = [&](const Reserved::Places& places) {
        auto& places_held = lists.emplace_back();
        for (const auto& [vnode, list] : places) {
            auto& one = amounts.emplace_back();
            for (const HeldAmount& a : list) one.push_back({a.resource, a.number, {}});
            places_held.push_back({VnodeHandle(vnode), one});
        }
        return std::span<const Place>(places_held);
    };
    std::vector<ReservationOccurrence> later;
    for (std::size_t i = 0; i < o.later.size(); ++i)
        later.push_back({o.later[i].first, o.later[i].second,
                         i < reserved.later.size() ? held(reserved.later[i]) : std::span<const Place>(),
                         reserved.asks(i)});
    const std::string id = queue_of_reservation(number) + ".server";
    ReservationRecord r;
    r.reservation = ReservationHandle(static_cast<std::uint64_t>(number) + 1'000'000);
    r.id = id;
    r.queue = queues_.at(queue_of_reservation(number));
    r.asked = reserved.asked;
    r.start = o.start;
    r.end = o.end;
    r.requested = asked;
    r.places = held(reserved.places);
    r.later = later;
    r.later_requested = later_asked;
    r.keeps_first = reserved.asked && !o.only.empty();
    r.soonest = reserved.asked && o.soonest;
    r.held_start = reserved.held.start;
    r.held_end = reserved.held.end;
    scheduler.reservation_changed(r);
}

// Makes a job of a further subjob of an array, which starts with the first one.
int World::split_off_subjob(int number) {
    const int subjob = next_job_++;
    Job& job = jobs_[subjob];
    job.options = jobs_.at(number).options;
    job.queue = job.options.queue;
    if (job.options.array == 0) job.options.array = number;
    job.options.subjob = 1'000'000 + subjob;
    return subjob;
}

Outcome World::take(const Decisions& decisions, Instant now, bool apply, const std::set<int>& skipped) {
    Outcome out;
    out.considered = decisions.jobs_considered;
    out.look_aheads = decisions.look_aheads;
    out.searches_ahead = decisions.searches_ahead;
    out.log = decisions.log;
    out.wants.insert(decisions.wants.begin(), decisions.wants.end());
    if (decisions.sorted_jobs) out.sorted_jobs = decisions.sorted_jobs->text;
    if (decisions.schedule) out.schedule = decisions.schedule->text;
    std::set<int> arrays_started;
    const auto queue_name = [&](QueueHandle handle) {
        for (const auto& [name, known] : queues_)
            if (known == handle) return name;
        return std::string("?");
    };
    for (const Decision& d : decisions.list) {
        if (d.kind == DecisionKind::confirm || d.kind == DecisionKind::deny) {
            const int one = static_cast<int>(static_cast<std::uint64_t>(d.reservation) - 1'000'000);
            std::vector<std::span<const Place>> times;
            for (std::size_t i = 0, first = 0; i < d.places.size(); ++i) {
                if (i + 1 < d.places.size() && !d.places[i + 1].next_occurrence) continue;
                times.push_back(d.places.subspan(first, i + 1 - first));
                first = i + 1;
            }
            if (d.kind == DecisionKind::confirm)
                for (const auto& time : times)
                    out.confirmed[one] += (out.confirmed[one].empty() ? "" : ";") + exec_vnode(time);
            else
                out.denied[one] = d.text;
            if (!apply) continue;
            Reserved& reserved = reservations_.at(one);
            reserved.asked = false;
            if (d.kind == DecisionKind::confirm) {
                if (d.start) {
                    ReservationOptions& its = reserved.options;
                    its.end = *d.start + (its.end - its.start);
                    its.start = *d.start;
                    out.begins[one] = *d.start;
                }
                auto next = times.begin();
                const auto take_places = [&] {
                    Reserved::Places places;
                    for (const Place& p : *next) {
                        auto& held = places.emplace_back(static_cast<std::uint64_t>(p.vnode),
                                                         std::vector<HeldAmount>{});
                        for (const Amount& a : p.amounts) held.second.push_back({a.resource, a.number});
                    }
                    ++next;
                    return places;
                };
                const std::set<std::size_t> only = std::exchange(reserved.options.only, {});
                if (only.empty()) reserved.places = take_places();
                reserved.later.resize(reserved.options.later.size());
                for (std::size_t i = 0; i < reserved.later.size(); ++i)
                    if (only.empty() || only.contains(i)) reserved.later[i] = take_places();
                reserved.held = reserved.options;
            } else if (reserved.places.empty()) {
                drop_reservation(one, now);
                continue;
            } else {
                reserved.options = reserved.held;
            }
            send_reservation(one);
            continue;
        }
        int number = static_cast<int>(d.job);
        if (skipped.contains(number)) continue;
        if (apply && d.together > 0 && !arrays_started.insert(number).second)
            number = split_off_subjob(number);
        Job& job = jobs_.at(number);
        if (d.kind == DecisionKind::reject) {
            out.rejected[number] = d.text;
            if (apply) remove(number, now);
            continue;
        }
        if (d.kind == DecisionKind::move) {
            out.moved[number] = queue_name(d.queue);
            if (apply) {
                job.queue = out.moved[number];
                send(number, now);
            }
            continue;
        }
        if (d.kind == DecisionKind::preempt) {
            std::string methods;
            for (const PreemptMethod method : d.methods)
                if (method != PreemptMethod::none) methods += static_cast<char>(method);
            out.preempted[number] = {static_cast<int>(d.for_job), methods};
            if (!d.text.empty()) out.comment[number] = d.text;
            if (apply) preempt(number, methods.at(0), now);
            continue;
        }
        if (d.kind == DecisionKind::estimate) {
            out.expected[number] = d.start;
            out.exec_vnode[number] = exec_vnode(d.places);
            for (const Place& p : d.places)
                out.vnodes[number].push_back(vnode_names_.at(static_cast<std::uint64_t>(p.vnode)));
            continue;
        }
        if (d.kind == DecisionKind::weigh) {
            out.weights[number] = d.weight;
            continue;
        }
        if (d.kind == DecisionKind::accrue) {
            out.accrue[number] = d.accrue_type;
            if (apply) {
                job.accrual = {d.accrue_type, job.accrual.at(now), now};
                send(number, now);
            }
            continue;
        }
        out.comment[number] = d.text;
        if (d.kind == DecisionKind::run) {
            out.started.push_back(number);
            out.queue[number] = queue_name(d.queue);
            out.exec_vnode[number] = exec_vnode(d.places);
            for (const Amount& a : d.set_resources)
                if (a.resource == ssinodes)
                    out.ssinodes[number] = a.number;
                else if (a.resource == select_) {
                    out.select[number] = a.text;
                    if (apply) job.options.select = a.text;
                }
            std::vector<std::pair<std::uint64_t, std::vector<HeldAmount>>> places;
            for (const Place& p : d.places) {
                out.vnodes[number].push_back(vnode_names_.at(static_cast<std::uint64_t>(p.vnode)));
                auto& held =
                    places.emplace_back(static_cast<std::uint64_t>(p.vnode), std::vector<HeldAmount>{});
                for (const Amount& a : p.amounts) held.second.push_back({a.resource, a.number});
            }
            if (apply && job.state == 'S') {
                resume(job, now);
            } else if (apply) {
                job.preempted_at = {};
                job.options.together = 0;
                job.queue = out.queue[number];
                job.state = 'R';
                job.started = now;
                job.places = std::move(places);
            }
        }
        if (apply) {
            job.has_comment = true;
            job.modified = now;
            send(number, now);
        }
    }
    return out;
}

}  // namespace pbs::sched::test

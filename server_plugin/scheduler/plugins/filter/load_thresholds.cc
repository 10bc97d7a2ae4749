// load_thresholds: a vnode takes no more jobs once its load has reached a threshold. Also counts the jobs
// that a cycle starts, for job_load_adjustments and load_formula.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "server_plugin/scheduler/framework/filter.h"
#include "server_plugin/scheduler/state/tables.h"

namespace pbs::sched {
namespace {

constexpr std::int64_t kAnyNumber = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostShown = 5;  // the most vnodes and instants in an explanation

class Thresholds {
  public:
    // Forgets the results of the last search. Call it before each search for a place.
    void begin(const CycleState& state) {
        if (!is_made_) make(state);
        until_.reset();
        closed_.clear();
    }
    // Returns the number of chunks that the vnode may give to a job. `cpus`: the CPUs of a chunk. `given`:
    // the CPUs that the job already has on the vnode's host.
    std::int64_t most(const CycleState& state, const Request& request, QueueSlot queue, VnodeSlot slot,
                      std::int64_t cpus, std::int64_t given) {
        std::int64_t most = kAnyNumber;
        const std::int64_t enough = most_wanted(request);
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!all_[i].concerns(queue)) continue;
            most = std::min(most, most_by(i, state, enough, slot, cpus, given));
        }
        if (most == 0 && closed_.size() < kMostShown && std::ranges::find(closed_, slot) == closed_.end())
            closed_.push_back(slot);
        return most;
    }
    // Returns why the job may not have these places together.
    Reason reason(const CycleState& state, const Request& request, QueueSlot queue, const Placement& places) {
        const std::vector<Part>& parts = places.parts;
        const std::int64_t enough = most_wanted(request);
        std::unordered_map<std::uint32_t, std::int64_t> given;  // by host: the CPUs of earlier chunks there
        // The pieces of a chunk count together.
        for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
            std::int64_t cpus = 0;
            do {
                cpus += cpus_of(state, request, places, parts[end]);
            } while (++end < parts.size() && parts[end].joined);
            for (std::size_t p = first; p < end; ++p)
                if (const Reason reason =
                        reason_at(state, enough, queue, parts[p], cpus, given[host_of(state, parts[p])]))
                    return reason;
            for (std::size_t p = first; p < end; ++p)
                given[host_of(state, parts[p])] += parts[p].count * cpus_of(state, request, places, parts[p]);
        }
        return {};
    }
    std::int64_t given_on_host(const CycleState& state, const Request& request, const Placement& given,
                               VnodeSlot slot) const {
        std::int64_t sum = 0;
        const Vnodes& vnodes = *state.vnodes;
        for (const Part& part : given)
            if (vnodes[part.vnode].host_number == vnodes[slot].host_number)
                sum += part.count * cpus_of(state, request, given, part);
        return sum;
    }
    // Forgets the host's correction, because a job there was counted in or out.
    void forget(std::uint32_t host) { hosts_.erase(host); }
    // The first instant at which a search like the last one may find more; nullopt: time alone changes
    // nothing.
    std::optional<Instant> until() const { return until_; }
    // Returns a text for people: the loads of the vnodes that gave nothing in the last search.
    std::string details(const CycleState& state, QueueSlot queue);

  private:
    // A host at the present instant.
    struct Now {
        bool is_known = false;
        Instant as_of{};
        std::int64_t cpus = 0;
        std::int64_t correction = 0;  // HostLoads::correction(), in hundredths of a CPU
        // By threshold and vnode: the instant at which a vnode that has reached the threshold takes chunks
        // again.
        std::map<std::pair<std::size_t, VnodeSlot>, std::optional<Instant>> opens{};
    };
    struct Threshold {
        const LoadThreshold* rule;
        LoadName name;
        std::uint32_t text;  // the number of the name in CycleState::strings
        double adjustment;
        bool of_all;
        QueueSlot queue;
        bool concerns(QueueSlot slot) const { return of_all || queue == slot; }
        double per_cpu(const Now& now) const { return name.per_new_cpu(adjustment, now.cpus); }
        double corrected(double value, const Now& now, std::int64_t given) const {
            const double by = static_cast<double>(now.correction) / 100 + static_cast<double>(given);
            return value + (rule->is_upper() ? 1 : -1) * by * per_cpu(now);
        }
        // The number of chunks that the vnode may give.
        std::int64_t chunks(double value, const Now& now, std::int64_t cpus, std::int64_t given) const {
            const double at = corrected(value, now, given);
            if (rule->is_reached(at)) return 0;
            const double step = static_cast<double>(cpus) * per_cpu(now);
            if (step <= 0) return kAnyNumber;
            // Find the greatest number of chunks that leaves the threshold unreached.
            const double ratio = std::floor(std::abs(rule->number - at) / step);
            if (ratio > 1e15) return kAnyNumber;
            const auto reached_by = [&](std::int64_t number) {
                return rule->is_reached(at +
                                        (rule->is_upper() ? 1 : -1) * static_cast<double>(number) * step);
            };
            auto below = static_cast<std::int64_t>(ratio);
            if (below > 0 && reached_by(below)) --below;
            // One more chunk may start: the one by which the load reaches the threshold. But if the load is a
            // consumable resource, this chunk would take more than there is.
            return name.consumable ? below : below + 1;
        }
    };

    static std::int64_t millionths(double value) {
        return static_cast<std::int64_t>(std::llround(std::clamp(value, -9e12, 9e12) * 1e6));
    }

    void make(const CycleState& state) {
        is_made_ = true;
        const Settings& s = *state.settings;
        for (const LoadThreshold& rule : s.load_thresholds) {
            const auto own = std::ranges::find(s.job_load_adjustments, rule.name, &NamedWeight::name);
            all_.push_back({&rule, LoadName::of(rule.name, *state.resources), state.strings->id(rule.name),
                            own == s.job_load_adjustments.end() ? 0 : own->weight, rule.queue.empty(),
                            rule.queue.empty() ? kNoSlot : state.queues->find(rule.queue)});
        }
        std::erase_if(all_, [](const Threshold& t) { return !t.of_all && t.queue == kNoSlot; });
    }

    Now& now_of(const CycleState& state, std::uint32_t host) {
        const Vnodes& vnodes = *state.vnodes;
        Now& now = hosts_[host];
        if (now.is_known && now.as_of == state.now) return now;
        now = {true, state.now, vnodes.host_cpus(host), correction(state, host, state.now), {}};
        return now;
    }
    static std::int64_t correction(const CycleState& state, std::uint32_t host, Instant at) {
        if (state.settings->job_load_adjustments.empty()) return 0;
        return state.vnodes->loads().correction(*state.vnodes, host, at,
                                                state.settings->load_adjustment_decay_time);
    }

    // Returns why the part of a chunk with these CPUs can't be on its vnode. `given`: the CPUs that earlier
    // chunks have on the vnode's host.
    Reason reason_at(const CycleState& state, std::int64_t enough, QueueSlot queue, const Part& part,
                     std::int64_t cpus, std::int64_t given) {
        const Vnodes& vnodes = *state.vnodes;
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!all_[i].concerns(queue) || most_by(i, state, enough, part.vnode, cpus, given) >= part.count)
                continue;
            const Threshold& t = all_[i];
            const Now now = now_of(state, vnodes[part.vnode].host_number);
            const auto value = t.name.value(vnodes[part.vnode], now.cpus);
            const double shown = value ? t.corrected(*value, now, 0) : 0;
            const LoadAt at = !value                      ? LoadAt::unknown
                              : t.rule->is_reached(shown) ? LoadAt::reached
                                                          : LoadAt::too_near;
            if (std::ranges::find(closed_, part.vnode) == closed_.end()) closed_.push_back(part.vnode);
            return {ReasonCode::hosts_at_threshold,
                    queue,
                    t.text,
                    millionths(shown),
                    millionths(t.rule->number),
                    threshold_code(part.vnode, t.rule->how, at)};
        }
        return {};
    }

    // The number of chunks of the request's most frequent kind.
    static std::int64_t most_wanted(const Request& request) {
        std::int64_t most = 0;
        for (const Chunk& chunk : request.chunks) most = std::max(most, chunk.count);
        return most;
    }

    // Returns the number of chunks that the vnode may give by one threshold. `enough`: the number from which
    // on a greater one makes no difference to the job.
    std::int64_t most_by(std::size_t i, const CycleState& state, std::int64_t enough, VnodeSlot slot,
                         std::int64_t cpus, std::int64_t given) {
        const Vnode& vnode = (*state.vnodes)[slot];
        Now& now = now_of(state, vnode.host_number);
        const auto value = all_[i].name.value(vnode, now.cpus);
        if (!value) return 0;
        const std::int64_t most = all_[i].chunks(*value, now, cpus, given);
        if (most >= enough || now.correction == 0 || all_[i].per_cpu(now) <= 0) return most;
        // A vnode that has reached its threshold takes chunks again at the same instant for all jobs, so
        // compute that once. With a consumable resource the instant depends on the amount that the job needs.
        const bool is_closed = given == 0 && !all_[i].name.consumable &&
                               all_[i].rule->is_reached(all_[i].corrected(*value, now, 0));
        if (is_closed)
            if (const auto known = now.opens.find({i, slot}); known != now.opens.end()) {
                note(known->second);
                return most;
            }
        const auto opens = more_at(i, state, vnode.host_number, *value, cpus, given, most);
        if (is_closed) now.opens.emplace(std::pair(i, slot), opens);
        note(opens);
        return most;
    }

    // Returns the instant at which corrections have decayed far enough for the vnode to give more than `most`
    // chunks; nullopt: it doesn't even without corrections.
    std::optional<Instant> more_at(std::size_t i, const CycleState& state, std::uint32_t host, double value,
                                   std::int64_t cpus, std::int64_t given, std::int64_t most) const {
        Now then;
        then.cpus = state.vnodes->host_cpus(host);
        const auto gives_more = [&](Instant at) {
            then.correction = correction(state, host, at);
            return all_[i].chunks(value, then, cpus, given) > most;
        };
        Instant no = state.now;
        // If the clock was set back, jobs may have started after now: don't assume that corrections end
        // within the decay time.
        const auto ends = state.vnodes->loads().ends(*state.vnodes, host, state.now,
                                                     state.settings->load_adjustment_decay_time);
        if (ends.empty() || !gives_more(ends.back())) return std::nullopt;
        Instant yes = ends.back();
        while (yes - no > Seconds(1)) {
            const Instant between = no + (yes - no) / 2;
            (gives_more(between) ? yes : no) = between;
        }
        return yes;
    }
    void note(std::optional<Instant> at) {
        if (at && (!until_ || *at < *until_)) until_ = at;
    }

    static std::uint32_t host_of(const CycleState& state, const Part& part) {
        return (*state.vnodes)[part.vnode].host_number;
    }
    // The CPUs of one chunk, or piece, of a part.
    static std::int64_t cpus_of(const CycleState& state, const Request& request, const Placement& places,
                                const Part& part) {
        std::int64_t cpus = 0;
        for (const Need& need : places.amounts_of(part, request))
            if (need.resource == state.resources->known().ncpus) cpus += need.amount;
        return cpus;
    }

    bool is_made_ = false;
    std::vector<Threshold> all_;
    std::unordered_map<std::uint32_t, Now> hosts_;
    std::optional<Instant> until_;
    std::vector<VnodeSlot> closed_;
};

std::string number_text(double value) {
    return fmt::format("{:.4g}", value);
}

std::string Thresholds::details(const CycleState& state, QueueSlot queue) {
    std::string text;
    for (const VnodeSlot slot : closed_) {
        const Vnode& vnode = (*state.vnodes)[slot];
        const Now now = now_of(state, vnode.host_number);
        for (const Threshold& t : all_) {
            if (!t.concerns(queue)) continue;
            text += fmt::format("{}{}: {} ", text.empty() ? "" : "; ", vnode.name, t.rule->name);
            const auto value = t.name.value(vnode, now.cpus);
            if (!value) {
                text += "isn't known";
                continue;
            }
            text += number_text(*value);
            if (now.correction == 0 || t.adjustment <= 0) continue;
            text += fmt::format(", with jobs that have just started {}",
                                number_text(t.corrected(*value, now, 0)));
            const auto ends = state.vnodes->loads().ends(*state.vnodes, vnode.host_number, state.now,
                                                         state.settings->load_adjustment_decay_time);
            const std::size_t shown = std::min(ends.size(), kMostShown);
            for (std::size_t i = 0; i < shown; ++i)
                text += fmt::format("{}{}", i == 0 ? ", which count until " : ", ",
                                    time_text(ends[i], state.tables->zone));
            if (ends.size() > shown) text += ", ...";
        }
    }
    return text;
}

Thresholds& thresholds_of(CycleState& state) {
    return state.own.of<Thresholds>();
}

bool is_of_threshold(const Reason& reason) {
    return reason.code == ReasonCode::hosts_at_threshold;
}

const OwnLimit kLoadLimit{
    .words = "Not Running: Load of vnodes is at a threshold",
    .reads_user = false,
    .finds_running = true,
    .lifted_by = blocker::kTold,
    .begin = [](CycleState& state) { thresholds_of(state).begin(state); },
    .binds_vnodes = [](const Settings& s) { return !s.load_thresholds.empty(); },
    .until = [](CycleState& state) { return thresholds_of(state).until(); },
    .most =
        [](CycleState& state, const JobNeeds& job, const User&, const QueueView& view, VnodeSlot vnode,
           const Row& needs, const Placement& given) {
            Thresholds& thresholds = thresholds_of(state);
            const std::uint32_t column = state.vnodes->columns().of(state.resources->known().ncpus);
            // A piece of a chunk may have any amount if the vnode is open at all. In the needs of a piece the
            // column of openness is 0.
            const bool is_piece = needs[kOpenColumn] == 0;
            const std::int64_t most =
                thresholds.most(state, *job.request, view.slot, vnode, column != 0 ? needs[column] : 0,
                                thresholds.given_on_host(state, *job.request, given, vnode));
            return is_piece && most > 0 ? kAnyNumber : most;
        },
    .check =
        [](CycleState& state, const JobNeeds& job, const User&, const QueueView& view,
           const Placement& places) {
            return thresholds_of(state).reason(state, *job.request, view.slot, places);
        },
    .details = [](CycleState& state, const Reason& reason) -> std::string {
        if (!is_of_threshold(reason)) return {};
        return thresholds_of(state).details(state, reason.queue);
    },
    .count =
        [](CycleState& state, const LimitUser& user, int sign) {
            Vnodes& vnodes = *state.vnodes;
            const std::uint32_t column = vnodes.columns().of(state.resources->known().ncpus);
            if (column == 0 || state.settings->job_load_adjustments.empty()) return;
            std::vector<std::pair<std::uint32_t, std::int64_t>> hosts;
            for (const Vnodes::Share& share : user.shares)
                if (share.column == column) hosts.emplace_back(vnodes[share.vnode].host_number, share.amount);
            std::ranges::sort(hosts);
            for (auto first = hosts.begin(); first != hosts.end();) {
                const auto last =
                    std::find_if(first, hosts.end(), [&](const auto& h) { return h.first != first->first; });
                std::int64_t cpus = 0;
                const std::uint32_t host = first->first;
                for (; first != last; ++first) cpus += first->second;
                vnodes.loads().count(host, user.began, cpus, sign);
                thresholds_of(state).forget(host);
                if (!state.looking_ahead && state.load_order != 0)
                    vnodes.loads().started(vnodes, state.load_order, host);
            }
        },
    .keep = [](CycleState&, const LimitUser&, Reservation&) {},
    .gives = is_of_threshold,
};

}  // namespace

extern const Filter kLoadThresholdsFilter{
    .name = "load_thresholds",
    .attributes = "load_thresholds, load_formula, job_load_adjustments, load_adjustment_decay_time",
    .wanted = [](const Settings& s, Instant) { return !s.load_thresholds.empty() || s.orders_by_load(); },
    .own_limit = &kLoadLimit};

}  // namespace pbs::sched

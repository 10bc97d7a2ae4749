#include "server_plugin/host/life/depend.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/block_answer.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr int kMostAtOnce = 100;
constexpr std::array kAfterKinds = {LinkKind::after, LinkKind::afterok, LinkKind::afternotok,
                                    LinkKind::afterany};

LinkKind kind_of(DependType type) {
    return static_cast<LinkKind>(type);
}

// The outcome of a job for the jobs that wait for it, as two masks with a bit for each kind of link. If a
// kind is in `done`, its outcome is decided, and the links of this kind are removed. If the kind is also in
// `met`, the awaited event has happened: the waiting jobs are released. Otherwise the waiting jobs are
// deleted.
struct JobOutcome {
    unsigned done = 0;
    unsigned met = 0;

    uint64_t packed() const { return done | met << 4U; }
    static JobOutcome unpacked(uint64_t value) {
        return {static_cast<unsigned>(value & 15U), static_cast<unsigned>(value >> 4U & 15U)};
    }
};
constexpr unsigned bit(LinkKind kind) {
    return 1U << static_cast<unsigned>(kind);
}
constexpr unsigned kAllKinds = 15;

void log_later(Change& change, const Job& job, std::string text) {
    change.then(
        [&server = change.server(), id = job.id, text = std::move(text)] { server.parts.log.job(id, text); });
}

void change_hold(Job& job, ifl::Op op, const State& state) {
    static const AttributeDef& holds = *job_table().find("Hold_Types");
    ifl::Attribute hold;
    hold.name = holds.name;
    hold.value = "s";
    hold.op = op;
    (void)apply_change(job.attributes, holds, hold, state.resources);
}

// Returns the number of the job's runone set, the jobs of which only one is to run; 0: the job is in no set.
uint64_t set_of(const State& state, uint64_t job) {
    const auto links = state.dependencies.of(job, LinkKind::runone);
    return links.empty() ? 0 : links.front().other;
}

template <typename Do>
void for_members(const State& state, uint64_t set, Do&& visit) {
    if (set == 0) return;
    auto link = state.dependencies.next_to(set, LinkKind::runone);
    while (link) {
        const uint64_t member = link->job;
        visit(*link);
        link = state.dependencies.next_to(set, LinkKind::runone, member);
    }
}

const Job* running_member(const Change& change, const State& state, uint64_t set, uint64_t but) {
    const Job* found = nullptr;
    for_members(state, set, [&](const Link& link) {
        const Job* job = change.current(link.job);
        if (link.job != but && job != nullptr && (job->running() || job->begun())) found = job;
    });
    return found;
}

// Sets or removes the job's system hold, according to the links of the job.
void settle_hold(Change& change, Job& job) {
    const State& state = change.server().state;
    if (job.running() || job.history()) return;
    if (state.dependencies.waits(job.sequence)) {
        change_hold(job, ifl::Op::incr, state);
        advance(job, JobEvent::depends, state, change.now());
    } else if (job.substate == substate::kHeldByDepend) {
        if (running_member(change, state, set_of(state, job.sequence), job.sequence) == nullptr)
            change_hold(job, ifl::Op::decr, state);
        advance(job, JobEvent::depends_no_more, state, change.now());
    } else {
        return;
    }
    if (job.state == job_state::kQueued) change.want_cycle(PBS_SCH_SCHEDULE_NEW);
}

// Releases a waiting job from job `other`, after the link between them was removed. Writes the waiting job's
// row only if its hold changes.
void let_go(Change& change, const Job& waiting, uint64_t other) {
    const State& state = change.server().state;
    log_later(change, waiting, fmt::format("Dependency on job {} released.", state.job_id(other)));
    if (!state.dependencies.waits(waiting.sequence) && waiting.substate == substate::kHeldByDepend)
        settle_hold(change, change.job(waiting));
}

void end_because_of(Change& change, const Job& job, uint64_t other) {
    abort_job(
        change, change.job(job),
        fmt::format("Job deleted as result of dependency on job {}", change.server().state.job_id(other)));
}

void unlink_all(Change& change, uint64_t job, LinkKind kind) {
    for (const Link& link : change.server().state.dependencies.of(job, kind)) change.unlink(link);
}

// ---- Applies the value of a job's `depend` ----

class Linker {
  public:
    // `value`: the text of `depend`. If the job is rejected, the text stays as its attribute, so that qstat
    // -x shows it.
    Linker(Change& change, Job& job, std::string value)
        : change_(change), state_(change.server().state), job_(job), value_(std::move(value)) {}

    // Links the job to each job that the item of `depend` names, until one of these jobs refuses the link.
    Result<void> item(const DependItem& item) {
        if (item.type == DependType::on) {
            unlink_all(change_, job_.sequence, LinkKind::on);
            change_.link(job_.sequence, LinkKind::on, static_cast<uint64_t>(item.count));
            return {};
        }
        for (const std::string& id : item.jobs) {
            const auto other = state_.sequence_in(id);
            if (!other || *other == job_.sequence) return fail(PBSE_IVALREQ, {});
            const int code = is_after(item.type)    ? wait_for(*other, kind_of(item.type))
                             : is_before(item.type) ? go_before(*other, kind_of(mirrored(item.type)))
                                                    : join(*other);
            if (code == PBSE_IVALREQ) return fail(code, {});
            if (code != 0) return reject(*other, code);
        }
        return {};
    }
    bool rejected() const { return rejected_; }

  private:
    Result<void> reject(uint64_t other, int code) {
        rejected_ = true;
        const std::string id = state_.job_id(other);
        const std::string_view text = values::trim(ifl::error_text(code));
        set_attribute(job_, "depend", value_);
        abort_job(change_, job_,
                  code == PBSE_HISTDEPEND
                      ? fmt::format("{} {}", id, text)
                      : fmt::format("Dependency request for job rejected by {} {}", id, text));
        return {};
    }

    // Makes this job wait for job `other`. Returns 0, or PBS's error code.
    int wait_for(uint64_t other, LinkKind kind) {
        if (state_.dependencies.find(job_.sequence, kind, other)) return 0;
        const Job* parent = change_.current(other);
        if (parent == nullptr) return PBSE_UNKJOBID;
        if (parent->history()) {
            const bool ok = parent->attributes.integer("Exit_status", 0) == 0;
            if (kind == LinkKind::afterok ? !ok : kind == LinkKind::afternotok && ok) return PBSE_HISTDEPEND;
            log_later(change_, job_,
                      fmt::format("{} {}, dependency satisfied", parent->id,
                                  values::trim(ifl::error_text(PBSE_HISTJOBID))));
            return 0;
        }
        const bool runs = parent->begun() || (parent->running() && parent->substate >= substate::kRunning);
        if (kind == LinkKind::after && runs) {
            let_go(change_, job_, other);
        } else {
            change_.link(job_.sequence, kind, other);
        }
        return 0;
    }

    // Makes job `other` wait for this job. `other` has to permit that, by "on" or by a link to this job.
    // Returns 0, or PBS's error code.
    int go_before(uint64_t other, LinkKind kind) {
        const Job* child = change_.current(other);
        if (child == nullptr) return PBSE_UNKJOBID;
        if (child->history()) return PBSE_HISTDEPEND;
        if (child->attributes.text("Job_Owner") != job_.attributes.text("Job_Owner")) return PBSE_PERM;
        if (state_.dependencies.find(other, kind, job_.sequence)) return 0;
        const auto expected = state_.dependencies.of(other, LinkKind::on);
        if (expected.empty()) return PBSE_BADDEPEND;
        Link on = expected.front();
        change_.unlink(on);
        if (--on.other > 0) change_.link(on);
        change_.link(other, kind, job_.sequence);
        settle_hold(change_, change_.job(*child));
        return 0;
    }

    // Merges this job's runone set with that of job `other`; makes a set if neither has one. Returns 0, or
    // PBS's error code.
    int join(uint64_t other) {
        const Job* partner = change_.current(other);
        if (partner == nullptr) return PBSE_IVALREQ;
        if (partner->history()) return 0;
        if (partner->attributes.text("Job_Owner") != job_.attributes.text("Job_Owner")) return PBSE_PERM;
        const uint64_t own = set_of(state_, job_.sequence);
        uint64_t set = set_of(state_, other);
        if (own != 0 && own == set) return 0;
        if (set == 0) {
            set = state_.dependencies.new_id();
            change_.link(other, LinkKind::runone, set);
        }
        if (own == 0) change_.link(job_.sequence, LinkKind::runone, set);
        for_members(state_, own, [&](Link member) {
            change_.unlink(member);
            member.other = set;
            change_.link(member);
        });
        if (running_member(change_, state_, set, job_.sequence) != nullptr) {
            change_hold(job_, ifl::Op::incr, state_);
            advance(job_, JobEvent::settled, state_, change_.now());
        }
        return 0;
    }

    Change& change_;
    State& state_;
    Job& job_;
    std::string value_;
    bool rejected_ = false;
};

bool in_execution_queue(const Job& job, const State& state) {
    const Queue* queue = state.queue(job.queue);
    return queue != nullptr && queue->execution();
}

std::vector<DependItem> items_of(std::string_view value) {
    return value.empty() ? std::vector<DependItem>()
                         : parse_depend(value).value_or(std::vector<DependItem>());
}

bool names(const std::vector<DependItem>& items, DependType type) {
    return std::any_of(items.begin(), items.end(), [&](const DependItem& item) { return item.type == type; });
}

// Removes the job's links of the item's type to jobs that the item doesn't name.
void unlink_unnamed(Change& change, const Job& job, const DependItem& item) {
    const State& state = change.server().state;
    if (item.type == DependType::on) return;
    std::vector<uint64_t> kept;
    for (const std::string& id : item.jobs)
        if (const auto other = state.sequence_in(id)) kept.push_back(*other);
    if (is_before(item.type)) {
        // The new link of kind to_tell releases the jobs that wait for this one: it removes all links that
        // are older than itself. So the links to keep are made again after it.
        const LinkKind kind = kind_of(mirrored(item.type));
        if (!state.dependencies.next_to(job.sequence, kind)) return;
        change.link(job.sequence, LinkKind::to_tell, JobOutcome{bit(kind), bit(kind)}.packed());
        for (const uint64_t other : kept)
            if (const auto link = state.dependencies.find(other, kind, job.sequence)) {
                change.unlink(*link);
                change.link(other, kind, job.sequence);
            }
        return;
    }
    if (item.type == DependType::runone) return unlink_all(change, job.sequence, LinkKind::runone);
    std::sort(kept.begin(), kept.end());
    for (const Link& link : state.dependencies.of(job.sequence, kind_of(item.type)))
        if (!std::binary_search(kept.begin(), kept.end(), link.other)) change.unlink(link);
}

}  // namespace

std::string shown_depend(const Job& job, const State& state) {
    // Until the job enters an execution queue, and in the history, the text is stored in the attribute
    // `depend`. In between, it is made from the links.
    if (job.attributes.has("depend")) return std::string(job.attributes.text("depend"));
    return state.dependencies.text(job.sequence, state.server_name);
}

Result<std::string> full_depend(std::string_view value, const State& state) {
    auto items = parse_depend(value);
    if (!items) return tl::unexpected(items.error());
    for (DependItem& item : *items)
        for (std::string& id : item.jobs) {
            const auto name = state.job_name(id);
            if (name && !name->indices.empty())
                return fail(PBSE_IVALREQ,
                            fmt::format("Illegal depend: {} is a subjob, expected a job or an array", id));
            const auto at = id.find('@');
            const auto sequence = state.sequence_in(id);
            if (!sequence ||
                (at != std::string::npos && !state.is_this_server(std::string_view(id).substr(at + 1))))
                return fail(PBSE_BADATVAL, fmt::format("Illegal depend: \"{}\" is no job of this server, {}",
                                                       id, state.server_name));
            id = fmt::format("{}@{}", state.job_id(*sequence), state.server_name);
        }
    return depend_text(*items);
}

Result<void> take_up_dependencies(Change& change, Job& job) {
    const State& state = change.server().state;
    if (!job.attributes.has("depend") || !in_execution_queue(job, state)) return {};
    std::string value(job.attributes.text("depend"));
    const auto items = items_of(value);
    job.attributes.unset(*job_table().find("depend"), {});
    Linker taking(change, job, std::move(value));
    for (const DependItem& item : items) {
        if (auto done = taking.item(item); !done) return done;
        if (taking.rejected()) return {};
    }
    settle_hold(change, job);
    return {};
}

Result<void> alter_dependencies(Change& change, Job& job, const std::string& before) {
    const State& state = change.server().state;
    const bool unset = !job.attributes.has("depend");
    auto items = items_of(job.attributes.text("depend"));
    if (!in_execution_queue(job, state)) {
        if (unset) return {};
        for (DependItem& old : items_of(before))
            if (!names(items, old.type)) items.push_back(std::move(old));
        set_attribute(job, "depend", depend_text(items));
        return {};
    }
    if (!unset) {
        for (const DependItem& item : items) unlink_unnamed(change, job, item);
        return take_up_dependencies(change, job);
    }
    for (const DependType type : {DependType::after, DependType::afterok, DependType::afternotok,
                                  DependType::afterany, DependType::runone})
        unlink_unnamed(change, job, {type, 0, {}});
    unlink_all(change, job.sequence, LinkKind::on);
    settle_hold(change, job);
    return {};
}

Result<void> dependencies_at_start(Change& change, const Job& job) {
    const State& state = change.server().state;
    const uint64_t set = set_of(state, job.sequence);
    if (set == 0) return {};
    if (const Job* other = running_member(change, state, set, job.sequence))
        return fail(PBSE_BADSTATE, fmt::format("{} of its runone set runs", other->id));
    change.link(job.sequence, LinkKind::to_hold, set);
    return {};
}

void dependencies_when_running(Change& change, const Job& job) {
    const Dependencies& links = change.server().state.dependencies;
    if (links.next_to(job.sequence, LinkKind::after))
        change.link(job.sequence, LinkKind::to_tell,
                    JobOutcome{bit(LinkKind::after), bit(LinkKind::after)}.packed());
}

void dependencies_at_requeue(Change& change, const Job& job) {
    if (const uint64_t set = set_of(change.server().state, job.sequence); set != 0)
        change.link(job.sequence, LinkKind::to_free, set);
}

void dependencies_at_end(Change& change, Job& job) {
    const State& state = change.server().state;
    const Dependencies& links = state.dependencies;
    const std::string value = shown_depend(job, state);
    if (value.empty()) return;
    const bool ran = job.stime != 0;
    unsigned met = 0;
    if (ran && !job.deleted) {
        const bool ok = job.attributes.integer("Exit_status", 0) == 0;
        met = bit(LinkKind::after) | bit(LinkKind::afterany) |
              bit(ok ? LinkKind::afterok : LinkKind::afternotok);
    } else if (ran || job.substate != substate::kHeldByDepend) {
        met = bit(LinkKind::afternotok) | bit(LinkKind::afterany) | (ran ? bit(LinkKind::after) : 0U);
    }
    if (std::any_of(kAfterKinds.begin(), kAfterKinds.end(),
                    [&](LinkKind kind) { return links.next_to(job.sequence, kind).has_value(); }))
        change.link(job.sequence, LinkKind::to_tell, JobOutcome{kAllKinds, met}.packed());
    if (const uint64_t set = set_of(state, job.sequence); set != 0 && ran)
        change.link(job.sequence, LinkKind::to_end, set);
    for (const LinkKind kind : kAfterKinds) unlink_all(change, job.sequence, kind);
    unlink_all(change, job.sequence, LinkKind::on);
    unlink_all(change, job.sequence, LinkKind::runone);
    set_attribute(job, "depend", value);
}

namespace {

// Updates at most `left` of the jobs that wait for `work.job`, by its outcome. Returns true if all are
// updated.
bool tell(Change& change, const Link& work, int& left) {
    const Dependencies& links = change.server().state.dependencies;
    const JobOutcome telling = JobOutcome::unpacked(work.other);
    for (const LinkKind kind : kAfterKinds) {
        if ((telling.done & bit(kind)) == 0) continue;
        auto link = links.next_to(work.job, kind);
        for (; link; link = links.next_to(work.job, kind, link->job)) {
            if (link->id > work.id) continue;
            if (left-- <= 0) return false;
            const Job* waiting = change.current(link->job);
            const bool there = waiting != nullptr && !waiting->history();
            const bool met = (telling.met & bit(kind)) != 0;
            // End the waiting job before its link is removed, because the job's `depend` in the history shows
            // the link.
            if (there && !met) end_because_of(change, *waiting, work.job);
            if (links.find(link->job, kind, work.job)) change.unlink(*link);
            if (there && met) let_go(change, *waiting, work.job);
        }
    }
    return true;
}

// Holds, frees or ends at most `left` jobs of a runone set, without `work.job`. Returns true if all are done.
bool deal_with_set(Change& change, const Link& work, int& left) {
    const State& state = change.server().state;
    bool all = true;
    for_members(state, work.other, [&](const Link& link) {
        const Job* member = change.current(link.job);
        if (!all || link.job == work.job || member == nullptr || member->history()) return;
        const bool held = member->hold_types().find('s') != std::string_view::npos;
        const bool runs = member->running() || member->begun();
        if (work.kind != LinkKind::to_end && (held == (work.kind == LinkKind::to_hold) || runs)) return;
        if (work.kind == LinkKind::to_free && state.dependencies.waits(link.job)) return;
        if (left-- <= 0) {
            all = false;
        } else if (work.kind == LinkKind::to_end) {
            // Remove the link first: otherwise each job's `depend` in the history would list all others.
            change.unlink(link);
            end_because_of(change, *member, work.job);
        } else {
            Job& job = change.job(*member);
            change_hold(job, work.kind == LinkKind::to_hold ? ifl::Op::incr : ifl::Op::decr, state);
            advance(job, JobEvent::settled, state, change.now());
            if (job.state == job_state::kQueued) change.want_cycle(PBS_SCH_SCHEDULE_NEW);
        }
    });
    return all;
}

}  // namespace

Result<bool> settle_dependencies(Server& server, int64_t now) {
    const Dependencies& links = server.state.dependencies;
    if (!links.work()) return false;
    Change change(server, now);
    int left = kMostAtOnce;
    int calls = kMostCallsAtOnce;
    while (const auto work = links.work()) {
        if (left-- <= 0) break;
        if (work->kind == LinkKind::to_answer) {
            if (calls-- == 0) break;
            give_block_answer(server, *work);
        } else if (!(work->kind == LinkKind::to_tell ? tell(change, *work, left)
                                                     : deal_with_set(change, *work, left))) {
            break;
        }
        change.unlink(*work);
    }
    if (auto done = change.commit(); !done) return tl::unexpected(done.error());
    return links.work().has_value();
}

}  // namespace pbs::host

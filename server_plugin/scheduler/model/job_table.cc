#include "server_plugin/scheduler/model/job_table.h"

#include <algorithm>
#include <utility>

namespace pbs::sched {
namespace {

std::vector<JobSlot>* list_of(Queue& queue, char state) {
    if (state == 'Q') return &queue.queued;
    return is_running(state) ? &queue.running : nullptr;
}

}  // namespace

JobSlot JobTable::add(JobHandle job) {
    JobSlot slot;
    if (!unused.empty()) {
        slot = unused.back();
        unused.pop_back();
    } else {
        slot = static_cast<JobSlot>(handle.size());
        const auto grow = [](auto&... columns) { (columns.emplace_back(), ...); };
#define JOB_TEXT(name) grow(name);
#define JOB_NUMBER(name, type) grow(name);
#define JOB_INSTANT(name) grow(name);
#define JOB_SELDOM_NUMBER(name, type)
#define JOB_SELDOM_INSTANT(name)
#include "server_plugin/scheduler/model/job_fields.def"
        grow(handle, id, flags, user, queue, state, eligible, walltime, request, signature, position,
             comment);
    }
    handle[slot] = job;
    comment[slot] = 0;
    state[slot] = ' ';
    flags[slot] = 0;
    by_handle.insert(slot);
    return slot;
}

void JobTable::remove(JobSlot slot) {
    by_handle.erase(slot);
    id[slot].clear();
    id[slot].shrink_to_fit();
    accruals.erase(slot);
    hard_walltimes.erase(slot);
    rare.erase(slot);
    state[slot] = ' ';
    unused.push_back(slot);
}

void JobTable::take_fields(JobSlot slot, const JobFields& fields, Interner& strings) {
    const bool is_new = state[slot] == ' ';
    const auto take_text = [&](std::uint32_t& id_of_text, std::string_view text) {
        if (is_new || strings.text(id_of_text) != text) id_of_text = text.empty() ? 0 : strings.id(text);
    };
    RareFields of_few;
    const auto take_flag = [&](JobFlag flag, bool on) {
        flags[slot] = static_cast<std::uint16_t>(on ? flags[slot] | flag : flags[slot] & ~flag);
    };
#define JOB_TEXT(name) take_text((name)[slot], fields.name);
#define JOB_NUMBER(name, type) name[slot] = fields.name;
#define JOB_INSTANT(name) name[slot] = fields.name;
#define JOB_SELDOM_NUMBER(name, type) of_few.name = fields.name;
#define JOB_SELDOM_INSTANT(name) of_few.name = fields.name;
#define JOB_FLAG(name, upper_name) take_flag(job_##name, fields.name);
#include "server_plugin/scheduler/model/job_fields.def"
    if (of_few == RareFields{})
        rare.erase(slot);
    else
        rare[slot] = of_few;
}

void JobTable::give_fields(JobSlot slot, JobFields& fields, const Interner& strings) const {
    const RareFields of_few = rare_fields(slot);
#define JOB_TEXT(name) fields.name = strings.text((name)[slot]);
#define JOB_NUMBER(name, type) fields.name = (name)[slot];
#define JOB_INSTANT(name) fields.name = (name)[slot];
#define JOB_SELDOM_NUMBER(name, type) fields.name = of_few.name;
#define JOB_SELDOM_INSTANT(name) fields.name = of_few.name;
#define JOB_FLAG(name, upper_name) fields.name = (flags[slot] & (job_##name)) != 0;
#include "server_plugin/scheduler/model/job_fields.def"
}

QueueSlot QueueTable::slot(QueueHandle handle) {
    if (const QueueSlot known = find(handle); known != kNoSlot) return known;
    auto slot = static_cast<QueueSlot>(queues_.size());
    if (unused_.empty()) {
        queues_.emplace_back();
    } else {
        slot = unused_.back();
        unused_.pop_back();
    }
    queues_[slot].handle = handle;
    by_handle_.emplace(static_cast<std::uint64_t>(handle), slot);
    return slot;
}

void QueueTable::remove(QueueSlot slot) {
    if (!std::exchange(queues_[slot].known, false)) return;
    if (std::ranges::find(removed_, slot) == removed_.end()) removed_.push_back(slot);
}

void QueueTable::reuse(const std::vector<bool>& in_use) {
    std::erase_if(removed_, [&](QueueSlot slot) {
        Queue& queue = queues_[slot];
        if (!queue.known && in_use[slot]) return false;
        if (queue.known) return true;  // the host has reported it again
        by_handle_.erase(static_cast<std::uint64_t>(queue.handle));
        queue = {};
        unused_.push_back(slot);
        return true;
    });
}

QueueSlot QueueTable::find(QueueHandle handle) const {
    const auto found = by_handle_.find(static_cast<std::uint64_t>(handle));
    return found == by_handle_.end() ? kNoSlot : found->second;
}

QueueSlot QueueTable::find(std::string_view name) const {
    for (QueueSlot i = 0; i < queues_.size(); ++i)
        if (queues_[i].known && queues_[i].name == name) return i;
    return kNoSlot;
}

void enlist(JobTable& jobs, QueueTable& queues, JobSlot job) {
    auto* list = list_of(queues[jobs.queue[job]], jobs.state[job]);
    if (list == nullptr) return;
    jobs.position[job] = static_cast<std::uint32_t>(list->size());
    list->push_back(job);
}

void delist(JobTable& jobs, QueueTable& queues, JobSlot job) {
    auto* list = list_of(queues[jobs.queue[job]], jobs.state[job]);
    if (list == nullptr) return;
    const auto hole = jobs.position[job];
    const JobSlot last = list->back();
    (*list)[hole] = last;
    jobs.position[last] = hole;
    list->pop_back();
}

}  // namespace pbs::sched

#include "server_plugin/scheduler/model/past_usage.h"

#include <algorithm>
#include <cmath>

namespace pbs::sched {
namespace {

constexpr std::chrono::hours kDecayPeriod{24};

}  // namespace

void ChargeChanges::take_into(UsageChanges& out) {
    for (auto& [id, charge] : std::exchange(changes_, {}))
        if (charge)
            out.charged.push_back(std::move(*charge));
        else
            out.charges_gone.push_back(id);
}

std::string PastUsage::key(std::string_view group, std::string_view user) {
    std::string text;
    text.reserve(group.size() + 1 + user.size());
    text = group;
    text += '\0';
    return text += user;
}

PastUsage::Entry& PastUsage::entry(std::string_view group, std::string_view user) {
    std::string name = key(group, user);
    if (const auto found = index_.find(name); found != index_.end()) return entries_[found->second];
    index_.emplace(std::move(name), static_cast<std::uint32_t>(entries_.size()));
    return entries_.emplace_back(Entry{std::string(group), std::string(user), 0, false});
}

void PastUsage::load(std::span<const UsageRow> rows, std::span<const ChargeRow> charges, Instant last_decay) {
    index_.clear();
    entries_.clear();
    entry_of_.clear();
    changed_.clear();
    charged_.clear();
    loaded_.clear();
    charge_changes_.clear();
    pending_ = {};
    for (const UsageRow& row : rows) entry(row.group, row.user).usage = row.usage;
    for (const ChargeRow& row : charges) loaded_.insert(row.job_id);
    last_decay_ = last_decay;
}

double PastUsage::usage(std::string_view group, std::string_view user) const {
    const auto found = index_.find(key(group, user));
    return found == index_.end() ? 0 : entries_[found->second].usage;
}

// Returns the user's element of entry_of_: the index in entries_ plus 1; 0: the user has no entry.
std::uint32_t& PastUsage::number_of_entry(const User& user) {
    if (entry_of_.size() <= user.number) entry_of_.resize(user.number + 1);
    std::uint32_t& known = entry_of_[user.number];
    if (known == 0)
        if (const auto found = index_.find(key(user.group, user.user)); found != index_.end())
            known = found->second + 1;
    return known;
}

double PastUsage::usage_of(const User& user) {
    const std::uint32_t known = number_of_entry(user);
    return known == 0 ? 0 : entries_[known - 1].usage;
}

void PastUsage::charge(const Job& job, const User& user, double amount) {
    if (is_charged(job.number)) return;
    if (charged_.size() <= job.number) charged_.resize(job.number + 1);
    charged_[job.number] = true;
    if (!loaded_.empty() && loaded_.erase(std::string(job.id)) > 0) return;
    std::uint32_t& number = number_of_entry(user);
    if (number == 0) number = static_cast<std::uint32_t>(&entry(user.group, user.user) - entries_.data()) + 1;
    Entry& mine = entries_[number - 1];
    mine.usage += amount;
    if (!keeps_changes_) return;
    if (!mine.changed) {
        mine.changed = true;
        changed_.push_back(number - 1);
    }
    charge_changes_.note({std::string(job.id), std::string(user.user), std::string(user.group), amount});
}

void PastUsage::forget_job(const Job& job) {
    const bool charged = is_charged(job.number);
    if (charged) charged_[job.number] = false;
    if (!charged && (loaded_.empty() || loaded_.erase(std::string(job.id)) == 0)) return;
    if (!keeps_changes_) return;
    charge_changes_.note_gone(job.id);
}

Instant PastUsage::next_decay(Instant now) const {
    return last_decay_ == Instant{} ? now : last_decay_ + kDecayPeriod;
}

bool PastUsage::decay(Instant now, const FactorOfGroup& factor) {
    if (last_decay_ == Instant{}) {
        last_decay_ = now;
        note_decay();
        return true;
    }
    if (now < last_decay_ + kDecayPeriod) return false;
    const auto periods = (now - last_decay_) / kDecayPeriod;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        Entry& e = entries_[i];
        if (e.usage == 0) continue;
        e.usage *= std::pow(factor(e.group), static_cast<double>(periods));
        if (e.usage < 1e-6) e.usage = 0;
        if (!keeps_changes_) continue;
        if (!e.changed) changed_.push_back(i);
        e.changed = true;
    }
    last_decay_ += periods * kDecayPeriod;
    note_decay();
    return true;
}

void PastUsage::note_decay() {
    if (!keeps_changes_) return;
    pending_.decayed = true;
    pending_.last_decay = last_decay_;
}

void PastUsage::keep_changes(bool keep) {
    keeps_changes_ = keep;
    if (!keep) static_cast<void>(take_changes());
}

UsageChanges PastUsage::take_changes() {
    for (const auto i : changed_) {
        entries_[i].changed = false;
        pending_.usage.push_back({entries_[i].group, entries_[i].user, entries_[i].usage});
    }
    changed_.clear();
    charge_changes_.take_into(pending_);
    return std::exchange(pending_, {});
}

bool PastUsage::has_changes() const {
    return !changed_.empty() || !charge_changes_.empty() || !pending_.empty();
}

std::vector<UsageRow> PastUsage::rows() const {
    std::vector<UsageRow> rows;
    for (const Entry& e : entries_) rows.push_back({e.group, e.user, e.usage});
    return rows;
}

}  // namespace pbs::sched

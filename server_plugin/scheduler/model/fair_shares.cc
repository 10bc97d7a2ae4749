#include "server_plugin/scheduler/model/fair_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace pbs::sched {

namespace {

// The largest usage that is read from the store, which another program may have written. Sums of such numbers
// stay finite.
constexpr double kMostStored = 1e200;

// Usage up to this is added to the sums of groups, and subtracted from them, with an error below a thousandth
// of a second. Larger usage would make a sum lose what other members have used, so the sum is made anew.
constexpr double kMostBySums = 1e12;

double sane(double usage) {
    return std::min(std::max(FairShares::kLeastUsage, usage), kMostStored);
}

// Returns the usage that a decay adds after it has multiplied by the factor. With a half_life, the 1 at which
// usage begins doesn't decay, so that small usage decays like large usage, as in Grid Engine; else all of it
// does, as in OpenPBS.
double added_by_decay(const FsGroup& group, double factor) {
    return group.half_life > Seconds(0) ? FairShares::kLeastUsage * (1 - factor) : 0;
}

// Returns usage after a decay. It becomes the least usage if at most a millionth of a second above it is
// left.
double decayed(const FsGroup& group, double usage, double factor) {
    const double left = usage * factor + added_by_decay(group, factor);
    return left <= FairShares::kNoUsage ? FairShares::kLeastUsage : left;
}

}  // namespace

FairShares::FairShares(const FsGroup& group) : group_(group) {
    make_tree();
}

// Computes in floats, as OpenPBS's scheduler does: otherwise entities that are equal there might differ here.
double FairShares::share(Node node) const {
    if (node == kRoot) return 1;
    const Element& own = nodes_[node];
    const std::int64_t all = nodes_[own.parent].shares_of_children;
    const auto of_parent = static_cast<float>(share(own.parent));
    if (static_cast<float>(all) * of_parent == 0) return 0;
    return static_cast<float>(own.shares) / static_cast<float>(all) * of_parent;
}

FairShares::Node FairShares::add(std::string_view name, Node parent, std::int64_t shares) {
    const auto node = static_cast<Node>(nodes_.size());
    nodes_.push_back({.name = std::string(name), .parent = parent, .shares = shares});
    by_name_.emplace(name, node);
    if (node == kRoot) return node;
    nodes_[parent].shares_of_children += shares;
    nodes_[parent].is_group = true;
    nodes_[node].depth = nodes_[parent].depth + 1;
    depth_ = std::max<std::size_t>(depth_, nodes_[node].depth);
    return node;
}

// Makes the nodes of the fs_group. Elements may come before their parents.
void FairShares::make_tree() {
    nodes_.clear();
    by_name_.clear();
    by_number_.clear();
    expecting_.clear();
    changed_.clear();
    add("root", kRoot, 0);
    add("unknown", kRoot, group_.unknown_shares);
    nodes_[kUnknown].is_group = true;
    std::vector<const FsGroup::Element*> left;
    for (const FsGroup::Element& element : group_.elements) left.push_back(&element);
    for (std::size_t before = left.size() + 1; left.size() < before;) {
        before = left.size();
        std::erase_if(left, [&](const FsGroup::Element* element) {
            const auto parent = by_name_.find(element->parent);
            if (parent == by_name_.end()) return false;
            if (!by_name_.contains(element->name)) add(element->name, parent->second, element->shares);
            return true;
        });
    }
    in_tree_ = nodes_.size();
}

bool FairShares::set_group(const FsGroup& group) {
    if (group == group_) return false;
    const bool same_tree = group.elements == group_.elements && group.unknown_shares == group_.unknown_shares;
    const std::vector<UsageRow> before = rows();
    const std::vector<UsageRow> long_before = long_rows();
    forget_running();
    group_ = group;
    if (same_tree) return true;
    std::vector<UsageRow> entities;
    for (const UsageRow& row : before)
        if (!nodes_[by_name_.at(row.user)].is_group) entities.push_back(row);
    const std::vector<Element> elements_before = std::exchange(nodes_, {});
    make_tree();
    // An entity that has become a group has the usage of its members from now on.
    std::erase_if(entities, [&](const UsageRow& row) {
        const auto node = find(row.user);
        return node && nodes_[*node].is_group;
    });
    const auto charges = std::exchange(charged_, {});
    load(entities, {}, last_decay_);
    set_long_usage(long_before);
    charged_ = charges;
    // Remove the stored usage of nodes that are gone: at the next start the row of a former group would count
    // as an entity's. Write their long usage, which may have changed since it was written.
    for (const Element& element : elements_before) {
        if (by_name_.contains(element.name)) continue;
        pending_.usage.push_back({{}, element.name, 0});
        const auto left = long_left_.find(element.name);
        pending_.long_usage.push_back({{}, element.name, left == long_left_.end() ? 0 : left->second});
    }
    for (Node node = 0; node < nodes_.size(); ++node) note_changed(node);
    return true;
}

void FairShares::load(std::span<const UsageRow> rows, std::span<const ChargeRow> charges,
                      Instant last_decay) {
    for (Element& element : nodes_) element.usage = kLeastUsage;
    for (const UsageRow& row : rows) {
        const auto known = by_name_.find(row.user);
        if (known != by_name_.end() && nodes_[known->second].is_group) continue;
        const Node node = entity(row.user);
        const double used = sane(row.usage);
        nodes_[node].usage = used;
        for (Node above = nodes_[node].parent;; above = nodes_[above].parent) {
            nodes_[above].usage += used;
            if (above == kRoot) break;
        }
    }
    for (const UsageRow& row : rows)
        if (const auto known = by_name_.find(row.user);
            known != by_name_.end() && nodes_[known->second].is_group)
            nodes_[known->second].usage = sane(row.usage);
    charged_.clear();
    for (const ChargeRow& row : charges)
        charged_[row.job_id] = std::max(0.0, std::min(row.charge, kMostStored));
    last_decay_ = last_decay;
}

void FairShares::load_long_usage(std::span<const UsageRow> rows) {
    // These changes were made before the stored rows were known, and would overwrite them.
    pending_.usage.clear();
    pending_.long_usage.clear();
    if (!rows.empty()) return set_long_usage(rows);
    std::vector<UsageRow> left = this->rows();
    std::erase_if(left, [&](const UsageRow& row) { return nodes_[by_name_.at(row.user)].is_group; });
    set_long_usage(left);
    for (const UsageRow& row : left) note_changed(by_name_.at(row.user));
}

void FairShares::set_long_usage(std::span<const UsageRow> rows) {
    for (Element& element : nodes_) element.long_usage = 0;
    long_left_.clear();
    for (const UsageRow& row : rows) {
        const double used = std::clamp(row.usage, 0.0, kMostStored);
        if (used == 0) continue;
        const Node node = find(row.user).value_or(kUnknown);
        if (node == kUnknown) {
            long_left_[row.user] += used;
        } else if (nodes_[node].is_group) {
            pending_.long_usage.push_back({{}, row.user, 0});  // the row is from when it was an entity
            continue;
        }
        on_path(node, [&](Element& element) { element.long_usage += used; });
    }
    join_least();
}

// Keeps the long usage of at most kMostLeft entities that have no node. That of the others, from the least
// on, counts only for `unknown`, and their names are forgotten: names that users choose, such as those of
// accounts, could fill the store.
void FairShares::join_least() {
    if (long_left_.size() <= kMostLeft) return;
    std::vector<std::pair<double, std::string_view>> left;
    for (const auto& [name, used] : long_left_)
        if (name != nodes_[kUnknown].name) left.emplace_back(used, name);
    if (left.size() <= kMostLeft) return;
    std::ranges::sort(left);
    left.resize(left.size() - kMostLeft);
    double& joined = long_left_[nodes_[kUnknown].name];
    for (const auto& [used, name] : left) {
        joined += used;
        pending_.long_usage.push_back({{}, std::string(name), 0});
        long_left_.erase(long_left_.find(name));
    }
    pending_.long_usage.push_back({{}, nodes_[kUnknown].name, joined});
}

FairShares::Node FairShares::entity(std::string_view name) {
    const auto known = by_name_.find(std::string(name));
    if (known != by_name_.end()) return known->second;
    const Node node = add(name, kUnknown, 1);
    if (const auto left = long_left_.find(name); left != long_left_.end()) {
        nodes_[node].long_usage = left->second;  // the sums above include it
        long_left_.erase(left);
    }
    return node;
}

FairShares::Node FairShares::entity(std::uint32_t number, std::string_view name) {
    if (number >= by_number_.size()) by_number_.resize(number + 1);
    if (by_number_[number] == 0) by_number_[number] = entity(name) + 1;
    return by_number_[number] - 1;
}

std::optional<FairShares::Node> FairShares::find(std::string_view name) const {
    const auto known = by_name_.find(std::string(name));
    if (known == by_name_.end()) return std::nullopt;
    return known->second;
}

template <class Change>
void FairShares::on_path(Node node, const Change& change) {
    for (;; node = nodes_[node].parent) {
        change(nodes_[node]);
        if (node == kRoot) return;
    }
}

// Adds the usage of a running job beyond its charge to the sums on its path, or subtracts it (sign -1).
void FairShares::count(const Running& job, double sign) {
    const double offset = job.use.base - job.use.rate * seconds(job.since) - job.charged;
    on_path(job.entity, [&](Element& element) {
        element.offset += sign * offset;
        element.rate += sign * job.use.rate;
    });
}

void FairShares::charge(Node entity, double amount) {
    if (amount <= 0) return;
    on_path(entity, [&](Element& element) {
        element.usage += amount;
        element.long_usage += amount;
    });
    note_path_changed(entity);
}

void FairShares::note_changed(Node node) {
    if (std::exchange(nodes_[node].changed, true)) return;
    changed_.push_back(node);
}

void FairShares::note_path_changed(Node node) {
    for (; node != kRoot; node = nodes_[node].parent) note_changed(node);
    note_changed(kRoot);
}

void FairShares::job_runs(const Job& job, Node entity, Use use, Instant since) {
    if (origin_ == Instant{}) origin_ = since;
    const auto [place, is_new] = running_.try_emplace(job.number);
    Running& running = place->second;
    if (is_new) {
        ids_[job.number] = job.id;
        if (const auto charged = charged_.find(std::string(job.id)); charged != charged_.end()) {
            running.charged = charged->second;
            charged_.erase(charged);
        }
    } else {
        count(running, -1);
    }
    running = {entity, {std::max(0.0, use.base), std::max(0.0, use.rate)}, since, running.charged};
    count(running, 1);
}

std::optional<FairShares::Running> FairShares::take_out(const Job& job, double used) {
    const auto found = running_.find(job.number);
    if (found == running_.end()) return std::nullopt;
    const Running running = found->second;
    count(running, -1);
    running_.erase(found);
    ids_.erase(job.number);
    charge(running.entity, used - running.charged);
    return running;
}

void FairShares::job_ended(const Job& job, double used) {
    const auto running = take_out(job, used);
    if (running && running->charged > 0) charge_changes_.note_gone(job.id);
}

void FairShares::job_paused(const Job& job, double used) {
    const auto running = take_out(job, used);
    if (!running) return;
    const double charged = std::max(used, running->charged);
    charged_[std::string(job.id)] = charged;
    charge_changes_.note({std::string(job.id), nodes_[running->entity].name, {}, charged});
}

void FairShares::forget_charge(std::string_view id) {
    if (charged_.erase(std::string(id)) > 0) charge_changes_.note_gone(id);
}

void FairShares::forget_running() {
    for (const auto& [number, job] : running_) {
        count(job, -1);
        if (job.charged > 0) charged_[ids_.at(number)] = job.charged;
    }
    running_.clear();
    ids_.clear();
    for (Element& element : nodes_) element.offset = element.rate = 0;
}

void FairShares::expect(Node entity, double amount) {
    if (amount <= 0) return;
    on_path(entity, [&](Element& element) { element.expected += amount; });
    expecting_.push_back(entity);
}

void FairShares::forget_expected() {
    for (const Node entity : expecting_) on_path(entity, [](Element& element) { element.expected = 0; });
    expecting_.clear();
}

// The usage of running jobs that isn't in the sums yet.
double FairShares::not_settled(Node node, Instant now) const {
    const Element& element = nodes_[node];
    return std::max(0.0, element.offset + element.rate * seconds(now));
}

double FairShares::usage(Node node, Instant now) const {
    return nodes_[node].usage + not_settled(node, now);
}

double FairShares::long_usage(Node node, Instant now) const {
    return nodes_[node].long_usage + not_settled(node, now);
}

// Computes in floats, as OpenPBS's scheduler does.
double FairShares::tree_usage(Node node, Instant now) const {
    const Element& own = nodes_[node];
    const auto of_all = static_cast<float>(usage(node, now) / usage(kRoot, now));
    if (node == kRoot || own.parent == kRoot) return of_all;
    const std::int64_t all = nodes_[own.parent].shares_of_children;
    const float of_group =
        share(own.parent) == 0 || all == 0 ? 0 : static_cast<float>(own.shares) / static_cast<float>(all);
    return of_all + (static_cast<float>(tree_usage(own.parent, now)) - of_all) * of_group;
}

double FairShares::factor(Node node, Instant now) const {
    const double part = share(node);
    return part == 0 ? 0 : std::pow(2, -(tree_usage(node, now) / part));
}

bool FairShares::is_over(Node node, Instant now) const {
    return usage(kRoot, now) * share(node) < usage(node, now);
}

void FairShares::ratios(Node node, Instant now, std::span<double> out) const {
    std::ranges::fill(out.subspan(nodes_[node].depth), -1);
    for (; node != kRoot; node = nodes_[node].parent) {
        const double part = share(node);
        out[nodes_[node].depth - 1] = part <= 0 ? std::numeric_limits<double>::infinity()
                                                : (usage(node, now) + nodes_[node].expected) / part;
    }
}

Instant FairShares::next_decay(Instant now) const {
    return last_decay_ == Instant{} ? now : last_decay_ + group_.decay_time;
}

// Adds the running jobs' usage until now to their entities.
void FairShares::settle(Instant now) {
    for (Element& element : nodes_) element.offset = element.rate = 0;
    for (auto& [number, job] : running_) {
        const double walltime = static_cast<double>(std::max(Seconds(0), now - job.since).count());
        const double used = job.use.base + job.use.rate * walltime;
        if (const double more = used - job.charged; more > 0) {
            charge(job.entity, more);
            job.charged = used;
            charge_changes_.note({ids_.at(number), nodes_[job.entity].name, {}, used});
        }
    }
    origin_ = now;
    for (const auto& [number, job] : running_) count(job, 1);
}

void FairShares::decay_once(Instant at, double factor) {
    settle(at);
    pending_.decay.then({factor, added_by_decay(group_, factor), kNoUsage});
    for (Element& element : nodes_) element.usage = decayed(group_, element.usage, factor);
    last_decay_ = at;
    pending_.decayed = true;
    pending_.last_decay = at;
}

bool FairShares::decay(Instant now) {
    if (last_decay_ == Instant{}) {
        pending_.decayed = true;
        pending_.last_decay = last_decay_ = now;
        return true;
    }
    if (group_.decay_time <= Seconds(0) || now < last_decay_ + group_.decay_time) return false;
    // Decay one period after the other, so that usage in between decays as if the server had been up. If very
    // many periods are due, all but the last 100 are one decay.
    constexpr std::int64_t kMostSingle = 100;
    const std::int64_t due = (now - last_decay_) / group_.decay_time;
    if (due > kMostSingle) {
        const std::int64_t first = due - kMostSingle;
        decay_once(last_decay_ + first * group_.decay_time,
                   std::pow(group_.decay_factor, static_cast<double>(first)));
    }
    while (now >= last_decay_ + group_.decay_time)
        decay_once(last_decay_ + group_.decay_time, group_.decay_factor);
    return true;
}

double FairShares::after_decay(Node node, Instant now) const {
    return decayed(group_, usage(node, now), group_.decay_factor);
}

void FairShares::decay_now(Instant now) {
    decay_once(now, group_.decay_factor);
}

// Adds up the usage of a group's members beyond the least usage, with which each begins. After a decay or a
// load from the store, the group's own usage may be up to a second more for each member.
double FairShares::usage_of_members(Node group) const {
    double sum = kLeastUsage;
    for (Node node = 0; node < nodes_.size(); ++node)
        if (node != kRoot && nodes_[node].parent == group) sum += nodes_[node].usage - kLeastUsage;
    return sum;
}

void FairShares::set_usage(Node node, double usage, Instant now) {
    settle(now);
    const double before = std::exchange(nodes_[node].usage, std::max(kLeastUsage, usage));
    const double more = nodes_[node].usage - before;
    const bool loses_digits = std::max(before, nodes_[node].usage) > kMostBySums;
    for (Node above = node; above != kRoot;) {
        above = nodes_[above].parent;
        Element& group = nodes_[above];
        group.usage = loses_digits ? usage_of_members(above) : std::max(kLeastUsage, group.usage + more);
    }
    note_path_changed(node);
}

void FairShares::trim(Instant now) {
    settle(now);
    bool lost_digits = false;
    for (auto node = static_cast<Node>(in_tree_); node < nodes_.size(); ++node) {
        const double used = nodes_[node].usage - kLeastUsage;
        lost_digits = lost_digits || used > kMostBySums;
        const double in_all = nodes_[node].long_usage;
        if (used <= 0 && in_all <= 0) continue;
        on_path(node, [&](Element& element) {
            element.usage = std::max(kLeastUsage, element.usage - used);
            element.long_usage = std::max(0.0, element.long_usage - in_all);
        });
        note_path_changed(node);
    }
    if (lost_digits)
        for (const Node group : {kUnknown, kRoot}) nodes_[group].usage = usage_of_members(group);
    for (const auto& left : long_left_) {
        on_path(kUnknown, [&](Element& element) {
            element.long_usage = std::max(0.0, element.long_usage - left.second);
        });
        pending_.long_usage.push_back({{}, left.first, 0});
    }
    long_left_.clear();
}

void FairShares::close(Instant now) {
    settle(now);
    for (Node node = 0; node < nodes_.size(); ++node) note_changed(node);
}

UsageChanges FairShares::take_changes() {
    for (const Node node : changed_) {
        const Element& element = nodes_[node];
        pending_.usage.push_back({{}, element.name, element.usage == kLeastUsage ? 0 : element.usage});
        if (!element.is_group && node != kRoot)
            pending_.long_usage.push_back({{}, element.name, element.long_usage});
        nodes_[node].changed = false;
    }
    changed_.clear();
    charge_changes_.take_into(pending_);
    return std::exchange(pending_, {});
}

FairShares::View FairShares::view(Node node, Instant now) const {
    const Element& element = nodes_[node];
    return {element.name,     element.parent,   element.shares,
            element.is_group, usage(node, now), long_usage(node, now)};
}

std::vector<UsageRow> FairShares::rows() const {
    std::vector<UsageRow> rows;
    for (const Element& element : nodes_)
        if (element.usage != kLeastUsage) rows.push_back({{}, element.name, element.usage});
    return rows;
}

std::vector<UsageRow> FairShares::long_rows() const {
    std::vector<UsageRow> rows;
    for (const Element& element : nodes_)
        if (!element.is_group && element.long_usage > 0)
            rows.push_back({{}, element.name, element.long_usage});
    for (const auto& [name, used] : long_left_) rows.push_back({{}, name, used});
    return rows;
}

std::vector<ChargeRow> FairShares::charges() const {
    std::vector<ChargeRow> rows;
    for (const auto& [number, job] : running_)
        if (job.charged > 0) rows.push_back({ids_.at(number), nodes_[job.entity].name, {}, job.charged});
    for (const auto& [id, charge] : charged_) rows.push_back({id, {}, {}, charge});
    std::ranges::sort(rows, {}, &ChargeRow::job_id);
    return rows;
}

}  // namespace pbs::sched

#include <algorithm>
#include <cmath>

#include "server_plugin/scheduler/tickets/policies.h"

namespace pbs::sched {
namespace {

using Node = FairShares::Node;

// Computes the nodes' parts of the tickets. Parents have lower numbers than their children.
class ShareTree {
  public:
    ShareTree(const FairShares& tree, Instant now) : compensation_(tree.group().compensation_factor) {
        for (Node node = 0; node < tree.size(); ++node) {
            const FairShares::View view = tree.view(node, now);
            nodes_.push_back({view.parent, static_cast<double>(view.shares),
                              std::max(0.0, view.usage - FairShares::kLeastUsage)});
        }
    }

    // Returns the nodes' parts for these jobs: only nodes with jobs below them count.
    std::vector<ShareTarget> targets(std::span<const TicketJob> jobs, bool with_waiting) {
        std::vector<ShareTarget> targets(nodes_.size());
        std::vector<bool> active(nodes_.size());
        for (const TicketJob& job : jobs) {
            if (!job.runs && !with_waiting) continue;
            ++targets[job.leaf].jobs;
            if (job.runs) ++targets[job.leaf].running;
        }
        for (std::vector<Node>& below : children_) below.clear();
        children_.resize(nodes_.size());
        for (Node node = static_cast<Node>(nodes_.size()); node-- > 0;) {
            active[node] = active[node] || (targets[node].jobs > 0 && is_in_tree(node));
            if (node == FairShares::kRoot || !active[node]) continue;
            active[nodes_[node].parent] = true;
            children_[nodes_[node].parent].push_back(node);
        }
        targets[FairShares::kRoot].part = targets[FairShares::kRoot].overall = 1;
        std::vector<double> overall_level(nodes_.size(), 1);
        for (Node node = 0; node < nodes_.size(); ++node) share_out(node, targets, overall_level);
        return targets;
    }
    // If `unknown` has no shares, entities that the tree doesn't have get no tickets, and don't count beside
    // those that it has.
    bool is_in_tree(Node leaf) const {
        constexpr Node kUnknown = FairShares::kUnknown;
        return nodes_[kUnknown].shares > 0 || (leaf != kUnknown && nodes_[leaf].parent != kUnknown);
    }
    const std::vector<Node>& children(Node node) const { return children_[node]; }
    Node parent(Node node) const { return nodes_[node].parent; }
    std::size_t size() const { return nodes_.size(); }

  private:
    struct Element {
        Node parent;
        double shares;
        double usage;
    };

    void share_out(Node node, std::vector<ShareTarget>& targets, std::vector<double>& overall_level) {
        const std::vector<Node>& below = children_[node];
        double shares = 0;
        for (const Node child : below) shares += nodes_[child].shares;
        std::vector<double> wanted(below.size());
        const auto set_parts = [&] {
            double sum = 0;
            for (const double one : wanted) sum += one;
            for (std::size_t i = 0; i < below.size(); ++i) {
                targets[below[i]].part = sum > 0 ? wanted[i] / sum : 0;
                targets[below[i]].overall = targets[node].overall * targets[below[i]].part;
            }
        };
        for (std::size_t i = 0; i < below.size(); ++i) {
            const Element& child = nodes_[below[i]];
            targets[below[i]].level = shares > 0 ? child.shares / shares : 0;
            overall_level[below[i]] = overall_level[node] * targets[below[i]].level;
            const double least = overall_level[below[i]];
            // A deep tree may leave so little that the quotient would be infinite.
            constexpr double kLeastDivisor = 1e-100;
            wanted[i] =
                least > 0 ? child.shares * child.shares / std::max({child.usage, least, kLeastDivisor}) : 0;
        }
        set_parts();
        if (compensation_ <= 0) return;
        bool is_any = false;
        for (std::size_t i = 0; i < below.size(); ++i) {
            const double most = compensation_ * overall_level[below[i]];
            if (most <= 0 || targets[below[i]].overall <= most) continue;
            wanted[i] /= targets[below[i]].overall / most;
            is_any = true;
        }
        if (is_any) set_parts();
    }

    double compensation_;
    std::vector<Element> nodes_;
    std::vector<std::vector<Node>> children_;  // the active children of each node
};

// Gives running jobs their tickets: each the part of its leaf, divided by job_shares or, if none has any,
// evenly.
void give_running(std::span<const TicketJob> jobs, std::span<const ShareTarget> targets, double all,
                  std::vector<double>& tickets) {
    std::vector<double> job_shares(targets.size());
    for (const TicketJob& job : jobs)
        if (job.runs) job_shares[job.leaf] += job.job_shares;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const TicketJob& job = jobs[i];
        if (!job.runs) continue;
        const ShareTarget& leaf = targets[job.leaf];
        tickets[i] = job_shares[job.leaf] > 0
                         ? std::floor(job.job_shares / job_shares[job.leaf] * leaf.overall * all)
                         : leaf.overall * all / leaf.jobs;
    }
}

// Gives waiting jobs their tickets, from the leaves up. At each node, the jobs below it are sorted, and each
// gets the node's part divided by 1 more than the CPUs of the jobs before it. This sorts the jobs at the node
// above. A job keeps the tickets of its highest node: a child of `top`, or `top` itself if that has jobs of
// its own.
void give_waiting(std::span<const TicketJob> jobs, const ShareTree& tree,
                  std::span<const ShareTarget> targets, double all, std::span<const double> so_far,
                  std::vector<double>& tickets) {
    struct Place {
        std::uint32_t job;
        double value;
    };
    std::vector<std::vector<Place>> lists(tree.size());
    constexpr double kOfJobShares = 0.01;
    for (std::uint32_t i = 0; i < jobs.size(); ++i) {
        if (!tree.is_in_tree(jobs[i].leaf)) continue;
        const double own = jobs[i].job_shares;
        lists[jobs[i].leaf].push_back({i, so_far.empty() ? own : so_far[i] + kOfJobShares * own});
    }
    std::vector<bool> has_own(tree.size());
    for (Node node = 0; node < tree.size(); ++node) has_own[node] = !lists[node].empty();
    Node top = FairShares::kRoot;
    while (!has_own[top] && tree.children(top).size() == 1) top = tree.children(top).front();
    const auto goes_first = [&](const Place& a, const Place& b) {
        if (jobs[a.job].runs != jobs[b.job].runs) return jobs[a.job].runs;
        return a.value != b.value ? a.value > b.value : a.job < b.job;
    };
    for (Node node = static_cast<Node>(tree.size()); node-- > top;) {
        std::vector<Place>& list = lists[node];
        if (list.empty() || (node == top && !has_own[node])) continue;
        std::ranges::sort(list, goes_first);
        double before = 1;
        for (Place& place : list) {
            const double given = targets[node].part / before * all;
            before += jobs[place.job].cpus;
            if (!jobs[place.job].runs) tickets[place.job] = given;
            place.value = given + (so_far.empty() ? 0 : so_far[place.job]);
        }
        if (node == top) break;
        std::vector<Place>& above = lists[tree.parent(node)];
        above.insert(above.end(), list.begin(), list.end());
        list = {};
    }
}

}  // namespace

std::vector<ShareTarget> share_targets(std::span<const TicketJob> jobs, const FairShares& tree, Instant now,
                                       bool waiting) {
    return ShareTree(tree, now).targets(jobs, waiting);
}

ShareTickets share_tickets(std::span<const TicketJob> jobs, const FairShares& shares, Instant now, double all,
                           std::span<const double> so_far) {
    ShareTickets found;
    found.tickets.resize(jobs.size());
    found.with_waiting.resize(jobs.size());
    ShareTree tree(shares, now);
    give_running(jobs, tree.targets(jobs, false), all, found.tickets);
    found.targets = tree.targets(jobs, true);
    give_running(jobs, found.targets, all, found.with_waiting);
    give_waiting(jobs, tree, found.targets, all, so_far, found.tickets);
    return found;
}

}  // namespace pbs::sched

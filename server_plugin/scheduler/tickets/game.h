// A game by which waiting jobs get tickets. It assumes that these jobs start one after the other, and the
// tickets of each depend on the jobs before it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "server_plugin/scheduler/tickets/owner_shares.h"

namespace pbs::sched {

// Waiting jobs that are alike in all that decides about their tickets, in their order.
struct TicketCategory {
    OwnerShares::Owners owners{};
    double own = 0;  // shares or tickets of the job itself
    std::vector<std::uint32_t> jobs{};
    std::size_t next = 0;  // the index of the first job that hasn't started
    bool is_over() const { return next == jobs.size(); }
    std::uint32_t first() const { return jobs[next]; }
};

class TicketCategories {
  public:
    // Adds a waiting job, unless neither its owners nor the job itself have shares or tickets.
    void add(std::uint32_t job, const OwnerShares::Owners& owners, double own) {
        constexpr OwnerShares::Owners kNobodyAtAll = {OwnerShares::kNobody, OwnerShares::kNobody,
                                                      OwnerShares::kNobody, OwnerShares::kNobody};
        if (owners == kNobodyAtAll && own <= 0) return;
        const auto [known, is_new] = numbers_.try_emplace({owners, own}, list_.size());
        if (is_new) list_.push_back({owners, own});
        list_[known->second].jobs.push_back(job);
    }
    std::span<TicketCategory> list() { return list_; }

  private:
    std::map<std::pair<OwnerShares::Owners, double>, std::size_t> numbers_;
    std::vector<TicketCategory> list_;
};

// The numbers of `jobs` jobs in the order in which those of one category start: by tickets so far, most
// first. Empty tickets so far: as they are.
inline std::vector<std::uint32_t> order_of_starts(std::size_t jobs, std::span<const double> so_far) {
    std::vector<std::uint32_t> order(jobs);
    std::iota(order.begin(), order.end(), 0U);
    if (!so_far.empty())
        std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t i) { return so_far[i]; });
    return order;
}

// Lets at most `rounds` jobs start. In each round, the first jobs of the categories compete: the one with the
// greatest value starts, and among equal ones the one with the least number. A job's value is the sum of
// `next(category)`, the tickets that it would get, and `so_far`, its tickets so far, which may be empty.
// `next` must not grow from round to round. `start(category)` takes the category's first job, and returns its
// tickets. The jobs that don't start get the `next` of their category, as it was before the last start.
//
// A bid is the value of a category's first job. Each start may make all bids out of date, so a user with many
// jobs of different shares could make a game long: it ends after kMostBids, that is, 30 ms or so.
inline constexpr std::size_t kMostBids = 250'000;
inline void play(std::span<TicketCategory> categories, std::size_t rounds, std::span<const double> so_far,
                 const std::function<double(const TicketCategory&)>& next,
                 const std::function<double(const TicketCategory&)>& start, std::vector<double>& tickets) {
    const auto value = [&](const TicketCategory& category) {
        return next(category) + (so_far.empty() ? 0 : so_far[category.first()]);
    };
    const auto give_rest = [&] {
        for (const TicketCategory& category : categories) {
            const double given = category.is_over() ? 0 : next(category);
            for (std::size_t i = category.next; i < category.jobs.size(); ++i)
                tickets[category.jobs[i]] = given;
        }
    };
    struct Bid {
        double value;
        std::uint32_t job;
        TicketCategory* category;
    };
    const auto is_less = [](const Bid& a, const Bid& b) {
        return a.value != b.value ? a.value < b.value : a.job > b.job;
    };
    std::vector<Bid> bids;
    for (TicketCategory& category : categories)
        bids.push_back({value(category), category.first(), &category});
    std::ranges::make_heap(bids, is_less);
    std::size_t made = 0;
    while (!bids.empty() && rounds > 0) {
        if (++made > kMostBids) return give_rest();
        std::ranges::pop_heap(bids, is_less);
        Bid& bid = bids.back();
        // The bid is out of date if others have started since it was made.
        if (const double now = value(*bid.category); now < bid.value) {
            bid.value = now;
            std::ranges::push_heap(bids, is_less);
            continue;
        }
        TicketCategory& winner = *bid.category;
        if (--rounds == 0) give_rest();
        tickets[winner.first()] = start(winner);
        ++winner.next;
        if (winner.is_over()) {
            bids.pop_back();
        } else {
            bid = {value(winner), winner.first(), &winner};
            std::ranges::push_heap(bids, is_less);
        }
    }
}

}  // namespace pbs::sched

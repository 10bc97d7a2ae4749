#include "server_plugin/plugin/background_queries.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/cycle.h"
#include "server_plugin/plugin/state.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

// The most large queries at a time. A query counts from the start of its work until its whole result is sent.
constexpr std::ptrdiff_t kMostLarge = 4;

}  // namespace

std::uint64_t ticket_of(const State& state, const pbs_status_request& request) {
    return state.host.takes_work_finished() ? request.ticket : 0;
}

int32_t BackgroundQueries::answer(State& state, const pbs_status_request& request, const Make& make,
                                  Reply reply) {
    const std::uint64_t ticket = ticket_of(state, request);
    if (ticket == 0) {
        const auto query = make();
        sched::Inspector inspector = state.scheduler.inspect();
        query->begin(state);
        query->work(inspector, instant(request.now));
        const int32_t code = query->answer(request, false, reply);
        discard(query);
        return code;
    }
    const auto query = finished(state, ticket, view(request.who.user), instant(request.now), make);
    if (!query) return reply.error(PBSE_TRYAGAIN, {});
    const int32_t code = query->answer(request, true, reply);
    if (code != PBSE_NONE || query->all_told()) end(ticket);
    begin_next(state, instant(request.now));
    return code;
}

std::shared_ptr<BackgroundQuery> BackgroundQueries::finished(State& state, std::uint64_t ticket,
                                                             std::string_view user, sched::Instant now,
                                                             const Make& make) {
    if (!knows(ticket)) {
        asked_[ticket].query = make();
        wait_for_turn(ticket, std::string(user));
    }
    finish(state);
    const auto asked = asked_.find(ticket);
    // Leave the scheduler free for the caller, who may test its query's result.
    if (asked->second.stage != Stage::over) begin_next(state, now);
    if (asked->second.stage != Stage::over) return nullptr;
    if (const auto thrown = asked->second.thrown) {
        end(ticket);
        std::rethrow_exception(thrown);
    }
    return asked->second.query;
}

void BackgroundQueries::again(State& state, std::uint64_t ticket, std::string_view user, sched::Instant now) {
    asked_.at(ticket).stage = Stage::waiting;
    wait_for_turn(ticket, std::string(user));
    begin_next(state, now);
}

void BackgroundQueries::end(std::uint64_t ticket) {
    const auto asked = asked_.find(ticket);
    discard(asked->second.query);
    asked_.erase(asked);
}

void BackgroundQueries::wait_for_turn(std::uint64_t ticket, const std::string& user) {
    auto at = std::ranges::find(round_, user, &User::name);
    if (at == round_.end()) at = round_.insert(at, User{user, {}});
    at->tickets.push_back(ticket);
}

bool BackgroundQueries::may_begin(const BackgroundQuery& query) const {
    if (!query.is_large()) return true;
    return std::ranges::count_if(asked_, [](const auto& entry) {
               return entry.second.stage != Stage::waiting && entry.second.query->is_large();
           }) < kMostLarge;
}

// Removes the next ticket to work on from its user's list, and returns it: the first ticket that may begin,
// of the first user who has one. Moves the user to the end of the round. Returns 0 if no ticket may begin.
std::uint64_t BackgroundQueries::take_next() {
    for (auto user = round_.begin(); user != round_.end(); ++user) {
        const auto found = std::ranges::find_if(
            user->tickets, [&](std::uint64_t ticket) { return may_begin(*asked_.at(ticket).query); });
        if (found == user->tickets.end()) continue;
        const std::uint64_t ticket = *found;
        user->tickets.erase(found);
        if (user->tickets.empty())
            round_.erase(user);
        else
            round_.splice(round_.end(), round_, user);
        return ticket;
    }
    return 0;
}

void BackgroundQueries::begin_next(State& state, sched::Instant now) {
    if (at_work_ || state.scheduler.at_work() || state.in_flight.on_its_way || change_ != 0) return;
    const std::uint64_t ticket = take_next();
    if (ticket == 0) return;
    TicketedQuery& asked = asked_.at(ticket);
    asked.stage = Stage::working;
    at_work_ = true;
    working_ = ticket;
    query_ = asked.query;
    const auto work = [query = query_, now](sched::Inspector& scheduler) { query->work(scheduler, now); };
    try {
        query_->begin(state);
        if (state.scheduler.start_look(now, work, [&host = state.host] { host.work_finished(); })) return;
        note_end(nullptr);
    } catch (...) {
        note_end(std::current_exception());
    }
}

bool BackgroundQueries::has_turn(State& state, std::uint64_t ticket) {
    finish(state);
    change_ = state.scheduler.at_work() ? ticket : 0;
    return change_ == 0;
}

void BackgroundQueries::discard(std::shared_ptr<BackgroundQuery> query) {
    if (query && query->is_large()) discarded_.push_back(std::move(query));
}

void BackgroundQueries::finish(State& state) {
    if (!discarded_.empty() && !discarded_.back()->free_some()) discarded_.pop_back();
    if (!at_work_ || (state.scheduler.at_work() && !state.scheduler.work_is_over())) return;
    std::exception_ptr thrown;
    try {
        for (const std::string& line : state.scheduler.finish_work())
            state.host.log(PBS_LOG_ERROR, "server", line);
    } catch (...) {
        thrown = std::current_exception();
    }
    note_end(thrown);
    append_ended(state);
}

void BackgroundQueries::note_end(std::exception_ptr thrown) {
    at_work_ = false;
    const std::shared_ptr<BackgroundQuery> query = std::exchange(query_, nullptr);
    const auto asked = asked_.find(working_);
    if (asked == asked_.end()) return discard(query);
    asked->second.stage = Stage::over;
    asked->second.thrown = std::move(thrown);
}

void BackgroundQueries::abandon(std::uint64_t ticket) {
    if (ticket == change_) change_ = 0;
    const auto asked = asked_.find(ticket);
    if (asked == asked_.end()) return;
    asked->second.query->give_up();
    if (asked->second.stage == Stage::over) discard(asked->second.query);
    asked_.erase(asked);
    for (User& user : round_) std::erase(user.tickets, ticket);
    std::erase_if(round_, [](const User& user) { return user.tickets.empty(); });
}

void BackgroundQueries::stop() {
    if (query_) query_->give_up();
}

}  // namespace pbs::plugin

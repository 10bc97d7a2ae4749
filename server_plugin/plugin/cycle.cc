#include "server_plugin/plugin/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "objects/output_file.h"
#include "objects/unsupported.h"
#include "server_plugin/plugin/configuration.h"
#include "server_plugin/plugin/dump_file.h"
#include "server_plugin/plugin/queue_settings.h"
#include "server_plugin/plugin/requests/explanation.h"
#include "server_plugin/plugin/requests/record.h"
#include "server_plugin/plugin/sched_config.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

std::string folder_of(const State& state, std::string_view sched) {
    const auto folder = state.sched_priv.find(std::string(sched));
    return folder == state.sched_priv.end() ? std::string{} : folder->second;
}

// Logs that a file can't be written. Further failures are logged only after the file could be written again.
void report(State& state, std::string_view sched, const WrittenFile& file) {
    if (file.why_not.empty()) {
        state.said_unwritable.erase(file.path);
    } else if (state.said_unwritable.insert(file.path).second) {
        state.host.log(PBS_LOG_WARNING, sched, fmt::format("{} isn't written: {}", file.what, file.why_not));
    }
}

constexpr std::string_view kScheduleLog = "The schedule log";

}  // namespace

void write_usage_file(State& state, std::string_view sched, std::string_view text) {
    report(state, sched,
           {"The file of past usage", std::string(objects::kUsageFile),
            write_usage_dump(std::string(state.host.home()), folder_of(state, sched), text)});
}

void append_ended(State& state) {
    for (const sched::ScheduleRecords& records : state.scheduler.take_schedule()) {
        const DumpTarget target{std::string(state.host.home()), folder_of(state, records.sched),
                                records.file.path};
        report(state, records.sched,
               {kScheduleLog, records.file.path, append_dump_file(target, records.file.text)});
    }
}

void read_allocations(State& state, std::string_view sched, sched::Instant now, bool anew) {
    std::string folder = folder_of(state, sched);
    if (folder.empty()) folder = fmt::format("{}/sched_priv", state.host.home());
    state.allocation_files.refresh(state.scheduler, state.host, sched, folder, now, anew);
}

namespace {

void clear(pbs_cycle_result& result) {
    result.decisions = nullptr;
    result.decision_count = 0;
    result.jobs_considered = 0;
    result.log_event = -1;
}

using Before = std::function<void(sched::Inspector&)>;

// Prepares a cycle. Returns a function that is to be called at the cycle's beginning.
Before get_ready(State& state, const pbs_cycle_request& request) {
    const std::string_view sched = view(request.sched);
    const bool anew = request.trigger == PBS_SCH_CONFIGURE;
    const uint64_t takes = request.takes;
    state.scheduler.set_tell_estimates((takes & PBS_TAKES_ESTIMATES) != 0);
    state.scheduler.set_divide_chunks((takes & PBS_TAKES_PIECES) != 0);
    state.takes_preemptions = (takes & PBS_TAKES_PREEMPTIONS) != 0;
    state.scheduler.set_preempt(state.takes_preemptions);
    state.scheduler.set_answer_reservations((takes & PBS_TAKES_RESERVATIONS) != 0);
    refresh_sched_config(state, sched);
    read_allocations(state, sched, instant(request.now), anew);
    for (const auto& program : state.programs)
        program->before_cycle(state.scheduler, state.host, sched, instant(request.now), anew);
    state.jobs_considered = 0;
    state.in_flight = {};
    state.in_flight.sched = sched;
    state.in_flight.home = state.host.home();
    state.in_flight.sched_priv = folder_of(state, sched);
    return record_next(state, request);
}

// Writes the cycle's files and stores its decisions. Runs in the cycle's thread, since many decisions take
// long.
void take(State& state, sched::Decisions decided) {
    CycleInFlight& in_flight = state.in_flight;
    const auto target = [&](const sched::FileToWrite& file) {
        return DumpTarget{in_flight.home, in_flight.sched_priv, file.path};
    };
    if (const auto& file = decided.sorted_jobs)
        in_flight.files.push_back(
            {"The sorted job list", file->path, write_dump_file(target(*file), file->text)});
    if (const auto& file = decided.schedule)
        in_flight.files.push_back({kScheduleLog, file->path, append_dump_file(target(*file), file->text)});
    in_flight.log = std::move(decided.log);
    in_flight.wants = std::move(decided.wants);
    in_flight.log_event = decided.log_event;
    state.jobs_considered = decided.jobs_considered;
    state.decisions.assign(std::move(decided));
}

void hand_over(State& state, sched::Instant now, pbs_cycle_result& result) {
    const CycleInFlight& done = state.in_flight;
    for (const std::string& line : done.log) state.host.log(PBS_LOG_INFO, done.sched, line);
    for (const WrittenFile& file : done.files) report(state, done.sched, file);
    tell_of_queues(state, done.sched, now);
    keep_record(state, now);
    for (const auto& program : state.programs)
        program->after_cycle(state.scheduler, state.host, done.sched, now,
                             std::ranges::find(done.wants, program->rule()) != done.wants.end());
    result.jobs_considered = state.jobs_considered;
    result.log_event = done.log_event;
    result.decisions = state.decisions.list().data();
    result.decision_count = state.decisions.list().size();
}

}  // namespace

// Returns whether the cycle has to wait for a program of server_dyn_res. If so, it decides nothing, and the
// timer asks for another cycle later.
bool puts_off(State& state, const pbs_cycle_request& request, sched::CycleTrigger& trigger) {
    trigger = static_cast<sched::CycleTrigger>(request.trigger);
    state.decisions.clear();
    return state.dynamic_resources.puts_off(state.scheduler, state.host, view(request.sched),
                                            instant(request.now), trigger);
}

bool is_external(State& state, sched::Instant now, std::string_view sched) {
    if (!state.adopted) return false;
    const auto is = [&](std::string_view name) {
        const objects::Object* policy = state.adopted->policy(name);
        return policy != nullptr && policy->text("algorithm") == "external" &&
               objects::scheduler_by(*policy, state.host.abilities()) == objects::PbsSched::program;
    };
    // The policy in force is looked up only if one of the policies is external, since that search computes
    // the windows of prime time.
    const auto slots = state.adopted->policy_slots(sched);
    if (!is(slots.all_time) && !is(slots.prime) && !is(slots.non_prime)) return false;
    return is(state.scheduler.status(now, sched).policy);
}

int32_t start_cycle(State& state, const pbs_cycle_request* request, int32_t* running) {
    if (!fits(request) || !running || !state.store) return PBSE_INTERNAL;
    state.queries.finish(state);
    if (state.queries.at_work()) return PBSE_TRYAGAIN;
    load_shares(state);
    sched::CycleTrigger trigger{};
    state.in_flight = {};
    state.in_flight.put_off =
        is_external(state, instant(request->now), view(request->sched)) || puts_off(state, *request, trigger);
    *running = 0;
    if (state.in_flight.put_off) return PBSE_NONE;
    const Before before = get_ready(state, *request);
    const bool in_thread = state.scheduler.start_cycle(
        instant(request->now), view(request->sched), trigger,
        [&state](sched::Decisions decided) { take(state, std::move(decided)); },
        [&state] { state.host.cycle_finished(); }, before);
    state.in_flight.on_its_way = true;
    *running = in_thread ? 1 : 0;
    return PBSE_NONE;
}

int32_t finish_cycle(State& state, sched::Instant now, pbs_cycle_result* result) {
    if (!fits(result) || !state.store) return PBSE_INTERNAL;
    clear(*result);
    state.in_flight.on_its_way = false;
    for (const std::string& line : state.scheduler.finish_work())
        state.host.log(PBS_LOG_ERROR, "server", line);
    append_ended(state);
    if (!state.in_flight.put_off) hand_over(state, now, *result);
    // Begin a query between two cycles, else cycles that follow each other at once would leave it no time.
    state.queries.begin_next(state, now);
    return PBSE_NONE;
}

namespace {

int32_t answer_placed(const State& state, pbs_cycle_result& result) {
    result.jobs_considered = 1;
    result.decisions = state.placed.list().data();
    result.decision_count = state.placed.list().size();
    return PBSE_NONE;
}

}  // namespace

int32_t place_job(State& state, const pbs_place_request* request, pbs_cycle_result* result) {
    if (!fits(request) || !fits(result) || !state.store) return PBSE_INTERNAL;
    clear(*result);
    state.queries.finish(state);
    if (state.scheduler.at_work()) return PBSE_TRYAGAIN;
    state.scheduler.set_divide_chunks((request->takes & PBS_TAKES_PIECES) != 0);
    const bool preempts = (request->takes & PBS_TAKES_ROOM_MADE) != 0;
    state.placed.assign(
        state.scheduler.place(instant(request->now), sched::JobHandle{request->job}, preempts));
    if (state.placed.list().empty()) return PBSE_UNKJOBID;
    return answer_placed(state, *result);
}

namespace {

bool has_origin_policy(const State& state) {
    const auto is_origin = [](const objects::ObjectPtr& policy) {
        return policy->text("algorithm") == "origin";
    };
    if (!state.adopted) return false;
    const objects::ObjectList& policies = state.adopted->objects(objects::ObjectType::policy);
    return std::any_of(policies.begin(), policies.end(), is_origin);
}

// The answer to a request to test a start.
struct TestedStart {
    sched::Decisions decisions;
    sched::Explanation explanation;  // empty unless it is wanted
};

// A test of a start that takes long, in the scheduler's thread.
class StartQuery final : public BackgroundQuery {
  public:
    StartQuery(sched::JobHandle job, std::span<const sched::Place> places, bool wants_explanation)
        : job_(job), places_(places.begin(), places.end()), wants_explanation_(wants_explanation) {
        std::size_t amounts = 0;
        for (const sched::Place& place : places) amounts += place.amounts.size();
        amounts_.reserve(amounts);
        for (sched::Place& place : places_) {
            const std::size_t first = amounts_.size();
            amounts_.insert(amounts_.end(), place.amounts.begin(), place.amounts.end());
            place.amounts = std::span(amounts_).subspan(first);
        }
    }

    void work(sched::Inspector& scheduler, sched::Instant now) override {
        tested_ = {};
        tested_.decisions =
            scheduler.test_start(now, job_, places_, wants_explanation_ ? &tested_.explanation : nullptr);
        ++tries_;
    }
    int32_t answer(const pbs_status_request&, bool, Reply) override { return PBSE_INTERNAL; }
    TestedStart& tested() { return tested_; }
    int tries() const { return tries_; }

  private:
    sched::JobHandle job_;
    std::vector<sched::Place> places_;
    std::vector<sched::Amount> amounts_;
    bool wants_explanation_;
    TestedStart tested_;
    int tries_ = 0;
};

// Tests a start, for one call of the host.
class StartTest {
  public:
    StartTest(State& state, const pbs_start_request& request, pbs_cycle_result& result, pbs_reply* reply)
        : state_(state),
          request_(request),
          result_(result),
          reply_(reply),
          explains_(request.explains != 0 && reply != nullptr),
          // Only an explanation says which policy is in force for the job's scheduler. It takes longer than a
          // test, so it is made only if the policy may be of the Origin algorithm.
          wants_explanation_(explains_ || has_origin_policy(state)),
          ticket_(state.host.takes_work_finished() ? request.ticket : 0) {}

    int32_t run(std::span<const sched::Place> places) {
        if (ticket_ != 0 && state_.queries.knows(ticket_)) return go_on(places);
        if (state_.scheduler.at_work()) return PBSE_TRYAGAIN;
        state_.scheduler.set_divide_chunks((request_.takes & PBS_TAKES_PIECES) != 0);
        if (ticket_ == 0 || !state_.scheduler.test_takes_long(now(), job(), searches() || explains_))
            return answer(test(places));
        return go_on(places);
    }

  private:
    // The number of times that the thread tries a test. If each answer is out of date by the time when the
    // host asks for it, the start is refused: the test would take too long for the host's thread, and a host
    // whose objects change all the time would never get an answer.
    static constexpr int kMostTries = 5;

    sched::Instant now() const { return instant(request_.now); }
    sched::JobHandle job() const { return sched::JobHandle{request_.job}; }
    bool searches() const { return request_.place_count == 0; }

    TestedStart test(std::span<const sched::Place> places) {
        TestedStart tested;
        tested.decisions = state_.scheduler.test_start(now(), job(), places,
                                                       wants_explanation_ ? &tested.explanation : nullptr);
        return tested;
    }

    // Begins the work in the thread, or asks for its result.
    int32_t go_on(std::span<const sched::Place> places) {
        const auto make = [&] { return std::make_shared<StartQuery>(job(), places, wants_explanation_); };
        const auto known = state_.queries.finished(state_, ticket_, view(request_.user), now(), make);
        if (!known) return PBSE_TRYAGAIN;
        auto& query = static_cast<StartQuery&>(*known);
        // Explanations and refusals start nothing, so they may be a moment old.
        if (explains_ || (searches() && !runs(query.tested().decisions)))
            return end(std::move(query.tested()));
        // Somebody else's query may be in the thread. Don't wait for its end here.
        if (!state_.queries.has_turn(state_, ticket_)) return PBSE_TRYAGAIN;
        // Events may have come since the thread has begun. Test the start once more: the running jobs are
        // counted now, and the place is known.
        const bool last = query.tries() >= kMostTries;
        if (state_.scheduler.test_takes_long(now(), job(), false)) return last ? give_up() : again();
        if (!searches()) return end(test(places));
        TestedStart tested = test(query.tested().decisions.list.back().places);
        if (runs(tested.decisions)) return end(std::move(query.tested()));
        return last ? end(std::move(tested)) : again();
    }
    int32_t again() {
        state_.queries.again(state_, ticket_, view(request_.user), now());
        return PBSE_TRYAGAIN;
    }
    int32_t end(TestedStart tested) {
        forget();
        return answer(std::move(tested));
    }
    int32_t give_up() {
        forget();
        if (reply_ == nullptr) return PBSE_OBJBUSY;
        return state_.host.reply(reply_).error(
            PBSE_OBJBUSY, fmt::format("the start can't be tested: too much has changed during each of {} "
                                      "tests; try again",
                                      kMostTries));
    }
    void forget() {
        state_.queries.end(ticket_);
        state_.queries.begin_next(state_, now());
    }

    static bool runs(const sched::Decisions& decisions) {
        return !decisions.list.empty() && decisions.list.back().kind == sched::DecisionKind::run;
    }

    int32_t answer(TestedStart tested) {
        state_.placed.assign(std::move(tested.decisions));
        if (state_.placed.list().empty()) return PBSE_UNKJOBID;
        if (tested.explanation.algorithm == "origin") {
            state_.placed.clear();
            const std::string why =
                fmt::format("policy {}, which is in force, has the algorithm origin: it tests no starts",
                            tested.explanation.policy);
            return reply_ != nullptr ? state_.host.reply(reply_).error(PBSE_NOSUP, why) : PBSE_NOSUP;
        }
        if (explains_) show_explanation(tested.explanation, state_.host.reply(reply_));
        return answer_placed(state_, result_);
    }

    State& state_;
    const pbs_start_request& request_;
    pbs_cycle_result& result_;
    pbs_reply* reply_;
    bool explains_;
    bool wants_explanation_;
    std::uint64_t ticket_;
};

}  // namespace

int32_t test_start(State& state, const pbs_start_request* request, pbs_cycle_result* result,
                   pbs_reply* reply) {
    if (!fits(request) || !fits(result) || !state.store) return PBSE_INTERNAL;
    const auto places = state.translator.places(request->places, request->place_count, request->joined);
    if (!places) return PBSE_INTERNAL;
    clear(*result);
    state.queries.finish(state);
    return StartTest(state, *request, *result, reply).run(*places);
}

}  // namespace pbs::plugin

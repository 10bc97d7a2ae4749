#include "tools/replay/replay.h"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace pbs::replay {
namespace {

using record::DecidedLine;

// Restores a scheduler from a record.
class Restored : public record::RecordSink {
  public:
    explicit Restored(const std::optional<std::string>& time_zone) : time_zone_(time_zone) {}

    Result<void> begin(const std::string& time_zone) override {
        auto zone = rrule::Zone::find(time_zone_.value_or(time_zone));
        if (!zone) return tl::unexpected(Error{"time_zone: " + zone.error().message});
        scheduler.emplace(*std::move(zone));
        return {};
    }
    Result<void> state(const sched::StateRecord& record) override {
        names_.state_names(record);
        if (std::holds_alternative<sched::JobState>(record)) ++jobs;
        return scheduler->restore(record);
    }
    // Runs the recorded cycle again, and returns the lines of its decisions.
    std::string decide(const CycleAsked& asked) {
        scheduler->set_divide_chunks(!asked.whole_chunks);
        scheduler->set_preempt(!asked.no_preemption);
        names_.decisions(scheduler->rehearse(asked.now, asked.sched, asked.trigger));
        return names_.take();
    }

    std::optional<sched::Scheduler> scheduler;
    std::size_t jobs = 0;

  private:
    std::optional<std::string> time_zone_;
    record::RecordWriter names_;
};

// The lines of decisions by job, in the order of the cycle.
using ByJob = std::map<std::string, std::vector<const DecidedLine*>, std::less<>>;
ByJob by_job(const std::vector<DecidedLine>& lines) {
    ByJob jobs;
    for (const DecidedLine& line : lines) jobs[line.job].push_back(&line);
    return jobs;
}

std::string about(const DecidedLine& line) {
    return line.job.empty() ? std::string() : fmt::format("job {}: ", line.job);
}

// Compares the decisions on each job and returns the differences. If there are none, returns the first
// difference in the order of decisions.
std::vector<std::string> compare(const std::vector<DecidedLine>& recorded,
                                 const std::vector<DecidedLine>& now) {
    std::vector<std::string> differences;
    const ByJob now_of = by_job(now);
    ByJob recorded_of = by_job(recorded);
    std::map<std::string_view, std::size_t> seen;  // by job: its lines compared so far
    for (const DecidedLine& line : recorded) {
        const std::size_t i = seen[line.job]++;
        const auto found = now_of.find(line.job);
        const bool there = found != now_of.end() && i < found->second.size();
        if (there && found->second[i]->text == line.text) continue;
        differences.push_back(fmt::format("{}recorded {}\n{}now      {}", about(line), line.text, about(line),
                                          there ? found->second[i]->text : "nothing"));
    }
    seen.clear();
    for (const DecidedLine& line : now) {
        const auto found = recorded_of.find(line.job);
        if (found == recorded_of.end() || seen[line.job]++ >= found->second.size())
            differences.push_back(
                fmt::format("{}recorded nothing\n{}now      {}", about(line), about(line), line.text));
    }
    for (std::size_t i = 0; differences.empty() && i < recorded.size(); ++i) {
        if (recorded[i].text != now[i].text)
            differences.push_back(fmt::format("the order differs at decision {}:\nrecorded {}\nnow      {}",
                                              i + 1, recorded[i].text, now[i].text));
    }
    return differences;
}

}  // namespace

Result<std::string> decide_again(std::string_view text, std::string_view name,
                                 const std::optional<std::string>& time_zone) {
    Restored restored(time_zone);
    const auto record = record::read_record(text, name, restored);
    if (!record) return tl::unexpected(record.error());
    return restored.decide(record->cycle);
}

Result<Replayed> replay(std::string_view text, std::string_view name,
                        const std::optional<std::string>& time_zone) {
    Restored restored(time_zone);
    auto record = record::read_record(text, name, restored);
    if (!record) return tl::unexpected(record.error());
    Replayed out;
    out.jobs = restored.jobs;
    for (const DecidedLine& line : record->decided) out.decisions += line.job.empty() ? 0 : 1;
    out.differences = compare(record->decided, record::decided_lines(restored.decide(record->cycle)));
    out.cycle = std::move(record->cycle);
    return out;
}

}  // namespace pbs::replay

#include "tools/simulate/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "objects/value.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

constexpr std::int64_t kLatest = 100'000'000'000;  // in the year 5138
constexpr std::int64_t kMostCpus = 100'000'000;

struct Pair {
    std::string_view key;
    std::string value;
    std::size_t column = 0;  // column of the value
};

// Splits "key=value key="a value" ...". A value in quotes may contain blanks; within double quotes, \" is a
// quote. A word without an equals sign belongs to the value before it, because names of jobs may contain
// blanks.
std::vector<Pair> split_pairs(std::string_view line, std::size_t from) {
    std::vector<Pair> pairs;
    std::size_t at = from;
    while (true) {
        at = line.find_first_not_of(" \t\r", at);
        if (at == line.npos) break;
        const auto word_end = std::min(line.find_first_of(" \t\r", at), line.size());
        const auto equals = line.find('=', at);
        if (equals >= word_end) {
            if (!pairs.empty()) pairs.back().value.append(" ").append(line.substr(at, word_end - at));
            at = word_end;
            continue;
        }
        Pair& pair = pairs.emplace_back();
        pair.key = line.substr(at, equals - at);
        pair.column = equals + 1;
        const char quote = equals + 1 < line.size() ? line[equals + 1] : ' ';
        if (quote != '"' && quote != '\'') {
            pair.value = line.substr(equals + 1, word_end - equals - 1);
            at = word_end;
            continue;
        }
        for (at = equals + 2; at < line.size() && line[at] != quote; ++at) {
            if (quote == '"' && line[at] == '\\' && at + 1 < line.size()) ++at;
            pair.value += line[at];
        }
        at = std::min(at + 1, line.size());
    }
    return pairs;
}

class LogReader {
  public:
    Result<void> read(const LogText& log);
    Trace finish();

  private:
    struct Record {
        char type = ' ';
        std::string_view id;
        std::size_t text = 0;  // column at which the text begins
    };
    tl::unexpected<std::string> wrong(std::size_t column, const std::string& what) const {
        return tl::unexpected(fmt::format("{}: line {}, column {}: {}", name_, line_, column + 1, what));
    }
    Result<Record> split(std::string_view line) const;
    Result<void> read_record(std::string_view line);
    Result<void> read_end(std::string_view line, const Record& record);
    Result<std::optional<std::int64_t>> seconds(const std::vector<Pair>& pairs, std::string_view key) const;
    Result<void> read_request(const std::vector<Pair>& pairs, TraceJob& job);
    std::uint32_t request_number(RequestText request);

    std::string name_;
    std::size_t line_ = 0;
    Trace trace_;
    std::unordered_map<std::string, std::uint32_t> submitted_to_;  // the queue of each id, from Q records
    std::unordered_map<std::string, std::size_t> jobs_;            // index of each id
    std::unordered_set<std::string> begun_;                        // ids that have a Q or S record
    std::unordered_set<std::string> deleted_;
    std::unordered_set<std::string> suspended_;
    std::vector<Seconds> walltime_used_;  // by index of the job; -1: unknown
    std::map<RequestText, std::uint32_t> requests_;
};

// Splits a line "MM/DD/YYYY HH:MM:SS;T;id;text".
Result<LogReader::Record> LogReader::split(std::string_view line) const {
    constexpr std::string_view kShape = "00/00/0000 00:00:00;";
    for (std::size_t i = 0; i < kShape.size(); ++i) {
        const bool fits =
            i < line.size() && (kShape[i] == '0' ? line[i] >= '0' && line[i] <= '9' : line[i] == kShape[i]);
        if (!fits) return wrong(i, "expected a record, MM/DD/YYYY HH:MM:SS;TYPE;ID;key=value ...");
    }
    Record record;
    const auto type_end = line.find(';', kShape.size());
    if (type_end == line.npos || type_end == kShape.size())
        return wrong(kShape.size(), "expected the type of the record and a semicolon");
    // Only records about jobs have a type of one letter; others, such as PROV_START, are skipped.
    if (type_end == kShape.size() + 1) record.type = line[kShape.size()];
    const auto id_end = line.find(';', type_end + 1);
    if (id_end == line.npos) return wrong(type_end + 1, "expected an id and a semicolon");
    record.id = line.substr(type_end + 1, id_end - type_end - 1);
    record.text = id_end + 1;
    return record;
}

Result<std::optional<std::int64_t>> LogReader::seconds(const std::vector<Pair>& pairs,
                                                       std::string_view key) const {
    const auto found = std::ranges::find(pairs, key, &Pair::key);
    if (found == pairs.end()) return std::nullopt;
    const auto number = values::number<std::int64_t>(found->value);
    if (!number || *number < 0 || *number > kLatest)
        return wrong(found->column, fmt::format("{}: found '{}', expected seconds since the Epoch", key,
                                                found->value.substr(0, 40)));
    return *number == 0 ? std::nullopt : number;
}

std::uint32_t LogReader::request_number(RequestText request) {
    const auto [place, fresh] =
        requests_.try_emplace(std::move(request), static_cast<std::uint32_t>(trace_.requests.size()));
    if (fresh) trace_.requests.push_back(place->first);
    return place->second;
}

Result<void> LogReader::read_request(const std::vector<Pair>& pairs, TraceJob& job) {
    RequestText request;
    std::optional<std::int64_t> cpus;
    constexpr std::string_view kPrefix = "Resource_List.";
    for (const Pair& pair : pairs) {
        if (!pair.key.starts_with(kPrefix)) continue;
        const std::string_view resource = pair.key.substr(kPrefix.size());
        if (resource == "walltime") {
            const auto walltime = objects::parse_duration("walltime", pair.value);
            if (!walltime || walltime->count() < 0 || walltime->count() > kLatest)
                return wrong(pair.column, fmt::format("{}: found '{}', expected HH:MM:SS or seconds",
                                                      pair.key, pair.value.substr(0, 40)));
            job.walltime = *walltime;
            continue;
        }
        if (resource == "ncpus") {
            cpus = values::number<std::int64_t>(pair.value);
            if (!cpus || *cpus < 0 || *cpus > kMostCpus)
                return wrong(pair.column, fmt::format("{}: found '{}', expected 0 to {}", pair.key,
                                                      pair.value.substr(0, 40), kMostCpus));
        }
        // Skip resources that the server computes from others, or that the scheduler sets at a job's start.
        if (resource == "nodect" || resource == "ssinodes") continue;
        request.emplace(resource, pair.value);
    }
    if (!cpus)
        if (const auto select = request.find("select"); select != request.end())
            cpus = cpus_of_select(select->second);
    job.cpus = cpus.value_or(1);
    job.request = request_number(std::move(request));
    return {};
}

Result<void> LogReader::read_end(std::string_view line, const Record& record) {
    const std::vector<Pair> pairs = split_pairs(line, record.text);
    std::array<std::optional<std::int64_t>, 4> times;
    std::size_t next = 0;
    for (const char* key : {"etime", "ctime", "start", "end"}) {
        const auto time = seconds(pairs, key);
        if (!time) return tl::unexpected(time.error());
        times[next++] = *time;
    }
    const auto [etime, ctime, start, end] = times;
    const auto submit = etime ? etime : ctime;
    if (!submit || !end)
        return wrong(record.text,
                     fmt::format("E record of job {}: no {}", record.id, submit ? "end" : "etime or ctime"));
    if (!start) {
        ++trace_.left_out["ended before it ran"];
        begun_.erase(std::string(record.id));
        return {};
    }
    if (*end < *start)
        return wrong(record.text, fmt::format("E record of job {}: its end, {}, is before its start, {}",
                                              record.id, *end, *start));
    const auto text = [&](std::string_view key, std::string_view otherwise) {
        const auto found = std::ranges::find(pairs, key, &Pair::key);
        return found == pairs.end() ? std::string(otherwise) : found->value;
    };
    TraceJob job;
    const auto dot = record.id.find_first_not_of("0123456789");
    job.number = static_cast<std::uint64_t>(values::number<std::int64_t>(record.id.substr(0, dot))
                                                .value_or(static_cast<std::int64_t>(trace_.jobs.size() + 1)));
    job.submit = Instant(Seconds(std::min(*submit, *start)));
    job.run_time = Seconds(*end - *start);
    job.recorded_wait = Seconds(*start - std::min(*submit, *start));
    if (auto done = read_request(pairs, job); !done) return done;
    if (const std::string cput = text("resources_used.cput", ""); !cput.empty())
        if (const auto used = objects::parse_duration("cput", cput); used && used->count() >= 0)
            job.cput = std::min(*used, Seconds(kLatest));
    job.user = trace_.users.number(text("user", "unknown"));
    job.group = trace_.groups.number(text("group", "unknown"));
    job.project = trace_.projects.number(text("project", ""));
    Seconds walltime_used{-1};
    if (const std::string walltime = text("resources_used.walltime", ""); !walltime.empty())
        walltime_used = objects::parse_duration("walltime", walltime).value_or(walltime_used);
    const std::string id(record.id);
    const auto queue = submitted_to_.find(id);
    job.queue = queue != submitted_to_.end() ? queue->second : trace_.queues.number(text("queue", ""));
    const auto [place, fresh] = jobs_.try_emplace(id, trace_.jobs.size());
    if (fresh) {
        trace_.jobs.emplace_back();
        walltime_used_.emplace_back();
    }
    trace_.jobs[place->second] = job;
    walltime_used_[place->second] = walltime_used;
    return {};
}

Result<void> LogReader::read_record(std::string_view line) {
    const auto record = split(line);
    if (!record) return tl::unexpected(record.error());
    switch (record->type) {
        case 'Q': {
            begun_.emplace(record->id);
            const std::vector<Pair> pairs = split_pairs(line, record->text);
            const auto queue = std::ranges::find(pairs, "queue", &Pair::key);
            // Keep the queue of the job's first Q record: a job that was moved has later ones.
            if (queue != pairs.end())
                submitted_to_.try_emplace(std::string(record->id), trace_.queues.number(queue->value));
            return {};
        }
        case 'S':
            begun_.emplace(record->id);
            return {};
        case 'z':
            suspended_.emplace(record->id);
            return {};
        case 'D':
        case 'A':
            deleted_.emplace(record->id);
            return {};
        case 'E':
            return read_end(line, *record);
        default:
            return {};
    }
}

Result<void> LogReader::read(const LogText& log) {
    name_ = log.name;
    line_ = 0;
    std::string_view text = log.text;
    while (!text.empty()) {
        ++line_;
        const std::string_view line = values::take_line(text);
        if (line.find_first_not_of(" \t\r") == line.npos) continue;
        if (auto done = read_record(line); !done) return done;
    }
    trace_.name += (trace_.name.empty() ? "" : ", ") + log.name;
    return {};
}

Trace LogReader::finish() {
    // Look up queues at the end: the Q record of a job may follow its E record, since files come in any
    // order.
    for (const auto& [id, position] : jobs_)
        if (const auto queue = submitted_to_.find(id); queue != submitted_to_.end())
            trace_.jobs[position].queue = queue->second;
    // Take the used walltime as the run time of a suspended job: it doesn't grow while the job is suspended.
    for (const std::string& id : suspended_)
        if (const auto job = jobs_.find(id);
            job != jobs_.end() && walltime_used_[job->second] >= Seconds(0)) {
            Seconds& ran = trace_.jobs[job->second].run_time;
            ran = std::min(ran, walltime_used_[job->second]);
        }
    for (const std::string& id : begun_) {
        if (jobs_.contains(id)) continue;
        ++trace_.left_out[deleted_.contains(id) ? "deleted before it ended" : "no end is recorded"];
    }
    sort_by_submission(trace_);
    return std::move(trace_);
}

}  // namespace

Result<Trace> read_accounting(const std::vector<LogText>& logs) {
    LogReader reader;
    for (const LogText& log : logs)
        if (auto done = reader.read(log); !done) return tl::unexpected(done.error());
    return reader.finish();
}

}  // namespace pbs::simulate

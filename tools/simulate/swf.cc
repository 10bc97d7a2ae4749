#include "tools/simulate/swf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "values/number.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

// Indices of the fields of a line.
enum Field : std::size_t {
    job_number,
    submit_time,
    wait_time,
    run_time,
    allocated_processors,
    average_cpu_time,
    used_memory,
    requested_processors,
    requested_time,
    requested_memory,
    status,
    user_id,
    group_id,
    executable,
    queue_number,
    partition_number,
    preceding_job,
    think_time,
    field_count
};
constexpr std::array<std::string_view, field_count> kFieldNames = {"job number",
                                                                   "submit time",
                                                                   "wait time",
                                                                   "run time",
                                                                   "allocated processors",
                                                                   "average CPU time",
                                                                   "used memory",
                                                                   "requested processors",
                                                                   "requested time",
                                                                   "requested memory",
                                                                   "status",
                                                                   "user",
                                                                   "group",
                                                                   "executable",
                                                                   "queue",
                                                                   "partition",
                                                                   "preceding job",
                                                                   "think time"};

// The largest number that a field may have: sums of such numbers, in bytes and seconds, can't overflow.
constexpr double kLargest = 1e12;
// The longest times that a field may have, in seconds. kLongest is 3,000 years from the trace's start (which
// may be as long after 1970), kLongestRun is 30 years.
constexpr std::int64_t kLongest = 100'000'000'000;
constexpr std::int64_t kLongestRun = 1'000'000'000;
constexpr std::int64_t kMostProcessors = 100'000'000;
constexpr std::int64_t kMonday2001 = 978'307'200;

// Replaces unprintable characters for a terminal: a file that isn't a trace may contain any bytes.
std::string printable(std::string_view text) {
    std::string out(text);
    std::ranges::replace_if(
        out, [](char c) { return c < ' ' || c > '~'; }, '?');
    return out;
}

class SwfReader {
  public:
    SwfReader(std::string_view name, const SwfOptions& options) : name_(name), queues_(options.queues) {
        trace_.name = name;
    }

    Result<Trace> read(std::string_view text);

  private:
    using Fields = std::array<std::int64_t, field_count>;

    std::string place(std::size_t column) const {
        return fmt::format("{}: line {}, column {}", name_, line_, column + 1);
    }
    void read_comment(std::string_view comment);
    void read_queue(std::string_view value);
    Result<void> read_line(std::string_view line);
    Result<std::int64_t> read_field(std::size_t from, std::string_view word, std::size_t field) const;
    Result<void> add_job(const Fields& fields);
    void finish();

    std::string name_;
    std::map<std::int64_t, std::string> queues_;
    std::size_t line_ = 0;
    std::int64_t start_ = 0;  // value of UnixStartTime
    Trace trace_;
};

// Reads a comment "; Key: value". Other comments are remarks.
void SwfReader::read_comment(std::string_view comment) {
    const auto colon = comment.find(':');
    if (colon == comment.npos) return;
    const std::string_view key = values::trim(comment.substr(0, colon));
    const std::string_view value = values::trim(comment.substr(colon + 1));
    const std::string_view first = value.substr(0, value.find_first_of(" \t"));
    const auto number = values::number<std::int64_t>(first);
    const bool sane = number && *number > 0 && static_cast<double>(*number) < kLargest;
    if (key == "UnixStartTime" && sane && *number <= kLongest) start_ = *number;
    if (key == "TimeZoneString" && !first.empty()) trace_.time_zone = first;
    if (key == "MaxNodes" && sane && *number <= kMostProcessors) trace_.max_nodes = *number;
    if (key == "MaxProcs" && sane && *number <= kMostProcessors) trace_.max_cpus = *number;
    if (key == "Queue") read_queue(value);
}

// Reads the value of a Queue comment: "1 batch (for jobs of up to 12 hours)".
void SwfReader::read_queue(std::string_view value) {
    const auto blank = value.find_first_of(" \t");
    const auto number = values::number<std::int64_t>(value.substr(0, blank));
    if (!number || blank == value.npos) return;
    std::string_view queue = values::trim(value.substr(blank));
    queue = queue.substr(0, queue.find_first_of(" \t,;:("));
    if (!queue.empty()) queues_.emplace(*number, queue);  // a name in SwfOptions::queues stays
}

Result<std::int64_t> SwfReader::read_field(std::size_t from, std::string_view word, std::size_t field) const {
    // Accept fractions in all fields: the standard has them only in the CPU time, but traces also in others.
    const auto read = values::decimal(word);
    if (!read)
        return tl::unexpected(fmt::format("{}: {} (field {}): found '{}', expected a number", place(from),
                                          kFieldNames[field], field + 1, printable(word.substr(0, 40))));
    if (std::abs(*read) > kLargest)
        return tl::unexpected(fmt::format("{}: {} (field {}): found {}, expected a number from -1 to {:.0f}",
                                          place(from), kFieldNames[field], field + 1, word.substr(0, 40),
                                          kLargest));
    return static_cast<std::int64_t>(std::floor(*read));
}

Result<void> SwfReader::read_line(std::string_view line) {
    Fields fields{};
    std::size_t count = 0;
    std::size_t at = 0;
    while (true) {
        at = line.find_first_not_of(" \t\r", at);
        if (at == line.npos) break;
        const auto end = std::min(line.find_first_of(" \t\r", at), line.size());
        if (count == field_count)
            return tl::unexpected(fmt::format("{}: found more than 18 fields, expected 18", place(at)));
        const auto value = read_field(at, line.substr(at, end - at), count);
        if (!value) return tl::unexpected(value.error());
        fields[count++] = *value;
        at = end;
    }
    if (count == 0) return {};
    if (count < field_count)
        return tl::unexpected(fmt::format("{}: found {} fields, expected 18: the {} is missing",
                                          place(line.size()), count, kFieldNames[count]));
    return add_job(fields);
}

Result<void> SwfReader::add_job(const Fields& f) {
    const auto known = [](std::int64_t value) { return value >= 0; };
    if (f[status] >= 2 && f[status] <= 4) {
        ++trace_.left_out["part of a job whose whole is listed too"];
        return {};
    }
    if (!known(f[submit_time]) || f[submit_time] > kLongest)
        return tl::unexpected(fmt::format("{}: submit time (field 2): found {}, expected 0 to {} seconds",
                                          place(0), f[submit_time], kLongest));
    if (f[run_time] > kLongestRun)
        return tl::unexpected(fmt::format("{}: run time (field 4): found {}, expected at most {} seconds",
                                          place(0), f[run_time], kLongestRun));
    if (!known(f[run_time]) || (f[status] == 5 && f[run_time] == 0)) {
        ++trace_.left_out[f[status] == 5 ? "cancelled before it ran" : "no run time is known"];
        return {};
    }
    const std::int64_t cpus = f[requested_processors] > 0 ? f[requested_processors] : f[allocated_processors];
    if (cpus <= 0) {
        ++trace_.left_out["no number of processors is known"];
        return {};
    }
    if (cpus > kMostProcessors)
        return tl::unexpected(fmt::format("{}: processors (field 8 or 5): found {}, expected at most {}",
                                          place(0), cpus, kMostProcessors));
    TraceJob job;
    job.number = f[job_number] > 0 ? static_cast<std::uint64_t>(f[job_number]) : trace_.jobs.size() + 1;
    job.submit = Instant(Seconds(f[submit_time]));
    job.run_time = Seconds(f[run_time]);
    if (f[requested_time] > 0) job.walltime = Seconds(std::min(f[requested_time], kLongest));
    if (known(f[wait_time])) job.recorded_wait = Seconds(f[wait_time]);
    job.cpus = cpus;
    // The field is the average of the job's processors.
    if (f[average_cpu_time] > 0 && f[average_cpu_time] <= kLongestRun)
        job.cput = Seconds(f[average_cpu_time] * cpus);
    // The fields are in kilobytes for each processor.
    const std::int64_t kilobytes = f[requested_memory] > 0 ? f[requested_memory] : f[used_memory];
    if (kilobytes > 0 && static_cast<double>(kilobytes) * static_cast<double>(cpus) < 1e15)
        job.mem = kilobytes * 1024 * cpus;
    job.user = trace_.users.number(known(f[user_id]) ? fmt::format("user{}", f[user_id]) : "unknown");
    job.group = trace_.groups.number(known(f[group_id]) ? fmt::format("group{}", f[group_id]) : "unknown");
    const auto queue = queues_.find(f[queue_number]);
    job.queue = trace_.queues.number(queue == queues_.end() ? std::string_view() : queue->second);
    trace_.jobs.push_back(job);
    return {};
}

void SwfReader::finish() {
    if (start_ == 0) {
        start_ = kMonday2001;
        trace_.notes.emplace_back(
            "The trace has no UnixStartTime: it is taken to begin on Monday 2001-01-01 00:00:00 UTC.");
    }
    for (TraceJob& job : trace_.jobs) job.submit += Seconds(start_);
    sort_by_submission(trace_);
}

Result<Trace> SwfReader::read(std::string_view text) {
    while (!text.empty()) {
        ++line_;
        const std::string_view line = values::take_line(text);
        const auto first = line.find_first_not_of(" \t\r");
        if (first == line.npos) continue;
        if (line[first] == ';') {
            read_comment(line.substr(std::min(line.find_first_not_of("; \t", first), line.size())));
        } else if (auto done = read_line(line); !done) {
            return tl::unexpected(done.error());
        }
    }
    finish();
    return std::move(trace_);
}

}  // namespace

Result<Trace> read_swf(std::string_view text, std::string_view name, const SwfOptions& options) {
    return SwfReader(name, options).read(text);
}

}  // namespace pbs::simulate

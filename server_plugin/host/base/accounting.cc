#include "server_plugin/host/base/accounting.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <utility>

#include "server_plugin/host/base/log.h"

namespace pbs::host {

namespace {

constexpr std::size_t kMostPending = 10'000;
constexpr std::size_t kMostGathered = 1000;
// The most ends of runs whose records this process remembers, so that an end that the runner reports again
// gets no second record. The runner repeats the report of an end soon or never.
constexpr std::size_t kMostRecentEnds = 10'000;

// Replaces line breaks by spaces, because a line break would end the record.
std::string without_line_breaks(std::string_view text) {
    std::string clean(text);
    for (char& c : clean)
        if (c == '\n' || c == '\r') c = ' ';
    return clean;
}

// Writes a value as PBS quotes it: in quotes only if it contains a space.
std::string quoted_value(std::string_view value) {
    std::string clean = without_line_breaks(value);
    if (clean.find(' ') == clean.npos) return clean;
    const char quote = clean.find('"') == clean.npos ? '"' : '\'';
    return fmt::format("{}{}{}", quote, clean, quote);
}

// Writes the value of `account`, which OpenPBS always puts in double quotes.
std::string quoted_account(std::string_view account) {
    std::string out = "\"";
    for (char c : account) {
        if (c == '"') out += '\\';
        out += c == '\n' || c == '\r' ? ' ' : c;
    }
    return out + '"';
}

class Text {
  public:
    void add(std::string_view key, std::string_view value) {
        if (!text_.empty()) text_ += ' ';
        text_ += fmt::format("{}={}", key, value);
    }
    void add_if(std::string_view key, std::string_view value) {
        if (!value.empty()) add(key, quoted_value(value));
    }
    void add_if(std::string_view key, std::int64_t value) {
        if (value != 0) add(key, std::to_string(value));
    }
    void add_list(std::string_view key, const std::vector<std::pair<std::string, std::string>>& list) {
        for (const auto& [resource, value] : list)
            add(fmt::format("{}.{}", key, resource), quoted_value(value));
    }
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

// Writes the fields that all records of a job have, in OpenPBS's order. `ends`: the record is of the end of a
// run; such a record has no array_indices.
Text job_text(const AccountedJob& job, bool ends = false) {
    Text text;
    text.add_if("user", job.user);
    text.add_if("group", job.group);
    if (!job.account.empty()) text.add("account", quoted_account(job.account));
    text.add_if("project", job.project);
    text.add_if("jobname", job.name);
    text.add_if("queue", job.queue);
    text.add_if("resvname", job.resv_name);
    text.add_if("resvID", job.resv_id);
    text.add_if("ctime", job.ctime);
    text.add_if("qtime", job.qtime);
    text.add("etime", std::to_string(job.etime));
    text.add_if("depend", job.depend);
    text.add_if("start", job.start);
    if (!ends) text.add_if("array_indices", job.array_indices);
    text.add_if("exec_host", job.exec_host);
    text.add_if("exec_vnode", job.exec_vnode);
    text.add_list("Resource_List", job.resource_list);
    return text;
}

std::string end_key(char type, std::string_view id, std::string_view run_count) {
    return fmt::format("{} {} {}", type, id, run_count);
}

// These functions hash a Q and an S record. Two different records may have equal hashes, but even among a
// million records that is so improbable that nothing provides for it.
std::uint64_t queueing_key(std::string_view id) {
    return std::hash<std::string_view>()(id);
}
std::uint64_t start_key(std::string_view id, std::string_view start) {
    return queueing_key(id) * 31 + std::hash<std::string_view>()(start) + 1;
}

// Calls `take` with each line of the file.
template <typename Take>
void each_line(const std::filesystem::path& path, Take&& take) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    std::ifstream file(path);
    std::string bytes;
    std::size_t rest = 0;  // bytes of a line that isn't complete yet
    do {
        bytes.resize(rest + kPiece);
        file.read(bytes.data() + rest, kPiece);
        std::string_view left(bytes.data(), rest + static_cast<std::size_t>(file.gcount()));
        for (auto end = left.find('\n'); end != left.npos; end = left.find('\n')) {
            take(left.substr(0, end));
            left.remove_prefix(end + 1);
        }
        rest = left.size();
        bytes.erase(0, static_cast<std::size_t>(left.data() - bytes.data()));
    } while (file);
    take(std::string_view(bytes.data(), rest));
}

// The parts of a line in an accounting file.
struct Line {
    char type = 0;
    std::string_view id;
    std::string_view text;
};

Line line_of(std::string_view line) {
    const auto first = line.find(';');
    if (first == line.npos || first + 2 >= line.size() || line[first + 2] != ';') return {};
    const auto id_end = line.find(';', first + 3);
    if (id_end == line.npos) return {};
    return {line[first + 1], line.substr(first + 3, id_end - first - 3), line.substr(id_end + 1)};
}

// Finds the text between the last occurrence of `key`, such as " start=", and the next space. Returns an
// empty text if the key is missing.
std::string_view number_in(std::string_view text, std::string_view key) {
    const auto at = text.rfind(key);
    if (at == text.npos) return {};
    const std::string_view rest = text.substr(at + key.size());
    return rest.substr(0, rest.find(' '));
}

}  // namespace

Accounting::Accounting(std::string directory, Log& log, Clock& clock)
    : directory_(directory), file_(std::move(directory), 0640), log_(log), clock_(clock) {}

void Accounting::remember_since(std::chrono::sys_seconds since) {
    const std::string first = std::to_string(local_time(since - std::chrono::days(1)).day);
    begun_.emplace();
    const auto recent = std::filesystem::file_time_type::clock::now() - std::chrono::days(1);
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
        // Skip files of earlier days, but read those written recently: after a change of the clock, new
        // records may have gone into any day's file.
        if (entry.path().filename() < first && entry.last_write_time(error) < recent) continue;
        each_line(entry.path(), [this](std::string_view text) {
            const Line line = line_of(text);
            if (line.type == 'Q') begun_->push_back(queueing_key(line.id));
            if (line.type == 'S') begun_->push_back(start_key(line.id, number_in(line.text, " start=")));
            if (line.type != 'E' && line.type != 'R') return;
            if (const auto run = number_in(line.text, " run_count="); !run.empty())
                ended_.insert(end_key(line.type, line.id, run));
        });
    }
    std::ranges::sort(*begun_);
}

std::chrono::sys_seconds Accounting::gap_begin() const {
    auto last = std::chrono::sys_time<std::chrono::nanoseconds>::min();
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_, error)) {
        struct stat info {};
        if (stat(entry.path().c_str(), &info) == 0)
            last = std::max(last, std::chrono::sys_time<std::chrono::nanoseconds>(
                                      std::chrono::seconds(info.st_mtim.tv_sec)));
    }
    const bool none = last == std::chrono::sys_time<std::chrono::nanoseconds>::min();
    const auto by_clock =
        none ? clock_.now() : clock_.from_real(std::chrono::floor<std::chrono::seconds>(last));
    return by_clock - std::chrono::days(1);
}

bool Accounting::lacks_queueing(std::string_view id) const {
    return begun_ && !std::ranges::binary_search(*begun_, queueing_key(id));
}

bool Accounting::lacks_start(std::string_view id, int64_t start) const {
    return begun_ && !std::ranges::binary_search(*begun_, start_key(id, std::to_string(start)));
}

void Accounting::queued_if_missing(AccountedJob job) {
    if (!lacks_queueing(job.id)) return;
    job.start = 0;
    job.exec_host.clear();
    job.exec_vnode.clear();
    queued(job);
}

void Accounting::started_if_missing(const AccountedJob& job) {
    if (lacks_start(job.id, job.start)) started(job);
}

void Accounting::forget_beginnings() {
    begun_.reset();
}

void Accounting::complain(int error) {
    if (failing_) return;
    failing_ = true;
    log_.write(LogEvent::error, LogClass::account, "Act",
               fmt::format("cannot write {}: {}; records are kept until it can be written",
                           file_.path(local_time(clock_.now()).day), system_text(error)));
}

bool Accounting::flush() {
    constexpr std::size_t kMostTogether = std::size_t{64} << 10;
    while (!pending_.empty()) {
        const int day = pending_.front().day;
        std::string lines;
        std::size_t count = 0;
        for (const Record& one : pending_) {
            if (one.day != day || lines.size() > kMostTogether) break;
            lines += one.line;
            ++count;
        }
        int error = file_.append(day, lines);
        // If the lines can't be written, try the first one again, alone: a disk that is nearly full may have
        // space for it. A record that has to wait is lost if the server is killed meanwhile.
        if (error != 0) {
            count = 1;
            error = file_.append(day, pending_.front().line);
        }
        if (error != 0) {
            complain(error);
            return false;
        }
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if (failing_) {
        failing_ = false;
        log_.write(LogEvent::error, LogClass::account, "Act",
                   dropped_ == 0 ? "all records are written again"
                                 : fmt::format("writing again; {} records are lost", dropped_));
        dropped_ = 0;
    }
    return true;
}

void Accounting::record(char type, const std::string& id, const std::string& text) {
    const LocalTime now = local_time(clock_.now());
    pending_.push_back({now.day, fmt::format("{};{};{};{}\n", now.stamp, type, id, text)});
    if (!together_ || pending_.size() >= kMostGathered) write_pending();
}

void Accounting::write_pending() {
    if (flush()) return;
    for (; pending_.size() > kMostPending; ++dropped_) pending_.pop_front();
}

void Accounting::queued(const AccountedJob& job) {
    record('Q', job.id, job_text(job).text());
}

void Accounting::started(const AccountedJob& job) {
    Text text = job_text(job);
    text.add_list("resource_assigned", job.resource_assigned);
    record('S', job.id, text.text());
}

void Accounting::end_record(char type, const AccountedJob& job) {
    auto key = end_key(type, job.id, std::to_string(job.run_count));
    if (!ended_.insert(key).second) return;
    recent_ends_.push_back(std::move(key));
    if (recent_ends_.size() > kMostRecentEnds) {
        ended_.erase(recent_ends_.front());
        recent_ends_.pop_front();
    }
    Text text = job_text(job, true);
    text.add("session", std::to_string(job.session));
    text.add("end", std::to_string(job.end));
    text.add("Exit_status", std::to_string(job.exit_status));
    text.add_list("resources_used", job.resources_used);
    text.add_if("eligible_time", job.eligible_time);
    text.add("run_count", std::to_string(job.run_count));
    record(type, job.id, text.text());
}

void Accounting::ended(const AccountedJob& job) {
    end_record('E', job);
}
void Accounting::rerun(const AccountedJob& job) {
    end_record('R', job);
}

void Accounting::suspended(const AccountedJob& job) {
    record('z', job.id, job_text(job).text());
}
void Accounting::resumed(const AccountedJob& job) {
    record('r', job.id, job_text(job).text());
}
void Accounting::checkpointed(const AccountedJob& job) {
    record('C', job.id, job_text(job).text());
}

void Accounting::deleted(const std::string& id, const std::string& requestor) {
    record('D', id, "requestor=" + quoted_value(requestor));
}

void Accounting::reservation(char type, const std::string& id, const std::string& text) {
    record(type, id, without_line_breaks(text));
}

void Accounting::aborted(const std::string& id, const std::string& text) {
    record('A', id, without_line_breaks(text));  // the text is without quotes, as in OpenPBS
}

}  // namespace pbs::host

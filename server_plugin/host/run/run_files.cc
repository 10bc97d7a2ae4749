#include "server_plugin/host/run/run_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/key_value.h"
#include "values/text.h"

namespace pbs::host {

namespace {

// The longest text in an exit record, in bytes. The record has two texts, each byte of which may be written
// as three, and has to fit into kExitRecordRoom.
constexpr std::size_t kLongestText = 1200;

// Reads a file of "key=value" lines. Each key has a function that takes its values. A key without a function
// is an error.
class Reader {
  public:
    using Take = std::function<Result<void>(const std::string& value)>;

    void text(const char* key, std::string& to) {
        takes_[key] = [&to](const std::string& value) -> Result<void> {
            to = value;
            return {};
        };
    }
    template <typename Number>
    void number(const char* key, Number& to) {
        takes_[key] = [key, &to](const std::string& value) -> Result<void> {
            const auto number = parse_number(key, value);
            if (!number) return tl::unexpected(number.error());
            to = static_cast<Number>(*number);
            return {};
        };
    }
    template <typename Function>
    void number(const char* key, Function&& set, int) {
        takes_[key] = [key, set](const std::string& value) -> Result<void> {
            const auto number = parse_number(key, value);
            if (!number) return tl::unexpected(number.error());
            set(*number);
            return {};
        };
    }
    void each(const char* key, Take take) { takes_[key] = std::move(take); }

    // Reads the file's text, which has to begin with version=1 and to end with complete=1. If complete=1 is
    // missing, the file is cut short.
    Result<void> read(std::string_view text, std::string_view name) {
        const auto values = parse_key_values(text, name);
        if (!values) return tl::unexpected(values.error());
        const std::pair<std::string, std::string> first("version", "1");
        const std::pair<std::string, std::string> last("complete", "1");
        if (values->size() < 2 || values->front() != first || values->back() != last)
            return fail(PBSE_INTERNAL, fmt::format("{}: expected version=1 first and complete=1 last", name));
        for (std::size_t i = 1; i + 1 < values->size(); ++i) {
            const auto& [key, value] = (*values)[i];
            const auto take = takes_.find(key);
            if (take == takes_.end())
                return fail(PBSE_INTERNAL, fmt::format("{}: unknown key {}", name, key));
            if (auto taken = take->second(value); !taken)
                return fail(PBSE_INTERNAL, fmt::format("{}: {}", name, taken.error().message));
        }
        return {};
    }

  private:
    std::map<std::string, Take, std::less<>> takes_;
};

class Writer {
  public:
    Writer() { add("version", "1"); }
    void add(const char* key, std::string value) { values_.emplace_back(key, std::move(value)); }
    template <typename Number>
    requires std::is_integral_v<Number>
    void add(const char* key, Number value) { values_.emplace_back(key, std::to_string(value)); }
    std::string finish() {
        add("complete", "1");
        return write_key_values(values_);
    }

  private:
    KeyValues values_;
};

constexpr std::array<std::string_view, 7> kSuffixes = {".job",       ".started",   ".session", ".exit",
                                                       ".exit.room", ".withdrawn", ".SC"};

std::string duration(std::chrono::milliseconds time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time).count();
    return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

void RunFiles::remove_all() const {
    // Remove the file .started last: without it the other files would count as those of a start that never
    // began.
    for (const auto& path : {nodes_, script(), session(), exit_room(), job(), withdrawn(), exit(), started()})
        ::unlink(path.c_str());
}

bool is_file_safe(std::string_view id) {
    const auto good = [](char c) {
        return values::is_alnum(c) || std::string_view(".-_[]").find(c) != std::string_view::npos;
    };
    return !id.empty() && id.size() <= 200 && id.front() != '.' && std::all_of(id.begin(), id.end(), good);
}

std::optional<RunId> run_of_file(std::string_view name) {
    // At most one suffix matches, because none is the end of another.
    for (const auto suffix : kSuffixes) {
        if (!name.ends_with(suffix)) continue;
        const auto stem = name.substr(0, name.size() - suffix.size());
        const auto dot = stem.rfind('.');
        if (dot == stem.npos || !is_file_safe(stem.substr(0, dot))) continue;
        const auto run = parse_number("run", stem.substr(dot + 1));
        if (run) return RunId{std::string(stem.substr(0, dot)), *run};
    }
    return std::nullopt;
}

std::string write_job_spec(const JobSpec& spec) {
    const JobStart& job = spec.start;
    Writer w;
    w.add("job", job.id.job);
    w.add("run", job.id.run);
    w.add("cookie", spec.cookie);
    w.add("host_name", spec.host_name);
    w.add("control_group", spec.control_group);
    w.add("boot", spec.boot);
    w.add("name", job.name);
    w.add("queue", job.queue);
    w.add("account", job.account);
    w.add("user", job.user);
    w.add("uid", job.uid);
    w.add("gid", job.gid);
    w.add("script", job.script);
    for (const auto& argument : job.script_arguments) w.add("argument", argument);
    w.add("shell", job.shell);
    w.add("output_path", job.output_path);
    w.add("error_path", job.error_path);
    w.add("join", job.join);
    w.add("keep", job.keep);
    for (const auto& [name, value] : job.variables) w.add("variable", name + "=" + value);
    for (const auto& host : job.hosts) w.add("host", host);
    for (const auto& entry : job.stage_in) w.add("stagein", entry);
    for (const auto& entry : job.stage_out) w.add("stageout", entry);
    if (!job.remove.empty()) w.add("remove", job.remove);
    if (job.private_sandbox) w.add("private_sandbox", 1);
    w.add("ncpus", job.threads);
    if (job.umask) w.add("umask", *job.umask);
    if (job.walltime) w.add("walltime_s", job.walltime->count());
    if (job.cput) w.add("cput_s", job.cput->count());
    if (job.mem_kb) w.add("mem_kb", *job.mem_kb);
    if (job.vmem_kb) w.add("vmem_kb", *job.vmem_kb);
    w.add("kill_delay_s", job.kill_delay.count());
    if (job.interactive != 0) w.add("interactive", job.interactive);
    return w.finish();
}

Result<JobSpec> parse_job_spec(std::string_view text, std::string_view name) {
    JobSpec spec;
    JobStart& job = spec.start;
    Reader r;
    r.text("job", job.id.job);
    r.number("run", job.id.run);
    r.text("cookie", spec.cookie);
    r.text("host_name", spec.host_name);
    r.text("control_group", spec.control_group);
    r.text("boot", spec.boot);
    r.text("name", job.name);
    r.text("queue", job.queue);
    r.text("account", job.account);
    r.text("user", job.user);
    r.number("uid", job.uid);
    r.number("gid", job.gid);
    r.text("script", job.script);
    r.each("argument", [&job](const std::string& value) -> Result<void> {
        job.script_arguments.push_back(value);
        return {};
    });
    r.text("shell", job.shell);
    r.text("output_path", job.output_path);
    r.text("error_path", job.error_path);
    r.text("join", job.join);
    r.text("keep", job.keep);
    r.each("variable", [&job](const std::string& value) -> Result<void> {
        const auto equals = value.find('=');
        if (equals == value.npos) return fail(PBSE_INTERNAL, "variable=" + value + ": expected NAME=value");
        job.variables.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        return {};
    });
    const auto add_to = [](std::vector<std::string>& list) {
        return [&list](const std::string& value) -> Result<void> {
            list.push_back(value);
            return {};
        };
    };
    r.each("stagein", add_to(job.stage_in));
    r.each("stageout", add_to(job.stage_out));
    r.text("remove", job.remove);
    r.number("private_sandbox", job.private_sandbox);
    r.each("host", [&job](const std::string& value) -> Result<void> {
        job.hosts.push_back(value);
        return {};
    });
    r.number("ncpus", job.threads);
    r.number(
        "umask", [&job](std::int64_t n) { job.umask = static_cast<unsigned>(n); }, 0);
    r.number(
        "walltime_s", [&job](std::int64_t n) { job.walltime = std::chrono::seconds(n); }, 0);
    r.number(
        "cput_s", [&job](std::int64_t n) { job.cput = std::chrono::seconds(n); }, 0);
    r.number(
        "mem_kb", [&job](std::int64_t n) { job.mem_kb = n; }, 0);
    r.number(
        "vmem_kb", [&job](std::int64_t n) { job.vmem_kb = n; }, 0);
    r.number(
        "kill_delay_s", [&job](std::int64_t n) { job.kill_delay = std::chrono::seconds(n); }, 0);
    r.number("interactive", job.interactive);
    if (auto read = r.read(text, name); !read) return tl::unexpected(read.error());
    return spec;
}

std::string write_session(const SessionRecord& session) {
    Writer w;
    w.add("session", session.session);
    w.add("shell_start", session.shell_start);
    w.add("boot", session.boot);
    w.add("started_at", session.started_at);
    w.add("tmp_dir", session.tmp_dir);
    w.add("output_note", session.output_note);
    return w.finish();
}

Result<SessionRecord> parse_session(std::string_view text, std::string_view name) {
    SessionRecord session;
    Reader r;
    r.number("session", session.session);
    r.number("shell_start", session.shell_start);
    r.text("boot", session.boot);
    r.number("started_at", session.started_at);
    r.text("tmp_dir", session.tmp_dir);
    r.text("output_note", session.output_note);
    if (auto read = r.read(text, name); !read) return tl::unexpected(read.error());
    return session;
}

std::string write_exit(const ExitRecord& exit) {
    Writer w;
    w.add("exit_status", exit.exit_status);
    w.add("session", exit.session);
    w.add("started_at", exit.started_at.time_since_epoch().count());
    w.add("ended_at", exit.ended_at.time_since_epoch().count());
    w.add("walltime_ms", exit.walltime.count());
    w.add("cput_ms", exit.cput.count());
    w.add("mem_kb", exit.mem_kb);
    w.add("vmem_kb", exit.vmem_kb);
    w.add("message", exit.message);
    w.add("output_note", exit.output_note);
    w.add("lost", static_cast<int>(exit.lost));
    w.add("may_still_run", static_cast<int>(exit.may_still_run));
    return w.finish();
}

Result<ExitRecord> parse_exit(std::string_view text, std::string_view name) {
    using std::chrono::milliseconds;
    using std::chrono::seconds;
    using std::chrono::sys_seconds;
    ExitRecord exit;
    Reader r;
    r.number("exit_status", exit.exit_status);
    r.number("session", exit.session);
    r.number(
        "started_at", [&exit](std::int64_t n) { exit.started_at = sys_seconds(seconds(n)); }, 0);
    r.number(
        "ended_at", [&exit](std::int64_t n) { exit.ended_at = sys_seconds(seconds(n)); }, 0);
    r.number(
        "walltime_ms", [&exit](std::int64_t n) { exit.walltime = milliseconds(n); }, 0);
    r.number(
        "cput_ms", [&exit](std::int64_t n) { exit.cput = milliseconds(n); }, 0);
    r.number("mem_kb", exit.mem_kb);
    r.number("vmem_kb", exit.vmem_kb);
    r.text("message", exit.message);
    r.text("output_note", exit.output_note);
    r.number("lost", exit.lost);
    r.number("may_still_run", exit.may_still_run);
    if (auto read = r.read(text, name); !read) return tl::unexpected(read.error());
    return exit;
}

Result<ExitRecord> parse_exit_room(std::string_view text, std::string_view name) {
    return parse_exit(text.substr(0, text.find('\0')), name);
}

void store_exit(const RunFiles& files, const Fd& room, ExitRecord exit) {
    for (std::string* text : {&exit.message, &exit.output_note})
        if (text->size() > kLongestText) text->resize(kLongestText);
    const std::string record = write_exit(exit);
    for (int attempt = 0; attempt < 60; ++attempt) {
        const bool written =
            ::pwrite(room.get(), record.data(), record.size(), 0) == static_cast<ssize_t>(record.size()) &&
            ::ftruncate(room.get(), static_cast<off_t>(record.size())) == 0 && ::fsync(room.get()) == 0 &&
            ::rename(files.exit_room().c_str(), files.exit().c_str()) == 0;
        if (written) break;
        ::sleep(1);
    }
    sync_directory(files.exit().substr(0, files.exit().rfind('/')));
}

std::vector<std::pair<std::string, std::string>> ExitRecord::resources_used(int ncpus) const {
    const auto percent = walltime.count() > 0 ? cput.count() * 100 / walltime.count() : 0;
    return {{"cpupercent", std::to_string(percent)}, {"cput", duration(cput)},
            {"mem", fmt::format("{}kb", mem_kb)},    {"ncpus", std::to_string(ncpus)},
            {"vmem", fmt::format("{}kb", vmem_kb)},  {"walltime", duration(walltime)}};
}

}  // namespace pbs::host

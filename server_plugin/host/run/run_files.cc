#include "server_plugin/host/run/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <map>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/base/posix.h"
#include "values/text.h"

namespace pbs::host {

namespace {

// The longest text in an exit record, in bytes. The record has two texts, each byte of which may be written
// as three, and has to fit into kExitRecordRoom.
constexpr std::size_t kLongestText = 1200;

constexpr const char* kControlGroup = "control_group";
// The number of bytes from the beginning of a start's file within which the control group ends: it is a path,
// and stands before all values that may be long.
constexpr std::size_t kSpecHead = 16384;

// Reads a file of "key=value" lines into the members that a record's fields() lists. An unknown key is an
// error.
class Reader {
  public:
    static constexpr bool kReads = true;

    template <typename T>
    void operator()(const char* key, T& to) {
        takes_[key] = [key, &to](const std::string& value) { return take(key, value, to); };
    }
    template <typename T>
    void if_set(const char* key, T& to) {
        (*this)(key, to);
    }

    // Accepts the key.
    void ignored(const char* key) {
        takes_[key] = [](const std::string&) { return Result<void>(); };
    }

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
    static Result<void> take(const char*, const std::string& value, std::string& to) {
        to = value;
        return {};
    }
    template <typename Number>
    requires std::is_integral_v<Number>
    static Result<void> take(const char* key, const std::string& value, Number& to) {
        const auto number = parse_number(key, value);
        if (!number) return tl::unexpected(number.error());
        to = static_cast<Number>(*number);
        return {};
    }
    template <typename Rep, typename Period>
    static Result<void> take(const char* key, const std::string& value,
                             std::chrono::duration<Rep, Period>& to) {
        std::int64_t count = 0;
        const auto taken = take(key, value, count);
        to = std::chrono::duration<Rep, Period>(count);
        return taken;
    }
    static Result<void> take(const char* key, const std::string& value, std::chrono::sys_seconds& to) {
        std::chrono::seconds since{};
        const auto taken = take(key, value, since);
        to = std::chrono::sys_seconds(since);
        return taken;
    }
    template <typename T>
    static Result<void> take(const char* key, const std::string& value, std::optional<T>& to) {
        return take(key, value, to.emplace());
    }
    static Result<void> take(const char*, const std::string& value, std::vector<std::string>& to) {
        to.push_back(value);
        return {};
    }
    static Result<void> take(const char* key, const std::string& value,
                             std::vector<std::pair<std::string, std::string>>& to) {
        const auto equals = value.find('=');
        if (equals == value.npos)
            return fail(PBSE_INTERNAL, fmt::format("{}={}: expected NAME=value", key, value));
        to.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        return {};
    }

    std::map<std::string, std::function<Result<void>(const std::string& value)>, std::less<>> takes_;
};

// Writes the members that a record's fields() lists.
class Writer {
  public:
    static constexpr bool kReads = false;

    Writer() { (*this)("version", 1); }
    void operator()(const char* key, const std::string& value) { values_.emplace_back(key, value); }
    template <typename Number>
    requires std::is_integral_v<Number>
    void operator()(const char* key, Number value) { values_.emplace_back(key, std::to_string(value)); }
    template <typename Rep, typename Period>
    void operator()(const char* key, std::chrono::duration<Rep, Period> value) {
        (*this)(key, value.count());
    }
    void operator()(const char* key, std::chrono::sys_seconds value) {
        (*this)(key, value.time_since_epoch());
    }
    template <typename T>
    void operator()(const char* key, const std::optional<T>& value) {
        if (value) (*this)(key, *value);
    }
    void operator()(const char* key, const std::vector<std::string>& values) {
        for (const std::string& value : values) (*this)(key, value);
    }
    void operator()(const char* key, const std::vector<std::pair<std::string, std::string>>& pairs) {
        for (const auto& [name, value] : pairs) (*this)(key, name + "=" + value);
    }
    // Writes the value unless it is that of a new record.
    template <typename T>
    void if_set(const char* key, const T& value) {
        if (value != T()) (*this)(key, value);
    }
    void ignored(const char*) {}
    std::string finish() {
        (*this)("complete", 1);
        return write_key_values(values_);
    }

  private:
    KeyValues values_;
};

template <class Archive, class Record>
using Ref = std::conditional_t<Archive::kReads, Record&, const Record&>;

template <class A>
void fields(A& a, Ref<A, JobSpec> spec) {
    auto& job = spec.start;
    a("job", job.id.job);
    a("run", job.id.run);
    a("cookie", spec.cookie);
    a("host_name", spec.host_name);
    a(kControlGroup, spec.control_group);  // read_control_group() reads only the beginning
    a("boot", spec.boot);
    a("name", job.name);
    a("queue", job.queue);
    a("account", job.account);
    a("user", job.user);
    a("uid", job.uid);
    a("gid", job.gid);
    a.ignored("script");  // of earlier versions
    a("argument", job.script_arguments);
    a("shell", job.shell);
    a.if_set("plain_shell", job.plain_shell);
    a("output_path", job.output_path);
    a("error_path", job.error_path);
    a("join", job.join);
    a("keep", job.keep);
    a("variable", job.variables);
    a("host", job.hosts);
    a("stagein", job.stage_in);
    a("stageout", job.stage_out);
    a.if_set("remove", job.remove);
    a.if_set("private_sandbox", job.private_sandbox);
    a("ncpus", job.threads);
    a("umask", job.umask);
    a("walltime_s", job.walltime);
    a("cput_s", job.cput);
    a("mem_kb", job.mem_kb);
    a("vmem_kb", job.vmem_kb);
    a("kill_delay_s", job.kill_delay);
    a.if_set("interactive", job.interactive);
}

template <class A>
void fields(A& a, Ref<A, SessionRecord> session) {
    a("session", session.session);
    a("shell_start", session.shell_start);
    a("boot", session.boot);
    a("started_at", session.started_at);
    a("tmp_dir", session.tmp_dir);
    a("output_note", session.output_note);
}

template <class A>
void fields(A& a, Ref<A, ExitRecord> exit) {
    a("exit_status", exit.exit_status);
    a("session", exit.session);
    a("started_at", exit.started_at);
    a("ended_at", exit.ended_at);
    a("walltime_ms", exit.walltime);
    a("cput_ms", exit.cput);
    a("mem_kb", exit.mem_kb);
    a("vmem_kb", exit.vmem_kb);
    a("message", exit.message);
    a("output_note", exit.output_note);
    a("lost", exit.lost);
    a("may_still_run", exit.may_still_run);
}

template <class Record>
std::string write_record(const Record& record) {
    Writer w;
    fields(w, record);
    return w.finish();
}

template <class Record>
Result<Record> parse_record(std::string_view text, std::string_view name) {
    Record record;
    Reader r;
    fields(r, record);
    if (auto read = r.read(text, name); !read) return tl::unexpected(read.error());
    return record;
}

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

std::set<std::pair<std::string, std::int64_t>> starts_on_disk(const std::string& home) {
    std::set<std::pair<std::string, std::int64_t>> found;
    const OpenDirectory directory(::opendir((home + "/mom_priv/jobs").c_str()));
    if (!directory) return found;
    // Only this thread reads the stream, so readdir() is safe.
    while (const dirent* entry = ::readdir(directory.get()))  // NOLINT(concurrency-mt-unsafe)
        if (const auto run = run_of_file(entry->d_name)) found.emplace(run->job, run->run);
    return found;
}

std::string write_job_spec(const JobSpec& spec) {
    return write_record(spec);
}
Result<JobSpec> parse_job_spec(std::string_view text, std::string_view name) {
    return parse_record<JobSpec>(text, name);
}
Result<std::string> read_control_group(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::array<char, kSpecHead> buffer;
    const ssize_t size = file ? ::pread(file.get(), buffer.data(), buffer.size(), 0) : -1;
    if (size < 0) return fail(PBSE_SYSTEM, fmt::format("cannot read {}: {}", path, system_text(errno)));
    const std::string_view head(buffer.data(), static_cast<std::size_t>(size));
    const auto values = parse_key_values(head.substr(0, head.rfind('\n') + 1), path);
    if (!values) return tl::unexpected(values.error());
    for (const auto& [key, value] : *values)
        if (key == kControlGroup) return value;
    return fail(PBSE_INTERNAL, fmt::format("{}: expected {} at its beginning", path, kControlGroup));
}

std::string write_session(const SessionRecord& session) {
    return write_record(session);
}
Result<SessionRecord> parse_session(std::string_view text, std::string_view name) {
    return parse_record<SessionRecord>(text, name);
}

std::string write_exit(const ExitRecord& exit) {
    return write_record(exit);
}
Result<ExitRecord> parse_exit(std::string_view text, std::string_view name) {
    return parse_record<ExitRecord>(text, name);
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

std::string new_cookie() {
    std::array<unsigned char, 16> bytes{};
    static_cast<void>(!::getrandom(bytes.data(), bytes.size(), 0));
    std::string text;
    for (const auto byte : bytes) text += fmt::format("{:02X}", byte);
    return text;
}

}  // namespace pbs::host

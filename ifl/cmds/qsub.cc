// qsub: submits a job.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/directives.h"
#include "ifl/cmds/job_env.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/job_options.h"
#include "ifl/cmds/surroundings.h"
#include "ifl/cmds/waiting_qsub.h"
#include "ifl/pbs_error.h"
#include "values/text.h"

namespace {

using namespace pbs::cmds;

const Program kProgram{"qsub", kQsubUsage};

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Refuses a script with the line ends of another system: it would fail, because the interpreter's name would
// end with a carriage return.
Result<void> check_line_ends(std::string_view script, std::string_view name) {
    const std::size_t at = script.find("\r\n");
    if (at == std::string_view::npos) return {};
    const auto line = 1 + std::count(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    return fail(
        fmt::format("script contains cr, lf: line {} of {} ends with them, expected a line feed alone "
                    "(dos2unix converts the file)",
                    line, name),
        1);
}

Result<std::string> read_script_text(std::FILE* file, const std::string& name) {
    std::string text;
    char buffer[65536];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, file)) text.append(buffer, count);
    if (std::ferror(file) != 0) return fail(fmt::format("{}: {}", name, std::strerror(errno)), 1);
    if (const auto checked = check_line_ends(text, name); !checked) return tl::unexpected(checked.error());
    return text;
}

Result<std::string> read_script(const std::string& path) {
    struct stat info {};
    const File file(std::fopen(path.c_str(), "re"));
    if (file == nullptr) return fail(fmt::format("script file: {}: {}", path, std::strerror(errno)), 1);
    if (fstat(fileno(file.get()), &info) == 0 && !S_ISREG(info.st_mode))
        return fail(fmt::format("script {} is not a regular file", path), 1);
    return read_script_text(file.get(), path);
}

// A temporary file with a script from stdin; the destructor removes it.
class TemporaryScript {
  public:
    static Result<TemporaryScript> write(std::string_view text) {
        const char* directory = std::getenv("TMPDIR");
        std::string path = fmt::format("{}/qsub.XXXXXX", directory == nullptr ? "/tmp" : directory);
        const int descriptor = mkstemp(path.data());
        if (descriptor < 0) return fail(fmt::format("{}: {}", path, std::strerror(errno)), 1);
        TemporaryScript script(std::move(path));
        const File file(fdopen(descriptor, "w"));
        if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
            std::fflush(file.get()) != 0)
            return fail(fmt::format("{}: {}", script.path_, std::strerror(errno)), 1);
        return script;
    }
    TemporaryScript(TemporaryScript&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryScript(const TemporaryScript&) = delete;
    TemporaryScript& operator=(const TemporaryScript&) = delete;
    TemporaryScript& operator=(TemporaryScript&&) = delete;
    ~TemporaryScript() {
        if (!path_.empty()) unlink(path_.c_str());
    }
    const std::string& path() const { return path_; }

  private:
    explicit TemporaryScript(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

// Warns of a byte order mark, which editors of other systems write, and which isn't visible.
void warn_of_byte_order_mark(std::string_view script, std::string_view name) {
    if (const std::string_view mark = byte_order_mark(script); !mark.empty()) {
        complain(kProgram,
                 fmt::format("Warning: {} begins with a {} byte order mark: its directives don't count, "
                             "and its first line isn't read as a comment",
                             name, mark));
    }
}

// The work to submit: a script in a file, or a command.
struct Work {
    std::string path;  // empty for a command
    std::optional<TemporaryScript> temporary;
    std::string text;  // read for directives
    std::string name;  // default name of the job
};

// A job's name from its script's file name, with other characters replaced.
std::string name_from(const std::string& path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    for (char& c : name)
        c = pbs::values::is_alnum(c) || c == '-' || c == '_' || c == '+' || c == '.' ? c : '_';
    return name.substr(0, PBS_MAXJOBNAME);
}

Result<Work> find_work(JobOptions& options) {
    Work work;
    if (options.interactive && options.operands.empty() && options.command.empty()) {
        work.name = "STDIN";
        return work;
    }
    if (!options.command.empty()) {
        options.attributes.put(ATTR_executable, "", options.command[0]);
        if (options.command.size() > 1)
            options.attributes.put(ATTR_Arglist, "", encode_arguments(options.command, 1));
        work.name = "STDIN";
        return work;
    }
    if (!options.operands.empty() && options.operands[0] != "-") {
        work.path = options.operands[0];
        auto text = read_script(work.path);
        if (!text) return tl::unexpected(text.error());
        warn_of_byte_order_mark(*text, work.path);
        work.text = std::move(*text);
        work.name = name_from(work.path);
        return work;
    }
    if (isatty(STDIN_FILENO) != 0)
        fmt::print("Job script will be read from standard input. Submit with CTRL+D.\n");
    auto text = read_script_text(stdin, "standard input");
    auto script = text ? TemporaryScript::write(*text) : tl::unexpected(text.error());
    if (!script) return tl::unexpected(script.error());
    warn_of_byte_order_mark(*text, "standard input");
    work.text = std::move(*text);
    work.path = script->path();
    work.temporary.emplace(std::move(*script));
    work.name = "STDIN";
    return work;
}

// The prefix of directives: -C, else PBS_DPREFIX, else "#PBS". -C "" means no directives.
std::string directive_prefix(const JobOptions& options) {
    if (options.prefix) return *options.prefix;
    const char* variable = std::getenv("PBS_DPREFIX");
    return variable != nullptr ? variable : "#PBS";
}

Result<void> add_directives(JobOptions& options, const Work& work, const OptionContext& context) {
    JobOptions all;
    for (const ScriptDirective& directive : find_directives(work.text, directive_prefix(options))) {
        auto parsed = parse_option_line(directive.options, context);
        if (!parsed) {
            return fail(fmt::format("directive error: line {}: {}", directive.line, parsed.error().message),
                        1);
        }
        // of several directives, the last one counts
        add_missing(*parsed, all);
        all = std::move(*parsed);
    }
    add_missing(options, all);
    return {};
}

// Refuses combinations of options and directives that exclude each other.
Result<void> check_together(const JobOptions& options) {
    const bool array = options.attributes.has(ATTR_J);
    const std::string* rerun = options.attributes.find(ATTR_r);
    if (array && options.interactive)
        return fail("interactive and array job submission cannot be used together");
    if (array && rerun != nullptr && *rerun == "n") return fail("cannot submit non-rerunable Array Job");
    const std::string* mail = options.attributes.find(ATTR_m);
    if (!array && mail != nullptr && mail->find('j') != std::string::npos)
        return fail("mail option 'j' can not be used without array job", 1);
    return {};
}

// Adds the server's default_qsub_arguments.
Result<void> add_server_defaults(JobOptions& options, const Connection& connection,
                                 const OptionContext& context) {
    AttrList wanted;
    wanted.add(ATTR_dfltqsubargs, "", "");
    const StatusList server(pbs_statserver(connection.handle(), wanted.attributes(), nullptr));
    const auto text = server == nullptr ? std::nullopt : value_of(server->attribs, ATTR_dfltqsubargs);
    if (!text) return {};
    // Root ignores these arguments: operators, who need not be root, set them, and could choose what root's
    // job runs and where it writes.
    if (geteuid() == 0) {
        complain(kProgram, "Warning: the server's default_qsub_arguments don't count for root");
        return {};
    }
    const auto parsed = parse_option_line(*text, context);
    if (!parsed) {
        return fail(
            fmt::format("the server's default_qsub_arguments '{}': {}", *text, parsed.error().message), 1);
    }
    add_missing(options, *parsed);
    return {};
}

struct Submitted {
    std::string id;
    std::string server;  // as the user named it
    bool quiet = false;
    bool interactive = false;
    std::optional<Listener> listener;  // if the job is waited for
};

// Waits for the job if the user asked for it; returns the exit status.
int finish(const Submitted& job) {
    if (job.interactive) return attend(kProgram, *job.listener, job.server, job.id);
    if (!job.quiet) {
        fmt::print("{}\n", job.id);
        std::fflush(stdout);
    }
    return job.listener ? wait_for_end(kProgram, *job.listener, job.server, job.id) : 0;
}

// Adds the attribute that makes the server connect to this program, if the user waits for the job.
Result<void> add_listener(JobOptions& options, Submitted& job) {
    job.interactive = options.interactive;
    if (options.interactive && options.block)
        complain(kProgram, "Warning: block doesn't count for an interactive job");
    if (!options.interactive && !options.block) return {};
    if (options.interactive) {
        if (auto checked = check_terminal(); !checked) return checked;
    }
    auto listener = Listener::open();
    if (!listener) return tl::unexpected(listener.error());
    options.attributes.put(options.interactive ? ATTR_inter : ATTR_block, "",
                           std::to_string(listener->port()));
    job.listener.emplace(std::move(*listener));
    return {};
}

Result<Submitted> submit(const std::vector<std::string>& arguments) {
    const auto environment = submit_environment();
    if (!environment) return tl::unexpected(environment.error());
    const OptionContext context = option_context(*environment);
    auto options = parse_submit_options(arguments, context);
    if (!options) return tl::unexpected(options.error());
    const auto work = find_work(*options);
    if (!work) return tl::unexpected(work.error());
    if (auto added = add_directives(*options, *work, context); !added) return tl::unexpected(added.error());
    if (auto checked = check_together(*options); !checked) return tl::unexpected(checked.error());
    const Destination destination =
        parse_destination(options->destination.value_or("")).value_or(Destination{});
    const auto connection = Connection::open(destination.server);
    if (!connection) return tl::unexpected(connection.error());
    if (auto added = add_server_defaults(*options, *connection, context); !added)
        return tl::unexpected(added.error());
    Submitted job;
    job.server = destination.server;
    job.quiet = options->quiet;
    if (auto added = add_listener(*options, job); !added) return tl::unexpected(added.error());
    AttrList& attributes = options->attributes;
    const char* shell = std::getenv("PBS_SHELL");
    if (shell != nullptr && !attributes.has(ATTR_S)) attributes.add(ATTR_S, "", shell);
    if (!attributes.has(ATTR_N)) attributes.add(ATTR_N, "", work->name);
    add_defaults(*options);
    const auto variables = variable_list(*environment, options->variables, options->all_variables);
    if (!variables) return tl::unexpected(variables.error());
    attributes.put(ATTR_v, "", *variables);
    attributes.put(ATTR_submit_arguments, "", encode_arguments(arguments));
    const Text id(pbs_submit(connection->handle(), attributes.operations(),
                             work->path.empty() ? nullptr : work->path.c_str(),
                             destination.queue.empty() ? nullptr : destination.queue.c_str(), nullptr));
    if (id == nullptr) {
        return fail(connection->error_text(),
                    exit_status(pbs_errno == PBSE_NONE ? PBSE_INTERNAL : pbs_errno));
    }
    if (const std::string warning = without_effect(attributes); !warning.empty()) complain(kProgram, warning);
    job.id = id.get();
    return job;
}

}  // namespace

int main(int argc, char** argv) {
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    const auto job = submit(arguments);
    if (!job) {
        // status 2: a wrong command line
        if (job.error().status == 2) return usage_error(kProgram, job.error());
        return failed(kProgram, job.error());
    }
    return finish(*job);
}

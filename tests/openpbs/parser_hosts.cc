#include "tests/openpbs/parser_hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include "tests/openpbs/parser_inputs.h"
#include "values/amount.h"
#include "values/text.h"

namespace pbs::e2e {
namespace {

constexpr std::chrono::seconds kLongest{300};         // the longest time that a script may run
constexpr std::string_view kMark = "\x02=exit=\x02";  // before and behind the exit status of a command

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
    return text;
}
// Quotes a text for the shell.
std::string quoted(const std::string& text) {
    return "'" + replaced(text, "'", "'\\''") + "'";
}
std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

// Returns directives that give the objects of inputs their first state. Each attribute has a directive of its
// own, because a server may not know one of them. Behind an input that names another type, those of the
// server and of schedulers are left out.
std::string reset(std::string_view input = {}) {
    static constexpr std::array kOfServer{"comment",
                                          "resources_default.walltime",
                                          "resources_max",
                                          "acl_users",
                                          "max_run",
                                          "max_queued_res.ncpus",
                                          "node_group_key",
                                          "default_qsub_arguments",
                                          "default_qdel_arguments",
                                          "resources_available",
                                          "backfill_depth",
                                          "job_sort_formula",
                                          "job_history_duration",
                                          "est_start_time_freq",
                                          "jobscript_max_size",
                                          "queued_jobs_threshold_res.ncpus",
                                          "job_requeue_timeout",
                                          "node_group_enable"};
    static constexpr std::array kOfSched{"comment",
                                         "sched_cycle_length",
                                         "opt_backfill_fuzzy",
                                         "preempt_order",
                                         "preempt_prio",
                                         "preempt_queue_prio",
                                         "job_sort_formula_threshold",
                                         "throughput_mode",
                                         "do_not_span_psets",
                                         "only_explicit_psets",
                                         "sched_preempt_enforce_resumption",
                                         "server_dyn_res_alarm",
                                         "log_events",
                                         "partition"};
    static constexpr std::array kSettings{"server log_events=511",
                                          "server mail_from=adm",
                                          "server query_other_jobs=True",
                                          "server flatuid=True",
                                          "server max_array_size=10000",
                                          "server eligible_time_enable=False",
                                          "server max_job_sequence_id=9999999",
                                          "server node_fail_requeue=310",
                                          "server default_queue=workq",
                                          "server scheduling=False",
                                          "server managers='alice@*'",
                                          "sched scheduling=True",
                                          "sched scheduler_iteration=600"};
    std::string out =
        "delete queue fz\ndelete queue fz2\ndelete node n1\ndelete node n2\ndelete resource fz_new\n"
        "create queue fz queue_type=execution\ncreate node n1\n";
    for (const char* type : {"queue ", "node ", "resource "})
        if (input.find(type) != std::string_view::npos) return out;
    for (const char* name : kOfServer) out += fmt::format("unset server {}\n", name);
    for (const char* name : kOfSched) out += fmt::format("unset sched {}\n", name);
    for (const char* setting : kSettings) out += fmt::format("set {}\n", setting);
    return out;
}
constexpr const char* kShow =
    "print queue @default\nprint server\nprint node @default\nprint resource\nprint sched\n";

std::string mark_of(std::size_t number, char which) {
    return fmt::format("list queue mk{}{}\n", number, which);
}
// Returns the part of the text before the answer to mark_of(), and removes both; nullopt if there is no
// answer.
bool take_until(std::string& rest, std::size_t number, char which, std::string& part) {
    const std::string answer = fmt::format("qmgr obj=mk{}{} svr=default: ", number, which);
    const std::size_t at = rest.find(answer);
    if (at == std::string::npos) return false;
    part = rest.substr(0, at);
    const std::size_t behind = rest.find("returned from server\n", at);
    rest.erase(0, behind == std::string::npos ? rest.size() : behind + 21);
    return true;
}

// Returns "refused" if qmgr printed an error, and the names of the objects that it listed.
std::string answers_in(const std::string& text) {
    std::string objects;
    bool refused = false;
    for (const std::string& line : lines_of(text)) {
        refused = refused || (line.starts_with("qmgr: ") && !line.starts_with("qmgr: Warning"));
        if (line.starts_with("Queue ") || line.starts_with("Node ") || line.starts_with("Resource "))
            objects += line + "\n";
    }
    return (refused ? "refused\n" : "accepted\n") + objects;
}

// Returns the lines of `print` without those that the scheduler and the mom change by themselves, and without
// the quotes around values: ours quotes each value that has brackets.
std::set<std::string> settings_in(const std::string& shown) {
    constexpr std::array kByThemselves{" state = ",
                                       " node box ",
                                       " resources_available.arch",
                                       " resources_available.mem",
                                       " resources_available.ncpus",
                                       " resv_enable"};
    std::set<std::string> out;
    for (const std::string& line : lines_of(shown)) {
        if (!line.starts_with("create ") && !line.starts_with("set ")) continue;
        const bool node = line.starts_with("set node ") || line.starts_with("set sched ");
        const auto found = [&](const char* text) { return line.find(text) != std::string::npos; };
        if (node && std::ranges::any_of(kByThemselves, found)) continue;
        out.insert(replaced(line, "\"", ""));
    }
    return out;
}

// Jobs' attributes that depend on the time, on the server or on what it did.
constexpr std::array kNotCompared{
    "ctime",    "mtime",     "qtime",       "etime",      "queue_rank",        "comment",
    "server",   "euser",     "egroup",      "queue_type", "schedselect",       "eligible_time",
    "substate", "Job_Owner", "Submit_Host", "hashname",   "history_timestamp", "estimated",
    "hop_count"};

// Returns the variables in the order of their names, without those that every job has.
std::string variables_of(const std::string& text) {
    std::vector<std::string> all{""};
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',') {
            all.emplace_back();
            continue;
        }
        all.back() += text[i];
        if (text[i] == '\\' && i + 1 < text.size()) all.back() += text[++i];
    }
    std::erase_if(all, [](const std::string& one) {
        return one.starts_with("PBS_O_PATH=") || one.starts_with("PBS_O_SYSTEM=") ||
               one.starts_with("PBS_O_WORKDIR=");
    });
    std::ranges::sort(all);
    return fmt::format("{}", fmt::join(all, ","));
}

// Returns the attributes in a part of `qstat -fw`, sorted by name.
std::map<std::string, std::string> attributes_in(const std::string& status) {
    std::map<std::string, std::string> out;
    std::string* last = nullptr;
    for (const std::string& line : lines_of(status)) {
        const std::size_t is = line.find(" = ");
        if (line.starts_with("    ") && is != std::string::npos) {
            last = &out[line.substr(4, is - 4)];
            *last = line.substr(is + 3);
        } else if (last != nullptr && !line.empty()) {
            *last += "\n" + line;
        }
    }
    for (const char* name : kNotCompared) out.erase(name);
    // an empty argument shows as a blank or not at all
    if (const auto arguments = out.find("Submit_arguments"); arguments != out.end())
        arguments->second = values::trim(replaced(arguments->second, "  ", " "));
    if (const auto holds = out.find("Hold_Types"); holds != out.end()) std::ranges::sort(holds->second);
    if (const auto variables = out.find("Variable_List"); variables != out.end())
        variables->second = variables_of(variables->second);
    return out;
}

std::string number_at_begin_of(const std::string& id) {
    return id.substr(0, id.find_first_not_of("0123456789"));
}

// Replaces a job's id in names of jobs and of their output files.
std::string without_id(std::string text, const std::string& id, const std::string& name) {
    for (const char* behind : {".box", "["}) text = replaced(std::move(text), id + behind, name + behind);
    for (const char* before : {".o", ".e"}) {
        if (text.ends_with(before + id)) text.replace(text.size() - id.size(), id.size(), name);
        text = replaced(std::move(text), before + id + ".", before + name + ".");
    }
    return text;
}

// Returns an exec_vnode with its sizes in kilobytes, as the bundled server writes them, and without brackets
// around a single vnode.
std::string places_in(const std::string& text) {
    static const std::regex single("\\(([^+()]*)\\)");
    static const std::regex size("=([0-9]+[kmgtp]?[bw])");
    std::string rest = std::regex_replace(text, single, "$1");
    std::string out;
    for (std::smatch found; std::regex_search(rest, found, size); rest = found.suffix()) {
        const auto bytes = values::parse_bytes(found.str(1));
        out += found.prefix().str() + "=" + (bytes ? values::kilobytes_text(*bytes) : found.str(1));
    }
    return out + rest;
}

}  // namespace

ParserHost::ParserHost(std::shared_ptr<const Box> box, std::string name, std::string commands,
                       std::string start)
    : box_(std::move(box)),
      name_(std::move(name)),
      commands_(std::move(commands)),
      start_(std::move(start)) {}

void ParserHost::start() const {
    sh(start_ + "; for i in $(seq 100); do qstat -B > /dev/null 2>&1 && break; sleep 0.1; done");
}

bool ParserHost::still_answers() const {
    if (sh("qstat -B > /dev/null 2>&1 && echo yes") == "yes\n") return true;
    start();
    return false;
}

std::string ParserHost::sh(const std::string& script, const std::string& user) const {
    const Output output = box_->run(
        {"/bin/bash", "-c",
         fmt::format("file=$(mktemp); cat > $file; chmod 644 $file; cd /var/tmp; exec su {} -s /bin/bash -c "
                     "\"bash $file\"",
                     user)},
        {.input = commands_ + "\nexport PATH=$folder:$PATH\n" + script, .timeout = kLongest});
    EXPECT_FALSE(output.timed_out) << script;
    return output.out;
}

std::string ParserHost::directives(const std::string& text) const {
    return sh("printf %s " + quoted(text) + " | stdbuf -o0 $folder/qmgr 2>&1");
}

std::vector<std::string> ParserHost::qmgr_results(const std::vector<std::string>& inputs) const {
    std::vector<std::string> out;
    while (out.size() < inputs.size()) {
        std::string text = reset() + mark_of(0, 'r') + kShow + mark_of(0, 's');
        for (std::size_t i = out.size(); i < inputs.size(); ++i)
            // an empty line ends a directive that goes on
            text += inputs[i] + "\n\n" + mark_of(i, 'a') + kShow + mark_of(i, 'b') + reset(inputs[i]) +
                    mark_of(i, 'c') + kShow + mark_of(i, 'd');
        std::string rest = directives(text);
        std::string part;
        if (!take_until(rest, 0, 'r', part) || !take_until(rest, 0, 's', part)) {
            fmt::print("{} does not answer: {}\n", name_, rest);
            return std::vector<std::string>(inputs.size());
        }
        auto before = settings_in(part);
        bool went_on = true;
        while (went_on && out.size() < inputs.size()) {
            const std::size_t i = out.size();
            went_on = take_until(rest, i, 'a', part);
            // behind a lost connection, the further directives are tried by another qmgr
            if (!went_on || part.find("Error (15056)") != std::string::npos) {
                out.push_back(went_on ? "connection lost\n" : "qmgr ended\n");
                break;
            }
            std::string result = answers_in(part);
            went_on = take_until(rest, i, 'b', part);
            const auto after = settings_in(part);
            for (const std::string& line : after)
                if (!before.contains(line)) result += "+ " + line + "\n";
            for (const std::string& line : before)
                if (!after.contains(line)) result += "- " + line + "\n";
            out.push_back(result);
            // what a reset leaves is no result of the next input
            went_on = went_on && take_until(rest, i, 'c', part) && take_until(rest, i, 'd', part);
            before = settings_in(part);
        }
    }
    return out;
}

std::vector<ParserHost::Part> ParserHost::run_each(const std::vector<std::string>& commands,
                                                   const std::string& user) const {
    std::string script;
    for (const std::string& command : commands)
        script += fmt::format("{} 2>&1\nprintf '{}%s{}' $?\n", command, kMark, kMark);
    const std::string text = sh(script, user);
    std::vector<Part> out;
    for (std::size_t at = 0; out.size() < commands.size();) {
        const std::size_t mark = text.find(kMark, at);
        const std::size_t end = mark == std::string::npos ? mark : text.find(kMark, mark + kMark.size());
        if (end == std::string::npos) {
            fmt::print("{} ended early\n", name_);
            out.resize(commands.size());
            break;
        }
        out.push_back({std::atoi(text.c_str() + mark + kMark.size()), text.substr(at, mark - at)});
        at = end + kMark.size();
    }
    return out;
}

// Runs commands that submit or change jobs, and returns what each says of its job, or its exit status.
std::vector<std::string> ParserHost::job_results(const std::vector<std::string>& commands) const {
    const std::vector<Part> parts = run_each(commands, "una");
    const std::string all = sh("qstat -fw; qdel $(qselect) > /dev/null 2>&1");
    std::map<std::string, std::map<std::string, std::string>> jobs;  // by number
    for (std::size_t at = all.find("Job Id: "); at != std::string::npos;) {
        const std::size_t next = all.find("\nJob Id: ", at);
        const std::string one = all.substr(at + 8, next == std::string::npos ? next : next - at - 8);
        jobs[number_at_begin_of(one)] = attributes_in(one.substr(std::min(one.find('\n'), one.size())));
        at = next == std::string::npos ? next : next + 1;
    }
    std::vector<std::string> out;
    for (const Part& part : parts) {
        std::string result = part.exit == 0 ? "accepted\n" : fmt::format("refused\n");
        std::string id;
        for (const std::string& line : lines_of(part.text))
            if (const std::string number = number_at_begin_of(line); !number.empty()) id = number;
        if (part.exit == 0) {
            if (id.empty()) result += "silent\n";
            for (const auto& [name, value] : jobs[id])
                result += fmt::format("{} = {}\n", name, without_id(value, id, "{id}"));
        }
        out.push_back(std::move(result));
    }
    return out;
}

std::vector<std::string> ParserHost::make_jobs(std::size_t count, const std::string& options) const {
    std::vector<std::string> ids;
    std::string script;
    for (std::size_t i = 0; i < count; ++i) script += "echo sleep 1000 | qsub " + options + "\n";
    for (const std::string& line : lines_of(sh(script, "una"))) ids.push_back(number_at_begin_of(line));
    if (ids.size() != count) fmt::print("{} made {} of {} jobs\n", name_, ids.size(), count);
    ids.resize(count);
    return ids;
}

std::vector<std::string> ParserHost::qsub_results(const std::vector<std::string>& inputs) const {
    const std::string job = make_jobs(1, "-h")[0];
    std::vector<std::string> commands;
    for (const std::string& input : inputs) {
        const CommandText command = command_of(replaced(input, "{job}", job));
        std::string line = fmt::format("printf %s {} > /var/tmp/una_script; qsub -h", quoted(command.script));
        for (const std::string& argument : command.arguments) line += " " + quoted(argument);
        commands.push_back(line + " < /var/tmp/una_script");
    }
    std::vector<std::string> out = job_results(commands);
    for (std::string& result : out) result = without_id(std::move(result), job, "{job}");
    return out;
}

std::vector<std::string> ParserHost::qalter_results(const std::vector<std::string>& inputs) const {
    const std::vector<std::string> ids = make_jobs(inputs.size() + 1, "-h");
    const std::string& job = ids.back();
    std::vector<std::string> commands;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        std::string line = "qalter";
        for (const std::string& argument : command_of(replaced(inputs[i], "{job}", job)).arguments)
            line += " " + quoted(argument);
        commands.push_back(fmt::format("{} {} && echo {}", line, ids[i], ids[i]));
    }
    std::vector<std::string> out = job_results(commands);
    for (std::string& result : out) result = without_id(std::move(result), job, "{job}");
    return out;
}

std::vector<std::string> ParserHost::qrun_results(const std::vector<std::string>& inputs) const {
    std::vector<std::string> commands;
    for (const std::string& input : inputs) {
        const auto arguments = command_of(input).arguments;
        commands.push_back(fmt::format(
            "{{ id=$(echo sleep 1000 | qsub -o /dev/null -e /dev/null -l select={}); qrun -H {} $id && "
            "qstat -fw $id | grep -a ' exec_vnode = '; done=$?; qdel -W force $id > /dev/null 2>&1; (exit "
            "$done); }}",
            quoted(arguments.size() > 1 ? arguments[1] : "1:ncpus=1"),
            quoted(arguments.empty() ? "" : arguments[0])));
    }
    std::vector<std::string> out;
    for (const Part& part : run_each(commands, "root"))
        out.push_back(part.exit == 0 ? "accepted\n" + places_in(part.text) : "refused\n");
    return out;
}

namespace {

// Directives that make the queue and the resources of inputs.
constexpr const char* kCommon =
    "qmgr > /dev/null 2>&1 <<'END'\n"
    "create queue workq\nset queue workq queue_type=execution,enabled=True,started=True\n"
    "set server managers=alice@*,operators=oscar@*,max_array_size=10000,node_fail_requeue=310\n"
    "set server scheduling=False,flatuid=True,acl_roots=root@*,default_queue=workq\n"
    "create resource fz_long type=long,flag=nh\ncreate resource fz_size type=size,flag=nh\n"
    "create resource fz_real type=float,flag=nh\ncreate resource fz_text type=string,flag=h\n"
    "create resource fz_texts type=string_array,flag=h\ncreate resource fz_bool type=boolean,flag=h\n"
    "create resource fz_job type=long,flag=q\ncreate resource fz_time type=long\n"
    "create resource fz_jobsize type=size\ncreate resource fz_jobreal type=float\n"
    "create resource fz_jobbool type=boolean\ncreate resource fz_jobtext type=string\n"
    "create resource fz_jobtexts type=string_array\n"
    "END\n";
// Directives that give the vnode room for any input of qrun.
constexpr const char* kRoom =
    "qmgr > /dev/null 2>&1 <<'END'\n"
    "set node box resources_available.ncpus=1000000000\nset node box resources_available.mem=1000tb\n"
    "END\n";

std::shared_ptr<const Box> started_box() {
    auto box = std::make_shared<Box>();
    const Output started = box->start_up("start");
    EXPECT_EQ(started.exit, 0) << started;
    openpbs_host(box).sh(kCommon);
    openpbs_host(box).sh(kRoom);
    return box;
}

}  // namespace

std::shared_ptr<const Box> box_of_two_servers() {
    auto box = started_box();
    const ParserHost ours = bundled_host(box);
    ours.start();
    ours.sh("qmgr -c 'create node box'");
    ours.sh(kCommon);
    ours.sh(kRoom);
    return box;
}

ParserHost openpbs_host(std::shared_ptr<const Box> box) {
    const std::string prefix = openpbs_prefix();
    return {std::move(box), "OpenPBS", fmt::format("folder={}/bin", prefix),
            fmt::format("{}/libexec/pbs_init.d restart > /dev/null 2>&1", prefix)};
}
ParserHost bundled_host(std::shared_ptr<const Box> box) {
    return {
        std::move(box), "pbspolicy",
        fmt::format("export PBS_HOME=/var/tmp/ours folder={}/bin", PBS_BUILD_DIR),
        "mkdir -p -m 755 $PBS_HOME; $folder/pbs_server --home $PBS_HOME --name box -p 15551 --bind 0.0.0.0 "
        "--daemon"};
}

}  // namespace pbs::e2e

#include "tests/tools_on_top/calls.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
namespace fs = std::filesystem;

constexpr std::chrono::seconds kLongestCall{120};

// Returns the qmgr directives with which each Place is set up.
const std::vector<std::string>& directives() {
    static const std::vector<std::string> all{
        "create queue batch queue_type=execution,enabled=True,started=True",
        "set server default_queue=batch",
        "set server job_history_enable=True",
    };
    return all;
}

// Returns the host name in the form of OpenPBS's exec_host: up to the first dot.
std::string short_host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

class OurServer : public Place {
  public:
    // Uses this project's commands if `prefix` is empty, otherwise those of the OpenPBS in that prefix.
    explicit OurServer(std::string prefix) : prefix_(std::move(prefix)) {
        EXPECT_TRUE(server_.start());
        EXPECT_TRUE(server_.configure(directives()));
        EXPECT_TRUE(
            server_.configure({"create node n1 resources_available.ncpus=8,resources_available.mem=8gb"}));
        names = {{"work", server_.work().string()},
                 {"user", runner().name},
                 {"queue", "batch"},
                 {"node", "n1"},
                 {"host", short_host_name()}};
        std::ofstream(server_.work() / "pbs.conf")
            << "PBS_EXEC=" << prefix_ << "\nPBS_HOME=/nonexistent\nPBS_SERVER=localhost\n"
            << "PBS_BATCH_SERVICE_PORT=" << server_.port() << "\n";
    }
    Output shell(const std::string& script) const override {
        if (prefix_.empty()) return with_ours(script);
        return as_runner(script, {{"PBS_CONF_FILE", (server_.work() / "pbs.conf").string()},
                                  {"PATH", prefix_ + "/bin:/usr/bin:/bin"}});
    }
    std::optional<Output> shell_with_ours(const std::string& script) const override {
        if (prefix_.empty()) return std::nullopt;
        return with_ours(script);
    }

  private:
    Output with_ours(const std::string& script) const {
        return as_runner(script, {{"PBS_HOME", server_.home().string()}});
    }
    Output as_runner(const std::string& script, std::map<std::string, std::string> environment) const {
        environment["HOME"] = server_.work().string();
        environment["USER"] = environment["LOGNAME"] = runner().name;
        RunOptions options;
        options.environment = std::move(environment);
        options.uid = runner().uid;
        options.folder = server_.work();
        options.timeout = kLongestCall;
        return pbs::e2e::run({"/bin/bash", "-c", script}, options);
    }

    Server server_;
    std::string prefix_;
};

class Openpbs : public Place {
  public:
    Openpbs() {
        site_.start();
        EXPECT_TRUE(site_.wait_for_node());
        for (const std::string& directive : directives()) site_.ok("qmgr -c '" + directive + "'");
        site_.ok("qmgr -c 'set node box resources_available.ncpus=8'");
        site_.ok("mkdir -p /tmp/work && chown una /tmp/work");
        names = {
            {"work", "/tmp/work"}, {"user", "una"}, {"queue", "batch"}, {"node", "box"}, {"host", "box"}};
    }
    Output shell(const std::string& script) const override {
        return site_.sh("cd /tmp/work\n" + script, "una");
    }

  private:
    Site site_;
};

// Returns why OpenPBS's commands can't be used, or "" if they can. Ordinary users need OpenPBS's setuid
// pbs_iff for them.
std::string no_openpbs_commands() {
    const std::string prefix = openpbs_prefix();
    if (prefix.empty())
        return "PBSPOLICY_OPENPBS_PREFIX is not set: it names an installed OpenPBS, such as /opt/pbs";
    const std::string helper = prefix + "/sbin/pbs_iff";
    struct stat info {};
    if (stat(helper.c_str(), &info) != 0 || (info.st_mode & S_ISUID) == 0 || info.st_uid != 0)
        return helper + " is not setuid root";
    if (geteuid() != 0) return "OpenPBS's commands need root here, for a reserved port";
    return {};
}

std::string replaced(std::string text, const std::map<std::string, std::string>& names) {
    for (const auto& [name, value] : names) {
        const std::string placeholder = "{" + name + "}";
        for (size_t at = text.find(placeholder); at != std::string::npos;
             at = text.find(placeholder, at + value.size()))
            text.replace(at, placeholder.size(), value);
    }
    return text;
}

// Returns a regular expression that matches only this text.
std::string literal(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view(R"(^$\.*+?()[]{}|)").find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::map<std::string, std::string> literals(const std::map<std::string, std::string>& names) {
    std::map<std::string, std::string> out;
    for (const auto& [name, value] : names) out[name] = literal(value);
    return out;
}

std::string joined(const std::string& text) {
    return std::regex_replace(text, std::regex("\n\t"), "");
}

std::optional<std::string> group(const std::string& text, const std::string& expression) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(expression))) return std::nullopt;
    return match[match.size() > 1 ? 1 : 0].str();
}

std::optional<std::string> at_pointer(const std::string& text, const std::string& pointer) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const nlohmann::json::json_pointer at(pointer);
    if (json.is_discarded() || !json.contains(at)) return std::nullopt;
    const auto& value = json[at];
    if (value.is_string()) return value.get<std::string>();
    return fmt::format("{} {}", value.type_name(), value.dump());
}

std::optional<std::string> word_of_line(const std::string& text, const std::string& id, size_t word) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream parts(line);
        std::string part;
        if (!(parts >> part) || !id.starts_with(part)) continue;
        for (size_t i = 0; i < word && !part.empty(); ++i) {
            part.clear();
            parts >> part;
        }
        return part;
    }
    return std::nullopt;
}

// If the text is JSON, returns it in a uniform layout, with its members in the same order. Otherwise returns
// the text unchanged.
std::string laid_out(const std::string& text) {
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    return json.is_discarded() ? text : json.dump(1);
}

// Replaces values that differ from call to call, and the name under which the server was asked, by fixed
// texts.
std::string masked(const std::string& text) {
    static const std::vector<std::pair<std::regex, std::string>> masks{
        {std::regex(R"(("timestamp":\s*)\d+)"), "$1T"},
        {std::regex(R"(("resources_used":\s*)\{[^}]*\})"), "$1{}"},
        {std::regex(R"((resources_used\.\w+ ?= ?)[\w:]+)"), "$1X"},
        {std::regex(R"(\b\d\d:\d\d:\d\d (?=[RE] ))"), "HH:MM:SS "},
        {std::regex(R"((pbs_version("|)[ :=\t]+"?)[\w.-]+)"), "$1V"},
    };
    std::string out = std::regex_replace(
        laid_out(text), std::regex(R"(((?:\.|"pbs_server":\s*"))localhost\b)"), "$1" + short_host_name());
    for (const auto& [expression, with] : masks) out = std::regex_replace(out, expression, with);
    return out;
}

}  // namespace

void ToolOnTop::SetUp() {
    if (GetParam() == Where::openpbs_commands) {
        if (const std::string why = no_openpbs_commands(); !why.empty()) GTEST_SKIP() << why;
    }
    if (GetParam() == Where::openpbs) {
        if (const std::string why = no_openpbs(); !why.empty()) GTEST_SKIP() << why;
        place_ = std::make_unique<Openpbs>();
    } else {
        place_ = std::make_unique<OurServer>(GetParam() == Where::ours ? "" : openpbs_prefix().string());
    }
}

void ToolOnTop::run(const std::vector<Call>& calls) {
    for (const Call& call : calls) {
        SCOPED_TRACE(call.what);
        run(call);
        // Stop at a failure, as later rows need this row's results.
        if (HasFailure()) return;
    }
}

void ToolOnTop::run(const Call& call) {
    auto& names = place_->names;
    std::string state;
    const auto in_state = [&] {
        state = attribute_in(place_->shell(replaced("qstat -x -f '{id}'", names)).out, "job_state");
        return call.state.find(state) != std::string::npos;
    };
    if (!call.state.empty()) {
        ASSERT_TRUE(wait_for(in_state, kLongestCall))
            << names["id"] << " is in state " << state << ", not in " << call.state;
    }

    const std::string file = replaced("{work}/" + call.file, names);
    std::string before;
    if (!call.script.empty()) {
        before = fmt::format(
            "mkdir -p $(dirname '{0}')\ncat > '{0}' <<'END OF THE SCRIPT'\n{1}\nEND OF THE SCRIPT\n", file,
            replaced(call.script, names));
        before += "exec < '" + file + "'\n";
    } else {
        before = "exec < /dev/null\n";
    }
    const std::string command = before + replaced(call.command, names);
    const Output done = place_->shell(command);
    ASSERT_EQ(done.exit, call.exit) << command << "\n" << done;
    for (const Fact& fact : call.facts) {
        if (fact.ours_alone && GetParam() != Where::ours) continue;
        const bool expression = fact.by != Read::json && fact.by != Read::word;
        const std::string where = replaced(fact.where, expression ? literals(names) : names);
        std::optional<std::string> found;
        switch (fact.by) {
            case Read::text:
            case Read::none:
                found = group(done.out, where);
                break;
            case Read::joined:
                found = group(joined(done.out), where);
                break;
            case Read::errors:
                found = group(done.err, where);
                break;
            case Read::json:
                found = at_pointer(done.out, where);
                break;
            case Read::word:
                found = word_of_line(done.out, names["id"], std::stoul(where));
                break;
        }
        if (fact.by == Read::none) {
            EXPECT_FALSE(found) << "there is " << where << " in what " << command << " wrote\n" << done;
            continue;
        }
        ASSERT_TRUE(found) << "no " << where << " in what " << command << " wrote\n" << done;
        EXPECT_TRUE(std::regex_match(*found, std::regex(replaced(fact.is, literals(names)))))
            << where << " is \"" << *found << "\", not " << fact.is << ", in what " << command << " wrote\n"
            << done;
        if (!fact.keep.empty()) names[fact.keep] = *found;
    }
    if (!call.asks) return;
    if (const auto ours = place_->shell_with_ours(command)) {
        EXPECT_EQ(ours->exit, done.exit) << command;
        EXPECT_EQ(masked(ours->out), masked(done.out)) << command;
        EXPECT_EQ(masked(ours->err), masked(done.err)) << command;
    }
}

std::string not_installed(const std::string& program) {
    return fs::exists("/usr/bin/" + program)
               ? ""
               : program + " is not installed (Debian's package " + program + ")";
}

std::string where_name(const ::testing::TestParamInfo<Where>& one) {
    switch (one.param) {
        case Where::ours:
            return "Ours";
        case Where::openpbs_commands:
            return "OpenpbsCommands";
        case Where::openpbs:
            return "Openpbs";
    }
    return {};
}

}  // namespace pbs::e2e

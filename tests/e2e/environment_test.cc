// Tests that a job's environment has the variables of its submission, byte by byte, and that its output
// reaches its folder, whatever the folder's name is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/e2e/harness.h"
#include "tests/file_text.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

std::string text_of(const fs::path& path) {
    return pbs::test::file_text(path);
}

// Parses the output of `env -0` into variables.
Variables variables_in(const std::string& text) {
    Variables found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\0', at);
        const std::string entry = text.substr(at, end - at);
        const std::size_t equals = entry.find('=');
        found[entry.substr(0, equals)] = entry.substr(equals + 1);
        at = end + 1;
    }
    return found;
}

class Environment : public OriginServer {
  protected:
    // Makes a folder of this name that everybody may write.
    fs::path folder(const std::string& name) const {
        fs::path path = server.work() / name;
        fs::create_directories(path);
        ::chmod(path.c_str(), 0777);
        return path;
    }
    Output qsub(std::vector<std::string> options, const std::string& script, const Variables& variables = {},
                const fs::path& in = {}) const {
        options.insert(options.begin(), {"qsub", "-S", "/bin/bash"});
        RunOptions run;
        run.input = script;
        run.environment = variables;
        run.folder = in.empty() ? server.work() : in;
        return server.command_as(runner(), options, run);
    }
    // Returns variables whose values contain each byte but NUL, also beside characters with a special
    // meaning; and a shell function. No value ends with a blank, as OpenPBS's server removes blanks at the
    // end.
    static Variables every_byte() {
        Variables all;
        for (int byte = 1; byte < 256; ++byte) {
            const char c = static_cast<char>(byte);
            all["V" + std::to_string(byte)] = std::string("a") + c + "\\" + c + c + ",'" + c + "z";
            if (!on_openpbs()) all["W" + std::to_string(byte)] = std::string(2, c);
        }
        all["BASH_FUNC_module%%"] = "() {  printf '%s' \"a,b\\\\\";\n printf '%s' \"it's\"\n}";
        return all;
    }
    // Submits a job with `options` in the environment `sent`, and checks that the job got the variables. If
    // the job is an array, `index` is the subjob to check.
    void expect_arrived(const Variables& sent, const std::vector<std::string>& options,
                        const std::string& index = "") {
        const fs::path file = server.work() / ("env" + std::to_string(++files_));
        const Output done = qsub(
            options,
            "t=" + file.string() + "$PBS_ARRAY_INDEX\nmodule >$t.f\nenv -0 >$t.part\nmv $t.part $t\n", sent);
        ASSERT_EQ(done.exit, 0) << done;
        id_ = done.out.substr(0, done.out.find('\n'));
        const std::string name = file.string() + index;
        ASSERT_TRUE(wait_for([&] { return fs::exists(name); })) << server.log();
        const Variables got = variables_in(text_of(name));
        for (const auto& [variable, value] : sent)
            EXPECT_TRUE(got.contains(variable) && got.at(variable) == value) << variable;
        EXPECT_EQ(text_of(name + ".f"), "a,b\\it's");
    }
    std::string id_;

  private:
    int files_ = 0;
};

TEST_F(Environment, EveryByteOfItReachesTheJob) {
    const Variables sent = every_byte();
    std::string names;
    for (const auto& [name, value] : sent) names += (names.empty() ? "" : ",") + name;
    expect_arrived(sent, {"-v", names});
    expect_arrived(sent, {"-V"});
    expect_arrived(sent, {"-V", "-J", "1-2"}, "2");
    if (!on_openpbs()) expect_arrived(sent, {"-V", "-W", "block=true"});
}

TEST_F(Environment, IsShownWithBackslashesAndInJsonAsItIs) {
    const Variables sent{{"A", "it's"}, {"B", "say \"a,b\\\""}, {"C", "x=1;\n\ty"},
                         {"D", "005"},  {"E", "1e5"},           {"F", "5"},
                         {"G", "-1.5"}, {"H", "caf\xc3\xa9"}};
    const Output done = qsub({"-h", "-v", "A,B,C,D,E,F,G,H,I='p,q',J=r\\,s"}, "true\n", sent);
    ASSERT_EQ(done.exit, 0) << done;
    const std::string id = done.out.substr(0, done.out.find('\n'));
    EXPECT_THAT(server.command({"qstat", "-fw", id}).out, HasSubstr(",A=it\\'s,B=say \\\"a\\,b\\\\\\\","));
    const auto shown = [&] {
        const auto json = nlohmann::json::parse(server.command({"qstat", "-f", "-F", "json", id}).out);
        return json["Jobs"][id]["Variable_List"];
    };
    const auto variables = shown();
    for (const char* name : {"A", "B", "C", "D", "E", "H"}) EXPECT_EQ(variables[name], sent.at(name)) << name;
    EXPECT_EQ(variables["F"], 5);
    EXPECT_EQ(variables["G"], -1.5);
    EXPECT_EQ(variables["I"], "p,q");
    EXPECT_EQ(variables["J"], "r,s");
    ASSERT_EQ(server.command_as(runner(), {"qalter", "-N", "other", id}).exit, 0);
    EXPECT_EQ(shown(), variables);
}

// -v accepts values with commas and quotation marks. OpenPBS's qsub accepts these values, too.
TEST_F(Environment, ValuesOfTheCommandLineMayHaveCommas) {
    const fs::path file = server.work() / "got";
    const Output done = qsub({"-v", "A=\"a,b\",B='c,d',C=e\\,f,D=\"it's\",E='say \"x\"',G=h=i"},
                             "printf '%s|' \"$A\" \"$B\" \"$C\" \"$D\" \"$E\" \"$G\" >" + file.string() +
                                 ".part\nmv " + file.string() + ".part " + file.string() + "\n");
    ASSERT_EQ(done.exit, 0) << done;
    ASSERT_TRUE(wait_for([&] { return fs::exists(file); })) << server.log();
    EXPECT_EQ(text_of(file), "a,b|c,d|e,f|it's|say \"x\"|h=i|");
    const Output open = qsub({"-v", "A='x"}, "true\n");
    EXPECT_EQ(open.exit, of_host(2, 2)) << open;
    EXPECT_THAT(open.err, HasSubstr("no closing quote"));
}

// Names of folders. They contain characters with a meaning in lists, quotes, patterns and host:path.
constexpr const char* kNames[] = {"a,b",       "it's",       "say \"x\"", "back\\slash", "end\\",
                                  "a\\,b\\\\", "two words ", "[x]*?",     "a:b",         "k=v;w",
                                  "$HOME`id`", "-n",         "caf\xe9"};

TEST_F(Environment, OutputGoesToAFolderOfAnyName) {
    NEEDS(without_mom);
    for (const std::string name : kNames) {
        const fs::path in = folder(name);
        std::ofstream(in / "data") << "given\n";
        std::string listed;  // path of the folder for a list of files, where \ precedes a comma
        for (const char c : (in / "").string()) listed += c == ',' ? "\\," : std::string(1, c);
        const std::string script =
            "cd \"$PBS_O_WORKDIR\" && pwd && cat in && echo made >out.1 && echo err >&2\n";
        const std::string quote = name.find('"') == name.npos ? "\"" : "'";
        const std::string staged = "stagein=" + quote + listed + "in@localhost:" + listed + "data" + quote +
                                   ",stageout=" + quote + listed + "out.1@localhost:" + listed + "result" +
                                   quote;
        const Output done = qsub({"-N", "j", "-W", staged}, script, {}, in);
        ASSERT_EQ(done.exit, 0) << name << done;
        const std::string id = done.out.substr(0, done.out.find('\n'));
        ASSERT_TRUE(server.wait_job_state(id, "F")) << name;
        const std::string number = id.substr(0, id.find('.'));
        EXPECT_EQ(text_of(in / ("j.o" + number)), in.string() + "\ngiven\n") << name;
        EXPECT_EQ(text_of(in / ("j.e" + number)), "err\n") << name;
        EXPECT_EQ(text_of(in / "result"), "made\n") << name;
        EXPECT_EQ(server.job(id, "Exit_status"), "0") << name;
        const Output given = qsub({"-j", "oe", "-o", "given"}, "echo sand\n", {}, in);
        ASSERT_EQ(given.exit, 0) << name << given;
        ASSERT_TRUE(wait_for([&] { return text_of(in / "given") == "sand\n"; })) << name << server.log();
        // Both subjobs write to one file, which each subjob empties when it starts. So the output of one of
        // them may be lost.
        const Output held = qsub({"-h", "-J", "1-2", "-N", "k", "-j", "oe"}, "echo sub\n", {}, in);
        ASSERT_EQ(held.exit, 0) << name << held;
        const std::string array = held.out.substr(0, held.out.find('\n'));
        RunOptions there;
        there.folder = in;
        ASSERT_EQ(server.command_as(runner(), {"qalter", "-o", "altered", array}, there).exit, 0);
        ASSERT_EQ(server.command_as(runner(), {"qrls", array}).exit, 0);
        ASSERT_TRUE(wait_for([&] { return text_of(in / "altered").ends_with("sub\n"); }))
            << name << server.log();
    }
    EXPECT_FALSE(fs::exists(server.home() / "undelivered") && !fs::is_empty(server.home() / "undelivered"));
}

// A path in an option can't contain a line break, but the path of the folder in which qsub runs can.
TEST_F(Environment, OutputGoesToAFolderWithALineBreak) {
    NEEDS(without_mom);
    const fs::path in = folder("two\nlines");
    const Output done = qsub({}, "echo here\n", {}, in);
    ASSERT_EQ(done.exit, 0) << done;
    const fs::path out = in / ("STDIN.o" + done.out.substr(0, done.out.find('.')));
    EXPECT_TRUE(wait_for([&] { return text_of(out) == "here\n"; })) << server.log();
    EXPECT_THAT(server.log(), Not(HasSubstr("\nlines/STDIN")));
    EXPECT_THAT(qsub({"-o", "x"}, "true\n", {}, in).err, HasSubstr("no control characters"));
}

TEST_F(Environment, AScriptWithAByteOrderMarkIsWarnedOf) {
    const fs::path script = server.work() / "marked.sh";
    std::ofstream(script) << "\xef\xbb\xbf#!/bin/sh\n#PBS -N named\ntrue\n";
    const Output done = qsub({script.string()}, "");
    EXPECT_EQ(done.exit, 0) << done;
    EXPECT_THAT(done.err,
                StartsWith("qsub: Warning: " + script.string() + " begins with a UTF-8 byte order mark"));
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1);
    EXPECT_EQ(server.job(done.out.substr(0, done.out.find('\n')), "Job_Name"), "marked.sh");
    EXPECT_THAT(qsub({}, "\xef\xbb\xbftrue\n").err, HasSubstr("Warning: standard input begins with a UTF-8"));
}

}  // namespace
}  // namespace pbs::e2e

// A server without network and processes. Tests make requests by calls, and make the reports about the runs
// of jobs themselves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "tests/host/answer.h"

namespace pbs::host {

// An Executor that only notes the calls. Tests make the runner's reports.
class FakeExecutor : public Executor {
  public:
    bool may_run_as(uid_t uid, std::string& reason) const override {
        if (uid != refused_uid) return true;
        reason = "refused by the test";
        return false;
    }
    Result<void> start(JobStart job) override {
        if (throw_at_starts) throw std::bad_alloc();
        if (fail_starts) return fail(failure, "no start today");
        started.push_back(std::move(job));
        return {};
    }
    Result<void> signal(const RunId& id, int number) override {
        if (fail_signals) return fail(15010, "no signal today");
        signals.emplace_back(id, number);
        return {};
    }
    Result<void> set_limits(const RunId& id, std::optional<std::chrono::seconds> walltime,
                            std::optional<std::chrono::seconds> cput) override {
        limits.push_back({id, walltime, cput});
        return {};
    }
    Result<void> set_weight(const RunId& id, int weight) override {
        usleep(weight_takes_us);
        if (fail_weights || id.job == weightless) return fail(15010, "no weight today");
        weights.emplace_back(id, weight);
        return {};
    }
    Result<void> terminate(const RunId& id, std::chrono::seconds) override {
        terminated.push_back(id);
        return {};
    }
    std::optional<ExitRecord> used(const RunId& id) const override {
        const auto found = used_so_far.find(id.job);
        return found == used_so_far.end() ? std::nullopt : std::optional(found->second);
    }
    std::vector<RunReport> events() override { return std::exchange(reports, {}); }
    void forget(const RunId& id) override { forgotten.push_back(id); }

    std::vector<JobStart> started;
    std::vector<std::pair<RunId, int>> signals;
    std::vector<std::pair<RunId, int>> weights;
    struct Limits {
        RunId id;
        std::optional<std::chrono::seconds> walltime;
        std::optional<std::chrono::seconds> cput;
    };
    std::vector<Limits> limits;
    std::map<std::string, ExitRecord> used_so_far;
    std::vector<RunId> terminated;
    std::vector<RunId> forgotten;
    std::vector<RunReport> reports;
    uid_t refused_uid = static_cast<uid_t>(-1);
    bool fail_starts = false;
    int failure = PBSE_SYSTEM;  // the code of a start that fails
    bool fail_weights = false;
    std::string weightless;  // the id of a job that can't be weighed
    useconds_t weight_takes_us = 0;
    bool throw_at_starts = false;
    bool fail_signals = false;
};

class ServerTest : public testing::Test {
  protected:
    static constexpr int64_t kFirstChange = 1'000'000;
    void SetUp() override {
        folder_ = testing::TempDir() + "host." + std::to_string(getpid()) + "." + std::to_string(++count_);
        std::filesystem::create_directories(folder_ + "/jobs");
        move_clock(0);
        ASSERT_TRUE(clock_.follow(folder_ + "/clock"));
        log_ = std::make_unique<Log>(folder_, "Server@test", clock_);
        accounting_ = std::make_unique<Accounting>(folder_ + "/jobs", *log_, clock_);
        mailer_ = std::make_unique<Mailer>(*log_, "/bin/true");
        open_server();
        user_ = find_user(getuid() == 0 ? uid_t{65534} : getuid())->name;
    }
    void TearDown() override {
        server_.reset();
        store_.reset();
        std::filesystem::remove_all(folder_);
    }

    // Opens the database as a starting server does. Another call acts like a restart.
    void open_server() {
        server_.reset();
        store_.reset();
        store_ = std::move(*Store::open(folder_ + "/server.db"));
        State state;
        state.server_name = "svr";
        state.host_name = "host.example.org";
        ASSERT_TRUE(store_->load(state));
        ServerOptions options;
        options.home = folder_;
        options.starter = "starter";
        server_ = std::make_unique<Server>(std::move(state),
                                           ServerParts{*store_, *log_, *accounting_, *mailer_, executor_,
                                                       clock_, plugin_.get(), follow_subjobs},
                                           std::move(options));
        ASSERT_TRUE(server_->make_first_objects());
    }

    // Loads the built policy plugin. Stop it before the server ends.
    void load_plugin() {
        for (const char* name : {"/server_priv", "/sched_priv"})
            std::filesystem::create_directories(folder_ + name);
        auto loaded =
            Plugin::load({PBS_POLICY_PLUGIN, folder_, "svr", "UTC", server_->now(), kFirstChange}, *log_);
        ASSERT_TRUE(loaded) << loaded.error().message;
        plugin_ = std::move(*loaded);
        server_->parts.plugin = plugin_.get();
        ASSERT_TRUE(server_->start_plugin());
    }

    void move_clock(int64_t seconds) {
        std::ofstream(folder_ + "/clock.new") << seconds << '\n';
        std::filesystem::rename(folder_ + "/clock.new", folder_ + "/clock");
        usleep(30000);  // more than the clock's interval of 20 ms between looks at its file
    }

    Identity somebody(const std::string& user, const std::string& host = "host.example.org") const {
        return {user, host, privilege_of(server_->state, "starter", user, host)};
    }
    Identity root() const { return somebody("root"); }
    Identity user() const { return somebody(user_); }

    ifl::Reply ask(const Identity& who, ifl::RequestType type, ifl::RequestBody body,
                   std::string extend = {}) {
        ifl::Request request{type, who.user, std::move(body), std::move(extend)};
        Context context{*server_, who, server_->now(), request, session_};
        // Encode the reply and decode it again, as a client does.
        auto read = ifl::decode_reply(ifl::encode_reply(answer(context)));
        if (read) return std::move(*read);
        ADD_FAILURE() << read.error().message;
        return ifl::Reply::error(read.error().code, read.error().message);
    }

    static ifl::Attribute attribute(const std::string& name, std::string value, ifl::Op op = ifl::Op::set) {
        const auto dot = name.find('.');
        ifl::Attribute out;
        out.name = name.substr(0, dot);
        if (dot != std::string::npos) out.resource = name.substr(dot + 1);
        out.value = std::move(value);
        out.op = op;
        return out;
    }

    ifl::Reply manage(const Identity& who, int command, int type, const std::string& name,
                      ifl::Attributes attributes = {}) {
        return ask(who, ifl::RequestType::manager,
                   ifl::Manage{static_cast<uint32_t>(command), static_cast<uint32_t>(type), name,
                               std::move(attributes)});
    }
    int set(int type, const std::string& name, const std::string& what, const std::string& value) {
        return manage(root(), PBS_CMD_SET, type, name, {attribute(what, value)}).code;
    }

    // Makes an execution queue that is enabled and started.
    void make_queue(const std::string& name, ifl::Attributes more = {}) {
        more.insert(more.begin(),
                    {attribute("queue_type", "e"), attribute("enabled", "t"), attribute("started", "t")});
        ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, name, more).code, 0);
    }
    void make_node(const std::string& name, const std::string& ncpus) {
        ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_NODE, name,
                         {attribute("resources_available.ncpus", ncpus)})
                      .code,
                  0);
    }

    // Submits a job. Returns its id, or the error's code as text.
    std::string submit(const Identity& who, ifl::Attributes attributes, const std::string& queue = {},
                       const std::string& script = "sleep 1\n") {
        attributes.push_back(attribute("Variable_List", "PBS_O_WORKDIR=/tmp,PBS_O_HOME=/tmp"));
        ifl::Reply reply =
            ask(who, ifl::RequestType::queue_job, ifl::QueueJob{"", queue, std::move(attributes)});
        if (reply.code != 0) return std::to_string(reply.code);
        const std::string id = std::get<ifl::QueueReply>(reply.body).job;
        reply = ask(who, ifl::RequestType::job_script, ifl::JobScript{0, 0, "", script});
        if (reply.code != 0) return std::to_string(reply.code);
        reply = ask(who, ifl::RequestType::commit, ifl::JobId{id});
        return reply.code != 0 ? std::to_string(reply.code) : std::get<ifl::CommitReply>(reply.body).job;
    }

    // Returns the value of an attribute in a status reply to root.
    std::string shown(ifl::RequestType type, const std::string& object, const std::string& name,
                      std::string extend = {}) {
        const ifl::Reply reply = ask(root(), type, ifl::Status{object, {}}, std::move(extend));
        if (reply.code != 0) return "error " + std::to_string(reply.code);
        const auto dot = name.find('.');
        for (const auto& one : std::get<ifl::StatusReply>(reply.body).objects.at(0).attributes)
            if (one.name == name.substr(0, dot) &&
                one.resource == (dot == std::string::npos ? "" : name.substr(dot + 1)))
                return one.value;
        return "";
    }
    std::string job_shows(const std::string& id, const std::string& name, std::string extend = {}) {
        return shown(ifl::RequestType::status_job, id, name, std::move(extend));
    }

    // Returns a report that the job's last run has ended.
    RunReport ended(const std::string& id, int exit_status) {
        RunReport report;
        report.id = {id, server_->state.job(id)->attributes.integer("run_count", 0)};
        report.state = RunState::ended;
        report.exit.exit_status = exit_status;
        report.exit.session = 4711;
        report.exit.ended_at = std::chrono::sys_seconds(std::chrono::seconds(time(nullptr)));
        return report;
    }

    // Returns a report that the job's last run has begun: its script runs.
    RunReport begun(const std::string& id) {
        RunReport report = ended(id, 0);
        report.state = RunState::running;
        report.session = report.exit.session;
        return report;
    }

    std::string accounting_text() const { return text_of_files(folder_ + "/jobs", ""); }
    std::string log_text() const { return text_of_files(folder_, "20"); }
    static std::string text_of_files(const std::string& folder, std::string_view beginning) {
        std::string out;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            if (!file.is_regular_file() || !file.path().filename().string().starts_with(beginning)) continue;
            std::ifstream in(file.path());
            out.append(std::istreambuf_iterator<char>(in), {});
        }
        return out;
    }

    std::string folder_;
    std::string user_;
    Clock clock_;
    std::unique_ptr<Log> log_;
    std::unique_ptr<Accounting> accounting_;
    std::unique_ptr<Mailer> mailer_;
    std::unique_ptr<Store> store_;
    FakeExecutor executor_;
    std::unique_ptr<Plugin> plugin_;
    std::unique_ptr<Server> server_;
    Session session_;

  private:
    static inline int count_ = 0;
};

}  // namespace pbs::host

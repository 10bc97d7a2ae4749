// A session: a whole server with its plugin, without network and processes. Its input makes requests of
// clients by a grammar: each byte chooses a request, an object, an attribute or a value, so that most
// requests are valid. Between requests, cycles run, jobs end, the clock moves forward, and the server starts
// again.
//
// Three things must be true: a refused request changes nothing; the objects are the same after a new start of
// the server; and every reply can be decoded.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "objects/schema.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/change/queue_types.h"
#include "server_plugin/host/change/reconcile.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/life/array_life.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/life/run_reports.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/run/executor.h"
#include "server_plugin/host/store/store.h"
#include "tests/host/answer.h"

namespace pbs::host::session {

namespace fs = std::filesystem;
using std::chrono::seconds;
using Names = std::initializer_list<const char*>;

// Returns whether the target prints the requests and their answers.
inline bool talks() {
    static const bool wanted = std::getenv("PBSPOLICY_SESSION") != nullptr;
    return wanted;
}

[[noreturn]] inline void fault(std::string_view what, const std::string& details = {}) {
    std::fprintf(stderr, "session: %.*s\n%s\n", static_cast<int>(what.size()), what.data(), details.c_str());
    std::abort();
}

// The input as a sequence of choices. After the end of the input, each choice takes the first possibility.
class Choices {
  public:
    Choices(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
    bool left() const { return at_ != end_; }
    std::size_t below(std::size_t count) { return at_ == end_ ? 0 : *at_++ % count; }
    bool rarely() { return below(16) == 15; }
    template <class List>
    auto of(const List& list) {
        return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
    }
    // Returns a short text without '/', so that it can't be a path.
    std::string text() {
        static constexpr std::string_view kLetters = "aq1n0,:=+-@[]() \t\"'.\\;%\n\x7f\xc3ZB";
        std::string out;
        for (std::size_t size = below(12); size > 0; --size) out += kLetters[below(kLetters.size())];
        return out;
    }

  private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
};

// The processes of jobs, and what the shepherds have written: both outlive the server.
struct Processes {
    using Run = std::pair<std::string, std::int64_t>;
    static Run key(const RunId& id) { return {id.job, id.run}; }

    std::vector<RunId> running;
    std::map<Run, RunReport> ended;  // records of ends, each until the server forgets it
    std::set<Run> ever;              // all runs that have started
    bool fails = false;              // starts fail
};

// An Executor that starts no processes: the session itself decides when and how a job ends.
class NoProcesses final : public Executor {
  public:
    bool may_run_as(uid_t, std::string&) const override { return true; }
    Result<void> start(JobStart job) override {
        if (now.fails) return fail(PBSE_SYSTEM, "no start");
        if (!now.ever.insert(Processes::key(job.id)).second) fault("a run has started twice", job.id.job);
        now.running.push_back(job.id);
        reports_.push_back({job.id, RunState::running, 4711, {}, false});
        changed();
        return {};
    }
    Result<void> signal(const RunId& id, int number) override {
        if (number == SIGKILL) end(id, RunState::ended, exit_status::kBySignal + number);
        return {};
    }
    Result<void> set_limits(const RunId&, std::optional<seconds>, std::optional<seconds>) override {
        return {};
    }
    Result<void> set_weight(const RunId&, int) override { return {}; }
    Result<void> terminate(const RunId& id, seconds) override {
        end(id, RunState::ended, exit_status::kBySignal + 15);
        return {};
    }
    std::optional<ExitRecord> used(const RunId&) const override { return std::nullopt; }
    std::vector<RunReport> events() override { return std::exchange(reports_, {}); }
    void forget(const RunId& id) override {
        now.ended.erase(Processes::key(id));
        changed();
    }

    void end(const RunId& id, RunState state, int status) {
        if (std::erase(now.running, id) == 0) return;
        RunReport report{id, state, 4711, {}, false};
        report.exit.exit_status = status;
        report.exit.session = 4711;
        report.exit.ended_at = std::chrono::floor<seconds>(std::chrono::system_clock::now());
        now.ended[Processes::key(id)] = report;
        reports_.push_back(std::move(report));
        changed();
    }
    // Returns what a new start of the server finds about the runs that it asks for.
    std::vector<RunReport> reports_at_start(const std::vector<RunId>& asked) {
        reports_.clear();
        std::vector<RunReport> all;
        for (const RunId& id : asked) {
            const auto ended = now.ended.find(Processes::key(id));
            const bool runs = std::ranges::find(now.running, id) != now.running.end();
            all.push_back(
                ended != now.ended.end()
                    ? ended->second
                    : RunReport{id, runs ? RunState::running : RunState::never_started, 4711, {}, false});
        }
        return all;
    }
    // Returns the runs that have processes though the server doesn't ask for them.
    std::vector<RunReport> strays(const std::vector<RunId>& asked) const {
        std::vector<RunReport> all;
        for (const RunId& id : now.running)
            if (std::ranges::find(asked, id) == asked.end())
                all.push_back({id, RunState::running, 4711, {}, false});
        return all;
    }

    Processes now;
    std::function<void()> changed = [] {};

  private:
    std::vector<RunReport> reports_;
};

inline constexpr Names kValues = {"1",
                                  "0",
                                  "3",
                                  "-1",
                                  "True",
                                  "False",
                                  "",
                                  "100",
                                  "00:10:00",
                                  "2gb",
                                  "q1",
                                  "q2",
                                  "r1",
                                  "q1,q2",
                                  "n1",
                                  "n2",
                                  "p1",
                                  "p2",
                                  "w1",
                                  "g1",
                                  "u1",
                                  "lic",
                                  "e",
                                  "r",
                                  "daemon",
                                  "bin@*",
                                  "daemon@host.example.org",
                                  "[u:PBS_GENERIC=1]",
                                  "[o:PBS_ALL=2]",
                                  "[u:daemon=2],[g:bin=1]",
                                  "1:ncpus=1",
                                  "2:ncpus=1+1:ncpus=2:mem=1gb",
                                  "1:ncpus=1:lic=2",
                                  "scatter",
                                  "free:exclhost",
                                  "ncpus",
                                  "ncpus,mem,lic",
                                  "FREQ=DAILY",
                                  "FREQ=DAILY;COUNT=3",
                                  "0800",
                                  "1800",
                                  "prime",
                                  "nonprime",
                                  "dedicated",
                                  "12/25",
                                  "default_policy,p:p1",
                                  "p1,np:p2",
                                  "ncpus HIGH",
                                  "job_priority HIGH",
                                  "root:50",
                                  "u1:root=3",
                                  "SCR 70 SC 30",
                                  "express_queue, normal_jobs",
                                  "n",
                                  "u",
                                  "uos",
                                  "oe",
                                  "1-3",
                                  "2-9:3",
                                  "y",
                                  "offline",
                                  "free",
                                  "long",
                                  "size",
                                  "string_array",
                                  "boolean",
                                  "nh",
                                  "fh",
                                  "q",
                                  "origin",
                                  "standard",
                                  "9223372036854775807",
                                  "1e300",
                                  "a=b,c=d",
                                  "202611241200.00",
                                  "1795428600",
                                  "(n1:ncpus=1)",
                                  "n1+n2",
                                  "host.example.org:out"};
inline constexpr int kTypes[] = {MGR_OBJ_SERVER,   MGR_OBJ_QUEUE,  MGR_OBJ_NODE,   MGR_OBJ_SCHED,
                                 MGR_OBJ_RSC,      MGR_OBJ_POLICY, MGR_OBJ_POLICY, MGR_OBJ_TIME_WINDOW,
                                 MGR_OBJ_FS_GROUP, MGR_OBJ_QUOTA};

inline Names names_of(int type) {
    static constexpr Names kQueues = {"q1", "q2", "r1"};
    static constexpr Names kNodes = {"n1", "n2", "n3"};
    static constexpr Names kScheds = {"default", "s1"};
    static constexpr Names kResources = {"lic", "foo", "ncpus"};
    static constexpr Names kPolicies = {"p1", "p2", "default_policy"};
    static constexpr Names kWindows = {"w1", "w2"};
    static constexpr Names kGroups = {"g1", "g2"};
    static constexpr Names kQuotas = {"u1", "u2"};
    static constexpr Names kServer = {""};
    switch (type) {
        case MGR_OBJ_QUEUE:
            return kQueues;
        case MGR_OBJ_NODE:
            return kNodes;
        case MGR_OBJ_SCHED:
            return kScheds;
        case MGR_OBJ_RSC:
            return kResources;
        case MGR_OBJ_POLICY:
            return kPolicies;
        case MGR_OBJ_TIME_WINDOW:
            return kWindows;
        case MGR_OBJ_FS_GROUP:
            return kGroups;
        case MGR_OBJ_QUOTA:
            return kQuotas;
        default:
            return kServer;
    }
}

class Site {
  public:
    // `zone`: the time zone of windows.
    Site(Choices choices, fs::path home, std::string zone = "UTC")
        : choose_(choices), home_(std::move(home)), zone_(std::move(zone)) {
        fs::create_directories(home_ / "jobs");
        fs::create_directories(home_ / "server_priv");
        fs::create_directories(home_ / "sched_priv");
        begin();
        make_first();
    }
    // Starts a server at this time on a home that a crash has left, with the processes of its jobs.
    Site(fs::path home, seconds now, Processes processes)
        : choose_(nullptr, 0), home_(std::move(home)), now_(now) {
        executor_.now = std::move(processes);
        begin();
        go_on(seconds(0));
        settle_all();
    }
    virtual ~Site() {
        close();
        fs::remove_all(home_);
    }
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;

    void run() {
        for (int i = 0; i < 120 && choose_.left(); ++i) {
            step();
            settle();
            stepped();
        }
        start_again();
        each_end_once();
    }

  protected:
    // Called after each step.
    virtual void stepped() {}
    // Answers a request. Calls wait() whenever the answer has to wait.
    virtual ifl::Reply answer_to(Context& context, const std::function<void()>& wait) {
        return answer(context, wait);
    }
    // Called if the server couldn't do a part of its work.
    virtual void failed(std::string_view what, const std::string& why) { fault(what, why); }

    // ---- Making and starting the server. ----

    void begin() {
        set_clock();
        log_ = std::make_unique<Log>(home_.string(), "Server@test", clock_);
        accounting_ = std::make_unique<Accounting>((home_ / "jobs").string(), *log_, clock_);
        mailer_ = std::make_unique<Mailer>(*log_, "/bin/true");
        accounting_->remember_since(accounting_->gap_begin());
        open();
    }
    void open() {
        auto store = Store::open((home_ / "server.db").string());
        if (!store) fault("the database can't be opened", store.error().message);
        store_ = std::move(*store);
        State state;
        state.server_name = "svr";
        state.host_name = "host.example.org";
        if (auto done = store_->load(state); !done) fault("the database can't be read", done.error().message);
        ServerOptions options;
        options.home = home_.string();
        options.undelivered = home_.string();
        options.starter = "root";
        options.program = "/bin/true";
        server_ = std::make_unique<Server>(
            std::move(state),
            ServerParts{*store_, *log_, *accounting_, *mailer_, executor_, clock_, nullptr, follow_subjobs},
            std::move(options));
        if (auto done = server_->make_first_objects(); !done) fault("no objects", done.error().message);
        auto plugin = Plugin::load({PBS_POLICY_PLUGIN, home_.string(), "svr", zone_, server_->now()}, *log_);
        if (!plugin) fault("the plugin can't be loaded", plugin.error().message);
        plugin_ = std::move(*plugin);
        server_->parts.plugin = plugin_.get();
        if (auto done = server_->start_plugin(); !done) fault("the plugin can't start", done.error().message);
        if (auto done = reconcile_history(*server_); !done)
            fault("the histories differ", done.error().message);
        set_queue_types(*server_);
        if (auto done = store_->sync(); !done) fault("the database can't be synced", done.error().message);
        const auto asked = running_starts(server_->state);
        if (auto done = recover_jobs(*server_, executor_.reports_at_start(asked), executor_.strays(asked));
            !done)
            fault("the jobs aren't recovered", done.error().message);
        cycles_ = std::make_unique<Cycles>(*server_);
        sessions_[0] = {};
        sessions_[1] = {};
        log_->set_events(0);
    }
    void close() {
        cycles_.reset();
        plugin_->stop(server_->now());
        server_.reset();
        plugin_.reset();
        store_.reset();
    }
    void set_clock() {
        const auto real = std::chrono::floor<seconds>(std::chrono::system_clock::now());
        clock_ = Clock(now_ - real.time_since_epoch());
    }
    void make_first() {
        using Lines = std::vector<std::pair<const char*, const char*>>;
        const auto make = [&](int type, const char* name, const Lines& lines) {
            ifl::Attributes attributes;
            for (const auto& [attribute, value] : lines) attributes.push_back(one(attribute, value));
            const auto reply = ask(
                false, ifl::RequestType::manager,
                ifl::Manage{MGR_CMD_CREATE, static_cast<std::uint32_t>(type), name, std::move(attributes)});
            if (reply.code != 0) fault("the first objects can't be made", name);
        };
        make(MGR_OBJ_RSC, "lic", {{"type", "long"}, {"flag", "q"}});
        make(MGR_OBJ_QUEUE, "q1", {{"queue_type", "e"}, {"enabled", "t"}, {"started", "t"}});
        make(MGR_OBJ_QUEUE, "r1",
             {{"queue_type", "r"}, {"enabled", "t"}, {"started", "t"}, {"route_destinations", "q1"}});
        const auto kept = ask(
            false, ifl::RequestType::manager,
            ifl::Manage{MGR_CMD_SET,
                        MGR_OBJ_SERVER,
                        "",
                        {one("job_history_enable", "t"), one("default_queue", "q1"), one("flatuid", "t")}});
        if (kept.code != 0) fault("the server can't be set up", text_of(kept));
        make(MGR_OBJ_NODE, "n1", {{"resources_available.ncpus", "4"}});
        make(MGR_OBJ_POLICY, "p1", {});
    }
    // Does the work that the server's loop does between requests.
    void settle() {
        take_run_events(*server_);
        for (int i = 0; i < 100 && server_->state.dependencies.work(); ++i)
            if (const auto done = settle_dependencies(*server_, server_->now()); !done)
                return failed("dependencies aren't settled", done.error().message);
        for (int i = 0; i < most_cycles_ && (i == 0 || server_->cycles_wanted()); ++i) {
            cycles_->run_wanted();
            while (cycles_->has_decisions()) cycles_->go_on();
            take_run_events(*server_);
        }
    }
    void go_on(seconds time) {
        now_ += time;
        set_clock();
        if (auto done = look_at_reservations(*server_, server_->now()); !done)
            failed("reservations", done.error().message);
        cycles_->look_at_clock();
        if (auto done = wake_waiting(*server_, server_->now()); !done)
            failed("waiting jobs", done.error().message);
        route_jobs(*server_, server_->now());
        for (bool goes_on = true; goes_on;) {
            const auto more = purge_history(*server_, server_->now());
            if (!more) failed("history", more.error().message);
            goes_on = more.value_or(false);
        }
        mailer_->reap();
    }
    // Settles also what no event asks for.
    void settle_all() {
        server_->want_cycle(PBS_SCH_SCHEDULE_FIRST);
        settle();
    }
    void start_again() {
        executor_.now.fails = false;
        executor_.changed();
        settle_all();
        const std::string before = state_text();
        close();
        open();
        settle_all();
        const std::string after = state_text();
        if (before != after) fault("a new start shows another state", differences(before, after));
    }

    // ---- Making requests from the input. ----

    Identity who(const char* name) const {
        return {name, "host.example.org",
                privilege_of(server_->state, "root", name, server_->state.host_name)};
    }
    ifl::Reply ask(bool as_user, ifl::RequestType type, ifl::RequestBody body, std::string extend = {}) {
        return ask(as_user ? "daemon" : "root", sessions_[as_user ? 1 : 0], type, std::move(body),
                   std::move(extend));
    }
    ifl::Reply ask(const char* user, host::Session& session, ifl::RequestType type, ifl::RequestBody body,
                   std::string extend = {}) {
        const Identity asks = who(user);
        ifl::Request request{type, asks.user, std::move(body), std::move(extend)};
        // Encode and decode the request, as a request over the network is.
        const auto arrived = ifl::decode_request(ifl::encode_request(request));
        if (!arrived) fault("a request can't be read", arrived.error().message);
        Context context{*server_, asks, server_->now(), *arrived, session};
        // A client that waits for a reservation's answer gets one, as time passes and cycles run.
        const auto wait = [&] {
            waited_ = true;
            go_on(seconds(60));
            settle();
        };
        auto reply = ifl::decode_reply(ifl::encode_reply(answer_to(context, wait)));
        if (!reply) fault("a reply can't be read", reply.error().message);
        return std::move(*reply);
    }
    // Makes a request. If it is refused, checks that all objects are the same as before. This isn't checked
    // if time has passed, or if the request concerns several subjobs, each of which may succeed by itself.
    void request(ifl::RequestType type, ifl::RequestBody body, std::string extend = {}) {
        const bool as_user = choose_.below(6) == 5;
        const auto* single = std::get_if<ifl::JobId>(&body);
        const auto* signal = std::get_if<ifl::SignalJob>(&body);
        const std::string& id = single != nullptr ? single->job : signal != nullptr ? signal->job : extend;
        const bool several = id.find('[') != std::string::npos;
        by_parts_ = by_parts_ || several;
        const std::string before = state_text();
        waited_ = false;
        if (const auto* manage = std::get_if<ifl::Manage>(&body); manage != nullptr && talks()) {
            std::fprintf(stderr, "%u %u %s", manage->command, manage->object_type, manage->object.c_str());
            for (const auto& [name, resource, value, op] : manage->attributes)
                std::fprintf(stderr, " %s.%s=%s", name.c_str(), resource.c_str(), value.c_str());
            std::fprintf(stderr, ": ");
        }
        const auto reply = ask(as_user, type, std::move(body), std::move(extend));
        note(type, reply);
        if (reply.code == PBSE_INTERNAL) fault("an internal error", text_of(reply));
        if (reply.code == 0 || several || waited_) return;
        const std::string after = state_text();
        if (after != before)
            fault("a refused request has changed something", std::string(ifl::request_name(type)) + ": " +
                                                                 text_of(reply) + "\n" +
                                                                 differences(before, after));
    }
    static std::string text_of(const ifl::Reply& reply) {
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return std::to_string(reply.code) + " " + (text == nullptr ? "" : text->text);
    }
    static void note(ifl::RequestType type, const ifl::Reply& reply) {
        if (talks())
            std::fprintf(stderr, "%s: %s\n", std::string(ifl::request_name(type)).c_str(),
                         text_of(reply).c_str());
    }

    static ifl::Attribute one(const std::string& name, std::string value, ifl::Op op = ifl::Op::set) {
        const auto dot = name.find('.');
        return {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1), std::move(value),
                op};
    }
    std::string value() { return choose_.rarely() ? choose_.text() : choose_.of(kValues); }
    ifl::Attribute attribute(int type) {
        static constexpr ifl::Op kOps[] = {ifl::Op::set, ifl::Op::set, ifl::Op::incr, ifl::Op::decr};
        static constexpr Names kResources = {"ncpus", "mem", "walltime", "lic", "select", "place", "foo"};
        std::string name;
        const auto* table = ifl::attribute_table(type);
        const auto own = objects::attributes(static_cast<objects::ObjectType>(type));
        const std::size_t rows = table == nullptr ? 0 : table->all().size();
        if (rows + own.size() == 0 || choose_.rarely()) return one(choose_.text(), value(), choose_.of(kOps));
        std::string resource;
        const std::size_t row = (choose_.below(256) * 256 + choose_.below(256)) % (rows + own.size());
        if (row < rows) {
            const auto& def = table->all()[row];
            if ((!def.writable() || def.has(ifl::openpbs_only)) && choose_.left() && !choose_.rarely())
                return attribute(type);
            name = def.name;
            if (def.type == ifl::AttributeType::resources || def.type == ifl::AttributeType::resource_limits)
                resource = choose_.of(kResources);
            // don't change the program that sends mail
            if (name == "mailer") name = "comment";
            // Don't let a client wait long for a reservation's answer.
            static constexpr Names kWaits = {"1", "-1", "600", "-600", "", "x"};
            if (name == "interactive" && type == MGR_OBJ_RESV)
                return {name, "", choose_.of(kWaits), choose_.of(kOps)};
            return {name, resource, def.words.empty() ? value() : std::string(choose_.of(def.words)),
                    choose_.of(kOps)};
        }
        const auto& def = own[row - rows];
        return {std::string(def.name), resource,
                def.words.empty() ? value() : std::string(choose_.of(def.words)), choose_.of(kOps)};
    }
    ifl::Attributes attributes(int type) {
        ifl::Attributes all;
        for (std::size_t i = choose_.below(4); i > 0; --i) all.push_back(attribute(type));
        return all;
    }
    std::string job() {
        if (jobs_.empty() || choose_.rarely()) return choose_.text();
        std::string id = jobs_[choose_.below(jobs_.size())];
        if (const auto at = id.find("[]"); at != std::string::npos && choose_.below(2) == 0)
            id.insert(at + 1, std::to_string(choose_.below(5)));
        return id;
    }
    std::string reservation() {
        if (reservations_.empty() || choose_.rarely()) return choose_.text();
        return reservations_[choose_.below(reservations_.size())];
    }

    void submit() {
        const bool as_user = choose_.below(2) == 0;
        ifl::Attributes all = attributes(MGR_OBJ_JOB);
        all.push_back(one("Variable_List", "PBS_O_WORKDIR=/tmp,PBS_O_HOME=/tmp"));
        switch (choose_.below(8)) {
            case 0:
                all.push_back(one("array_indices_submitted", "1-3"));
                break;
            case 1:
                all.push_back(one("depend", "afterok:" + job()));
                break;
            case 2:
                all.push_back(one("depend", "afterany:" + job()));
                break;
            case 3:
                all.push_back(one("Hold_Types", "u"));
                break;
            case 4:
                all.push_back(one("Resource_List.select", "1:ncpus=2"));
                break;
            default:
                break;
        }
        static constexpr Names kQueues = {"q1", "q2", "r1", ""};
        std::string queue = choose_.of(kQueues);
        if (!reservations_.empty() && choose_.rarely()) queue = reservation();
        auto reply = ask(as_user, ifl::RequestType::queue_job, ifl::QueueJob{"", queue, std::move(all)});
        note(ifl::RequestType::queue_job, reply);
        if (reply.code != 0) return;
        const std::string id = std::get<ifl::QueueReply>(reply.body).job;
        if (choose_.rarely()) return;  // the client leaves before the commit
        reply = ask(as_user, ifl::RequestType::job_script, ifl::JobScript{0, 0, "", "true\n"});
        if (reply.code != 0) return;
        reply = ask(as_user, ifl::RequestType::commit, ifl::JobId{id});
        note(ifl::RequestType::commit, reply);
        if (reply.code == 0) jobs_.push_back(std::get<ifl::CommitReply>(reply.body).job);
    }
    void reserve() {
        const auto from = (now_ + seconds(600 * choose_.below(20))).count();
        ifl::Attributes all = attributes(MGR_OBJ_RESV);
        all.push_back(one("reserve_start", std::to_string(from)));
        all.push_back(one("reserve_end", std::to_string(from + 1200)));
        all.push_back(one("Resource_List.select", "1:ncpus=1"));
        if (choose_.below(4) == 0) all.push_back(one("reserve_rrule", "FREQ=DAILY;COUNT=3"));
        const auto reply = ask(choose_.below(2) == 0, ifl::RequestType::submit_reservation,
                               ifl::QueueJob{"", "", std::move(all)});
        note(ifl::RequestType::submit_reservation, reply);
        if (reply.code != 0) return;
        if (const auto* text = std::get_if<ifl::TextReply>(&reply.body))
            reservations_.push_back(text->text.substr(0, text->text.find(' ')));
    }

    void step() {
        by_parts_ = false;
        using enum ifl::RequestType;
        static constexpr Names kSignals = {"TERM", "SIGKILL", "suspend", "resume", "9", "admin-suspend"};
        static constexpr Names kVnodes = {"", "", "(n1:ncpus=1)", "n1", "n1+n2"};
        static constexpr Names kQueues = {"q1", "q2", "r1"};
        static constexpr Names kDeletions = {"", "force", "deletehist"};
        static constexpr int kTimes[] = {1, 60, 600, 3600, 86400, -30};
        const auto manage = [](int command, int type, std::string name, ifl::Attributes list) {
            return ifl::Manage{static_cast<std::uint32_t>(command), static_cast<std::uint32_t>(type),
                               std::move(name), std::move(list)};
        };
        switch (choose_.below(32)) {
            case 0:
            case 1:
            case 2:
            case 3:
            case 4:
            case 5:
                return submit();
            case 6:
            case 7:
            case 8:
            case 9: {
                static constexpr int kCommands[] = {MGR_CMD_SET, MGR_CMD_SET, MGR_CMD_CREATE, MGR_CMD_UNSET,
                                                    MGR_CMD_DELETE};
                const int type = choose_.of(kTypes);
                const int command = choose_.of(kCommands);
                const std::string name = choose_.rarely() ? choose_.text() : choose_.of(names_of(type));
                auto list = attributes(type);
                if (command == MGR_CMD_UNSET)
                    for (auto& attribute : list) attribute.value.clear(), attribute.op = ifl::Op::set;
                if (command == MGR_CMD_DELETE) list.clear();
                return request(manager, manage(command, type, name, std::move(list)));
            }
            case 10:
                return request(delete_job, manage(MGR_CMD_DELETE, MGR_OBJ_JOB, job(), {}),
                               choose_.of(kDeletions));
            case 11:
                return request(hold_job,
                               manage(MGR_CMD_SET, MGR_OBJ_JOB, job(), {one("Hold_Types", value())}));
            case 12:
                return request(release_job,
                               manage(MGR_CMD_SET, MGR_OBJ_JOB, job(), {one("Hold_Types", value())}));
            case 13:
            case 14:
                return request(modify_job, manage(MGR_CMD_SET, MGR_OBJ_JOB, job(), attributes(MGR_OBJ_JOB)));
            case 15:
                return request(move_job, ifl::MoveJob{job(), choose_.of(kQueues)});
            case 16:
                return request(order_job, ifl::MoveJob{job(), job()});
            case 17:
                return request(rerun_job, ifl::JobId{job()}, choose_.below(2) == 0 ? "" : "force");
            case 18:
                return request(run_job, ifl::RunJob{job(), choose_.of(kVnodes), 0});
            case 19:
                return request(signal_job, ifl::SignalJob{job(), choose_.of(kSignals)});
            case 20: {
                const auto reply =
                    ask(choose_.below(2) == 0, select_jobs, ifl::Select{attributes(MGR_OBJ_JOB), {}},
                        choose_.rarely() ? "xt" : "");
                return note(select_jobs, reply);
            }
            case 21:
                return request(locate_job, ifl::JobId{job()});
            case 22:
                return reserve();
            case 23:
                return request(delete_reservation, manage(MGR_CMD_DELETE, MGR_OBJ_RESV, reservation(), {}));
            case 24:
                return request(modify_reservation,
                               ifl::ModifyReservation{MGR_OBJ_RESV, reservation(), attributes(MGR_OBJ_RESV)});
            case 25: {
                by_parts_ = true;
                const auto reply = ask(choose_.below(2) == 0, delete_job_list,
                                       ifl::DeleteJobList{{job(), job(), job()}}, choose_.of(kDeletions));
                return note(delete_job_list, reply);
            }
            case 26:
            case 27:
            case 28: {
                if (executor_.now.running.empty()) return;
                const RunId id = executor_.now.running[choose_.below(executor_.now.running.size())];
                static constexpr RunState kStates[] = {RunState::ended, RunState::ended, RunState::lost,
                                                       RunState::never_started};
                static constexpr int kStatuses[] = {0, 1, 271, -1, -3, -29};
                const RunState state = choose_.of(kStates);
                return executor_.end(id, state, choose_.of(kStatuses));
            }
            case 29:
                return go_on(seconds(choose_.of(kTimes)));
            case 30:
                executor_.now.fails = choose_.below(2) == 1;
                return executor_.changed();
            default:
                return start_again();
        }
    }

    // ---- Checks that must hold after each request or start. ----

    // Returns all objects as root sees them, as text.
    std::string state_text() {
        using enum ifl::RequestType;
        std::string text;
        const auto add = [&](ifl::RequestType type, const char* extend) {
            const auto reply = ask(false, type, ifl::Status{"", {}}, extend);
            const auto* status = std::get_if<ifl::StatusReply>(&reply.body);
            if (status == nullptr) {
                text += std::string(extend) + " " + text_of(reply) + "\n";
                return;
            }
            auto all = status->objects;
            // the server may list resources and jobs in another order after a new start
            std::ranges::sort(all, {}, &ifl::ObjectStatus::name);
            for (const auto& object : all)
                for (const auto& value : object.attributes)
                    if (!kFleeting.contains(value.name) &&
                        (value.name != "resources_assigned" || !is_zero(value.value)))
                        text += object.name + " " + value.name + "." + value.resource + " = " +
                                (value.name == "jobs" ? without_order(value.value) : value.value) + "\n";
        };
        add(status_server, "");
        add(status_queue, "");
        add(status_node, "");
        add(status_resource, "");
        add(status_reservation, "");
        add(status_job, server_->state.server.boolean("job_history_enable", false) ? "xt" : "t");
        for (const char* kind :
             {"", "object=policy", "object=time_window", "object=fs_group", "object=quota"})
            add(status_scheduler, kind);
        return text;
    }
    // Returns whether an amount is 0, whatever its unit. After a new start, the server doesn't list the
    // amounts of resources that no job holds any more.
    static bool is_zero(std::string_view amount) {
        return amount.find_first_of("123456789") == std::string_view::npos;
    }
    // Returns the jobs on a vnode, such as "1.svr/0, 2.svr/1", in the order of their names and without their
    // numbers: they are numbered in the order of their starts, and after a new start in the order of their
    // ids.
    static std::string without_order(const std::string& jobs) {
        std::istringstream in(jobs);
        std::multiset<std::string> sorted;
        for (std::string job; in >> job;) sorted.insert(job.substr(0, job.find('/')));
        std::string out;
        for (const std::string& job : sorted) out += job + " ";
        return out;
    }
    static std::string differences(const std::string& before, const std::string& after) {
        const auto lines = [](const std::string& text) {
            std::istringstream in(text);
            std::set<std::string> all;
            for (std::string line; std::getline(in, line);) all.insert(line);
            return all;
        };
        std::string out;
        const auto old = lines(before);
        const auto now = lines(after);
        for (const auto& line : old)
            if (!now.contains(line)) out += "- " + line + "\n";
        for (const auto& line : now)
            if (!old.contains(line)) out += "+ " + line + "\n";
        return out.empty() ? "another order\n" + before + "--\n" + after : out;
    }
    // Checks that accounting has exactly one record of the end for each start of a job.
    void each_end_once() {
        accounting_->flush();
        std::string text;
        std::set<std::string> days;
        for (const auto& entry : fs::directory_iterator(home_ / "jobs"))
            if (entry.path().filename().string().starts_with("20")) days.insert(entry.path().string());
        for (const auto& day : days)
            if (const auto records = read_file(day, 1 << 24)) text += *records;
        std::set<std::string> ended;
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            const auto type = line.find(';');
            if (type == std::string::npos || line.size() < type + 4) continue;
            const std::string id = line.substr(type + 3, line.find(';', type + 3) - type - 3);
            if (line[type + 1] == 'S') ended.erase(id);
            if (line[type + 1] == 'E' && !ended.insert(id).second)
                fault("an end is accounted for twice", id + "\n" + text);
        }
    }

    // Attributes that a restart of the server may change, so state_text() leaves them out.
    static inline const std::set<std::string> kFleeting{"comment", "mtime", "server_state", "server_time",
                                                        "state"};

    Choices choose_;
    fs::path home_;
    std::string zone_ = "UTC";
    int most_cycles_ = 5;      // of those that are wanted at once
    seconds now_{1795428000};  // 2026-11-23 10:00:00 UTC
    Clock clock_;
    std::unique_ptr<Log> log_;
    std::unique_ptr<Accounting> accounting_;
    std::unique_ptr<Mailer> mailer_;
    NoProcesses executor_;
    std::unique_ptr<Store> store_;
    std::unique_ptr<Plugin> plugin_;
    std::unique_ptr<Server> server_;
    std::unique_ptr<Cycles> cycles_;
    bool by_parts_ = false;      // the last step's request may be done for a part of its objects
    bool waited_ = false;        // time has passed while a request waited
    host::Session sessions_[2];  // a session of root, and one of an ordinary user
    std::vector<std::string> jobs_;
    std::vector<std::string> reservations_;
};

}  // namespace pbs::host::session

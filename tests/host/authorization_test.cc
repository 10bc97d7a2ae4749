// Tests rights: each kind of request, and each command of Manager for each type of object, made by a manager,
// an operator, the owner of the job, another user, and an unknown user.
#include <functional>
#include <set>

#include "ifl/auth.h"
#include "ifl/pbs_ifl.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using ifl::RequestType;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kOk = 0;
constexpr int kPerm = PBSE_PERM;
constexpr int kAttr = PBSE_ATTRRO;
constexpr int kInvalid = PBSE_IVALREQ;

struct Ask {
    RequestType type{};
    ifl::RequestBody body;
    std::string extend{};
};

class Authorization;

struct Row {
    std::string what;
    // The codes expected for a manager, an operator, the owner (any ordinary user if the request is about no
    // job), and another user.
    std::array<int, 4> codes;
    std::function<Ask(Authorization&)> make;
};

const std::array<std::string, 4> kRoles = {"manager", "operator", "owner", "other"};

class Authorization : public PluginServerTest {
  public:
    void SetUp() override {
        PluginServerTest::SetUp();
        make_queue("q");
        make_queue("q2");
        make_node("n1", "100");
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q"), kOk);
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "managers", name_of(0) + "@host.example.org"), kOk);
        ASSERT_EQ(set(PBS_OBJ_SERVER, "", "operators", name_of(1) + "@*.example.org"), kOk);
        session_.from = "uid 7 on the Unix socket";
    }

    // Returns the user who plays a role. Every system has these users, because some requests need an existing
    // user.
    std::string name_of(size_t role) const {
        static const std::array<std::string, 4> names = {"daemon", "bin", "", "sys"};
        return role == 2 ? user_ : names[role];
    }
    Identity identity(size_t role) const { return somebody(name_of(role)); }

    std::string fresh_name() { return "x" + std::to_string(++made_); }
    std::string fresh(int type, ifl::Attributes attributes = {}) {
        std::string name = fresh_name();
        EXPECT_EQ(manage(root(), PBS_CMD_CREATE, type, name, std::move(attributes)).code, kOk);
        return name;
    }
    // Submits a job of the owner. The job waits.
    std::string waiting() {
        return submit(user(), {attribute("Job_Name", "j"), attribute("Resource_List.ncpus", "0")}, "q");
    }
    std::string running() {
        std::string id = waiting();
        EXPECT_EQ(ask(root(), RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, kOk);
        return id;
    }
    std::string held() {
        std::string id = waiting();
        EXPECT_EQ(ask(root(), RequestType::hold_job, holds(id, "uos").body).code, kOk);
        return id;
    }
    static Ask holds(const std::string& job, const std::string& types,
                     RequestType type = RequestType::hold_job) {
        return {type, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, job, {attribute("Hold_Types", types)}}};
    }
    static Ask alter(RequestType type, const std::string& job, const std::string& what,
                     const std::string& value) {
        return {type, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, job, {attribute(what, value)}}};
    }
    static Ask managed(int command, int type, const std::string& name, ifl::Attributes attributes = {}) {
        return {RequestType::manager, ifl::Manage{static_cast<uint32_t>(command), static_cast<uint32_t>(type),
                                                  name, std::move(attributes)}};
    }
    static ifl::Attributes one(const std::string& name, const std::string& value = {}) {
        return {attribute(name, value)};
    }
    // Makes the policy of a scheduler use the shares of an fs_group. Returns the scheduler's name.
    std::string fairshare() {
        if (!has_shares_) {
            has_shares_ = true;
            EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_FS_GROUP, "shares").code, kOk);
            EXPECT_EQ(set(PBS_OBJ_FS_GROUP, "shares", "tree_element", "physics:root = 40"), kOk);
            EXPECT_EQ(set(PBS_OBJ_POLICY, "default_policy", "fairshare_group", "shares"), kOk);
            EXPECT_EQ(set(PBS_OBJ_POLICY, "default_policy", "fairshare", "True"), kOk);
        }
        return "default";
    }
    // Returns the times of a reservation of one minute, an hour from now.
    ifl::Attributes times() const {
        const int64_t start = server_->now() + 3600;
        return {attribute("reserve_start", std::to_string(start)),
                attribute("reserve_end", std::to_string(start + 60))};
    }
    std::string reservation() {
        return id_in(ask(user(), RequestType::submit_reservation, ifl::QueueJob{"", "", times()}));
    }
    // Requests a reservation of whole hosts (pbs_rsub --hosts). Returns its id.
    std::string maintenance() {
        return id_in(ask(identity(0), RequestType::submit_reservation, ifl::QueueJob{"", "", times()}, "m"));
    }
    static std::string id_in(const ifl::Reply& reply) {
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        return text == nullptr ? std::string() : text->text.substr(0, text->text.find(' '));
    }
    // Sends QueueJob as the user who makes the row's request, because some requests need a QueueJob before.
    void queue_as_asker() {
        EXPECT_EQ(
            ask(identity(asker_), RequestType::queue_job, ifl::QueueJob{"", "q", one("Job_Name", "j")}).code,
            kOk);
    }

    // Returns the present configuration as the value for the attribute `revision` (the number of its
    // revision) or for another attribute (its document).
    std::string configuration(const std::string& attribute) {
        const ifl::Reply reply =
            ask(root(), RequestType::status_scheduler, ifl::Status{}, "object=configuration");
        const auto* list = std::get_if<ifl::StatusReply>(&reply.body);
        if (list == nullptr || list->objects.size() != 1) return "no configuration";
        return attribute == "revision" ? list->objects[0].name : list->objects[0].attributes.at(0).value;
    }

    // Returns the reply's code. For DeleteJobList returns the code of the request's only job.
    int code_of(const ifl::Reply& reply) {
        const auto* list = std::get_if<ifl::DeleteReply>(&reply.body);
        if (list != nullptr && !list->failed.empty()) return static_cast<int>(list->failed.front().code);
        return reply.code;
    }
    int ask_row(const Row& row, size_t role) {
        asker_ = role;
        server_->stopping = false;
        Ask request = row.make(*this);
        return code_of(ask(identity(role), request.type, std::move(request.body), request.extend));
    }

  private:
    size_t asker_ = 0;
    int made_ = 0;
    bool has_shares_ = false;
};

using A = Authorization;

template <typename Body>
Row status(std::string what, RequestType type, Body body, std::string extend = {},
           std::array<int, 4> codes = {kOk, kOk, kOk, kOk}) {
    return {std::move(what), codes, [=](A&) { return Ask{type, body, extend}; }};
}
Row on_job(std::string what, std::array<int, 4> codes, std::function<Ask(A&)> make) {
    return {std::move(what), codes, std::move(make)};
}

std::vector<Row> job_rows() {
    constexpr std::array<int, 4> kOwners = {kOk, kOk, kOk, kPerm};
    constexpr std::array<int, 4> kOperators = {kOk, kOk, kPerm, kPerm};
    constexpr std::array<int, 4> kManagers = {kOk, kPerm, kPerm, kPerm};
    constexpr std::array<int, 4> kEverybody = {kOk, kOk, kOk, kOk};
    return {
        on_job("QueueJob", kEverybody,
               [](A&) {
                   return Ask{RequestType::queue_job, ifl::QueueJob{"", "q", A::one("Job_Name", "j")}};
               }),
        on_job("JobScript", kEverybody,
               [](A& a) {
                   a.queue_as_asker();
                   return Ask{RequestType::job_script, ifl::JobScript{0, 0, "", "true\n"}};
               }),
        on_job("ReadyToCommit", kEverybody,
               [](A& a) {
                   a.queue_as_asker();
                   return Ask{RequestType::ready_to_commit, ifl::JobId{}};
               }),
        on_job("Commit", kEverybody,
               [](A& a) {
                   a.queue_as_asker();
                   return Ask{RequestType::commit, ifl::JobId{}};
               }),
        on_job("SubmitReservation", kEverybody,
               [](A& a) {
                   return Ask{RequestType::submit_reservation, ifl::QueueJob{"", "", a.times()}};
               }),
        on_job("SubmitReservation of hosts", kOperators,
               [](A& a) {
                   return Ask{RequestType::submit_reservation, ifl::QueueJob{"", "", a.times()}, "m"};
               }),
        on_job("ConfirmReservation", kOperators,
               [](A& a) {
                   return Ask{RequestType::confirm_reservation,
                              ifl::RunJob{a.maintenance(), "(n1:ncpus=1)", 0}, "PBS_RESV_CONFIRM_SUCCESS"};
               }),
        on_job("ModifyReservation", kOwners,
               [](A& a) {
                   return Ask{
                       RequestType::modify_reservation,
                       ifl::ModifyReservation{PBS_OBJ_RESV, a.reservation(), A::one("Reserve_Name", "n")}};
               }),
        on_job("DeleteReservation", kOwners,
               [](A& a) {
                   return Ask{RequestType::delete_reservation,
                              ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_RESV, a.reservation(), {}}};
               }),
        on_job("DeleteJob waiting", kOwners,
               [](A& a) {
                   return Ask{RequestType::delete_job,
                              ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, a.waiting(), {}}};
               }),
        on_job("DeleteJob running", kOwners,
               [](A& a) {
                   return Ask{RequestType::delete_job,
                              ifl::Manage{PBS_CMD_DELETE, PBS_OBJ_JOB, a.running(), {}}};
               }),
        on_job("DeleteJobList", kOwners,
               [](A& a) {
                   return Ask{RequestType::delete_job_list, ifl::DeleteJobList{{a.waiting()}}};
               }),
        on_job("HoldJob u", kOwners, [](A& a) { return A::holds(a.waiting(), "u"); }),
        on_job("HoldJob o", kOperators, [](A& a) { return A::holds(a.waiting(), "o"); }),
        on_job("HoldJob s", kManagers, [](A& a) { return A::holds(a.waiting(), "s"); }),
        on_job("ReleaseJob u", kOwners,
               [](A& a) { return A::holds(a.held(), "u", RequestType::release_job); }),
        on_job("ReleaseJob o", kOperators,
               [](A& a) { return A::holds(a.held(), "o", RequestType::release_job); }),
        on_job("ReleaseJob s", kManagers,
               [](A& a) { return A::holds(a.held(), "s", RequestType::release_job); }),
        on_job("LocateJob", kEverybody,
               [](A& a) {
                   return Ask{RequestType::locate_job, ifl::JobId{a.waiting()}};
               }),
        // The owner's job has no output file yet: PBSE_BADSTATE shows that the check of rights was passed.
        on_job("MessageJob", {PBSE_BADSTATE, PBSE_BADSTATE, PBSE_BADSTATE, kPerm},
               [](A& a) {
                   return Ask{RequestType::message_job, ifl::MessageJob{a.waiting(), 2, "hello"}};
               }),
        on_job("ModifyJob", kOwners,
               [](A& a) { return A::alter(RequestType::modify_job, a.waiting(), "Job_Name", "k"); }),
        on_job("ModifyJob comment", {kOk, kOk, kAttr, kPerm},
               [](A& a) { return A::alter(RequestType::modify_job, a.waiting(), "comment", "k"); }),
        on_job("ModifyJob Hold_Types=s", kManagers,
               [](A& a) { return A::alter(RequestType::modify_job, a.waiting(), "Hold_Types", "s"); }),
        on_job("ModifyJobAsync", kOwners,
               [](A& a) { return A::alter(RequestType::modify_job_async, a.waiting(), "Job_Name", "k"); }),
        on_job("MoveJob", kOwners,
               [](A& a) {
                   return Ask{RequestType::move_job, ifl::MoveJob{a.waiting(), "q2"}};
               }),
        on_job("OrderJob", kOwners,
               [](A& a) {
                   return Ask{RequestType::order_job, ifl::MoveJob{a.waiting(), a.waiting()}};
               }),
        on_job("RerunJob", kOperators,
               [](A& a) {
                   return Ask{RequestType::rerun_job, ifl::JobId{a.running()}};
               }),
        on_job("RunJob", kOperators,
               [](A& a) {
                   return Ask{RequestType::run_job, ifl::RunJob{a.waiting(), "n1", 0}};
               }),
        on_job("AsyncRunJob", kOperators,
               [](A& a) {
                   return Ask{RequestType::async_run_job, ifl::RunJob{a.waiting(), "n1", 0}};
               }),
        on_job("RunJobAcknowledged", kOperators,
               [](A& a) {
                   return Ask{RequestType::run_job_acknowledged, ifl::RunJob{a.waiting(), "n1", 0}};
               }),
        on_job("SignalJob", kOwners,
               [](A& a) {
                   return Ask{RequestType::signal_job, ifl::SignalJob{a.running(), "SIGUSR1"}};
               }),
        on_job("SignalJob suspend", kOperators,
               [](A& a) {
                   return Ask{RequestType::signal_job, ifl::SignalJob{a.running(), "suspend"}};
               }),
        on_job("Shutdown", kOperators,
               [](A&) {
                   return Ask{RequestType::shutdown, ifl::Shutdown{SHUT_QUICK}};
               }),
    };
}

std::vector<Row> status_rows() {
    return {
        status("SelectJobs", RequestType::select_jobs, ifl::Select{}),
        status("SelectStatus", RequestType::select_status, ifl::Select{}),
        status("StatusJob", RequestType::status_job, ifl::Status{}),
        status("StatusQueue", RequestType::status_queue, ifl::Status{}),
        status("StatusServer", RequestType::status_server, ifl::Status{}),
        status("StatusNode", RequestType::status_node, ifl::Status{}),
        status("StatusReservation", RequestType::status_reservation, ifl::Status{}),
        status("StatusScheduler", RequestType::status_scheduler, ifl::Status{}),
        status("StatusScheduler policy", RequestType::status_scheduler, ifl::Status{}, "object=policy"),
        status("StatusScheduler time_window", RequestType::status_scheduler, ifl::Status{},
               "object=time_window"),
        status("StatusScheduler fs_group", RequestType::status_scheduler, ifl::Status{}, "object=fs_group"),
        status("StatusScheduler quota", RequestType::status_scheduler, ifl::Status{}, "object=quota"),
        status("StatusScheduler quota_use", RequestType::status_scheduler, ifl::Status{}, "object=quota_use"),
        {"StatusScheduler fairshare",
         {kOk, kOk, kOk, kOk},
         [](A& a) {
             return Ask{RequestType::status_scheduler, ifl::Status{a.fairshare(), {}}, "object=fairshare"};
         }},
        status("StatusScheduler configuration", RequestType::status_scheduler, ifl::Status{},
               "object=configuration", {kOk, kOk, kPerm, kPerm}),
        status("StatusScheduler history", RequestType::status_scheduler, ifl::Status{}, "object=history",
               {kOk, kOk, kPerm, kPerm}),
        status("StatusScheduler changes", RequestType::status_scheduler, ifl::Status{},
               "object=changes;version=1;timeout=0", {PBSE_HISTORY, kPerm, kPerm, kPerm}),
        status("StatusScheduler explanation of a start", RequestType::status_scheduler,
               ifl::Status{"9999", {{"location", "", "", ifl::Op::set}}}, "object=explanation;location",
               {PBSE_UNKJOBID, kPerm, kPerm, kPerm}),
        status("StatusScheduler registration", RequestType::status_scheduler, ifl::Status{},
               "object=registration", {kOk, kPerm, kPerm, kPerm}),
        status("StatusScheduler record", RequestType::status_scheduler, ifl::Status{}, "object=record",
               {kOk, kOk, kPerm, kPerm}),
        status("StatusScheduler counters", RequestType::status_scheduler, ifl::Status{"counters", {}},
               "object=diagnosis"),
        status("StatusScheduler health", RequestType::status_scheduler, ifl::Status{"health", {}},
               "object=diagnosis", {kOk, kOk, kPerm, kPerm}),
        status("StatusResource", RequestType::status_resource, ifl::Status{}),
        status("StatusHook", RequestType::status_hook, ifl::Status{}),
    };
}

struct Kind {
    int type;
    std::string name;
    ifl::Attributes at_creation;
    ifl::Attribute attribute;  // an attribute to set and unset
    // The codes of create, delete, set and unset, each for a manager and for an operator. Other users get
    // PERM.
    std::array<std::array<int, 2>, 4> codes;
};

const std::vector<Kind>& kinds() {
    constexpr std::array<std::array<int, 2>, 4> kFixed = {
        {{kInvalid, kPerm}, {kInvalid, kPerm}, {kOk, kOk}, {kOk, kOk}}};
    constexpr std::array<std::array<int, 2>, 4> kShared = {
        {{kOk, kPerm}, {kOk, kPerm}, {kOk, kOk}, {kOk, kOk}}};
    constexpr std::array<std::array<int, 2>, 4> kManagers = {
        {{kOk, kPerm}, {kOk, kPerm}, {kOk, kPerm}, {kOk, kPerm}}};
    constexpr std::array<std::array<int, 2>, 4> kSched = {
        {{kOk, kPerm}, {kOk, kPerm}, {kOk, kAttr}, {kOk, kAttr}}};
    static const std::vector<Kind> rows = {
        {PBS_OBJ_SERVER, "server", {}, {"comment", "", "c"}, kFixed},
        {PBS_OBJ_QUEUE, "queue", {{"queue_type", "", "e"}}, {"Priority", "", "5"}, kShared},
        {PBS_OBJ_NODE, "node", {}, {"comment", "", "c"}, kShared},
        {MGR_OBJ_HOST, "host", {}, {"comment", "", "c"}, kFixed},
        {PBS_OBJ_SCHED, "sched", {}, {"comment", "", "c"}, kSched},
        {PBS_OBJ_RESOURCE, "resource", {{"type", "", "long"}}, {"flag", "", ""}, kManagers},
        {PBS_OBJ_POLICY, "policy", {}, {"comment", "", "c"}, kShared},
        {PBS_OBJ_TIME_WINDOW, "time_window", {}, {"comment", "", "c"}, kShared},
        {PBS_OBJ_FS_GROUP, "fs_group", {}, {"comment", "", "c"}, kShared},
        {PBS_OBJ_QUOTA, "quota", {}, {"comment", "", "c"}, kShared},
    };
    return rows;
}

std::vector<Row> manager_rows() {
    constexpr std::array kCommands = {"create", "delete", "set", "unset"};
    std::vector<Row> rows;
    for (const Kind& kind : kinds())
        for (int command = PBS_CMD_CREATE; command <= PBS_CMD_UNSET; ++command) {
            const auto& [manager, op] = kind.codes[static_cast<size_t>(command)];
            rows.push_back(
                {std::string("Manager ") + kCommands[static_cast<size_t>(command)] + " " + kind.name,
                 {manager, op, kPerm, kPerm},
                 [&kind, command](A& a) {
                     const bool is_fixed = kind.type == PBS_OBJ_SERVER || kind.type == MGR_OBJ_HOST;
                     std::string name = kind.type == MGR_OBJ_HOST ? "host.example.org" : "";
                     if (!is_fixed)
                         name = command == PBS_CMD_CREATE ? a.fresh_name()
                                                          : a.fresh(kind.type, kind.at_creation);
                     return A::managed(command, kind.type, name,
                                       command == PBS_CMD_CREATE   ? kind.at_creation
                                       : command == PBS_CMD_DELETE ? ifl::Attributes{}
                                                                   : ifl::Attributes{kind.attribute});
                 }});
        }
    const auto set = [&](const std::string& what, int type, const std::string& name,
                         const std::string& attribute, const std::string& value, int manager, int op) {
        rows.push_back({"Manager set " + what, {manager, op, kPerm, kPerm}, [=](A&) {
                            return A::managed(PBS_CMD_SET, type, name, A::one(attribute, value));
                        }});
    };
    set("managers", PBS_OBJ_SERVER, "", "managers", "daemon@host.example.org", kOk, kAttr);
    set("operators", PBS_OBJ_SERVER, "", "operators", "bin@*.example.org", kOk, kAttr);
    set("mailer", PBS_OBJ_SERVER, "", "mailer", "/bin/true", kPerm, kAttr);
    set("non_work_days", PBS_OBJ_SERVER, "", "non_work_days", "12/25", kOk, kPerm);
    set("time_window of a queue", PBS_OBJ_QUEUE, "q", "time_window", "", kOk, kPerm);
    set("policy of a sched", PBS_OBJ_SCHED, "default", "policy", "default_policy", kOk, kPerm);
    set("by_queue of a policy", PBS_OBJ_POLICY, "default_policy", "by_queue", "True", kOk, kPerm);
    set("queue started", PBS_OBJ_QUEUE, "q", "started", "True", kOk, kOk);
    set("sched scheduling", PBS_OBJ_SCHED, "default", "scheduling", "True", kOk, kAttr);
    set("node state", PBS_OBJ_NODE, "n1", "state", "free", kOk, kOk);
    for (const char* how : {"revision", "import", "replace"})
        rows.push_back(
            {std::string("Manager set configuration ") + how, {kOk, kPerm, kPerm, kPerm}, [=](A& a) {
                 return A::managed(PBS_CMD_SET, PBS_OBJ_CONFIGURATION, "", A::one(how, a.configuration(how)));
             }});
    for (const auto& [what, command, code] :
         {std::tuple{"create", PBS_CMD_CREATE, kInvalid}, std::tuple{"delete", PBS_CMD_DELETE, kInvalid},
          std::tuple{"set", PBS_CMD_SET, kOk}, std::tuple{"unset", PBS_CMD_UNSET, kInvalid}})
        rows.push_back({std::string("Manager ") + what + " fairshare",
                        {code, kPerm, kPerm, kPerm},
                        [command = command](A& a) {
                            return A::managed(command, PBS_OBJ_FAIRSHARE, a.fairshare(),
                                              A::one("decay", "True"));
                        }});
    constexpr std::array kOthers = {"create", "delete", "unset"};
    constexpr std::array kOtherCommands = {PBS_CMD_CREATE, PBS_CMD_DELETE, PBS_CMD_UNSET};
    for (size_t i = 0; i < kOthers.size(); ++i)
        rows.push_back({std::string("Manager ") + kOthers[i] + " configuration",
                        {kInvalid, kPerm, kPerm, kPerm},
                        [command = kOtherCommands[i]](A& a) {
                            return A::managed(command, PBS_OBJ_CONFIGURATION, "",
                                              A::one("revision", a.configuration("revision")));
                        }});
    return rows;
}

std::vector<Row> all_rows() {
    std::vector<Row> rows = job_rows();
    for (auto&& more : {status_rows(), manager_rows()}) rows.insert(rows.end(), more.begin(), more.end());
    return rows;
}

TEST_F(Authorization, EachRequestAsEachRole) {
    for (const Row& row : all_rows())
        for (size_t role = 0; role < kRoles.size(); ++role)
            EXPECT_EQ(ask_row(row, role), row.codes[role]) << row.what << " as " << kRoles[role];
}

// Fails if a handler of requests, or a type of objects that Manager knows, isn't in the table.
TEST_F(Authorization, TheTableIsComplete) {
    std::set<RequestType> asked;
    for (const Row& row : all_rows()) asked.insert(row.make(*this).type);
    for (const RequestHandler& row : request_handlers())
        EXPECT_TRUE(asked.contains(row.type)) << ifl::request_name(row.type) << " is not in the table";
    std::set<uint32_t> types;
    std::set<std::string> extends;
    for (const Row& row : all_rows()) {
        const Ask made = row.make(*this);
        if (made.type == RequestType::manager) types.insert(std::get<ifl::Manage>(made.body).object_type);
        if (made.type == RequestType::status_scheduler) extends.insert(made.extend);
    }
    // Sets an attribute that no object has. The code is kInvalid only if Manager doesn't know the type, or if
    // the type can't have an object of this name.
    const auto known = [&](uint32_t type, const std::string& name) {
        return manage(root(), PBS_CMD_SET, static_cast<int>(type), name, one("no_such_thing")).code !=
               kInvalid;
    };
    for (uint32_t type = 0; type < 256; ++type)
        EXPECT_EQ(known(type, "none") || known(type, ""), types.contains(type))
            << "objects of type " << type << " are not in the table, or not told apart";
    // A status request for schedulers may be about other objects, by its extend string. The table also has
    // these extend strings.
    for (const char* object :
         {"policy", "time_window", "fs_group", "quota", "quota_use", "fairshare", "configuration", "history",
          "sched", "queue", "server", "node", "resource", "revision"}) {
        const std::string extend = std::string("object=") + object;
        const ifl::Reply reply = ask(root(), RequestType::status_scheduler, ifl::Status{}, extend);
        ASSERT_EQ(reply.code, kOk) << extend;
        const auto& objects = std::get<ifl::StatusReply>(reply.body).objects;
        const bool scheds = !objects.empty() && objects[0].type == PBS_OBJ_SCHED;
        EXPECT_EQ(!scheds, extends.contains(extend)) << extend << " is not in the table";
    }
}

TEST_F(Authorization, WhatThisServerDoesNotDoIsToldSoToEverybody) {
    std::set<RequestType> handled;
    for (const RequestHandler& row : request_handlers()) handled.insert(row.type);
    for (uint16_t number = 0; number < 256; ++number) {
        const auto type = static_cast<RequestType>(number);
        const bool of_connection = type == RequestType::connect || type == RequestType::disconnect ||
                                   type == RequestType::authenticate;
        if (handled.contains(type) || of_connection) continue;
        const int expected = ifl::request_name(type).empty() ? PBSE_UNKREQ : PBSE_NOSUP;
        for (size_t role = 0; role < kRoles.size(); ++role)
            EXPECT_EQ(ask(identity(role), type, ifl::Connect{}).code, expected) << number;
    }
}

// A TCP connection for which nobody has vouched has no rights. A request under another name than the one that
// was vouched for has none, either.
TEST_F(Authorization, NobodyKnownMayAskForNothing) {
    ifl::AuthTable table;
    for (const Row& row : all_rows()) {
        const Ask made = row.make(*this);
        table.add_tcp(1, "10.0.0.1", 4711);
        table.add_tcp(2, "10.0.0.1", 700);
        const auto judge = [&](const std::string& name) {
            return table.judge(1, ifl::Request{made.type, name, made.body, made.extend});
        };
        const auto refused = judge("root");
        EXPECT_EQ(refused.action, ifl::AuthDecision::Action::reply_and_close) << row.what;
        EXPECT_EQ(refused.reply.code, PBSE_BADCRED) << row.what;
        EXPECT_THAT(refused.reason, HasSubstr(" as root before authentication"));
        (void)table.judge(
            2, ifl::Request{RequestType::authenticate, "alice", ifl::Authenticate{"resvport", "", 4711}, ""});
        EXPECT_EQ(judge("root").reply.code, PBSE_BADCRED) << row.what;
        EXPECT_EQ(judge("alice").action, ifl::AuthDecision::Action::handle) << row.what;
        EXPECT_EQ(table.user(1), "alice") << row.what;
    }
}

TEST_F(Authorization, TheNameInARequestIsNobodys) {
    const Identity other = identity(3);
    ifl::Request request{RequestType::manager, "root", managed(PBS_CMD_CREATE, PBS_OBJ_QUEUE, "mine").body,
                         ""};
    Context context{*server_, other, server_->now(), request, session_};
    EXPECT_EQ(answer(context).code, kPerm);
    EXPECT_EQ(server_->state.queue("mine"), nullptr);
}

TEST_F(Authorization, RootElsewhereIsNobodySpecial) {
    EXPECT_EQ(manage(somebody("root", "other.example.org"), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "mine").code,
              kPerm);
    EXPECT_EQ(manage(somebody("root"), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "mine").code, kOk);
}

TEST_F(Authorization, EachRefusalIsInTheLog) {
    for (const Row& row : all_rows())
        for (size_t role = 0; role < kRoles.size(); ++role) {
            if (row.codes[role] != kPerm && row.codes[role] != kAttr) continue;
            const size_t before = log_text().size();
            (void)ask_row(row, role);
            const std::string added = log_text().substr(before);
            const std::string name = row.what.substr(0, row.what.find(' '));
            EXPECT_THAT(added, ContainsRegex(";0020;Server@test;Req;" + name + ";refused: " + name +
                                             " .*by " + name_of(role) +
                                             "@host.example.org from uid 7 on the Unix socket: [A-Za-z]"))
                << row.what << " as " << kRoles[role];
        }
    EXPECT_THAT(log_text(), HasSubstr("refused: Manager set server (managers) by bin@host.example.org"));
    EXPECT_THAT(log_text(), ContainsRegex("refused: RunJob [0-9]+.svr n1 by sys@"));
}

TEST_F(Authorization, ALongRefusalIsShortInTheLog) {
    ifl::Attributes many;
    for (int i = 1; i <= 50; ++i) many.push_back(attribute("a" + std::to_string(i), ""));
    ASSERT_EQ(manage(identity(3), PBS_CMD_SET, PBS_OBJ_SERVER, "", many).code, kPerm);
    EXPECT_THAT(log_text(), HasSubstr("Manager set server (a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, "
                                      "a12, a13, a14, a15, a16, a17, a18, a19, a20 and 30 more) by sys@"));
    const auto written = [&](ifl::Attributes attributes, const std::string& name) {
        const size_t before = log_text().size();
        EXPECT_EQ(manage(identity(3), PBS_CMD_SET, PBS_OBJ_QUEUE, name, std::move(attributes)).code, kPerm);
        return log_text().substr(before);
    };
    const std::string long_name(100'000, 'x');
    EXPECT_LT(written({attribute(long_name, "")}, long_name).size(), 1000U);
    const std::string some = written(ifl::Attributes(10, attribute(std::string(200, 'y'), "")), "q");
    EXPECT_LT(some.size(), 1400U);
    EXPECT_THAT(some, HasSubstr("y and 5 more) by sys@"));
}

TEST_F(Authorization, TheLogNamesSomeOfTheManyJobsOfARefusedRequest) {
    ifl::DeleteJobList list;
    for (int i = 0; i < 23; ++i) list.jobs.push_back(waiting());
    const size_t before = log_text().size();
    ASSERT_EQ(code_of(ask(identity(3), RequestType::delete_job_list, list)), kPerm);
    const std::string added = log_text().substr(before);
    size_t lines = 0;
    for (size_t at = added.find("refused: "); at != std::string::npos; at = added.find("refused: ", at + 1))
        ++lines;
    EXPECT_EQ(lines, 21U);
    EXPECT_THAT(added, HasSubstr(": and 3 more jobs\n"));
    EXPECT_THAT(added, HasSubstr(list.jobs[19] + " by sys@"));
    EXPECT_THAT(added, testing::Not(HasSubstr(list.jobs[20] + " by sys@")));
}

TEST_F(Authorization, WhoMayNotUseTheServerAtAll) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_users", "bin@*"), kOk);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_user_enable", "True"), kOk);
    for (size_t role = 0; role < kRoles.size(); ++role)
        EXPECT_EQ(ask(identity(role), RequestType::status_server, ifl::Status{}).code, role < 2 ? kOk : kPerm)
            << kRoles[role];
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_user_enable", "False"), kOk);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_hosts", "*.good.org"), kOk);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_host_enable", "True"), kOk);
    const auto from = [&](const std::string& host) {
        return ask(somebody("sys", host), RequestType::status_server, ifl::Status{}).code;
    };
    EXPECT_EQ(from("a.good.org"), kOk);
    EXPECT_EQ(from("host.example.org"), kOk) << "the server's own host";
    EXPECT_EQ(from("a.bad.org"), PBSE_BADHOST);
    EXPECT_THAT(log_text(), HasSubstr("refused: StatusServer by sys@a.bad.org"));
}

TEST_F(Authorization, ManagerListsAreCheckedAtSet) {
    const auto reply = [&](const std::string& value) {
        return manage(root(), PBS_CMD_SET, PBS_OBJ_SERVER, "", one("managers", value));
    };
    for (const char* good : {"a@h", "a@*", "a@*.example.org", "@desk.example.org", "a@h,-b@*"})
        EXPECT_EQ(reply(good).code, kOk) << good;
    for (const char* bad : {"a", "@*", "a@", "*@h", "a@h*x", "a@h,b", "a@host"})
        EXPECT_EQ(reply(bad).code, PBSE_BADHOST) << bad;
    EXPECT_THAT(std::get<ifl::TextReply>(reply("a@h,b").body).text,
                HasSubstr("\"b\" of managers: expected user@host, user@*.domain, user@* or @host"));
    EXPECT_THAT(std::get<ifl::TextReply>(reply("a@host").body).text,
                HasSubstr("expected the host's full name, host.example.org"));
    EXPECT_EQ(shown(RequestType::status_server, "", "managers"), "a@h,-b@*") << "nothing half-done";
}

}  // namespace
}  // namespace pbs::host

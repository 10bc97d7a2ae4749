#include "server_plugin/host/requests/requests.h"

#include "server_plugin/host/life/run_reports.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;
using Requests = ServerTest;

TEST_F(Requests, EachTypeHasOneHandler) {
    std::set<ifl::RequestType> seen;
    for (const RequestHandler& row : request_handlers())
        EXPECT_TRUE(seen.insert(row.type).second) << ifl::request_name(row.type);
}

TEST_F(Requests, UnknownAndUnsupportedTypesAreToldApart) {
    EXPECT_EQ(ask(root(), static_cast<ifl::RequestType>(4444), ifl::Status{}).code, PBSE_UNKREQ);
    EXPECT_EQ(ask(root(), ifl::RequestType::release_nodes, ifl::ReleaseNodes{}).code, PBSE_NOSUP);
}

TEST_F(Requests, ANewServerHasItsDefaults) {
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "scheduler_iteration"), "600");
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "resources_default.ncpus"), "1");
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "server_state"), "Active");
    EXPECT_EQ(shown(ifl::RequestType::status_scheduler, "default", "scheduling"), "True");
}

TEST_F(Requests, OnlyManagersManage) {
    EXPECT_EQ(manage(user(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q").code, PBSE_PERM);
    EXPECT_EQ(manage(user(), PBS_CMD_SET, PBS_OBJ_SERVER, "", {attribute("comment", "x")}).code, PBSE_PERM);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "operators", "op@*"), 0);
    const Identity op = somebody("op");
    EXPECT_EQ(manage(op, PBS_CMD_SET, PBS_OBJ_SERVER, "", {attribute("comment", "x")}).code, 0);
    EXPECT_EQ(manage(op, PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q").code, PBSE_PERM);
    EXPECT_EQ(manage(op, PBS_CMD_SET, PBS_OBJ_SERVER, "", {attribute("managers", "op@*")}).code, PBSE_ATTRRO);
    EXPECT_EQ(manage(somebody("starter"), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q").code, 0);
}

TEST_F(Requests, ARefusedAttributeIsNamedWithItsPlaceAndNothingIsChanged) {
    const ifl::Reply reply = manage(root(), PBS_CMD_SET, PBS_OBJ_SERVER, "",
                                    {attribute("comment", "new"), attribute("no_such", "1")});
    EXPECT_EQ(reply.code, PBSE_NOATTR);
    EXPECT_EQ(reply.auxiliary, 2);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr("no_such"));
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "comment"), "");
}

TEST_F(Requests, ServerAttributesAreChecked) {
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "managers", "boss"), PBSE_BADHOST);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "nowhere"), PBSE_UNKQUE);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "scheduler_iteration", "0"), PBSE_BADATVAL);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "pbs_version", "9"), PBSE_ATTRRO);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "node_pack", "t"), PBSE_NOSUP);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "max_job_sequence_id", "10"), PBSE_INVALID_MAX_JOB_SEQUENCE_ID);
}

// QueueJob adapts the job to its queue. If the queue changes between QueueJob and Commit, the changed queue
// counts.
TEST_F(Requests, AJobIsAsTheQueueWantsItAtItsCommit) {
    make_queue("q");
    const auto queue = [&] {
        const ifl::Reply reply = ask(user(), ifl::RequestType::queue_job,
                                     ifl::QueueJob{"", "q", {attribute("Resource_List.ncpus", "2")}});
        EXPECT_EQ(reply.code, 0);
        return std::get<ifl::QueueReply>(reply.body).job;
    };
    const auto commit = [&](const std::string& id) {
        return ask(user(), ifl::RequestType::commit, ifl::JobId{id}).code;
    };
    const std::string before = queue();
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "resources_default.walltime", "00:10:00"), 0);
    EXPECT_EQ(commit(before), 0);
    EXPECT_EQ(job_shows(before, "Resource_List.walltime"), "00:10:00");
    const std::string meanwhile = queue();
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "resources_default.walltime", "00:20:00"), 0);
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "resources_default.walltime", ""), 0);
    EXPECT_EQ(commit(meanwhile), 0);
    EXPECT_EQ(job_shows(meanwhile, "Resource_List.walltime"), "00:20:00");
    EXPECT_EQ(job_shows(meanwhile, "schedselect"), "1:ncpus=2");
    const std::string too_large = queue();
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "resources_max.ncpus", "1"), 0);
    EXPECT_EQ(commit(too_large), PBSE_EXCQRESC);
}

TEST_F(Requests, DeprecatedServerAttributesWarn) {
    const ifl::Reply reply =
        manage(root(), PBS_CMD_SET, PBS_OBJ_SERVER, "", {attribute("backfill_depth", "3")});
    EXPECT_EQ(reply.code, 0);
    EXPECT_EQ(std::get<ifl::TextReply>(reply.body).text,
              "Warning: backfill_depth in server is deprecated. Set backfill_depth in a policy object.");
}

TEST_F(Requests, SchedulingIsTheDefaultSchedulersToo) {
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "f"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_scheduler, "default", "scheduling"), "False");
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "server_state"), "Idle");
    EXPECT_EQ(set(PBS_OBJ_SCHED, "default", "scheduling", "t"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "scheduling"), "True");
}

TEST_F(Requests, SchedulingAndItsIterationUnsetOnTheServer) {
    const auto unset = [&](const char* name) {
        return manage(root(), PBS_CMD_UNSET, PBS_OBJ_SERVER, "", {attribute(name, "")}).code;
    };
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "scheduler_iteration", "5"), 0);
    EXPECT_EQ(unset("scheduler_iteration"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_scheduler, "default", "scheduler_iteration"), "600");
    EXPECT_EQ(shown(ifl::RequestType::status_server, "", "scheduler_iteration"), "600");
    EXPECT_EQ(unset("scheduling"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_scheduler, "default", "scheduling"), "False");
}

TEST_F(Requests, SchedulersComeAndGo) {
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "night").code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "night").code, PBSE_SCHEDEXIST);
    EXPECT_EQ(set(PBS_OBJ_SCHED, "night", "partition", "p1"), 0);
    EXPECT_EQ(set(PBS_OBJ_SCHED, "default", "partition", "p1"), PBSE_SCHED_OP_NOT_PERMITTED);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "default").code, PBSE_SCHED_NO_DEL);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "night").code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "night").code, PBSE_UNKSCHED);
}

TEST_F(Requests, QueuesNeedATypeBeforeTheyAreEnabled) {
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q").code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "q").code, PBSE_QUEEXIST);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "enabled", "t"), PBSE_QUENOEN);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "queue_type", "exec"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q", "queue_type"), "Execution");
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "queue_type", "x"), PBSE_BADATVAL);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "enabled", "t"), 0);
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "nowhere", "enabled", "t"), PBSE_UNKQUE);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "a234567890123456").code, PBSE_QUENBIG);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_QUEUE, "1q").code, PBSE_IVAL_OBJ_NAME);
}

TEST_F(Requests, BusyObjectsAreNotDeleted) {
    make_queue("q");
    make_node("n1", "4");
    ASSERT_EQ(set(PBS_OBJ_NODE, "n1", "queue", "q"), 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q").code, PBSE_OBJBUSY);
    ASSERT_EQ(manage(root(), PBS_CMD_UNSET, PBS_OBJ_NODE, "n1", {attribute("queue", "")}).code, 0);
    const std::string id = submit(user(), {}, "q");
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q").code, PBSE_OBJBUSY);
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_NODE, "n1").code, PBSE_OBJBUSY);
}

TEST_F(Requests, NodesAreThisMachines) {
    make_node("n1", "4");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "Mom"), "host.example.org");
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_NODE, "n2", {attribute("Mom", "elsewhere")}).code,
              PBSE_BADNDATVAL);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_NODE, "n1").code, PBSE_NODEEXIST);
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_NODE, "n;1").code, PBSE_BADNDATVAL);
    const auto offline = [&](ifl::Op op) {
        return manage(root(), PBS_CMD_SET, PBS_OBJ_NODE, "n1", {attribute("state", "offline", op)}).code;
    };
    EXPECT_EQ(offline(ifl::Op::incr), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "state"), "offline");
    EXPECT_EQ(offline(ifl::Op::decr), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "state"), "free");
    EXPECT_EQ(set(PBS_OBJ_NODE, "n1", "state", "sleepy"), PBSE_BADNDATVAL);
    // A request of `pbsnodes -o` names a host, not a vnode.
    constexpr int kHost = 7;
    EXPECT_EQ(set(kHost, "host", "state", "offline"), 0);
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n1", "state"), "offline");
    EXPECT_EQ(set(kHost, "elsewhere", "state", "offline"), PBSE_UNKNODE);
}

TEST_F(Requests, CustomResources) {
    const auto create = [&](const std::string& name, const std::string& type, const std::string& flag) {
        return manage(root(), PBS_CMD_CREATE, PBS_OBJ_RESOURCE, name,
                      {attribute("type", type), attribute("flag", flag)})
            .code;
    };
    EXPECT_EQ(create("licences", "long", "q"), 0);
    EXPECT_EQ(create("licences", "long", "q"), PBSE_DUPLIST);
    EXPECT_EQ(create("bad", "number", ""), PBSE_BADATVAL);
    EXPECT_EQ(create("bad", "string", "q"), PBSE_BADATVAL);
    EXPECT_EQ(create("bad", "long", "n"), PBSE_BADATVAL);
    EXPECT_EQ(create("bad name", "long", ""), PBSE_BADATVAL);
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "resources_available.licences", "5"), 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "licences").code, PBSE_RESCBUSY);
    EXPECT_EQ(set(PBS_OBJ_RESOURCE, "licences", "flag", "hqn"), PBSE_RESCBUSY);
    EXPECT_EQ(set(PBS_OBJ_RESOURCE, "licences", "type", "float"), PBSE_RESCBUSY);
    EXPECT_EQ(set(PBS_OBJ_RESOURCE, "licences", "flag", "q"), 0) << "it is so already";
    EXPECT_EQ(
        manage(root(), PBS_CMD_UNSET, PBS_OBJ_SERVER, "", {attribute("resources_available.licences", "")})
            .code,
        0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "licences").code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_RESOURCE, "ncpus").code, PBSE_ATTRRO);
}

// Values that no job may ask for, and those that policies can't read, are refused as defaults.
TEST_F(Requests, DefaultsAreCheckedLikeRequests) {
    make_queue("q");
    const std::pair<const char*, const char*> bad[] = {
        {"select_range", "1-x"}, {"select_range", "4-2"}, {"prefer", "&&"},     {"prefer", "mem"},
        {"deadline", "99"},      {"deadline", "abc"},     {"deadline", "2460"}, {"chunk_order", "spiral"},
        {"per_host", "0"},       {"start_within", "-1"},  {"ncpus", "-1"}};
    for (const auto& [name, value] : bad) {
        const std::string key = std::string("resources_default.") + name;
        EXPECT_EQ(set(PBS_OBJ_SERVER, "", key, value), PBSE_BADATVAL) << name << "=" << value;
        EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", key, value), PBSE_BADATVAL) << name << "=" << value;
    }
    EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", "default_chunk.ncpus", "-1"), PBSE_BADATVAL);
    const std::pair<const char*, const char*> good[] = {{"select_range", "2,4-8:2,16-"},
                                                        {"prefer", "mem>=1gb+host!=n*"},
                                                        {"deadline", "2330"},
                                                        {"deadline", "203012312359.30"},
                                                        {"chunk_order", "round_robin"},
                                                        {"per_host", "2"},
                                                        {"start_within", "0"},
                                                        {"ncpus", "2"}};
    for (const auto& [name, value] : good) {
        const std::string key = std::string("resources_default.") + name;
        EXPECT_EQ(set(PBS_OBJ_SERVER, "", key, value), 0) << name << "=" << value;
        EXPECT_EQ(set(PBS_OBJ_QUEUE, "q", key, value), 0) << name << "=" << value;
        EXPECT_EQ(manage(root(), PBS_CMD_UNSET, PBS_OBJ_QUEUE, "q", {attribute(key, "")}).code, 0);
    }
    for (const char* time : {"99", "abc", "2460", "203013312359", "2330.60", "20301231235"})
        EXPECT_EQ(submit(user(), {attribute("Resource_List.deadline", time)}, "q"),
                  std::to_string(PBSE_BADATVAL))
            << time;
    EXPECT_EQ(submit(user(), {attribute("Resource_List.per_host", "0")}, "q"), std::to_string(PBSE_BADATVAL));
}

TEST_F(Requests, AnArrayHasNoRange) {
    make_queue("q");
    const auto array = [&](ifl::Attributes more) {
        more.push_back(attribute("array_indices_submitted", "1-4"));
        return submit(user(), std::move(more), "q");
    };
    const ifl::Attribute range = attribute("Resource_List.select_range", "1-4");
    EXPECT_EQ(array({range}), std::to_string(PBSE_NOSUP));
    const std::string id = array({});
    const auto alter = [&](const std::string& job) {
        return ask(root(), ifl::RequestType::modify_job, ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, job, {range}})
            .code;
    };
    EXPECT_EQ(alter(id), PBSE_NOSUP);
    EXPECT_EQ(job_shows(id, "Resource_List.select_range"), "");
    EXPECT_EQ(alter(submit(user(), {}, "q")), 0);
    // An array is accepted with a range that it has by default: the site means the queue's other jobs.
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "resources_default.select_range", "1-4"), 0);
    EXPECT_EQ(job_shows(array({}), "job_state"), "Q");
}

TEST_F(Requests, AJobIsQueuedWithWhatItLeftOpen) {
    make_queue("q");
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "default_queue", "q"), 0);
    (void)server_->take_wanted_cycles();
    const std::string id = submit(user(), {attribute("Job_Name", "one")});
    EXPECT_EQ(id, "0.svr");
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(job_shows(id, "queue"), "q");
    EXPECT_EQ(job_shows(id, "Job_Owner"), user_ + "@host.example.org");
    EXPECT_EQ(job_shows(id, "Output_Path"), "host.example.org:/tmp/one.o0");
    EXPECT_EQ(job_shows(id, "Resource_List.ncpus"), "1");
    EXPECT_EQ(job_shows(id, "euser"), user_);
    EXPECT_THAT(job_shows(id, "Variable_List"), HasSubstr("PBS_O_QUEUE=q"));
    EXPECT_THAT(accounting_text(), HasSubstr(";Q;0.svr;"));
    EXPECT_EQ(server_->take_wanted_cycles().at(""), PBS_SCH_SCHEDULE_NEW);
    EXPECT_EQ(submit(user(), {}), "1.svr");
}

TEST_F(Requests, ARefusedJobLeavesNothing) {
    EXPECT_EQ(submit(user(), {}), std::to_string(PBSE_QUENODFLT));
    EXPECT_EQ(submit(user(), {}, "nowhere"), std::to_string(PBSE_UNKQUE));
    make_queue("q", {attribute("resources_max.ncpus", "4")});
    EXPECT_EQ(submit(user(), {attribute("Resource_List.ncpus", "5")}, "q"), std::to_string(PBSE_EXCQRESC));
    EXPECT_EQ(submit(user(), {attribute("Resource_List.colour", "5")}, "q"), std::to_string(PBSE_UNKRESC));
    EXPECT_EQ(submit(user(), {attribute("Resource_List.ncpus", "-5")}, "q"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(submit(user(), {attribute("Priority", "5000")}, "q"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(submit(user(), {attribute("security", "x")}, "q"), std::to_string(PBSE_NOSUP));
    EXPECT_EQ(submit(user(), {attribute("job_state", "R")}, "q"), std::to_string(PBSE_ATTRRO));
    EXPECT_EQ(submit(user(), {attribute("no_such", "R")}, "q"), std::to_string(PBSE_NOATTR));
    EXPECT_EQ(submit(root(), {}, "q"), std::to_string(PBSE_BADUSER));
    EXPECT_EQ(submit(somebody("nobody-at-all"), {}, "q"), std::to_string(PBSE_BADUSER));
    EXPECT_EQ(submit(user(), {attribute("User_List", "root")}, "q"), std::to_string(PBSE_BADUSER));
    EXPECT_TRUE(server_->state.jobs().empty());
    EXPECT_EQ(submit(user(), {}, "q"), "0.svr");
}

TEST_F(Requests, AUserWhomTheServerCannotRunIsRefusedAtSubmission) {
    make_queue("q");
    executor_.refused_uid = find_user(user_)->uid;
    const ifl::Reply reply = ask(user(), ifl::RequestType::queue_job, ifl::QueueJob{"", "q", {}});
    EXPECT_EQ(reply.code, PBSE_BADUSER);
    EXPECT_THAT(std::get<ifl::TextReply>(reply.body).text, HasSubstr("refused by the test"));
}

TEST_F(Requests, QueueAccessLists) {
    make_queue("q", {attribute("acl_user_enable", "t"), attribute("acl_users", "someone@*")});
    EXPECT_EQ(submit(user(), {}, "q"), std::to_string(PBSE_QACESS));
    ASSERT_EQ(
        manage(root(), PBS_CMD_SET, PBS_OBJ_QUEUE, "q", {attribute("acl_users", user_, ifl::Op::incr)}).code,
        0);
    EXPECT_EQ(submit(user(), {}, "q"), "0.svr");
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "max_queuable", "1"), 0);
    EXPECT_EQ(submit(user(), {}, "q"), std::to_string(PBSE_MAXQUED));
    ASSERT_EQ(set(PBS_OBJ_QUEUE, "q", "enabled", "f"), 0);
    EXPECT_EQ(submit(user(), {}, "q"), std::to_string(PBSE_QUNOENB));
}

TEST_F(Requests, ScriptsAreLimitedInSize) {
    make_queue("q");
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "jobscript_max_size", "10b"), 0);
    EXPECT_EQ(submit(user(), {}, "q", "12345678901"), std::to_string(PBSE_JOBSCRIPTMAXSIZE));
    EXPECT_EQ(submit(user(), {}, "q", "1234567890"), "1.svr");
}

TEST_F(Requests, ScriptAndCommitNeedAQueueJobBefore) {
    EXPECT_EQ(ask(user(), ifl::RequestType::job_script, ifl::JobScript{0, 0, "", "x"}).code, PBSE_IVALREQ);
    EXPECT_EQ(ask(user(), ifl::RequestType::commit, ifl::JobId{"0.svr"}).code, PBSE_IVALREQ);
}

TEST_F(Requests, HoldsAndReleases) {
    make_queue("q");
    const std::string id = submit(user(), {}, "q");
    const auto hold = [&](const Identity& who, ifl::RequestType type, const std::string& types) {
        return ask(who, type, ifl::Manage{2, PBS_OBJ_JOB, id, {attribute("Hold_Types", types)}}).code;
    };
    EXPECT_EQ(hold(user(), ifl::RequestType::hold_job, "u"), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "H");
    EXPECT_EQ(hold(user(), ifl::RequestType::hold_job, "o"), PBSE_PERM);
    EXPECT_EQ(hold(root(), ifl::RequestType::hold_job, "os"), 0);
    EXPECT_EQ(hold(user(), ifl::RequestType::release_job, "u"), 0);
    EXPECT_EQ(job_shows(id, "Hold_Types"), "os");
    EXPECT_EQ(job_shows(id, "job_state"), "H");
    EXPECT_EQ(hold(root(), ifl::RequestType::release_job, "os"), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "Q");
    EXPECT_EQ(hold(somebody("stranger"), ifl::RequestType::hold_job, "u"), PBSE_PERM);
}

TEST_F(Requests, AlterChecksLimitsAndStates) {
    make_queue("q", {attribute("resources_max.walltime", "1:00:00")});
    make_node("n1", "4");
    const std::string id = submit(user(), {attribute("Resource_List.walltime", "600")}, "q");
    const auto alter = [&](const Identity& who, const std::string& name, const std::string& value) {
        return ask(who, ifl::RequestType::modify_job,
                   ifl::Manage{2, PBS_OBJ_JOB, id, {attribute(name, value)}})
            .code;
    };
    EXPECT_EQ(alter(user(), "Resource_List.walltime", "1200"), 0);
    EXPECT_EQ(job_shows(id, "Resource_List.walltime"), "00:20:00");
    EXPECT_EQ(alter(user(), "Resource_List.walltime", "2:00:00"), PBSE_EXCQRESC);
    EXPECT_EQ(job_shows(id, "Resource_List.walltime"), "00:20:00");
    EXPECT_EQ(alter(root(), "Resource_List.walltime", "2:00:00"), 0);
    EXPECT_EQ(alter(user(), "comment", "mine"), PBSE_ATTRRO);
    EXPECT_EQ(alter(root(), "comment", "ours"), 0);
    EXPECT_EQ(alter(somebody("stranger"), "Job_Name", "x"), PBSE_PERM);
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    EXPECT_EQ(alter(user(), "Resource_List.ncpus", "1"), PBSE_MODATRRUN);
    EXPECT_EQ(alter(root(), "Resource_List.mem", "1gb"), PBSE_MODATRRUN);
    EXPECT_EQ(alter(user(), "Job_Name", "renamed"), 0);
}

// The rules are OpenPBS's, with one difference: there, users may also remove a limit of their running jobs.
TEST_F(Requests, AlterOfARunningJobsTimeTellsItsRunner) {
    make_queue("q");
    make_node("n1", "4");
    const std::string id = submit(user(), {attribute("Resource_List.walltime", "100")}, "q");
    const auto alter = [&](const Identity& who, ifl::Attributes attributes) {
        return ask(who, ifl::RequestType::modify_job, ifl::Manage{2, PBS_OBJ_JOB, id, std::move(attributes)})
            .code;
    };
    const auto walltime = [&](const Identity& who, const std::string& value) {
        return alter(who, {attribute("Resource_List.walltime", value)});
    };
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    EXPECT_EQ(walltime(user(), "101"), PBSE_PERM);
    EXPECT_EQ(walltime(user(), ""), PBSE_PERM);
    EXPECT_EQ(walltime(user(), "soon"), PBSE_BADATVAL);
    EXPECT_EQ(
        alter(user(), {attribute("Resource_List.walltime", "50"), attribute("Resource_List.mem", "1gb")}),
        PBSE_MODATRRUN);
    EXPECT_TRUE(executor_.limits.empty());
    EXPECT_EQ(job_shows(id, "Resource_List.walltime"), "00:01:40");

    EXPECT_EQ(walltime(user(), "50"), 0);
    ASSERT_EQ(executor_.limits.size(), 1U);
    EXPECT_EQ(executor_.limits[0].id, (RunId{id, 1}));
    EXPECT_EQ(executor_.limits[0].walltime, std::chrono::seconds(50));
    EXPECT_EQ(executor_.limits[0].cput, std::nullopt);
    EXPECT_EQ(alter(user(), {attribute("Resource_List.cput", "20")}), 0);
    EXPECT_EQ(executor_.limits.back().cput, std::chrono::seconds(20));
    EXPECT_EQ(alter(user(), {attribute("Resource_List.cput", "30")}), PBSE_PERM);
    EXPECT_EQ(walltime(root(), "2:00:00"), 0);
    EXPECT_EQ(executor_.limits.back().walltime, std::chrono::hours(2));
    EXPECT_EQ(job_shows(id, "Resource_List.walltime"), "02:00:00");
    EXPECT_EQ(alter(root(), {attribute("Resource_List.cput", "")}), 0);
    EXPECT_EQ(executor_.limits.back().cput, std::nullopt);
    EXPECT_EQ(executor_.limits.size(), 4U);
    EXPECT_EQ(alter(user(), {attribute("Job_Name", "renamed")}), 0);
    EXPECT_EQ(executor_.limits.size(), 4U);
}

// For the same requests OpenPBS has the same exec_vnode, exec_host, node file and environment, apart from the
// order of resources within a chunk.
TEST_F(Requests, ChunksAreKeptAsOpenPbsKeepsThem) {
    struct Row {
        std::string resource;
        std::string value;
        std::string schedselect;
        std::string exec_vnode;
        std::string exec_host;
        size_t lines;
        int64_t threads;  // NCPUS, OMP_NUM_THREADS
    };
    const std::vector<Row> rows = {
        {"select", "1", "1:ncpus=1", "(n1:ncpus=1)", "host/0", 1, 1},
        {"select", "4:ncpus=1", "4:ncpus=1", "(n1:ncpus=1)+(n1:ncpus=1)+(n1:ncpus=1)+(n1:ncpus=1)",
         "host/0+host/1+host/2+host/3", 4, 1},
        {"select", "2:ncpus=2", "2:ncpus=2", "(n1:ncpus=2)+(n1:ncpus=2)", "host/0*2+host/1*2", 2, 2},
        {"select", "2:ncpus=2:mpiprocs=2", "2:ncpus=2:mpiprocs=2", "(n1:ncpus=2)+(n1:ncpus=2)",
         "host/0*2+host/1*2", 4, 2},
        {"select", "1:ncpus=4:mpiprocs=2:ompthreads=2", "1:ncpus=4:mpiprocs=2:ompthreads=2", "(n1:ncpus=4)",
         "host/0*4", 2, 2},
        {"select", "2:ncpus=2:ompthreads=3", "2:ncpus=2:ompthreads=3", "(n1:ncpus=2)+(n1:ncpus=2)",
         "host/0*2+host/1*2", 2, 3},
        {"select", "1:ncpus=1+2:ncpus=2:mpiprocs=2", "1:ncpus=1+2:ncpus=2:mpiprocs=2",
         "(n1:ncpus=1)+(n1:ncpus=2)+(n1:ncpus=2)", "host/0+host/1*2+host/2*2", 5, 1},
        {"select", "1:ncpus=2:mpiprocs=0", "1:ncpus=2:mpiprocs=0", "(n1:ncpus=2)", "host/0*2", 0, 0},
        {"select", "2:ncpus=1:mem=100mb", "2:ncpus=1:mem=100mb",
         "(n1:ncpus=1:mem=102400kb)+(n1:ncpus=1:mem=102400kb)", "host/0+host/1", 2, 1},
        {"nodes", "1:ppn=2", "1:ncpus=2:mpiprocs=2", "(n1:ncpus=2)", "host/0*2", 2, 2},
        {"nodes", "1", "1:ncpus=1", "(n1:ncpus=1)", "host/0", 1, 1},
        {"nodes", "1:ppn=2:ncpus=4", "1:ncpus=8:mpiprocs=2", "(n1:ncpus=8)", "host/0*8", 2, 8},
        {"nodes", "1:ncpus=2", "1:ncpus=2", "(n1:ncpus=2)", "host/0*2", 1, 2},
        {"ncpus", "3", "1:ncpus=3", "(n1:ncpus=3)", "host/0*3", 1, 3},
        {"ompthreads", "5", "1:ncpus=1:ompthreads=5", "(n1:ncpus=1)", "host/0", 1, 5},
        {"mpiprocs", "2", "1:mpiprocs=2:ncpus=1", "(n1:ncpus=1)", "host/0", 2, 1},
        {"select", "1:ncpus=0", "1:ncpus=0", "(n1:ncpus=0)", "host/0*0", 0, 0},
        {"select", "2:ncpus=0:mpiprocs=1", "2:ncpus=0:mpiprocs=1", "(n1:ncpus=0)+(n1:ncpus=0)",
         "host/0*0+host/1*0", 2, 0},
        {"select", "2:mpiprocs=3", "2:mpiprocs=3:ncpus=1", "(n1:ncpus=1)+(n1:ncpus=1)", "host/0+host/1", 6,
         1},
    };
    make_queue("q");
    make_node("n1", "8");
    for (const Row& row : rows) {
        const std::string what = row.resource + "=" + row.value;
        const std::string id = submit(user(), {attribute("Resource_List." + row.resource, row.value)}, "q");
        ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0) << what;
        EXPECT_EQ(job_shows(id, "schedselect"), row.schedselect) << what;
        EXPECT_EQ(job_shows(id, "exec_vnode"), row.exec_vnode) << what;
        EXPECT_EQ(job_shows(id, "exec_host"), row.exec_host) << what;
        EXPECT_EQ(executor_.started.back().hosts.size(), row.lines) << what;
        EXPECT_EQ(executor_.started.back().threads, row.threads) << what;
        executor_.reports.push_back(ended(id, 0));
        take_run_events(*server_);
    }
}

TEST_F(Requests, AChunkMayLieOnSeveralVnodesOfAHost) {
    make_queue("q");
    for (const char* name : {"v1", "v2", "v3"}) make_node(name, "2");
    const std::string id = submit(user(), {attribute("Resource_List.select", "2:ncpus=3:mpiprocs=2")}, "q");
    const auto run = [&](const std::string& where) {
        return ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, where, 0}).code;
    };
    for (const char* bad : {"(v1:ncpus=2+v2:ncpus=1", "((v1:ncpus=2)", "(v1:ncpus=2+(v2:ncpus=1))",
                            "v1:ncpus=2)", "(v1:ncpus=2)v2", "()", "+"})
        EXPECT_NE(run(bad), 0) << bad;
    const std::string where = "(v1:ncpus=2+v2:ncpus=1)+(v2:ncpus=1+v3:ncpus=2)";
    ASSERT_EQ(run(where), 0);
    EXPECT_EQ(job_shows(id, "exec_vnode"), where);
    EXPECT_EQ(job_shows(id, "exec_host"), "host/0*3+host/1*3");
    EXPECT_EQ(executor_.started.back().hosts.size(), 4U);
    EXPECT_EQ(executor_.started.back().threads, 3);
    EXPECT_EQ(shown(ifl::RequestType::status_node, "v2", "resources_assigned.ncpus"), "2");
    open_server();
    EXPECT_EQ(job_shows(id, "exec_vnode"), where);
    const auto& places = server_->state.job(id)->places;
    ASSERT_EQ(places.size(), 4U);
    EXPECT_FALSE(places[0].joined);
    EXPECT_TRUE(places[1].joined);
    EXPECT_FALSE(places[2].joined);
}

TEST_F(Requests, MoveChecksTheDestination) {
    make_queue("q");
    make_queue("small", {attribute("resources_max.ncpus", "2"), attribute("from_route_only", "t")});
    const std::string id = submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    const auto move = [&](const Identity& who, const std::string& to) {
        return ask(who, ifl::RequestType::move_job, ifl::MoveJob{id, to}).code;
    };
    EXPECT_EQ(move(user(), "nowhere"), PBSE_UNKQUE);
    EXPECT_EQ(move(user(), "small"), PBSE_QACESS);
    EXPECT_EQ(move(user(), "small@other"), PBSE_PERM);
    EXPECT_EQ(move(root(), "small@other:22"), PBSE_BADHOST) << "ports below 1024 are other services'";
    EXPECT_EQ(move(root(), "small@-x"), PBSE_BADHOST);
    EXPECT_EQ(move(root(), "small@svr"), 0);
    EXPECT_EQ(job_shows(id, "queue"), "small");
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "q", "total_jobs"), "0");
    EXPECT_EQ(shown(ifl::RequestType::status_queue, "small", "total_jobs"), "1");
}

TEST_F(Requests, RunUsesTheVnodesNamedAndNoMoreThanTheyHave) {
    make_queue("q");
    make_node("n1", "2");
    make_node("n2", "4");
    const std::string a = submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    const std::string b = submit(user(), {attribute("Resource_List.ncpus", "3")}, "q");
    const auto run = [&](const Identity& who, const std::string& id, const std::string& where) {
        return ask(who, ifl::RequestType::run_job, ifl::RunJob{id, where, 0}).code;
    };
    EXPECT_EQ(run(user(), a, ""), PBSE_PERM);
    EXPECT_EQ(run(root(), a, "nowhere"), PBSE_UNKNODE);
    EXPECT_EQ(run(root(), b, "n1"), PBSE_RESCUNAV);
    EXPECT_EQ(run(root(), a, "n2"), 0);
    EXPECT_EQ(job_shows(a, "exec_vnode"), "(n2:ncpus=2)");
    EXPECT_EQ(job_shows(a, "exec_host"), "host/0*2");
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n2", "resources_assigned.ncpus"), "2");
    EXPECT_EQ(run(root(), b, "n1+n2"), PBSE_RESCUNAV);
    EXPECT_EQ(run(root(), b, ""), PBSE_NOSUP) << "without a plugin";
    EXPECT_EQ(run(root(), a, ""), PBSE_BADSTATE);
    ASSERT_EQ(executor_.started.size(), 1U);
    EXPECT_EQ(executor_.started[0].user, user_);
    EXPECT_EQ(executor_.started[0].threads, 2);
    EXPECT_EQ(shown(ifl::RequestType::status_node, "n2", "jobs"), a + "/0, " + a + "/1");
}

TEST_F(Requests, DeletingAWaitingJobIsAtOnceARunningOneWhenItHasEnded) {
    make_queue("q");
    make_node("n1", "2");
    const std::string a = submit(user(), {}, "q");
    const std::string b = submit(user(), {}, "q");
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{b, "n1", 0}).code, 0);
    const ifl::Reply reply =
        ask(somebody("stranger"), ifl::RequestType::delete_job_list, ifl::DeleteJobList{{a, "99.svr"}});
    const auto& failed = std::get<ifl::DeleteReply>(reply.body).failed;
    ASSERT_EQ(failed.size(), 2U);
    EXPECT_EQ(failed[0].code, uint32_t{PBSE_PERM});
    EXPECT_EQ(failed[1].code, uint32_t{PBSE_UNKJOBID});
    EXPECT_TRUE(std::get<ifl::DeleteReply>(
                    ask(user(), ifl::RequestType::delete_job_list, ifl::DeleteJobList{{a, b}}).body)
                    .failed.empty());
    EXPECT_EQ(job_shows(a, "job_state"), "error 15001");
    EXPECT_EQ(job_shows(b, "job_state"), "E");
    EXPECT_EQ(ask(user(), ifl::RequestType::delete_job, ifl::Manage{1, PBS_OBJ_JOB, b, {}}).code,
              PBSE_BADSTATE);
    EXPECT_EQ(executor_.terminated.size(), 1U);
    EXPECT_THAT(accounting_text(), HasSubstr(";D;" + a));
    EXPECT_THAT(accounting_text(), HasSubstr(";D;" + b));
}

TEST_F(Requests, SelectComparesWhatIsAskedFor) {
    make_queue("q");
    const std::string a =
        submit(user(), {attribute("Resource_List.ncpus", "2"), attribute("Job_Name", "a")}, "q");
    const std::string b =
        submit(user(), {attribute("Resource_List.ncpus", "8"), attribute("Hold_Types", "u")}, "q");
    const auto select = [&](ifl::Attributes criteria) {
        const ifl::Reply reply =
            ask(root(), ifl::RequestType::select_jobs, ifl::Select{std::move(criteria), {}});
        return reply.code != 0 ? std::vector<std::string>{std::to_string(reply.code)}
                               : std::get<ifl::SelectReply>(reply.body).jobs;
    };
    using Ids = std::vector<std::string>;
    EXPECT_EQ(select({}), (Ids{a, b}));
    EXPECT_EQ(select({attribute("Resource_List.ncpus", "4", ifl::Op::gt)}), Ids{b});
    EXPECT_EQ(select({attribute("Resource_List.ncpus", "2", ifl::Op::le)}), Ids{a});
    EXPECT_EQ(select({attribute("job_state", "RH", ifl::Op::eq)}), Ids{b});
    EXPECT_EQ(select({attribute("Job_Name", "a", ifl::Op::eq)}), Ids{a});
    EXPECT_EQ(select({attribute("User_List", "stranger", ifl::Op::eq)}), Ids{});
    EXPECT_EQ(select({attribute("destination", "nowhere", ifl::Op::eq)}), Ids{std::to_string(PBSE_UNKQUE)});
    EXPECT_EQ(select({attribute("no_such", "1", ifl::Op::eq)}), Ids{std::to_string(PBSE_NOATTR)});
}

TEST_F(Requests, StatusShowsChosenAttributesAndHidesManagersOwn) {
    make_queue("q");
    const std::string id = submit(user(), {}, "q");
    ifl::Reply reply = ask(user(), ifl::RequestType::status_job,
                           ifl::Status{id, {attribute("job_state", ""), attribute("euser", "")}});
    const auto& only = std::get<ifl::StatusReply>(reply.body).objects.at(0).attributes;
    ASSERT_EQ(only.size(), 1U);
    EXPECT_EQ(only[0].name, "job_state");
    EXPECT_EQ(ask(user(), ifl::RequestType::status_job, ifl::Status{id, {attribute("no_such", "")}}).code,
              PBSE_NOATTR);
    EXPECT_EQ(ask(user(), ifl::RequestType::status_job, ifl::Status{id, {attribute("array", "")}}).code, 0);
    EXPECT_EQ(ask(user(), ifl::RequestType::status_job, ifl::Status{"77.svr", {}}).code, PBSE_UNKJOBID);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "query_other_jobs", "f"), 0);
    reply = ask(somebody("stranger"), ifl::RequestType::status_job, ifl::Status{"", {}});
    EXPECT_TRUE(std::get<ifl::StatusReply>(reply.body).objects.empty());
}

TEST_F(Requests, OrderSwapsRanks) {
    make_queue("q");
    const std::string a = submit(user(), {}, "q");
    const std::string b = submit(user(), {}, "q");
    const std::string rank_of_a = job_shows(a, "queue_rank");
    EXPECT_EQ(ask(user(), ifl::RequestType::order_job, ifl::MoveJob{a, b}).code, 0);
    EXPECT_EQ(job_shows(b, "queue_rank"), rank_of_a);
}

TEST_F(Requests, SignalsReachTheRunner) {
    make_queue("q");
    make_node("n1", "1");
    const std::string id = submit(user(), {}, "q");
    const auto signal = [&](const Identity& who, const std::string& name) {
        return ask(who, ifl::RequestType::signal_job, ifl::SignalJob{id, name}).code;
    };
    EXPECT_EQ(signal(user(), "USR1"), PBSE_BADSTATE);
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    EXPECT_EQ(signal(user(), "USR1"), 0);
    EXPECT_EQ(signal(user(), "SIGNONSENSE"), PBSE_UNKSIG);
    EXPECT_EQ(signal(user(), "suspend"), PBSE_PERM);
    EXPECT_EQ(signal(root(), "suspend"), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "S");
    EXPECT_EQ(signal(root(), "resume"), 0);
    EXPECT_EQ(job_shows(id, "job_state"), "R");
    ASSERT_EQ(executor_.signals.size(), 3U);
    EXPECT_EQ(executor_.signals[0].second, SIGUSR1);
}

TEST_F(Requests, AnExceptionAtAStartHoldsThatJob) {
    make_queue("q");
    make_node("n1", "1");
    const std::string id = submit(user(), {}, "q");
    executor_.throw_at_starts = true;
    (void)ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0});
    EXPECT_EQ(job_shows(id, "job_state"), "H");
    EXPECT_THAT(job_shows(id, "comment"), HasSubstr("could not be started"));
}

TEST_F(Requests, TextOfJobsHasNoControlCharacters) {
    make_queue("q");
    EXPECT_EQ(submit(user(), {attribute("Account_Name", "a\nb")}, "q"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(submit(user(), {attribute("project", "a\rb")}, "q"), std::to_string(PBSE_BADATVAL));
    EXPECT_EQ(submit(user(), {attribute("Variable_List", "A=1\n2")}, "q").find("svr") != std::string::npos,
              true);
}

TEST_F(Requests, UmaskIsOctal) {
    make_queue("q");
    for (const char* bad : {"99", "1000", "-1", "8"})
        EXPECT_EQ(submit(user(), {attribute("umask", bad)}, "q"), std::to_string(PBSE_BADATVAL)) << bad;
    EXPECT_EQ(job_shows(submit(user(), {attribute("umask", "27")}, "q"), "umask"), "27");
}

TEST_F(Requests, SubmitHostIsTheServersToSet) {
    make_queue("q");
    const std::string id = submit(user(), {attribute("Submit_Host", "elsewhere")}, "q");
    EXPECT_EQ(job_shows(id, "Submit_Host"), "host.example.org");
    EXPECT_EQ(ask(user(), ifl::RequestType::modify_job,
                  ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, id, {attribute("Submit_Host", "x")}})
                  .code,
              PBSE_ATTRRO);
}

TEST_F(Requests, TheMailerIsForTheServersOwnHost) {
    EXPECT_EQ(set(PBS_OBJ_SERVER, "", "managers", "starter@*"), 0);
    const auto mailer = [&](const Identity& who) {
        return manage(who, PBS_CMD_SET, PBS_OBJ_SERVER, "", {attribute("mailer", "/bin/true")}).code;
    };
    EXPECT_EQ(mailer(somebody("starter", "other.example.org")), PBSE_PERM);
    EXPECT_EQ(mailer(somebody("starter")), 0);
}

// Root's jobs run as root. So managers who aren't root may neither permit them nor alter what they run.
TEST_F(Requests, RootsJobsAreTheAdministrators) {
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "managers", "mary@*"), 0);
    const Identity mary = somebody("mary");
    ASSERT_TRUE(mary.manager());
    for (const int command : {PBS_CMD_SET, PBS_CMD_UNSET})
        EXPECT_EQ(
            manage(mary, command, PBS_OBJ_SERVER, "", {attribute("acl_roots", "root@*", ifl::Op::incr)}).code,
            PBSE_PERM);
    EXPECT_EQ(manage(somebody("root", "other.example.org"), PBS_CMD_SET, PBS_OBJ_SERVER, "",
                     {attribute("acl_roots", "root@*")})
                  .code,
              PBSE_PERM);
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "acl_roots", "root@*"), 0);

    make_queue("q");
    const std::string id = submit(root(), {}, "q");
    ASSERT_NE(server_->state.job(id), nullptr) << id;
    const auto alter = [&](const Identity& who, const std::string& job, const char* name, const char* value) {
        return ask(who, ifl::RequestType::modify_job,
                   ifl::Manage{PBS_CMD_SET, PBS_OBJ_JOB, job, {attribute(name, value)}})
            .code;
    };
    for (const auto& [name, value] :
         {std::pair{"Shell_Path_List", "/tmp/evil"}, std::pair{"Output_Path", "/etc/passwd"},
          std::pair{"Error_Path", "/etc/passwd"}, std::pair{"Variable_List", "LD_PRELOAD=/tmp/evil.so"},
          std::pair{"executable", "<jsdl-hpcpa:Executable>/tmp/evil</jsdl-hpcpa:Executable>"},
          std::pair{"User_List", "mary"}, std::pair{"Join_Path", "oe"}}) {
        EXPECT_EQ(alter(mary, id, name, value), PBSE_PERM) << name;
        EXPECT_NE(alter(root(), id, name, value), PBSE_PERM) << name;
    }
    EXPECT_EQ(alter(mary, id, "Priority", "5"), 0);
    EXPECT_EQ(alter(mary, id, "Resource_List.walltime", "60"), 0);
    const std::string other = submit(user(), {}, "q");
    EXPECT_EQ(alter(mary, other, "Join_Path", "oe"), user_ == "root" ? PBSE_PERM : 0);
}

TEST_F(Requests, ARerunThatCouldNotBeSignalledIsForgotten) {
    make_queue("q");
    make_node("n1", "1");
    const std::string id = submit(user(), {}, "q");
    ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    executor_.fail_signals = true;
    EXPECT_EQ(ask(root(), ifl::RequestType::rerun_job, ifl::JobId{id}).code, 15010);
    EXPECT_EQ(server_->state.job(id)->at_end, Job::AtEnd::finish);
}

TEST_F(Requests, AJobNamedTwiceIsShownOnce) {
    make_queue("q");
    const std::string id = submit(user(), {}, "q");
    const ifl::Reply reply = ask(root(), ifl::RequestType::status_job, ifl::Status{id + "," + id, {}});
    EXPECT_EQ(std::get<ifl::StatusReply>(reply.body).objects.size(), 1U);
}

TEST_F(Requests, ShutdownInEachManner) {
    make_queue("q");
    make_node("n1", "4");
    const std::string again = submit(user(), {}, "q");
    const std::string once = submit(user(), {attribute("Rerunable", "n")}, "q");
    for (const std::string& id : {again, once})
        ASSERT_EQ(ask(root(), ifl::RequestType::run_job, ifl::RunJob{id, "n1", 0}).code, 0);
    EXPECT_EQ(ask(user(), ifl::RequestType::shutdown, ifl::Shutdown{2}).code, PBSE_PERM);
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{2 | 0x100}).code, PBSE_NOSUP);
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{7}).code, PBSE_IVALREQ);
    EXPECT_FALSE(server_->winding_down());
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{1}).code, 0);
    ASSERT_EQ(executor_.signals.size(), 1U) << "delayed: what can't be run again goes on";
    EXPECT_EQ(executor_.signals[0].first.job, again);
    EXPECT_FALSE(server_->stopping);
    EXPECT_EQ(submit(user(), {}, "q"), std::to_string(PBSE_SVRDOWN));
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{0}).code, 0);
    EXPECT_EQ(job_shows(once, "job_state"), "E");
    EXPECT_THAT(accounting_text(), HasSubstr(";A;" + once + ";Job aborted on PBS Server shutdown"));
    EXPECT_FALSE(server_->stopping);
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{0}).code, 0) << "again: at once";
    EXPECT_TRUE(server_->stopping);
    server_->stopping = false;
    server_->closing = Server::Closing::no;
    EXPECT_EQ(ask(root(), ifl::RequestType::shutdown, ifl::Shutdown{2}).code, 0);
    EXPECT_TRUE(server_->stopping);
}

TEST_F(Requests, ProgramsWithArgumentsBecomeScripts) {
    make_queue("q");
    make_node("n1", "1");
    const std::string id = submit(
        user(),
        {attribute("executable", "/bin/echo"), attribute("argument_list", "<a>x &amp; y</a><a>it's</a>")},
        "q", "");
    EXPECT_EQ(*store_->script(server_->state.job(id)->sequence), "exec '/bin/echo' 'x & y' 'it'\\''s'\n");
}

// Jobs are submitted and deleted while a long reply is made. Each job that exists all the time is shown once.
TEST_F(Requests, ALongReplyShowsWhatIsThereAllTheTimeOnce) {
    make_queue("q");
    std::vector<std::string> jobs;
    jobs.reserve(5);
    for (int i = 0; i < 5; ++i) jobs.push_back(submit(user(), {}, "q"));
    for (const std::string queue : {"", "q"}) {
        const Identity who = root();
        const ifl::Request request{ifl::RequestType::status_job, "root", ifl::Status{queue, {}}, ""};
        Context context{*server_, who, server_->now(), request, session_};
        EXPECT_EQ(begin_answer(context).code, 0);
        ASSERT_NE(context.rest, nullptr);
        ifl::StatusParts parts;
        std::optional<ifl::Reply> instead;
        for (int i = 0; i < 2; ++i) EXPECT_EQ(go_on(context, parts, false, instead), Steps::Remaining::more);
        EXPECT_EQ(ask(root(), ifl::RequestType::delete_job_list, ifl::DeleteJobList{{jobs[0], jobs[3]}}).code,
                  0);
        const std::string added = submit(user(), {}, "q");
        while (go_on(context, parts, false, instead) != Steps::Remaining::nothing) {
        }
        EXPECT_FALSE(instead);
        const auto read =
            ifl::decode_reply(ifl::encode_reply({0, 0, ifl::StatusReply{{}, parts.take()}, false}));
        std::vector<std::string> shown;
        for (const auto& object : std::get<ifl::StatusReply>(read->body).objects)
            shown.push_back(object.name);
        EXPECT_THAT(shown, testing::ElementsAre(jobs[0], jobs[1], jobs[2], jobs[4]));
        jobs = {jobs[1], jobs[2], jobs[4], added, submit(user(), {}, "q")};
    }
}

// The queue is deleted while its jobs are listed. The request fails only if its reply has no job yet.
TEST_F(Requests, WhatIsListedMayGo) {
    make_queue("q");
    const std::string id = submit(user(), {}, "q");
    const Identity who = root();
    const ifl::Request request{ifl::RequestType::status_job, "root", ifl::Status{"q", {}}, ""};
    Context context{*server_, who, server_->now(), request, session_};
    EXPECT_EQ(begin_answer(context).code, 0);
    EXPECT_EQ(ask(root(), ifl::RequestType::delete_job_list, ifl::DeleteJobList{{id}}).code, 0);
    EXPECT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_QUEUE, "q").code, 0);
    ifl::StatusParts parts;
    std::optional<ifl::Reply> instead;
    EXPECT_EQ(go_on(context, parts, false, instead), Steps::Remaining::nothing);
    ASSERT_TRUE(instead);
    EXPECT_EQ(instead->code, 0);
    EXPECT_TRUE(std::get<ifl::StatusReply>(instead->body).objects.empty());
}

}  // namespace
}  // namespace pbs::host

// Calls the C functions of pbs_ifl.h, with a fake server that has real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "ifl/reply.h"
#include "tests/ifl/fake_server.h"

namespace pbs::ifl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FreeStatus {
    void operator()(batch_status* list) const { pbs_statfree(list); }
};
using StatusList = std::unique_ptr<batch_status, FreeStatus>;
struct FreeMemory {
    void operator()(void* memory) const { std::free(memory); }
};
using Text = std::unique_ptr<char, FreeMemory>;

std::string status_packet(std::vector<ObjectStatus> objects) {
    return reply_packet({0, 0, StatusReply{std::move(objects)}, false});
}

std::string my_name() {
    return getpwuid(getuid())->pw_name;
}

// Sets a variable of the environment, or unsets it if `value` is nullptr. The destructor restores the
// variable.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = getenv(name)) old_ = old;
        had_ = getenv(name) != nullptr;
        value ? setenv(name, value, 1) : unsetenv(name);
    }
    ~Variable() { had_ ? setenv(name_, old_.c_str(), 1) : unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
    std::string old_;
    bool had_ = false;
};

// A temporary PBS_HOME, which contains the socket of a fake server. The test chooses the server's answers.
class ApiTest : public ::testing::Test {
  protected:
    ApiTest() : home_(make_home()), home_variable_("PBS_HOME", home_.c_str()) {
        server_ = std::make_unique<testing::FakeServer>(
            [this](const Request& request, std::string_view user) {
                const std::lock_guard guard(mutex_);
                user_ = user;
                return answer_(request);
            },
            home_ + "/server_priv/pbs.sock");
    }
    ~ApiTest() override {
        if (connection_ >= 0) pbs_disconnect(connection_);
        server_.reset();
        std::filesystem::remove_all(home_);
    }

    static std::string make_home() {
        char name[] = "/tmp/api_test.XXXXXX";
        std::string home = mkdtemp(name);
        std::filesystem::create_directory(home + "/server_priv");
        return home;
    }

    int connection() {
        if (connection_ < 0) connection_ = pbs_connect(nullptr);
        return connection_;
    }

    void answer_with(std::function<std::string(const Request&)> answer) {
        const std::lock_guard guard(mutex_);
        answer_ = std::move(answer);
    }
    void answer(std::string packets) {
        answer_with([packets = std::move(packets)](const Request&) { return packets; });
    }

    std::string user() const {
        const std::lock_guard guard(mutex_);
        return user_;
    }

    // Returns the last request to the server, not counting the requests that make a connection.
    Request last_request() {
        auto requests = server_->requests();
        return requests.empty() ? Request{} : requests.back();
    }

    void expect_request(RequestType type, const RequestBody& body, const std::string& extend = "") {
        EXPECT_EQ(last_request(), (Request{type, my_name(), body, extend}));
    }

    std::string home_;
    Variable home_variable_;
    mutable std::mutex mutex_;  // guards answer_ and user_, which the server's thread uses
    std::function<std::string(const Request&)> answer_ = [](const Request&) {
        return reply_packet(Reply::ok());
    };
    std::string user_;
    std::unique_ptr<testing::FakeServer> server_;
    int connection_ = -1;
};

TEST_F(ApiTest, ConnectsThroughTheSocketOfHome) {
    ASSERT_GE(connection(), 0);
    EXPECT_EQ(pbs_errno, 0);
    EXPECT_STRNE(pbs_server, "");
    EXPECT_STREQ(pbs_default(), pbs_server);
    EXPECT_EQ(pbs_manager(connection(), MGR_CMD_CREATE, MGR_OBJ_POLICY, "p1", nullptr, nullptr), 0);
    EXPECT_EQ(user(), my_name());
}

TEST_F(ApiTest, ConnectsThroughTheSocketOfADeepHome) {
    const std::string deep = home_ + "/" + std::string(120, 'd');
    std::filesystem::create_directory(deep);
    std::filesystem::create_directory_symlink(home_ + "/server_priv", deep + "/server_priv");
    const Variable variable("PBS_HOME", deep.c_str());
    ASSERT_GE(connection(), 0) << pbs_geterrmsg(-1);
    EXPECT_EQ(pbs_terminate(connection(), SHUT_QUICK, nullptr), 0);
}

TEST_F(ApiTest, AFailedConnectSaysWhy) {
    const Variable home("PBS_HOME", "/nonexistent");
    const Variable conf("PBS_CONF_FILE", "/nonexistent");
    const Variable server("PBS_SERVER", nullptr);
    const Variable fallback("PBS_DEFAULT", nullptr);
    EXPECT_EQ(pbs_connect(nullptr), -1);
    EXPECT_EQ(pbs_errno, PBSE_NOSERVER);
    EXPECT_THAT(pbs_geterrmsg(-1), HasSubstr("no server"));
    EXPECT_EQ(pbs_default(), nullptr);

    EXPECT_EQ(pbs_connect("127.0.0.1:1"), -1);
    EXPECT_EQ(pbs_errno, PBSE_NOSERVER);
    EXPECT_THAT(pbs_geterrmsg(-1), HasSubstr("cannot connect to server 127.0.0.1, port 1"));
    EXPECT_STREQ(pbs_server, "127.0.0.1");

    EXPECT_EQ(pbs_connect("no-such-host.invalid"), -1);
    EXPECT_EQ(pbs_errno, PBSE_BADHOST);
}

TEST_F(ApiTest, StatCallsReturnWhatTheServerSent) {
    answer(
        status_packet({{MGR_OBJ_QUEUE, "q1", {{"enabled", "", "True"}, {"resources_default", "ncpus", "1"}}},
                       {MGR_OBJ_QUEUE, "q2", {}}}));
    attrl second{nullptr, const_cast<char*>("comment"), nullptr, nullptr, SET};
    attrl first{&second, const_cast<char*>("resources_default"), const_cast<char*>("ncpus"), nullptr, SET};
    const StatusList list(pbs_statque(connection(), "q1", &first, "x"));
    ASSERT_TRUE(list);
    EXPECT_EQ(pbs_errno, 0);
    expect_request(RequestType::status_queue,
                   Status{"q1", {{"resources_default", "ncpus", ""}, {"comment", "", ""}}}, "x");
    EXPECT_STREQ(list->name, "q1");
    EXPECT_EQ(list->text, nullptr);
    ASSERT_TRUE(list->attribs && list->attribs->next);
    EXPECT_STREQ(list->attribs->name, "enabled");
    EXPECT_EQ(list->attribs->resource, nullptr);
    EXPECT_STREQ(list->attribs->value, "True");
    EXPECT_STREQ(list->attribs->next->resource, "ncpus");
    EXPECT_EQ(list->attribs->next->next, nullptr);
    ASSERT_TRUE(list->next);
    EXPECT_STREQ(list->next->name, "q2");
    EXPECT_EQ(list->next->attribs, nullptr);
    EXPECT_EQ(list->next->next, nullptr);
}

TEST_F(ApiTest, StatCallsAskForTheirKindOfObject) {
    using Stat = batch_status* (*)(int, const char*, attrl*, const char*);
    const struct {
        Stat stat;
        RequestType type;
        const char* extend;
    } rows[] = {
        {pbs_statjob, RequestType::status_job, "x"},
        {pbs_statque, RequestType::status_queue, "x"},
        {pbs_statvnode, RequestType::status_node, "x"},
        {pbs_statrsc, RequestType::status_resource, "x"},
        {pbs_statresv, RequestType::status_reservation, "x"},
        {pbs_stathook, RequestType::status_hook, "x"},
        {pbs_statpolicy, RequestType::status_scheduler, "object=policy;x"},
        {pbs_stattimewindow, RequestType::status_scheduler, "object=time_window;x"},
        {pbs_statfsgroup, RequestType::status_scheduler, "object=fs_group;x"},
    };
    answer(status_packet({}));
    for (const auto& row : rows) {
        EXPECT_EQ(row.stat(connection(), "name", nullptr, "x"), nullptr);
        EXPECT_EQ(pbs_errno, 0) << "nothing is no error";
        expect_request(row.type, Status{"name", {}}, row.extend);
        row.stat(connection(), nullptr, nullptr, nullptr);
        EXPECT_EQ(std::get<Status>(last_request().body).object, "");
    }
    pbs_statserver(connection(), nullptr, nullptr);
    expect_request(RequestType::status_server, Status{});
    pbs_statsched(connection(), nullptr, nullptr);
    expect_request(RequestType::status_scheduler, Status{});
    pbs_statpolicy(connection(), nullptr, nullptr, nullptr);
    expect_request(RequestType::status_scheduler, Status{}, "object=policy");
}

TEST_F(ApiTest, AStatusInPartsIsOneList) {
    std::string packets;
    for (const char* name : {"1.s", "2.s", "3.s"}) {
        packets += reply_packet({0, 0, StatusReply{{{MGR_OBJ_JOB, name, {{"job_state", "", "Q"}}}}}, true});
    }
    answer(packets + reply_packet({0, 0, StatusReply{}, false}));
    const StatusList list(pbs_statjob(connection(), "", nullptr, nullptr));
    std::vector<std::string> names;
    for (const batch_status* job = list.get(); job; job = job->next) names.emplace_back(job->name);
    EXPECT_THAT(names, ElementsAre("1.s", "2.s", "3.s"));
}

TEST_F(ApiTest, ObjectsOfAListCanBeMovedAndFreedByThemselves) {
    answer(status_packet({{MGR_OBJ_QUEUE, "q1", {{"resources_default", "ncpus", "1"}}},
                          {MGR_OBJ_QUEUE, "q2", {{"comment", "", ""}}},
                          {MGR_OBJ_QUEUE, "q3", {}}}));
    StatusList first(pbs_statque(connection(), nullptr, nullptr, nullptr));
    ASSERT_TRUE(first && first->next && first->next->next);
    StatusList second(first->next);
    StatusList third(second->next);
    first->next = second->next = nullptr;
    third->next = first.release();
    second.reset();
    EXPECT_STREQ(third->name, "q3");
    EXPECT_STREQ(third->next->attribs->resource, "ncpus");
}

// Returns the objects that pbs_stateach() passes to its callback, a line each. Sets `code` to its result.
std::vector<std::string> each_object(int connection, int type, const char* name, attrl* wanted, int& code) {
    std::vector<std::string> lines;
    code = pbs_stateach(
        connection, type, name, wanted, nullptr,
        [](batch_status* object, void* to) {
            std::string line = object->name;
            for (const attrl* a = object->attribs; a; a = a->next)
                line += std::string(" ") + a->name + (a->resource ? std::string(".") + a->resource : "") +
                        "=" + a->value;
            EXPECT_EQ(object->next, nullptr);
            static_cast<std::vector<std::string>*>(to)->push_back(line);
        },
        &lines);
    EXPECT_EQ(pbs_errno, code);
    return lines;
}

TEST_F(ApiTest, StatEachGivesOneObjectAfterAnother) {
    const std::string large(100000, 'x');
    std::string packets = reply_packet(
        {0, 0, StatusReply{{{64, "a", {{"comment", "", "one"}, {"list", "r", "2"}}}, {64, "b", {}}}}, true});
    packets += reply_packet({0, 0, StatusReply{{{64, "c", {{"comment", "", large}}}, {64, "d", {}}}}, false});
    answer(packets);
    attrl wanted{nullptr, const_cast<char*>("comment"), nullptr, nullptr, SET};
    int code = -1;
    EXPECT_THAT(each_object(connection(), MGR_OBJ_POLICY, nullptr, &wanted, code),
                ElementsAre("a comment=one list.r=2", "b", "c comment=" + large, "d"));
    EXPECT_EQ(code, 0);
    expect_request(RequestType::status_scheduler, Status{"", {{"comment", "", ""}}}, "object=policy");
    answer(status_packet({}));
    EXPECT_THAT(each_object(connection(), MGR_OBJ_TIME_WINDOW, "w", nullptr, code), IsEmpty());
    EXPECT_EQ(code, 0);
    expect_request(RequestType::status_scheduler, Status{"w", {}}, "object=time_window");
    each_object(connection(), MGR_OBJ_FS_GROUP, nullptr, nullptr, code);
    expect_request(RequestType::status_scheduler, Status{}, "object=fs_group");
}

TEST_F(ApiTest, StatEachTellsWhyThereIsNothing) {
    int code = 0;
    answer(reply_packet(Reply::error(15212, "Unknown policy nothing")));
    EXPECT_THAT(each_object(connection(), MGR_OBJ_POLICY, "nothing", nullptr, code), IsEmpty());
    EXPECT_EQ(code, PBSE_POLICY_NOT_FOUND);
    EXPECT_STREQ(pbs_geterrmsg(connection()), "Unknown policy nothing");
    EXPECT_THAT(each_object(connection(), MGR_OBJ_QUEUE, nullptr, nullptr, code), IsEmpty());
    EXPECT_EQ(code, PBSE_IVALREQ);
    EXPECT_EQ(pbs_stateach(connection(), MGR_OBJ_POLICY, nullptr, nullptr, nullptr, nullptr, nullptr),
              PBSE_IVALREQ);
    answer(reply_packet({0, 0, SelectReply{}, false}));
    each_object(connection(), MGR_OBJ_POLICY, nullptr, nullptr, code);
    EXPECT_EQ(code, PBSE_PROTOCOL);
    each_object(-7, MGR_OBJ_POLICY, nullptr, nullptr, code);
    EXPECT_EQ(code, PBSE_IVALREQ);
}

TEST_F(ApiTest, StatEachGivesWhatCameBeforeAMalformedPart) {
    std::string packets = reply_packet({0, 0, StatusReply{{{64, "a", {}}, {64, "b", {}}}}, true});
    answer(packets + make_packet("+2+2+0+0+6+0+1garbage"));
    int code = 0;
    EXPECT_THAT(each_object(connection(), MGR_OBJ_POLICY, nullptr, nullptr, code), ElementsAre("a", "b"));
    EXPECT_EQ(code, PBSE_PROTOCOL);
    // pbs_statpolicy() after a failure returns null, not a part of the list
    pbs_disconnect(std::exchange(connection_, -1));
    EXPECT_EQ(pbs_statpolicy(connection(), nullptr, nullptr, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_PROTOCOL);
}

TEST_F(ApiTest, AnUnknownPolicyObjectIsNullAnd15212) {
    answer(reply_packet(Reply::error(15212, "Unknown policy nothing")));
    EXPECT_EQ(pbs_statpolicy(connection(), "nothing", nullptr, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_POLICY_NOT_FOUND);
    EXPECT_EQ(pbs_errno, 15212);
    EXPECT_STREQ(pbs_geterrmsg(connection()), "Unknown policy nothing");
}

TEST_F(ApiTest, HostsAreMadeOfVnodes) {
    answer(status_packet(
        {{MGR_OBJ_NODE, "h[0]", {{"resources_available", "host", "h"}, {"state", "", "free"}}},
         {MGR_OBJ_NODE, "h[1]", {{"resources_available", "host", "h"}, {"state", "", "down"}}}}));
    attrl wanted{nullptr, const_cast<char*>("state"), nullptr, nullptr, SET};
    const StatusList list(pbs_statnode(connection(), "h", &wanted, nullptr));
    ASSERT_TRUE(list);
    EXPECT_STREQ(list->name, "h");
    EXPECT_STREQ(list->attribs->value, "<various>");
    EXPECT_EQ(list->attribs->next, nullptr);
    EXPECT_EQ(pbs_stathost(connection(), "other", nullptr, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_UNKNODE);
}

TEST_F(ApiTest, ErrorsLeaveTheirNumberAndText) {
    answer(reply_packet(Reply::error(PBSE_PERM, "only managers may")));
    EXPECT_EQ(pbs_manager(connection(), MGR_CMD_DELETE, MGR_OBJ_FS_GROUP, "f1", nullptr, nullptr), PBSE_PERM);
    EXPECT_EQ(pbs_errno, PBSE_PERM);
    EXPECT_STREQ(pbs_geterrmsg(connection()), "only managers may");
    expect_request(RequestType::manager, Manage{1, 66, "f1", {}});

    answer(reply_packet({PBSE_UNKJOBID, 0, NullReply{}, false}));
    EXPECT_EQ(pbs_rerunjob(connection(), "9.s", nullptr), PBSE_UNKJOBID);
    EXPECT_STREQ(pbs_geterrmsg(connection()), "Unknown Job Id") << "the server sent no text";

    answer(reply_packet(Reply::warning("backfill_depth in server is deprecated.")));
    EXPECT_EQ(pbs_manager(connection(), MGR_CMD_SET, MGR_OBJ_SERVER, "", nullptr, nullptr), 0);
    EXPECT_STREQ(pbs_geterrmsg(connection()), "backfill_depth in server is deprecated.");

    answer(reply_packet(Reply::ok()));
    EXPECT_EQ(pbs_terminate(connection(), SHUT_DELAY, nullptr), 0);
    EXPECT_EQ(pbs_geterrmsg(connection()), nullptr);
}

TEST_F(ApiTest, ManagerSendsItsAttributesWithTheirOperations) {
    attropl second{nullptr, const_cast<char*>("resources_max"), const_cast<char*>("mem"),
                   const_cast<char*>("1gb"), DECR};
    attropl first{&second, const_cast<char*>("rrule"), nullptr, const_cast<char*>("FREQ=DAILY"), INCR};
    EXPECT_EQ(pbs_manager(connection(), MGR_CMD_SET, MGR_OBJ_TIME_WINDOW, "t1", &first, "e"), 0);
    expect_request(
        RequestType::manager,
        Manage{
            2, 65, "t1", {{"rrule", "", "FREQ=DAILY", Op::incr}, {"resources_max", "mem", "1gb", Op::decr}}},
        "e");
    attropl nameless{nullptr, nullptr, nullptr, nullptr, SET};
    EXPECT_EQ(pbs_manager(connection(), MGR_CMD_SET, MGR_OBJ_QUEUE, "q", &nameless, nullptr), PBSE_BADATLST);
}

TEST_F(ApiTest, ManagerRequestsAreAnsweredInTheirOrder) {
    answer_with([](const Request& request) {
        const auto& body = std::get<Manage>(request.body);
        return reply_packet(body.object == "p7" ? Reply::error(PBSE_PERM, "not p7")
                                                : Reply::warning("made " + body.object));
    });
    const int c = connection();
    EXPECT_EQ(pbs_manager_reply(c), PBSE_IVALREQ);
    for (int i = 0; i < 1000; ++i) {
        const std::string name = "p" + std::to_string(i);
        EXPECT_EQ(pbs_manager_send(c, MGR_CMD_CREATE, MGR_OBJ_POLICY, name.c_str(), nullptr, nullptr), 0);
    }
    EXPECT_EQ(pbs_manager(c, MGR_CMD_SET, MGR_OBJ_POLICY, "p1", nullptr, nullptr), PBSE_IVALREQ)
        << "it would get the answer to another one";
    for (int i = 0; i < 1000; ++i) {
        EXPECT_EQ(pbs_manager_reply(c), i == 7 ? PBSE_PERM : 0);
        EXPECT_EQ(pbs_errno, i == 7 ? PBSE_PERM : 0);
        EXPECT_EQ(pbs_geterrmsg(c), i == 7 ? std::string("not p7") : "made p" + std::to_string(i));
    }
    EXPECT_EQ(pbs_manager(c, MGR_CMD_SET, MGR_OBJ_POLICY, "p1", nullptr, nullptr), 0);
}

// Sends more requests than the sockets hold, and the answers are as long. So pbs_manager_send() has to read
// answers while it sends; otherwise both sides would wait forever.
TEST_F(ApiTest, RequestsAreSentWhileAnswersCome) {
    const std::string text(4000, 't');
    answer(reply_packet(Reply::warning(text)));
    const int c = connection();
    attropl comment{nullptr, const_cast<char*>("comment"), nullptr, const_cast<char*>(text.c_str()), SET};
    for (int i = 0; i < 2000; ++i)
        ASSERT_EQ(pbs_manager_send(c, MGR_CMD_SET, MGR_OBJ_POLICY, "p", &comment, nullptr), 0);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(pbs_manager_reply(c), 0);
}

TEST_F(ApiTest, AnswersThatCameBeforeTheEndAreGiven) {
    answer_with([](const Request& request) {
        return std::get<Manage>(request.body).object == "p2" ? std::string() : reply_packet(Reply::ok());
    });
    const int c = connection();
    for (const char* name : {"p0", "p1", "p2", "p3"})
        EXPECT_EQ(pbs_manager_send(c, MGR_CMD_CREATE, MGR_OBJ_POLICY, name, nullptr, nullptr), 0);
    EXPECT_EQ(pbs_manager_reply(c), 0);
    EXPECT_EQ(pbs_manager_reply(c), 0);
    EXPECT_EQ(pbs_manager_reply(c), PBSE_PROTOCOL);
    EXPECT_EQ(pbs_manager_reply(c), PBSE_PROTOCOL);
    EXPECT_EQ(pbs_manager_send(c, MGR_CMD_CREATE, MGR_OBJ_POLICY, "p4", nullptr, nullptr), PBSE_PROTOCOL);
}

TEST_F(ApiTest, JobCallsSendTheirRequests) {
    attrl name{nullptr, const_cast<char*>(ATTR_N), nullptr, const_cast<char*>("new"), INCR};
    const int c = connection();
    EXPECT_EQ(pbs_alterjob(c, "1.s", &name, "x"), 0);
    expect_request(RequestType::modify_job, Manage{2, 2, "1.s", {{"Job_Name", "", "new", Op::set}}}, "x");
    EXPECT_EQ(pbs_holdjob(c, "1.s", nullptr, nullptr), 0);
    expect_request(RequestType::hold_job, Manage{2, 2, "1.s", {{"Hold_Types", "", "u", Op::set}}});
    EXPECT_EQ(pbs_rlsjob(c, "1.s", "os", nullptr), 0);
    expect_request(RequestType::release_job, Manage{2, 2, "1.s", {{"Hold_Types", "", "os", Op::set}}});
    EXPECT_EQ(pbs_runjob(c, "1.s", "n1", nullptr), 0);
    expect_request(RequestType::run_job, RunJob{"1.s", "n1", 0});
    EXPECT_EQ(pbs_asyrunjob_ack(c, "1.s", nullptr, nullptr), 0);
    expect_request(RequestType::run_job_acknowledged, RunJob{"1.s", "", 0});
    EXPECT_EQ(pbs_movejob(c, "1.s", "q2", nullptr), 0);
    expect_request(RequestType::move_job, MoveJob{"1.s", "q2"});
    EXPECT_EQ(pbs_orderjob(c, "1.s", "2.s", nullptr), 0);
    expect_request(RequestType::order_job, MoveJob{"1.s", "2.s"});
    EXPECT_EQ(pbs_rerunjob(c, "1.s", nullptr), 0);
    expect_request(RequestType::rerun_job, JobId{"1.s"});
    EXPECT_EQ(pbs_sigjob(c, "1.s", "TERM", nullptr), 0);
    expect_request(RequestType::signal_job, SignalJob{"1.s", "TERM"});
    EXPECT_EQ(pbs_msgjob(c, "1.s", MSG_ERR, "hello", nullptr), 0);
    expect_request(RequestType::message_job, MessageJob{"1.s", 2, "hello"});
    // The server sends no replies to these two requests. So the next request must get its own reply.
    EXPECT_EQ(pbs_asyrunjob(c, "1.s", "n1", nullptr), 0);
    EXPECT_EQ(pbs_asyalterjob(c, "1.s", &name, nullptr), 0);
    answer(reply_packet({0, 0, LocateReply{"here"}, false}));
    const Text location(pbs_locjob(c, "1.s", nullptr));
    EXPECT_STREQ(location.get(), "here");
    expect_request(RequestType::locate_job, JobId{"1.s"});
}

TEST_F(ApiTest, JobCallsRefuseAMissingJob) {
    const int c = connection();
    const std::size_t before = server_->requests().size();
    EXPECT_EQ(pbs_alterjob(c, nullptr, nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_deljob(c, "", nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_holdjob(c, "", nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_runjob(c, nullptr, nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_movejob(c, nullptr, nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_orderjob(c, "1.s", nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_sigjob(c, "1.s", nullptr, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_msgjob(c, "1.s", 1, "", nullptr), PBSE_IVALREQ);
    EXPECT_STREQ(pbs_geterrmsg(c), "an argument is missing: expected a job, a file and a message");
    EXPECT_EQ(pbs_locjob(c, "", nullptr), nullptr);
    EXPECT_STREQ(pbs_geterrmsg(c), "an argument is missing: expected a job");
    EXPECT_EQ(pbs_deljoblist(c, nullptr, 0, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_IVALREQ);
    EXPECT_EQ(server_->requests().size(), before);
}

TEST_F(ApiTest, Reservations) {
    const int c = connection();
    attropl start{};
    start.name = const_cast<char*>("reserve_start");
    start.value = const_cast<char*>("2000");
    answer(reply_packet({0, 0, TextReply{"R1.s UNCONFIRMED"}, false}));
    const Text submitted(pbs_submit_resv(c, &start, "m"));
    EXPECT_STREQ(submitted.get(), "R1.s UNCONFIRMED");
    expect_request(RequestType::submit_reservation,
                   QueueJob{"", "", {{"reserve_start", "", "2000", Op::set}}}, "m");
    const Text modified(pbs_modify_resv(c, "R1.s", &start, nullptr));
    EXPECT_STREQ(modified.get(), "R1.s UNCONFIRMED");
    expect_request(RequestType::modify_reservation,
                   ModifyReservation{MGR_OBJ_RESV, "R1.s", {{"reserve_start", "", "2000", Op::set}}});
    answer(reply_packet(Reply::ok()));
    EXPECT_EQ(pbs_delresv(c, "R1.s", nullptr), 0);
    expect_request(RequestType::delete_reservation, Manage{MGR_CMD_DELETE, MGR_OBJ_RESV, "R1.s", {}});
    EXPECT_EQ(pbs_confirmresv(c, "M1.s", "(n:ncpus=2)", 2000, "PBS_RESV_CONFIRM_SUCCESS"), 0);
    expect_request(RequestType::confirm_reservation, RunJob{"M1.s", "(n:ncpus=2)", 2000},
                   "PBS_RESV_CONFIRM_SUCCESS");
    EXPECT_EQ(pbs_submit_resv(c, &start, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_PROTOCOL) << "no text came";
    const std::size_t before = server_->requests().size();
    EXPECT_EQ(pbs_delresv(c, "", nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_confirmresv(c, nullptr, "(n)", 0, nullptr), PBSE_IVALREQ);
    EXPECT_EQ(pbs_modify_resv(c, nullptr, &start, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_IVALREQ);
    EXPECT_EQ(server_->requests().size(), before);
}

TEST_F(ApiTest, SelectionsAndDeletions) {
    const int c = connection();
    attropl state{nullptr, const_cast<char*>(ATTR_state), nullptr, const_cast<char*>("Q"), EQ};
    answer(reply_packet({0, 0, SelectReply{{"1.s", "2.s"}}, false}));
    const std::unique_ptr<char*, FreeMemory> jobs(pbs_selectjob(c, &state, nullptr));
    ASSERT_TRUE(jobs);
    EXPECT_STREQ(jobs.get()[0], "1.s");
    EXPECT_STREQ(jobs.get()[1], "2.s");
    EXPECT_EQ(jobs.get()[2], nullptr);
    expect_request(RequestType::select_jobs, Select{{{"job_state", "", "Q", Op::eq}}, {}});

    answer(status_packet({{MGR_OBJ_JOB, "1.s", {}}}));
    attrl wanted{nullptr, const_cast<char*>(ATTR_N), nullptr, nullptr, SET};
    EXPECT_TRUE(StatusList(pbs_selstat(c, &state, &wanted, nullptr)));
    expect_request(RequestType::select_status,
                   Select{{{"job_state", "", "Q", Op::eq}}, {{"Job_Name", "", ""}}});

    answer(reply_packet({0, 0, DeleteReply{{{"2.s", PBSE_UNKJOBID}}}, false}));
    char one[] = "1.s";
    char two[] = "2.s";
    char* list[] = {one, two, nullptr};
    batch_deljob_status* failed = pbs_deljoblist(c, list, 2, FORCE);
    ASSERT_TRUE(failed);
    EXPECT_STREQ(failed->name, "2.s");
    EXPECT_EQ(failed->code, PBSE_UNKJOBID);
    EXPECT_EQ(failed->next, nullptr);
    pbs_delstatfree(failed);
    expect_request(RequestType::delete_job_list, DeleteJobList{{"1.s", "2.s"}}, "force");

    EXPECT_EQ(pbs_deljob(c, "2.s", nullptr), PBSE_UNKJOBID);
    EXPECT_EQ(pbs_errno, PBSE_UNKJOBID);
    answer(reply_packet(Reply::error(PBSE_PERM)));
    EXPECT_EQ(pbs_deljob(c, "2.s", nullptr), PBSE_PERM);
    answer(reply_packet({0, 0, DeleteReply{}, false}));
    EXPECT_EQ(pbs_deljob(c, "2.s", nullptr), 0);
}

TEST_F(ApiTest, SubmitSendsTheScriptInPiecesAndCommits) {
    const std::string script(kScriptChunk + 10, 's');
    std::ofstream(home_ + "/job.sh", std::ios::binary) << script;
    answer_with([](const Request& request) {
        if (request.type == RequestType::queue_job) return reply_packet({0, 0, QueueReply{"7.s"}, false});
        if (request.type == RequestType::commit) return reply_packet({0, 0, CommitReply{"7.s"}, false});
        return reply_packet(Reply::ok());
    });
    const int c = connection();
    const std::size_t before = server_->requests().size();
    attropl name{nullptr, const_cast<char*>(ATTR_N), nullptr, const_cast<char*>("hello"), INCR};
    const Text job(pbs_submit(c, &name, (home_ + "/job.sh").c_str(), "q1", nullptr));
    EXPECT_STREQ(job.get(), "7.s");
    const auto requests = server_->requests();
    ASSERT_EQ(requests.size(), before + 4);
    const std::string me = my_name();
    EXPECT_EQ(requests[before],
              (Request{RequestType::queue_job, me, QueueJob{"", "q1", {{"Job_Name", "", "hello"}}}, ""}));
    EXPECT_EQ(requests[before + 1], (Request{RequestType::job_script, me,
                                             JobScript{0, 0, "", script.substr(0, kScriptChunk)}, ""}));
    EXPECT_EQ(requests[before + 2],
              (Request{RequestType::job_script, me, JobScript{1, 0, "", script.substr(kScriptChunk)}, ""}));
    EXPECT_EQ(requests[before + 3], (Request{RequestType::commit, me, JobId{"7.s"}, ""}));
}

TEST_F(ApiTest, SubmitWithoutAScriptAsksForAnImplicitCommit) {
    answer(reply_packet({0, 0, CommitReply{"7.s"}, false}));
    EXPECT_STREQ(Text(pbs_submit(connection(), nullptr, nullptr, nullptr, "x")).get(), "7.s");
    expect_request(RequestType::queue_job, QueueJob{}, ":C:x");
    // if the server doesn't commit the job with the first request, the library sends a commit request
    answer(reply_packet({0, 0, QueueReply{"8.s"}, false}));
    EXPECT_STREQ(Text(pbs_submit(connection(), nullptr, "", nullptr, nullptr)).get(), "8.s");
    expect_request(RequestType::commit, JobId{"8.s"});
}

TEST_F(ApiTest, SubmitThatFailsReturnsNull) {
    const int c = connection();
    EXPECT_EQ(pbs_submit(c, nullptr, "/nonexistent", nullptr, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_BADSCRIPT);
    EXPECT_THAT(pbs_geterrmsg(c), HasSubstr("/nonexistent"));

    std::ofstream(home_ + "/job.sh") << "true\n";
    for (const RequestType failing : {RequestType::queue_job, RequestType::job_script, RequestType::commit}) {
        answer_with([failing](const Request& request) {
            if (request.type == failing) return reply_packet(Reply::error(PBSE_JOBSCRIPTMAXSIZE));
            return reply_packet({0, 0, QueueReply{"7.s"}, false});
        });
        EXPECT_EQ(pbs_submit(c, nullptr, (home_ + "/job.sh").c_str(), nullptr, nullptr), nullptr);
        EXPECT_EQ(pbs_errno, PBSE_JOBSCRIPTMAXSIZE);
    }
}

TEST_F(ApiTest, ABrokenServerIsAProtocolError) {
    const struct {
        std::string answer;
        const char* reason;
    } rows[] = {
        {make_packet("+2+2+0"), "malformed reply"},
        {"HTTP/1.0 200 OK", "a packet of the batch protocol"},
        {"", "the server closed the connection"},
        {reply_packet({0, 0, SelectReply{}, false}), "doesn't answer"},
    };
    for (const auto& row : rows) {
        answer(row.answer);
        const int c = pbs_connect(nullptr);
        ASSERT_GE(c, 0);
        EXPECT_EQ(pbs_statjob(c, nullptr, nullptr, nullptr), nullptr);
        EXPECT_EQ(pbs_errno, PBSE_PROTOCOL);
        EXPECT_THAT(pbs_geterrmsg(c), HasSubstr(row.reason));
        EXPECT_EQ(pbs_disconnect(c), 0);
    }
}

TEST_F(ApiTest, AConnectionThatBrokeStaysBroken) {
    answer("");
    const int c = connection();
    EXPECT_EQ(pbs_terminate(c, SHUT_QUICK, nullptr), PBSE_PROTOCOL);
    answer(reply_packet(Reply::ok()));
    EXPECT_EQ(pbs_terminate(c, SHUT_QUICK, nullptr), PBSE_PROTOCOL);
    EXPECT_THAT(pbs_geterrmsg(c), HasSubstr("closed the connection"));
}

TEST_F(ApiTest, ANumberThatIsNoConnectionIsRefused) {
    EXPECT_EQ(pbs_statjob(12345, nullptr, nullptr, nullptr), nullptr);
    EXPECT_EQ(pbs_errno, PBSE_IVALREQ);
    EXPECT_EQ(pbs_disconnect(12345), -1);
    const int c = pbs_connect(nullptr);
    EXPECT_EQ(pbs_disconnect(c), 0);
    EXPECT_EQ(pbs_disconnect(c), -1);
    EXPECT_EQ(pbs_terminate(c, 0, nullptr), PBSE_IVALREQ);
}

TEST_F(ApiTest, ThreadsMayShareAConnection) {
    answer_with([](const Request& request) {
        const std::string& name = std::get<Status>(request.body).object;
        return name == "error" ? reply_packet(Reply::error(PBSE_UNKJOBID))
                               : status_packet({{MGR_OBJ_JOB, name, {}}});
    });
    const int c = connection();
    std::vector<std::thread> threads;
    threads.reserve(8);
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([c, t, &wrong] {
            const std::string name = t % 2 ? "error" : std::to_string(t) + ".s";
            for (int i = 0; i < 100; ++i) {
                const StatusList list(pbs_statjob(c, name.c_str(), nullptr, nullptr));
                const bool good = t % 2 ? !list && pbs_errno == PBSE_UNKJOBID && pbs_geterrmsg(c)
                                        : list && list->name == name && pbs_errno == 0 && !pbs_geterrmsg(c);
                if (!good) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// Output and exit status of a program that run() has run.
struct Ran {
    std::string output;
    int status = 0;
};

Ran run(const std::string& command) {
    Ran result;
    FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a fixed command of this test
    char text[4096];
    for (std::size_t n = 0; (n = fread(text, 1, sizeof text, pipe)) > 0;) result.output.append(text, n);
    result.status = pclose(pipe);
    return result;
}

std::string policy_answers(const Request& request) {
    const auto& status = std::get<Status>(request.body);
    if (status.object == "nothing" || status.object == "no_such_object") {
        return reply_packet(Reply::error(15212, "no such object, " + request.extend));
    }
    ObjectStatus object{MGR_OBJ_POLICY, "p1", {{"by_queue", "", "True"}, {"comment", "", "for the tests"}}};
    if (!status.wanted.empty()) object.attributes.erase(object.attributes.begin());
    return status_packet({object});
}

TEST_F(ApiTest, ACProgramSeesTheInterface) {
    answer_with(policy_answers);
    const Ran ran = run(PBS_C_CLIENT);
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.output,
              "all policies: errno 0\n"
              "  p1\n"
              "    by_queue=True\n"
              "    comment=for the tests\n"
              "comment of p1: errno 0\n"
              "  p1\n"
              "    comment=for the tests\n"
              "unknown: NULL, errno 15212, no such object, object=time_window;mine\n"
              "unknown: NULL, errno 15212, no such object, object=fs_group\n");
}

TEST_F(ApiTest, TheExampleProgramWorks) {
    answer_with(policy_answers);
    const Ran ran = run(PBS_STAT_OBJECTS);
    EXPECT_EQ(ran.status, 0) << ran.output;
    for (const char* kind : {"policy", "time_window", "fs_group"}) {
        EXPECT_THAT(ran.output, HasSubstr(std::string(kind) +
                                          ": one that doesn't exist\n  returned NULL, pbs_errno 15212\n"));
    }
}

// Over TCP, the library proves its user by a port below 1024, which only root may use.
class TcpTest : public ApiTest {
  protected:
    TcpTest() : no_home_("PBS_HOME", nullptr), conf_("PBS_CONF_FILE", "/nonexistent") {
        address_ = "127.0.0.1:" + std::to_string(server_->port());
    }
    Variable no_home_;
    Variable conf_;
    std::string address_;
};

TEST_F(TcpTest, RootIsAuthenticatedFromAReservedPort) {
    if (geteuid() != 0) GTEST_SKIP() << "only root may use a reserved port";
    const int c = pbs_connect(address_.c_str());
    ASSERT_GE(c, 0) << pbs_geterrmsg(-1);
    EXPECT_EQ(pbs_terminate(c, SHUT_QUICK, nullptr), 0);
    EXPECT_EQ(user(), my_name());
    EXPECT_EQ(pbs_disconnect(c), 0);
}

TEST_F(TcpTest, ManyConnectionsFindManyReservedPorts) {
    if (geteuid() != 0) GTEST_SKIP() << "only root may use a reserved port";
    std::vector<int> connections;
    for (int i = 0; i < 40; ++i) {
        connections.push_back(pbs_connect(address_.c_str()));
        ASSERT_GE(connections.back(), 0) << pbs_geterrmsg(-1);
    }
    for (const int c : connections) EXPECT_EQ(pbs_disconnect(c), 0);
}

TEST_F(TcpTest, AnotherUserWithoutAHelperIsToldSo) {
    const Variable exec("PBS_EXEC", "/nonexistent");
    // run the program as another user: if the test runs as root, setpriv gives up root's privileges
    const std::string prefix = geteuid() == 0 ? "setpriv --reuid 65534 --clear-groups " : "";
    std::filesystem::permissions(home_, std::filesystem::perms::all);
    const Ran ran = run("PBS_SERVER=" + address_ + " " + prefix + PBS_C_CLIENT);
    EXPECT_NE(ran.status, 0);
    EXPECT_THAT(ran.output, HasSubstr("errno 15019: cannot authenticate: not a privileged process, and "
                                      "/nonexistent/sbin/pbs_iff: No such file or directory"));
}

}  // namespace
}  // namespace pbs::ifl

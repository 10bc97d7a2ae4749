// Tests jobs that go from one server to another: moved by qmove, or pulled by a server that has room. One of
// the servers may be killed, not answer, or refuse.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "ifl/packet.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {
namespace {

using ::testing::HasSubstr;

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(port));
    return address;
}

int listen_anywhere(int& port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    (void)bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address);
    (void)listen(fd, 16);
    (void)getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    return fd;
}

// A proxy between two servers. It passes on only as many requests and replies as the test allows. It connects
// from a port below 1024, which only root may use, as servers do.
class Between {
  public:
    explicit Between(int to) : to_(to), listener_(listen_anywhere(port_)), thread_([this] { run(); }) {}
    ~Between() {
        stop_ = true;
        thread_.join();
        close(listener_);
    }
    int port() const { return port_; }
    // Number of packets in each direction of a connection that the proxy passes on. It holds back further
    // ones.
    std::atomic<int> requests{1000};
    std::atomic<int> replies{1000};

  private:
    static int connect_as_root(int to) {
        for (int port = 1023; port > 600; --port) {
            const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const sockaddr_in own = loopback(port);
            const sockaddr_in other = loopback(to);
            if (bind(fd, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
                connect(fd, reinterpret_cast<const sockaddr*>(&other), sizeof other) == 0)
                return fd;
            close(fd);
        }
        return -1;
    }
    struct Way {
        int from;
        int to;
        ifl::PacketReader packets{std::size_t{16} << 20};
        int passed = 0;
    };
    // Passes on the packets of one direction of a connection, at most `most` in all. Returns false if the
    // connection has ended.
    static bool pass(Way& way, int most) {
        char bytes[65536];
        const ssize_t size = recv(way.from, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size == 0 || (size < 0 && errno != EAGAIN)) return false;
        if (size > 0) way.packets.feed({bytes, static_cast<std::size_t>(size)});
        while (way.passed < most) {
            const auto packet = way.packets.next();
            if (!packet) return false;
            if (!*packet) return true;
            const std::string whole = ifl::make_packet(**packet);
            (void)!send(way.to, whole.data(), whole.size(), MSG_NOSIGNAL);
            ++way.passed;
        }
        return true;
    }
    void run() {
        while (!stop_) {
            pollfd waiting{listener_, POLLIN, 0};
            if (poll(&waiting, 1, 20) != 1) continue;
            const int from = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            const int to = connect_as_root(to_);
            Way there{from, to};
            Way back{to, from};
            while (!stop_ && pass(there, requests) && pass(back, replies)) usleep(2000);
            close(from);
            close(to);
        }
    }

    int port_ = 0;
    int to_;
    int listener_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

// A server that accepts connections and never answers.
class Silent {
  public:
    Silent() : listener_(listen_anywhere(port_)) {}
    ~Silent() { close(listener_); }
    int port() const { return port_; }

  private:
    int port_ = 0;
    int listener_;
};

// Two servers. `there` has jobs and starts none of them; `here` has free CPUs for them.
class Peer : public ::testing::Test {
  protected:
    Peer() : here({.arguments = {"--name", "here"}}), there({.arguments = {"--name", "there"}}) {}
    void SetUp() override {
        NEEDS(own_server);
        if (getuid() != 0) GTEST_SKIP() << "servers know each other by ports that only root may use";
        for (Server* server : {&here, &there}) {
            ASSERT_TRUE(server->start());
            ASSERT_TRUE(server->configure({
                "create queue work queue_type=execution, enabled=True, started=True",
                "set server default_queue=work, flatuid=True, job_history_enable=True",
            }));
        }
        ASSERT_TRUE(here.configure({"create node n1 resources_available.ncpus=4"}));
        ASSERT_TRUE(there.configure({"set server scheduling=False"}));
    }
    static std::string at(int port) { return "localhost:" + std::to_string(port); }
    ::testing::AssertionResult pull_from(int port, const std::string& queue = "work") const {
        return here.configure({"set policy default_policy peer_queue='work " + queue + "@" + at(port) + "'"});
    }
    std::string qmove(const std::string& id, const std::string& to) const {
        return there.command({"qmove", to, id}).err;
    }
    // Returns how many of the two servers have the job. A server that only remembers the job as moved (state
    // M) doesn't count.
    int count(const std::string& id) const {
        int found = 0;
        for (const Server* server : {&here, &there}) {
            const std::string state = server->job(id, "job_state");
            if (state != "(none)" && state != "M") ++found;
        }
        return found;
    }
    std::string written(const std::string& file) const {
        return here.command({"cat", (here.work() / file).string()}).out;
    }
    // Submits a job that adds a line to the file `runs` each time it runs.
    std::string noted(std::vector<std::string> options = {"-l", "ncpus=1"}) const {
        return there.submit("echo ran >> " + (here.work() / "runs").string() + "\n", std::move(options));
    }

    Server here;
    Server there;
};

TEST_F(Peer, AJobIsMovedToAnotherServerAndRunsThere) {
    const std::string id = noted();
    ASSERT_EQ(qmove(id, "work@" + at(here.port())), "");
    EXPECT_EQ(there.job(id, "job_state"), "M");
    ASSERT_TRUE(here.wait_job_state(id, "F"));
    EXPECT_EQ(here.job(id, "Job_Owner").substr(0, runner().name.size() + 1), runner().name + "@");
    EXPECT_EQ(here.job(id, "hop_count"), "2");
    EXPECT_EQ(written("runs"), "ran\n");
    // After the move the job belongs to the server `here`. It keeps its id.
    EXPECT_EQ(here.command({"qstat", "-x", id}).exit, 0);
    EXPECT_NE(here.command({"qalter", "-p", "5", id}).err, "");
}

TEST_F(Peer, AJobTakesItsVariablesAlongAsTheyAre) {
    const std::string id = there.submit("printf '%s' \"$A\" >" + (here.work() / "a").string() + "\n",
                                        {"-v", "A='x,\"y\"\\z='\"it's\""});
    ASSERT_EQ(qmove(id, "work@" + at(here.port())), "");
    ASSERT_TRUE(here.wait_job_state(id, "F"));
    EXPECT_EQ(written("a"), "x,\"y\"\\z=it's");
}

TEST_F(Peer, WhatIsRefusedStaysWhereItIs) {
    const std::string id = noted();
    EXPECT_THAT(qmove(id, "nowhere@" + at(here.port())), HasSubstr("nknown queue"));
    EXPECT_EQ(there.job(id, "job_state"), "Q");
    ASSERT_TRUE(here.configure({"set queue work enabled=False"}));
    EXPECT_THAT(qmove(id, "work@" + at(here.port())), HasSubstr("not enabled"));
    ASSERT_TRUE(here.configure({"set queue work enabled=True", "set server flatuid=False"}));
    EXPECT_THAT(qmove(id, "work@" + at(here.port())), HasSubstr("Bad UID"));
    Silent nobody;
    const Output as_user = there.command_as(runner(), {"qmove", "work@" + at(here.port()), id});
    EXPECT_THAT(as_user.err, HasSubstr("operators and managers move jobs to other servers"));
    EXPECT_EQ(there.job(id, "job_state"), "Q");
    EXPECT_THAT(there.submit("true\n", {"-W", "depend=after:" + id}), HasSubstr(".there"));
    EXPECT_THAT(qmove(id, "work@" + at(here.port())), HasSubstr("dependencies"));
    EXPECT_EQ(count(id), 1);
}

TEST_F(Peer, AJobIsPulledWhenItCouldRun) {
    const std::string large = noted({"-l", "ncpus=9"});
    const std::string small = noted({"-l", "ncpus=2"});
    ASSERT_TRUE(pull_from(there.port()));
    ASSERT_TRUE(here.wait_job_state(small, "F", std::chrono::seconds(30)));
    EXPECT_EQ(written("runs"), "ran\n");
    EXPECT_EQ(there.job(small, "job_state"), "M");
    EXPECT_EQ(there.job(large, "job_state"), "Q") << "it never fits here";
    EXPECT_EQ(there.job(large, "comment"), "(none)") << "nothing is said of it";
    EXPECT_EQ(here.job(large, "job_state"), "(none)");
    EXPECT_EQ(here.attribute("sched default", "unsupported_settings"), "(none)");
}

TEST_F(Peer, WhoIsNobodyHereHasNoJobsPulled) {
    const std::string id = noted();
    ASSERT_TRUE(here.configure({"set server flatuid=False"}));
    ASSERT_TRUE(pull_from(there.port()));
    const auto peers = [&] { return here.command({"pbs_diag", "--peers"}).out; };
    ASSERT_TRUE(wait_for([&] {
        return peers().find("work from work") != std::string::npos &&
               peers().find("not yet") == std::string::npos;
    })) << peers();
    EXPECT_EQ(there.job(id, "job_state"), "Q");
    ASSERT_TRUE(here.configure({"set server flatuid=True"}));
    EXPECT_TRUE(here.wait_job_state(id, "F", std::chrono::seconds(30)));
}

TEST_F(Peer, AServerThatDoesNotAnswerKeepsNobodyWaiting) {
    Silent silent;
    ASSERT_TRUE(pull_from(silent.port()));
    // While the peer doesn't answer, the server's own jobs run.
    for (int i = 0; i < 3; ++i) {
        const std::string own = here.submit("true\n", {"-l", "ncpus=1"});
        EXPECT_TRUE(here.wait_job_state(own, "F"));
    }
    const auto told = [&] {
        const std::string log = here.log();
        int lines = 0;
        for (std::size_t at = 0; (at = log.find("jobs can't be pulled from it", at)) != std::string::npos;
             ++at)
            ++lines;
        return lines;
    };
    ASSERT_TRUE(wait_for([&] { return told() > 0; }, std::chrono::seconds(30))) << here.log();
    EXPECT_EQ(told(), 1);
    EXPECT_THAT(here.command({"pbs_diag", "--peers"}).out, HasSubstr("no answer within 10 s"));
    // The server still asks its other peer, although the silent one doesn't answer.
    const std::string id = noted();
    ASSERT_TRUE(here.configure({"set policy default_policy peer_queue='work work@" + at(silent.port()) +
                                ", work work@" + at(there.port()) + "'"}));
    EXPECT_TRUE(here.wait_job_state(id, "F", std::chrono::seconds(30)));
}

// The request Commit arrives, but its reply is lost, and the sender is killed.
TEST_F(Peer, KilledAfterTheCommitTheJobRunsOnce) {
    Between between(here.port());
    between.replies = 2;  // the replies to QueueJob and JobScript
    const std::string id = noted();
    std::thread mover([&] { (void)qmove(id, "work@" + at(between.port())); });
    EXPECT_TRUE(here.wait_job_state(id, "F"));
    EXPECT_EQ(there.job(id, "job_state"), "T");
    EXPECT_THAT(there.command({"qdel", id}).err, HasSubstr("invalid for state of job"));
    there.kill9();
    mover.join();
    between.replies = 1000;
    ASSERT_TRUE(there.start());
    EXPECT_TRUE(wait_for([&] { return there.job(id, "job_state") == "M"; }, std::chrono::seconds(20)))
        << there.log();
    EXPECT_EQ(count(id), 1);
    EXPECT_EQ(written("runs"), "ran\n");
}

TEST_F(Peer, KilledBeforeTheCommitTheJobStays) {
    Between between(here.port());
    between.replies = 0;
    const std::string id = noted();
    std::thread mover([&] { (void)qmove(id, "work@" + at(between.port())); });
    EXPECT_TRUE(wait_for([&] { return there.job(id, "job_state") == "T"; }));
    there.kill9();
    mover.join();
    ASSERT_TRUE(there.start());
    EXPECT_EQ(there.job(id, "job_state"), "Q");
    EXPECT_EQ(count(id), 1);
}

TEST_F(Peer, AJobThatIsDeletedByForceOnItsWayNeverArrives) {
    Between between(here.port());
    between.replies = 0;
    const std::string id = noted();
    std::string told;
    std::thread mover([&] { told = qmove(id, "work@" + at(between.port())); });
    EXPECT_TRUE(wait_for([&] { return there.job(id, "job_state") == "T"; }));
    EXPECT_EQ(there.command({"qdel", "-W", "force", id}).exit, 0);
    between.replies = 1000;
    mover.join();
    EXPECT_THAT(told, HasSubstr("Unknown Job Id"));
    EXPECT_EQ(here.job(id, "job_state"), "(none)");
    EXPECT_TRUE(there.running());
}

// The request Commit is lost on its way.
TEST_F(Peer, ACommitThatIsLostIsMadeAgain) {
    Between between(here.port());
    between.requests = 2;
    const std::string id = noted();
    std::thread mover([&] { (void)qmove(id, "work@" + at(between.port())); });
    EXPECT_TRUE(wait_for([&] { return there.job(id, "substate") == "3"; }));
    there.kill9();
    mover.join();
    EXPECT_EQ(here.job(id, "job_state"), "(none)");
    between.requests = 1000;
    ASSERT_TRUE(there.start());
    EXPECT_TRUE(here.wait_job_state(id, "F", std::chrono::seconds(20)));
    EXPECT_TRUE(wait_for([&] { return there.job(id, "job_state") == "M"; }));
    EXPECT_EQ(written("runs"), "ran\n");
}

TEST_F(Peer, TheServerThatGotItIsKilled) {
    Between between(here.port());
    between.replies = 2;
    ASSERT_TRUE(here.configure({"set server scheduling=False"}));
    const std::string id = noted();
    std::thread mover([&] { (void)qmove(id, "work@" + at(between.port())); });
    EXPECT_TRUE(here.wait_job_state(id, "Q"));
    here.kill9();
    mover.join();
    EXPECT_EQ(there.job(id, "job_state"), "T");
    between.replies = 1000;
    ASSERT_TRUE(here.start());
    EXPECT_TRUE(wait_for([&] { return there.job(id, "job_state") == "M"; }, std::chrono::seconds(20)))
        << there.log();
    ASSERT_TRUE(here.configure({"set server scheduling=True"}));
    EXPECT_TRUE(here.wait_job_state(id, "F"));
    EXPECT_EQ(written("runs"), "ran\n");
}

TEST_F(Peer, AJobComesBack) {
    ASSERT_TRUE(here.configure({"set server scheduling=False"}));
    const std::string id = noted();
    ASSERT_EQ(qmove(id, "work@" + at(here.port())), "");
    ASSERT_EQ(here.job(id, "job_state"), "Q");
    EXPECT_EQ(here.command({"qmove", "work@" + at(there.port()), id}).err, "");
    EXPECT_EQ(there.job(id, "job_state"), "Q");
    EXPECT_EQ(there.job(id, "hop_count"), "3");
    EXPECT_EQ(count(id), 1);
    ASSERT_EQ(qmove(id, "work@" + at(here.port())), "");
    EXPECT_EQ(here.job(id, "job_state"), "Q");
    EXPECT_EQ(count(id), 1);
    // The job still waits after a restart.
    ASSERT_TRUE(here.stop());
    ASSERT_TRUE(here.start());
    EXPECT_EQ(here.job(id, "job_state"), "Q");
    ASSERT_TRUE(here.configure({"set server scheduling=True"}));
    EXPECT_TRUE(here.wait_job_state(id, "F"));
}

}  // namespace
}  // namespace pbs::e2e

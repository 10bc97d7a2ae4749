#include "server_plugin/host/net/munge_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <uv.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "ifl/pbs_error.h"

namespace pbs::host {
namespace {

using ::testing::HasSubstr;

const ifl::ConnectionEnds kEnds{"10.0.0.5", 40122, "10.0.0.1", 15001};

// In these sources, uid 0 is root and uid 1000 is alice. A credential's text is the credential itself. Root
// has made it if it begins with "root", else alice has.
CredentialSources sources() {
    return {
        [](const std::string& credential) -> Result<ifl::Munge::Decoded> {
            if (credential == "replayed") return fail(PBSE_BADCRED, "MUNGE refuses the credential: Replayed");
            return ifl::Munge::Decoded{credential.starts_with("root") ? uid_t{0} : uid_t{1000}, credential};
        },
        [](uid_t uid) -> std::optional<std::string> {
            if (uid == 0) return "root";
            if (uid == 1000) return "alice";
            return std::nullopt;
        },
        [](const ifl::ConnectionEnds&) -> std::optional<uid_t> { return uid_t{1000}; }};
}

void expect_refusal(const Result<std::string>& user, const char* why) {
    ASSERT_FALSE(user) << *user;
    EXPECT_EQ(user.error().code, PBSE_BADCRED);
    EXPECT_THAT(user.error().message, HasSubstr(why));
}

TEST(UserOfACredential, IsWhoseNumberItHas) {
    EXPECT_EQ(user_of({"alice:users", kEnds}, sources()), "alice");
    EXPECT_EQ(user_of({"alice:users:10.0.0.5,40122,10.0.0.1,15001", kEnds}, sources()), "alice");
    EXPECT_EQ(user_of({"root:root", kEnds}, sources()), "root");
}

TEST(UserOfACredential, IsNobodyIfMungedRefusesIt) {
    expect_refusal(user_of({"replayed", kEnds}, sources()), "Replayed");
    expect_refusal(user_of({"", kEnds}, sources()), "a user's name expected");
}

// The names are compared, because two hosts may have different users with the same number.
TEST(UserOfACredential, HasTheSameNameOnBothHosts) {
    expect_refusal(user_of({"bob:users", kEnds}, sources()),
                   "uid 1000 is alice on the server's host, and bob on the client's");
    CredentialSources others = sources();
    others.user_name = [](uid_t) { return std::nullopt; };
    expect_refusal(user_of({"alice:users", kEnds}, others), "uid 1000 has no name");
}

// If alice connects to another server, that server could show her credential to this one.
TEST(UserOfACredential, IsNobodyOnAnotherConnection) {
    for (const char* text :
         {"alice:users:10.0.0.6,40122,10.0.0.1,15001", "alice:users:10.0.0.5,40123,10.0.0.1,15001",
          "alice:users:10.0.0.5,40122,10.0.0.2,15001", "alice:users:10.0.0.5,40122,10.0.0.1,15002"})
        expect_refusal(user_of({text, kEnds}, sources()), "the credential is for the connection from");
}

// If the connection is on this machine, its owner has to be the maker of the credential. Otherwise root of
// another host and an ordinary user of this machine could become root together.
TEST(UserOfACredential, IsWhoHasTheConnectionIfThatIsOnThisMachine) {
    EXPECT_EQ(user_of({"alice:users", kEnds, true}, sources()), "alice");
    expect_refusal(user_of({"root:root", kEnds, true}, sources()),
                   "a credential of uid 0 on a connection of uid 1000");
    CredentialSources others = sources();
    others.owner = [](const ifl::ConnectionEnds&) { return std::nullopt; };
    expect_refusal(user_of({"alice:users", kEnds, true}, others), "doesn't know");
}

// The event loop runs in the test's own thread.
class MungeCheckTest : public ::testing::Test {
  protected:
    MungeCheckTest() { uv_loop_init(&loop); }
    ~MungeCheckTest() override {
        if (check) check->close();
        uv_run(&loop, UV_RUN_DEFAULT);
        EXPECT_EQ(uv_loop_close(&loop), 0);
    }
    void start(CredentialSources from) {
        check = std::make_unique<MungeCheck>(&loop, std::move(from),
                                             [this](uint64_t connection, const Result<std::string>& user) {
                                                 answers[connection] = user ? *user : user.error().message;
                                             });
    }
    void run_until(std::size_t count) {
        while (answers.size() < count) uv_run(&loop, UV_RUN_ONCE);
    }

    uv_loop_t loop{};
    uv_timer_t alive{};
    std::unique_ptr<MungeCheck> check;
    std::map<uint64_t, std::string> answers;
};

TEST_F(MungeCheckTest, AnswersEachOnce) {
    // A timer keeps the loop alive, because a check doesn't.
    uv_timer_init(&loop, &alive);
    uv_timer_start(
        &alive, [](uv_timer_t*) {}, 10, 10);
    start(sources());
    for (uint64_t i = 0; i < 200; ++i) check->check(i, {i % 2 == 0 ? "alice:users" : "replayed", kEnds});
    run_until(200);
    EXPECT_EQ(answers[0], "alice");
    EXPECT_THAT(answers[199], HasSubstr("Replayed"));
    uv_close(reinterpret_cast<uv_handle_t*>(&alive), nullptr);
}

// While munged hangs, the loop goes on, waiting checks can be forgotten, and the server's end doesn't wait.
TEST_F(MungeCheckTest, NobodyWaitsForOneThatTakesLong) {
    struct Gate {
        std::mutex mutex;
        std::condition_variable changed;
        bool open = false;
        std::size_t inside = 0;
        std::size_t seen = 0;
    };
    auto gate = std::make_shared<Gate>();
    CredentialSources slow = sources();
    slow.decode = [gate, decode = slow.decode](const std::string& credential) {
        std::unique_lock lock(gate->mutex);
        ++gate->inside;
        ++gate->seen;
        gate->changed.notify_all();
        gate->changed.wait(lock, [&] { return gate->open; });
        --gate->inside;
        gate->changed.notify_all();
        return decode(credential);
    };
    start(std::move(slow));
    for (uint64_t i = 0; i < 100; ++i) check->check(i, {"alice:users", kEnds});
    {
        std::unique_lock lock(gate->mutex);
        gate->changed.wait(lock, [&] { return gate->inside == 4; });
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    EXPECT_TRUE(answers.empty());
    for (uint64_t i = 4; i < 100; ++i) check->forget(i);
    check->close();
    uv_run(&loop, UV_RUN_DEFAULT);
    check.reset();
    std::unique_lock lock(gate->mutex);
    gate->open = true;
    gate->changed.notify_all();
    gate->changed.wait(lock, [&] { return gate->inside == 0; });
    EXPECT_EQ(gate->seen, 4U) << "what was forgotten isn't looked at";
    EXPECT_TRUE(answers.empty());
}

}  // namespace
}  // namespace pbs::host

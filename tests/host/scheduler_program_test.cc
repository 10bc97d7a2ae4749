// Tests programs that schedule in place of the plugin, by policies with algorithm = external: their
// registration, and their wait for changes.
#include <fmt/format.h>

#include "ifl/pbs_ifl.h"
#include "server_plugin/host/cycle/cycle.h"
#include "server_plugin/host/requests/requests.h"
#include "tests/host/plugin_fixture.h"

namespace pbs::host {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class SchedulerProgram : public PluginServerTest {
  public:
    // A program's connection, with one request in progress.
    struct Program {
        Program(SchedulerProgram& owner, Identity identity) : test(owner), who(std::move(identity)) {}
        Program(const Program&) = delete;
        Program& operator=(const Program&) = delete;

        void begin(const std::string& extend, const std::string& sched) {
            parts = std::make_unique<ifl::StatusParts>();
            made.reset();
            request = {ifl::RequestType::status_scheduler, who.user, ifl::Status{sched, {}}, extend};
            context =
                std::make_unique<Context>(Context{*test.server_, who, test.server_->now(), request, session});
            made = begin_answer(*context);
        }
        // Does further steps of the request, like the network. Returns true when the request is answered.
        bool go_on() {
            while (context->rest != nullptr) {
                if (context->rest->waits()) return false;
                std::optional<ifl::Reply> reply;
                const auto left = host::go_on(*context, *parts, false, reply);
                if (left == Steps::Remaining::later) usleep(1000);
                if (left != Steps::Remaining::nothing) continue;
                context->rest.reset();
                if (reply) made = std::move(reply);
            }
            return true;
        }
        int answer(const std::string& extend, const std::string& sched = {}) {
            begin(extend, sched);
            EXPECT_TRUE(go_on());
            return made->code;
        }
        std::string text() const {
            const auto* text = std::get_if<ifl::TextReply>(&made->body);
            return text == nullptr ? "" : text->text;
        }

        SchedulerProgram& test;
        Identity who;
        Session session{};
        ifl::Request request{};
        std::unique_ptr<Context> context;
        std::unique_ptr<ifl::StatusParts> parts;
        std::optional<ifl::Reply> made;
    };

    std::string scheduled_by() {
        const ifl::Reply reply = ask(root(), ifl::RequestType::status_scheduler,
                                     ifl::Status{"default", {attribute("scheduled_by", "")}});
        const auto* list = std::get_if<ifl::StatusReply>(&reply.body);
        if (list == nullptr || list->objects.size() != 1) return "no answer";
        return list->objects[0].attributes.empty() ? "(none)" : list->objects[0].attributes[0].value;
    }
    std::string changes_since(int64_t version, int64_t timeout) {
        return fmt::format("object=changes;version={};timeout={}", version, timeout);
    }
    int64_t last() const { return plugin_->last_change(); }
};

constexpr const char* kRegister = "object=registration";

TEST_F(SchedulerProgram, IsTheOnlyOneOfItsScheduler) {
    auto first = std::make_unique<Program>(*this, root());
    Program second(*this, root());
    EXPECT_EQ(first->answer(kRegister), 0);
    EXPECT_EQ(first->answer(kRegister, "default"), 0) << "it is registered";
    EXPECT_EQ(second.answer(kRegister), PBSE_SCHEDCONNECTED);
    EXPECT_THAT(second.text(), MatchesRegex(root().user + "@.* has been registered as scheduler default "
                                                          "since .*"));
    EXPECT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "s2").code, 0);
    EXPECT_EQ(second.answer(kRegister, "s2"), 0) << "another scheduler";
    first.reset();  // the program's connection ends
    EXPECT_EQ(second.answer(kRegister), 0);
    EXPECT_EQ(second.session.registered.size(), 2U);
}

TEST_F(SchedulerProgram, IsShownWhileThePolicyIsExternal) {
    auto program = std::make_unique<Program>(*this, root());
    EXPECT_EQ(program->answer(kRegister), 0);
    EXPECT_EQ(scheduled_by(), "(none)") << "the plugin schedules";
    EXPECT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external"), 0);
    EXPECT_THAT(scheduled_by(), MatchesRegex(root().user + "@[^ ]* since [A-Z].* 20[0-9][0-9]"));
    program.reset();
    EXPECT_THAT(scheduled_by(), ContainsRegex("^nobody since [A-Z]"));
    EXPECT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "standard"), 0);
    EXPECT_EQ(scheduled_by(), "(none)");
}

TEST_F(SchedulerProgram, WrongRegistrationsAreRefused) {
    Program program(*this, root());
    EXPECT_EQ(program.answer(kRegister, "nobody"), PBSE_UNKSCHED);
    EXPECT_EQ(program.answer("object=registration;force"), PBSE_IVALREQ);
    Program stranger(*this, user());
    EXPECT_EQ(stranger.answer(kRegister), PBSE_PERM);
    EXPECT_EQ(stranger.answer(kRegister, "nobody"), PBSE_PERM);
    EXPECT_TRUE(program.session.registered.empty());
    EXPECT_TRUE(stranger.session.registered.empty());
}

TEST_F(SchedulerProgram, ItsRegistrationMayOutliveTheServer) {
    constexpr int64_t kDay = 86400;
    constexpr int64_t kNoon = kDay / 2;  // no date depends on the time zone in which the tests run
    client::Registrations::Held held;
    {
        client::Registrations all(kDay + kNoon,
                                  [](std::string_view, std::string_view) { return 3 * kDay + kNoon; });
        EXPECT_TRUE(all.add("default", {"a@h", 2 * kDay + kNoon}, held).value());
        EXPECT_FALSE(all.add("default", {"a@h", 4 * kDay}, held).value()) << "it is registered already";
        client::Registrations::Held other;
        EXPECT_EQ(all.add("default", {"b@h", 2 * kDay}, other).error().code, PBSE_SCHEDCONNECTED);
        EXPECT_EQ(other, nullptr);
        EXPECT_THAT(all.text_of("default"), HasSubstr("a@h since Sat Jan  3"));
        held.reset();
        EXPECT_THAT(all.text_of("default"), HasSubstr("nobody since Sun Jan  4"));
        EXPECT_THAT(all.text_of("other"), HasSubstr("nobody since Fri Jan  2"));
        EXPECT_TRUE(all.add("default", {"c@h", 5 * kDay}, other).value());
        held = std::move(other);
    }
    held.reset();
}

TEST_F(SchedulerProgram, IsNoLongerRegisteredOnceItsSchedulerIsGone) {
    Program first(*this, root());
    Program second(*this, root());
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "s2").code, 0);
    EXPECT_EQ(first.answer(kRegister, "s2"), 0);
    ASSERT_EQ(manage(root(), PBS_CMD_DELETE, PBS_OBJ_SCHED, "s2").code, 0);
    EXPECT_EQ(second.answer(kRegister, "s2"), PBSE_UNKSCHED);
    ASSERT_EQ(manage(root(), PBS_CMD_CREATE, PBS_OBJ_SCHED, "s2").code, 0);
    EXPECT_EQ(second.answer(kRegister, "s2"), 0) << "the other scheduler of this name is free";
    EXPECT_EQ(first.answer(kRegister, "s2"), PBSE_SCHEDCONNECTED);
    first.session.registered.clear();  // its connection ends, which is no end of the second one's
    EXPECT_EQ(first.answer(kRegister, "s2"), PBSE_SCHEDCONNECTED);
}

TEST_F(SchedulerProgram, ThePluginsCyclesRest) {
    make_queue("q");
    Cycles cycles(*server_);
    const auto cycles_of = [&] {
        ASSERT_EQ(submit(user(), {}, "q").substr(0, 1).find_first_not_of("0123456789"), std::string::npos);
        for (int i = 0; i < 10 && server_->cycles_wanted(); ++i) cycles.run_wanted();
        EXPECT_FALSE(server_->cycles_wanted());
    };
    cycles_of();
    const auto before = server_->counters.last_cycles().size();
    EXPECT_GT(before, 0U);
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external"), 0);
    cycles_of();
    EXPECT_EQ(server_->counters.last_cycles().size(), before) << "none is counted or logged";
    ASSERT_EQ(set(PBS_OBJ_POLICY, "default_policy", "algorithm", "standard"), 0);
    cycles_of();
    EXPECT_GT(server_->counters.last_cycles().size(), before);
}

TEST_F(SchedulerProgram, WaitsForAChange) {
    Program program(*this, root());
    program.begin(changes_since(last(), 3600), "");
    EXPECT_FALSE(program.go_on());
    EXPECT_FALSE(program.go_on());
    make_node("n1", "4");
    ASSERT_TRUE(program.go_on());
    EXPECT_FALSE(program.parts->empty());
    std::string all;
    for (const ifl::StatusPart& part : program.parts->take()) all += part.objects;
    EXPECT_THAT(all, HasSubstr("\"name\":\"n1\""));
    EXPECT_THAT(all, HasSubstr(fmt::format("{{\"version\":{},\"now\":", last())));
}

TEST_F(SchedulerProgram, IsAnsweredAtOnceIfThereIsAChangeOrNoTime) {
    Program program(*this, root());
    EXPECT_EQ(program.answer(changes_since(last(), 0)), 0);
    const int64_t before = last();
    make_node("n1", "4");
    EXPECT_EQ(program.answer(changes_since(before, 3600)), 0);
    EXPECT_EQ(program.answer(changes_since(last() + 1, 3600)), PBSE_HISTORY);
    EXPECT_EQ(program.answer(changes_since(0, 3600)), PBSE_HISTORY);
    EXPECT_EQ(program.answer(changes_since(before, 3600), "nobody"), PBSE_UNKSCHED);
}

TEST_F(SchedulerProgram, WrongQuestionsForChanges) {
    Program program(*this, root());
    for (const char* extend :
         {"", ";", ";version=1", ";timeout=1", ";version=;timeout=1", ";version=1;timeout=",
          ";version=-1;timeout=1", ";version=1;timeout=-1", ";version=1;timeout=1;", ";timeout=1;version=1",
          ";version=99999999999999999999;timeout=1", ";version=1;timeout=99999999999999999999"})
        EXPECT_EQ(program.answer(std::string("object=changes") + extend), PBSE_IVALREQ) << extend;
    EXPECT_EQ(program.answer("object=changes;version=1;timeout=9223372036854775807"), PBSE_HISTORY);
    program.begin(changes_since(last(), INT64_MAX), "");
    EXPECT_FALSE(program.go_on()) << "it waits, for an hour";
    Program stranger(*this, user());
    EXPECT_EQ(stranger.answer(changes_since(last(), 3600)), PBSE_PERM) << "he doesn't wait";
}

}  // namespace
}  // namespace pbs::host

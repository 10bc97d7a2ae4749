#include "server_plugin/host/policy/plugin.h"

#include "server_plugin/host/cycle/cycle.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

class PluginTest : public ServerTest {
  protected:
    Result<std::unique_ptr<Plugin>> load(const std::string& path) {
        return Plugin::load({path, folder_, "svr", "", server_->now()}, *log_);
    }
};

TEST_F(PluginTest, RefusesWhatIsNoPlugin) {
    const auto missing = load(folder_ + "/none.so");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message, HasSubstr("none.so"));
    const auto wrong = load("libsqlite3.so.0");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error().message, HasSubstr(PBS_PLUGIN_ENTRY));
}

TEST_F(PluginTest, ACycleStartsWhatThePluginDecides) {
    auto plugin = load(PBS_FIFO_PLUGIN);
    ASSERT_TRUE(plugin) << plugin.error().message;
    server_->parts.plugin = plugin->get();
    ASSERT_TRUE(server_->start_plugin());
    make_queue("q");
    make_node("n1", "2");
    const std::string a = submit(user(), {}, "q");
    const std::string b = submit(user(), {attribute("Resource_List.ncpus", "2")}, "q");
    const std::string c = submit(user(), {}, "q");
    Cycles cycles(*server_);
    ASSERT_TRUE(server_->cycles_wanted());
    cycles.run_wanted();
    EXPECT_FALSE(server_->cycles_wanted());
    EXPECT_EQ(job_shows(a, "job_state"), "R");
    EXPECT_EQ(job_shows(b, "job_state"), "Q");
    EXPECT_EQ(job_shows(c, "job_state"), "R");
    EXPECT_EQ(job_shows(a, "comment"), "Started in order");
    // While scheduling is off, no cycle runs.
    ASSERT_EQ(set(PBS_OBJ_SERVER, "", "scheduling", "f"), 0);
    const std::string d = submit(user(), {attribute("Resource_List.ncpus", "0")}, "q");
    cycles.run_wanted();
    EXPECT_EQ(job_shows(d, "job_state"), "Q");
    (*plugin)->stop(0);
    server_->parts.plugin = nullptr;
}

TEST_F(PluginTest, TheTimerWantsACycleEachIteration) {
    auto plugin = load(PBS_FIFO_PLUGIN);
    ASSERT_TRUE(plugin);
    server_->parts.plugin = plugin->get();
    ASSERT_TRUE(server_->start_plugin());
    Cycles cycles(*server_);
    cycles.look_at_clock();
    (void)server_->take_wanted_cycles();
    move_clock(
        500);  // so much less than scheduler_iteration (600 s) that a busy machine's real time doesn't matter
    cycles.look_at_clock();
    EXPECT_FALSE(server_->cycles_wanted());
    move_clock(601);
    cycles.look_at_clock();
    EXPECT_EQ(server_->take_wanted_cycles().at("default"), PBS_SCH_SCHEDULE_TIME);
    // After the clock was set back, the next cycle doesn't wait until the clock has reached its earlier time.
    move_clock(-5000);
    cycles.look_at_clock();
    move_clock(-4399);
    cycles.look_at_clock();
    EXPECT_TRUE(server_->cycles_wanted());
    (*plugin)->stop(0);
    server_->parts.plugin = nullptr;
}

}  // namespace
}  // namespace pbs::host

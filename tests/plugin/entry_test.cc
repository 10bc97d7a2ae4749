// Tests the plugin's entry point: a host that doesn't fit is refused with a reason, and the shared object
// exports only the entry point.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::HasSubstr;

TEST(Entry, FitsAndFillsTheWholeTable) {
    FakeHost host;
    ASSERT_EQ(host.init(), 0) << host.error;
    EXPECT_EQ(host.plugin.size, sizeof(pbs_plugin));
    EXPECT_EQ(host.plugin.abi_version, static_cast<uint32_t>(PBS_PLUGIN_ABI_VERSION));
    EXPECT_EQ(std::string(host.plugin.name.ptr, host.plugin.name.len), "pbs_policy");
    // The members from `start` to the end of the struct are function pointers, without gaps.
    const auto* functions = reinterpret_cast<void* const*>(&host.plugin.start);
    const size_t count = (sizeof(pbs_plugin) - offsetof(pbs_plugin, start)) / sizeof(void*);
    for (size_t i = 0; i < count; ++i) EXPECT_NE(functions[i], nullptr) << "function " << i;
}

TEST(Entry, RefusesAnotherVersion) {
    FakeHost host;
    host.host.abi_version = 99;
    EXPECT_EQ(host.init(), PBSE_NOSUP);
    EXPECT_EQ(host.error, "the server speaks version 99 of the plugin interface, expected 1");
}

TEST(Entry, RefusesTablesOfAnotherSize) {
    for (const int more : {-8, 64}) {
        FakeHost host;
        host.host.size += static_cast<size_t>(more);
        EXPECT_EQ(host.init(), PBSE_NOSUP);
        EXPECT_THAT(host.error, HasSubstr("different releases"));
    }
    for (const size_t size : {size_t{16}, sizeof(pbs_plugin) + 8}) {
        FakeHost host;
        host.plugin.size = size;
        EXPECT_EQ(host.init(), PBSE_NOSUP);
        EXPECT_THAT(host.error,
                    HasSubstr("the server has " + std::to_string(size) + " bytes for the plugin's table"));
        EXPECT_EQ(host.plugin.start, nullptr) << "nothing is written";
    }
}

TEST(Entry, RefusesAMissingFunction) {
    FakeHost host;
    host.host.reply_warning = nullptr;
    EXPECT_EQ(host.init(), PBSE_NOSUP);
    EXPECT_EQ(host.error, "a function is missing in the server's table");
}

TEST(Entry, RefusesARelativeHome) {
    FakeHost host;
    host.host.home = {"home", 4};
    EXPECT_EQ(host.init(), PBSE_NOSUP);
    EXPECT_THAT(host.error, HasSubstr("expected an absolute path"));
}

TEST(Entry, RefusesAnUnknownTimeZone) {
    FakeHost host;
    host.host.time_zone = {"Mars/Olympus", 12};
    EXPECT_EQ(host.init(), PBSE_BADATVAL);
    EXPECT_THAT(host.error, HasSubstr("Mars/Olympus"));
}

TEST(Entry, CutsTheErrorToTheBuffer) {
    FakeHost host;
    void* library = dlopen(PBS_BUILD_DIR "/bin/pbs_policy.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    const auto entry = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(library, PBS_PLUGIN_ENTRY));
    ASSERT_NE(entry, nullptr);
    char buffer[8] = "xxxxxxx";
    EXPECT_EQ(entry(nullptr, &host.plugin, buffer, sizeof buffer), PBSE_NOSUP);
    EXPECT_STREQ(buffer, "the ser");
    EXPECT_EQ(entry(nullptr, &host.plugin, nullptr, 0), PBSE_NOSUP);
    dlclose(library);
}

TEST(Entry, ExportsNothingElse) {
    void* library = dlopen(PBS_BUILD_DIR "/bin/pbs_policy.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    EXPECT_NE(dlsym(library, "pbs_policy_plugin_init"), nullptr);
    dlclose(library);
    std::string names;
    FILE* nm = popen("nm -D --defined-only " PBS_BUILD_DIR "/bin/pbs_policy.so", "r");
    ASSERT_NE(nm, nullptr);
    char line[512];
    while (fgets(line, sizeof line, nm)) {
        const std::string text = line;
        // Sanitizers add exported names of their own: skip these.
        if (text.find("asan") == std::string::npos && text.find("ubsan") == std::string::npos) {
            names += text.substr(text.rfind(' ') + 1);
        }
    }
    ASSERT_EQ(pclose(nm), 0);
    EXPECT_EQ(names, "pbs_policy_plugin_init\n");
}

TEST(Start, RefusesAStoreThatIsNone) {
    FakeHost host;
    host.write("server_priv/policy.db", "this is no database, and it is long enough to be looked at as one");
    ASSERT_EQ(host.init(), 0) << host.error;
    EXPECT_EQ(host.start(), PBSE_SYSTEM);
    EXPECT_THAT(host.error, HasSubstr("server_priv/policy.db"));
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "").code, PBSE_INTERNAL);
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "by_queue", "False").code, PBSE_INTERNAL);
    EXPECT_EQ(host.next_deadline(), INT64_MAX);
}

}  // namespace
}  // namespace pbs::plugin_test

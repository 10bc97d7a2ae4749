#include "tools/web/host_names.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace pbs::web {
namespace {

TEST(HostNames, LoopbackAndTheAddressThatIsListenedOn) {
    const HostNames names("127.0.0.1", {});
    for (const char* good : {"localhost", "localhost:15080", "Localhost", "localhost.", "127.0.0.1",
                             "127.0.0.1:80", "127.1.2.3", "[::1]", "[::1]:80", "[0:0:0:0:0:0:0:1]:80"})
        EXPECT_TRUE(names.has(good)) << good;
    for (const char* bad :
         {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:15080",
          "10.0.0.1", "[::2]", "[::1", "0.0.0.0", "localhost@evil.example", "[]", ":80", "."})
        EXPECT_FALSE(names.has(bad)) << bad;
}

TEST(HostNames, AnAddressOfTheMachine) {
    const HostNames names("10.1.2.3", {});
    EXPECT_TRUE(names.has("10.1.2.3:15080"));
    EXPECT_TRUE(names.has("localhost"));
    EXPECT_FALSE(names.has("10.1.2.4"));
    const HostNames six("fe80::1", {});
    EXPECT_TRUE(six.has("[FE80:0::1]:15080"));
    EXPECT_FALSE(six.has("[fe80::2]"));
}

TEST(HostNames, AllAddresses) {
    char machine[256] = {};
    ASSERT_EQ(0, gethostname(machine, sizeof machine - 1));
    for (const char* all : {"0.0.0.0", "::"}) {
        const HostNames names(all, {});
        EXPECT_TRUE(names.has("10.1.2.3:15080"));
        EXPECT_TRUE(names.has("[fe80::1]:15080"));
        EXPECT_TRUE(names.has(std::string(machine) + ":15080"));
        EXPECT_FALSE(names.has("evil.example"));
    }
}

TEST(HostNames, NamesOfTheOptionAreAccepted) {
    const HostNames names("127.0.0.1", {"pbs.example.org", "Old"});
    for (const char* good : {"pbs.example.org", "PBS.example.org:443", "old"})
        EXPECT_TRUE(names.has(good)) << good;
    EXPECT_FALSE(names.has("example.org"));
    EXPECT_TRUE(is_host_name("pbs.example.org"));
    for (const char* bad : {"", "pbs:80", "http://pbs", "a b", ".org", "*"})
        EXPECT_FALSE(is_host_name(bad)) << bad;
}

}  // namespace
}  // namespace pbs::web

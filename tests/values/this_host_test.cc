#include "values/this_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace pbs::values {
namespace {

TEST(ThisHost, IsNamedWithItsDomainOrWithout) {
    char host[256] = "";
    ASSERT_EQ(gethostname(host, sizeof host - 1), 0);
    const std::string label(std::string(host).substr(0, std::string(host).find('.')));
    std::string upper = label;
    for (char& c : upper)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    EXPECT_TRUE(is_this_host(label));
    EXPECT_TRUE(is_this_host(upper + ".example.org"));
    EXPECT_FALSE(is_this_host(label + "x.example.org"));
    EXPECT_FALSE(is_this_host("x." + label));
    EXPECT_FALSE(is_this_host(""));
}

}  // namespace
}  // namespace pbs::values

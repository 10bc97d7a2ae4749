#include "tools/diag/tar.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace pbs::diag {
namespace {

std::string output_of(const std::string& command) {
    std::string text;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
    pclose(pipe);
    return text;
}

TEST(TarTest, TarReadsIt) {
    char folder[] = "/tmp/tar_test.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder));
    const std::string file = std::string(folder) + "/a.tar";
    Tar tar{std::chrono::sys_seconds(std::chrono::seconds(1800000000))};
    tar.add("x/one", "text\n");
    tar.add("x/empty", "");
    tar.add("x/block", std::string(512, 'b'));
    std::ofstream(file, std::ios::binary) << tar.finish();
    EXPECT_EQ(
        "-rw------- 0/0               5 2027-01-15 08:00 x/one\n"
        "-rw------- 0/0               0 2027-01-15 08:00 x/empty\n"
        "-rw------- 0/0             512 2027-01-15 08:00 x/block\n",
        output_of("TZ=UTC tar --numeric-owner -tvf " + file));
    EXPECT_EQ("text\n", output_of("tar -xOf " + file + " x/one"));
    EXPECT_EQ(std::string(512, 'b'), output_of("tar -xOf " + file + " x/block"));
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pbs::diag

#include "ifl/helper.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "ifl/pbs_error.h"
#include "tests/file_text.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

// Runs a script of the test instead of pbs_iff.
class HelperTest : public ::testing::Test {
  protected:
    HelperTest() {
        char name[] = "/tmp/helper_test.XXXXXX";
        exec = mkdtemp(name);
        std::filesystem::create_directory(exec + "/sbin");
        socket = Socket(::socket(AF_INET, SOCK_STREAM, 0));
    }
    ~HelperTest() override { std::filesystem::remove_all(exec); }

    Result<void> authenticate(const std::string& script) {
        const std::string program = exec + "/sbin/pbs_iff";
        std::ofstream(program) << "#!/bin/sh\n" << script;
        chmod(program.c_str(), 0755);
        return authenticate_with_helper(socket, {"127.0.0.1", 40000}, {"", "head", 15001}, exec);
    }

    std::string read(const char* file) const { return pbs::test::file_text(exec + "/" + file); }

    std::string exec;
    Socket socket;
};

TEST_F(HelperTest, IsToldTheServerAndTheConnection) {
    setenv("PBS_IFF_CLIENT_ADDR", "10.9.9.9", 1);
    const auto done =
        authenticate("echo \"$@\" $PBS_IFF_CLIENT_ADDR > " + exec + "/told; printf '\\0\\0\\0\\0'");
    unsetenv("PBS_IFF_CLIENT_ADDR");
    EXPECT_TRUE(done) << done.error().message;
    // the port is 40000 (0x9c40). pbs_iff gets it in network byte order, which this machine reads as 0x409c
    // (16540).
    EXPECT_EQ(read("told"), "head 15001 " + std::to_string(socket.fd()) + " 16540 127.0.0.1\n");
}

TEST_F(HelperTest, ThatTheServerRefusesGivesItsNumberAndText) {
    // the script prints error 15019 (0x3aab) as bytes in octal
    const auto done = authenticate("printf '\\253\\072\\0\\0\\003\\0\\0\\0no!'");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PBSE_BADCRED);
    EXPECT_EQ(done.error().message, "the server refused the authentication: no!");
    EXPECT_THAT(authenticate("printf '\\253\\072\\0\\0\\0\\0\\0\\0'").error().message,
                HasSubstr("error 15019"));
}

TEST_F(HelperTest, ThatFailsIsNoAuthentication) {
    for (const char* script : {"exit 4", "printf ab; exit 1", ""}) {
        const auto done = authenticate(script);
        ASSERT_FALSE(done) << script;
        EXPECT_EQ(done.error().code, PBSE_BADCRED);
        EXPECT_THAT(done.error().message, HasSubstr("/sbin/pbs_iff: it gave no answer"));
    }
}

TEST_F(HelperTest, HasTheConnectionOpen) {
    fcntl(socket.fd(), F_SETFD, FD_CLOEXEC);
    const auto done = authenticate("readlink /proc/self/fd/$3 > " + exec + "/told; printf '\\0\\0\\0\\0'");
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_THAT(read("told"), HasSubstr("socket:"));
    EXPECT_EQ(fcntl(socket.fd(), F_GETFD), FD_CLOEXEC) << "in the helper alone";
}

TEST_F(HelperTest, ThatIsMissingIsNamed) {
    const auto done =
        authenticate_with_helper(socket, {"127.0.0.1", 40000}, {"", "head", 15001}, "/nonexistent");
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, PBSE_BADCRED);
    EXPECT_THAT(done.error().message, HasSubstr("/nonexistent/sbin/pbs_iff: No such file or directory"));
}

}  // namespace
}  // namespace pbs::ifl

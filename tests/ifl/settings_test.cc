#include "ifl/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "ifl/pbs_error.h"

namespace pbs::ifl {
namespace {

using ::testing::HasSubstr;

class SettingsTest : public ::testing::Test {
  protected:
    SettingsTest() {
        char name[] = "/tmp/settings_test.XXXXXX";
        home = mkdtemp(name);
        std::filesystem::create_directory(home + "/server_priv");
        variables["PBS_CONF_FILE"] = home + "/pbs.conf";
    }
    ~SettingsTest() override { std::filesystem::remove_all(home); }

    void write_conf(const char* text) { std::ofstream(home + "/pbs.conf") << text; }

    void make_socket() {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = home + "/server_priv/pbs.sock";
        ASSERT_LT(path.size(), sizeof address.sun_path);
        std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
        ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        close(fd);
        variables["PBS_HOME"] = home;
    }

    Result<Settings> load(const std::string& usual_home = "/nowhere") const {
        return load_settings(
            [this](const char* name) {
                const auto found = variables.find(name);
                return found == variables.end() ? std::string() : found->second;
            },
            usual_home);
    }

    static std::string host_name() {
        char name[256] = {};
        gethostname(name, sizeof name - 1);
        return name;
    }

    std::string home;
    std::map<std::string, std::string> variables;
};

TEST_F(SettingsTest, TheUsualHomeCountsWhereNothingNamesAServer) {
    make_socket();
    const std::string socket = home + "/server_priv/pbs.sock";
    variables.erase("PBS_HOME");
    EXPECT_EQ(load(home)->socket, socket);
    variables["PBS_HOME"] = "/nowhere";
    EXPECT_EQ(load(home)->socket, "");
    variables.erase("PBS_HOME");
    write_conf("PBS_SERVER=elsewhere\n");
    EXPECT_EQ(load(home)->socket, "");
    EXPECT_EQ(load(home)->server, "elsewhere");
}

TEST_F(SettingsTest, HaveDefaultsWithoutAnyFile) {
    const auto settings = load();
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->socket, "");
    EXPECT_EQ(settings->server, "");
    EXPECT_EQ(settings->port, 15001);
    EXPECT_EQ(settings->exec, "");
}

TEST_F(SettingsTest, ComeFromTheFile) {
    write_conf(
        "# a comment\n\n PBS_SERVER = head \nPBS_BATCH_SERVICE_PORT=17001\r\nPBS_EXEC=\"/opt/p b "
        "s\"\nnonsense\n");
    const auto settings = load();
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->server, "head");
    EXPECT_EQ(settings->port, 17001);
    EXPECT_EQ(settings->exec, "/opt/p b s");
}

TEST_F(SettingsTest, NameTheSecondaryOfAFailoverPair) {
    write_conf("PBS_SERVER=head\nPBS_SECONDARY=tail\n");
    EXPECT_EQ(load()->secondary, "");
    write_conf("PBS_SERVER=head\nPBS_PRIMARY=head\nPBS_SECONDARY=tail\n");
    EXPECT_EQ(load()->secondary, "tail");
}

TEST_F(SettingsTest, OfTheEnvironmentComeFirst) {
    write_conf("PBS_SERVER=file\nPBS_BATCH_SERVICE_PORT=17001\nPBS_EXEC=/file\n");
    variables["PBS_SERVER"] = "env";
    variables["PBS_BATCH_SERVICE_PORT"] = "18001";
    variables["PBS_EXEC"] = "/env";
    EXPECT_EQ(load()->server, "env");
    EXPECT_EQ(load()->port, 18001);
    EXPECT_EQ(load()->exec, "/env");
    variables["PBS_DEFAULT"] = "default";
    EXPECT_EQ(load()->server, "default");
}

TEST_F(SettingsTest, SayHowAServerIsToldWhoTheUserIs) {
    EXPECT_EQ(load()->auth_method, "resvport");
    EXPECT_EQ(load()->encrypt_method, "");
    EXPECT_EQ(load()->munge_socket, "");
    write_conf("PBS_AUTH_METHOD=MUNGE\nPBS_ENCRYPT_METHOD=GSS\nPBS_MUNGE_SOCKET=/Run/s\n");
    EXPECT_EQ(load()->auth_method, "munge");
    EXPECT_EQ(load()->encrypt_method, "gss");
    EXPECT_EQ(load()->munge_socket, "/Run/s");
    variables["PBS_AUTH_METHOD"] = "resvport";
    variables["PBS_MUNGE_SOCKET"] = "/other";
    EXPECT_EQ(load()->auth_method, "resvport");
    EXPECT_EQ(load()->munge_socket, "/other");
}

TEST_F(SettingsTest, RefuseAPortThatIsNone) {
    for (const char* port : {"0", "65536", "x", "15001x", "-1"}) {
        variables["PBS_BATCH_SERVICE_PORT"] = port;
        const auto settings = load();
        ASSERT_FALSE(settings) << port;
        EXPECT_EQ(settings.error().code, PBSE_NOSERVER);
        EXPECT_THAT(settings.error().message,
                    HasSubstr("PBS_BATCH_SERVICE_PORT in the environment: a port number"));
        EXPECT_THAT(settings.error().message, HasSubstr(std::string("\"") + port + "\""));
    }
    variables.erase("PBS_BATCH_SERVICE_PORT");
    write_conf("PBS_BATCH_SERVICE_PORT=abc\n");
    EXPECT_THAT(load().error().message, HasSubstr("PBS_BATCH_SERVICE_PORT in " + home + "/pbs.conf"));
}

TEST_F(SettingsTest, HaveTheSocketOfHomeOnlyIfItExists) {
    variables["PBS_HOME"] = home;
    EXPECT_EQ(load()->socket, "");
    std::ofstream(home + "/server_priv/pbs.sock") << "a file";
    EXPECT_EQ(load()->socket, "");
    std::filesystem::remove(home + "/server_priv/pbs.sock");
    make_socket();
    EXPECT_EQ(load()->socket, home + "/server_priv/pbs.sock");
}

TEST_F(SettingsTest, TheDefaultServerIsReachedThroughTheSocket) {
    make_socket();
    const Settings settings = *load();
    EXPECT_EQ(default_server(settings), host_name());
    for (const std::string& name : {std::string(), std::string("localhost"), host_name()}) {
        const auto address = server_address(name, settings);
        ASSERT_TRUE(address) << name;
        EXPECT_EQ(address->socket, settings.socket) << name;
    }
    EXPECT_EQ(server_address("another-host", settings)->socket, "");
    EXPECT_EQ(server_address("localhost:15001", settings)->socket, "") << "a port asks for TCP";
}

TEST_F(SettingsTest, AServerMayHaveItsPort) {
    write_conf("PBS_SERVER=head:17002\n");
    const Settings settings = *load();
    const struct {
        const char* server;
        const char* host;
        int port;
    } rows[] = {
        {"", "head", 17002},           {"other", "other", 15001}, {"other:99", "other", 99},
        {"[::1]:99", "::1", 99},       {"::1", "::1", 15001},     {"[fe80::1]", "fe80::1", 15001},
        {"10.0.0.1:1", "10.0.0.1", 1},
    };
    for (const auto& row : rows) {
        const auto address = server_address(row.server, settings);
        ASSERT_TRUE(address) << row.server;
        EXPECT_EQ(address->host, row.host) << row.server;
        EXPECT_EQ(address->port, row.port) << row.server;
    }
    EXPECT_THAT(server_address("other:x", settings).error().message,
                HasSubstr("server \"other:x\": a port number"));
}

TEST_F(SettingsTest, NoServerAtAllIsAnErrorThatSaysWhereToSetOne) {
    const auto address = server_address("", *load());
    ASSERT_FALSE(address);
    EXPECT_EQ(address.error().code, PBSE_NOSERVER);
    EXPECT_THAT(address.error().message, HasSubstr("PBS_DEFAULT"));
}

}  // namespace
}  // namespace pbs::ifl

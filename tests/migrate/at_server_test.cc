// Runs the program pbs_migrate with a fake server that breaks the connection.
#include <sys/wait.h>

#include "ifl/reply.h"
#include "tests/ifl/fake_server.h"
#include "tests/migrate/support.h"

namespace pbs::migrate::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Runs pbs_migrate with a server that answers with these bytes; without any it closes the connection. Returns
// what the program writes to standard error.
std::string errors(const std::string& answer, const std::string& arguments) {
    const Folder folder;
    folder.write("home/server_priv/.keep", "");
    const std::string config = folder.write("sched_config", "by_queue: True\n");
    ifl::testing::FakeServer server([&](const ifl::Request&, std::string_view) { return answer; },
                                    folder.path("home/server_priv/pbs.sock"));
    const std::string command = "PBS_HOME=" + folder.path("home") + " " + PBS_MIGRATE + " --server " +
                                arguments + " --sched-config " + config + " >" + folder.path("out") + " 2>" +
                                folder.path("err");
    const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): the shell redirects
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2);
    return read_text(folder.path("err"));
}

TEST(MigrateAtServer, ThatClosesTheConnectionMayHaveMigratedTheFiles) {
    EXPECT_THAT(errors("", ""), AllOf(HasSubstr("pbs_migrate: the server closed the connection"),
                                      HasSubstr("pbs_migrate: the server may have migrated the files or not: "
                                                "--diff in place of this run shows what is missing\n"),
                                      Not(HasSubstr("nothing was migrated"))));
    EXPECT_THAT(errors("", "--dry-run"),
                AllOf(HasSubstr("pbs_migrate: nothing was migrated\n"), Not(HasSubstr("may have"))));
}

TEST(MigrateAtServer, ThatRefusesMigratesNothing) {
    EXPECT_THAT(errors(ifl::reply_packet(ifl::Reply::error(15007, "no manager")), ""),
                AllOf(HasSubstr("no manager"), HasSubstr("pbs_migrate: nothing was migrated\n")));
}

}  // namespace
}  // namespace pbs::migrate::test

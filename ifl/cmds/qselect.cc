// qselect: lists the identifiers of the jobs that satisfy criteria.

#include <cstdlib>
#include <ctime>
#include <memory>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/qselect_options.h"
#include "ifl/pbs_error.h"

namespace {

using namespace pbs::cmds;

constexpr Program kProgram{
    "qselect",
    "usage: qselect [-a [op]date_time] [-A account_string] [-c [op]interval] [-h hold_list] [-H] [-J]\n"
    "\t[-l resource_list] [-N name] [-p [op]priority] [-q destination] [-r y|n] [-s states]\n"
    "\t[-t subopt[op]date_time] [-T] [-P project_name] [-x] [-u user_name]\n"
    "       qselect --help | --version\n"};

struct Free {
    void operator()(char** list) const { std::free(static_cast<void*>(list)); }
};

}  // namespace

int main(int argc, char** argv) {
    auto options = parse_arguments(kProgram, arguments_of(argc, argv), [](const auto& arguments) {
        return parse_qselect_options(arguments, std::time(nullptr));
    });
    if (!options) return options.error();
    const auto connection = Connection::open(options->server);
    if (!connection) return failed(kProgram, connection.error());
    const std::unique_ptr<char*, Free> jobs(
        pbs_selectjob(connection->handle(), options->criteria.operations(),
                      options->extend.empty() ? nullptr : options->extend.c_str()));
    if (jobs == nullptr) {
        const int code = pbs_errno;
        if (code == PBSE_NONE) return 0;
        complain(kProgram, connection->error_text());
        return query_status(code);
    }
    for (char** job = jobs.get(); *job != nullptr; ++job) fmt::print("{}\n", *job);
    return 0;
}

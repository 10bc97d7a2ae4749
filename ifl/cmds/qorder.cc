// qorder: exchanges the places of two jobs.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/job_id.h"
#include "ifl/cmds/options.h"
#include "values/text.h"

namespace {

using namespace pbs::cmds;

const Program kProgram{"qorder",
                       "usage: qorder job_identifier job_identifier\n"
                       "       qorder --help | --version\n"};

Result<void> order(const std::string& first, const std::string& second) {
    const auto a = parse_job_id(first);
    const auto b = a ? parse_job_id(second) : a;
    if (!b) return tl::unexpected(b.error());
    if (!pbs::values::same_word(a->server, b->server))
        return fail(fmt::format("{} and {} are of different servers", first, second), 1);
    const auto connection = Connection::open(a->server);
    if (!connection) return fail(connection.error().message, 1);
    const std::string ids[] = {sent_job_id(*a), sent_job_id(*b)};
    const int code = pbs_orderjob(connection->handle(), ids[0].c_str(), ids[1].c_str(), nullptr);
    if (code == 0) return {};
    const std::string either =
        fmt::format("{} or {}", shown_job_id(*connection, *a), shown_job_id(*connection, *b));
    return fail(job_error_text(*connection, code, either), exit_status(code));
}

}  // namespace

int main(int argc, char** argv) {
    const auto line = command_line(kProgram, "", argc, argv);
    if (!line) return line.error();
    const std::vector<std::string> jobs = line->all_operands();
    if (jobs.size() != 2) return usage_error(kProgram, {"expected two job identifiers", 2});
    const auto ordered = order(jobs[0], jobs[1]);
    if (!ordered) return failed(kProgram, ordered.error());
    return 0;
}

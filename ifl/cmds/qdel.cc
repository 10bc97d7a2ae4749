// qdel: deletes jobs.

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/qdel_options.h"

namespace {

using namespace pbs::cmds;

std::string default_arguments(const Connection& connection) {
    AttrList wanted;
    wanted.add(ATTR_dfltqdelargs, "", "");
    const StatusList server(pbs_statserver(connection.handle(), wanted.attributes(), nullptr));
    return server == nullptr ? "" : std::string(value_of(server->attribs, ATTR_dfltqdelargs).value_or(""));
}

}  // namespace

int main(int argc, char** argv) {
    constexpr Program kProgram{"qdel",
                               "usage:\n"
                               "\tqdel [-W force|suppress_email=N] [-x] job_identifier...\n"
                               "\tqdel --help | --version\n"};
    const auto options = parse_arguments(kProgram, arguments_of(argc, argv), parse_qdel_options);
    if (!options) return options.error();
    // a job that is named twice is deleted once
    std::vector<std::string> jobs;
    std::copy_if(options->jobs.begin(), options->jobs.end(), std::back_inserter(jobs),
                 [known = std::unordered_set<std::string_view>()](const std::string& job) mutable {
                     return known.insert(job).second;
                 });
    std::optional<long long> mails;  // determined at the first job's server
    std::size_t deleted = 0;
    return for_each_job(kProgram, jobs, [&](const Connection& connection, const std::string& job) {
        if (!mails) mails = allowed_mails(*options, default_arguments(connection));
        const std::string extend = qdel_extend(*options, *mails, deleted);
        const int code =
            pbs_deljob(connection.handle(), job.c_str(), extend.empty() ? nullptr : extend.c_str());
        deleted += code == 0 ? 1 : 0;
        return code;
    });
}

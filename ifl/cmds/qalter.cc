// qalter: changes attributes of jobs.

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/job_options.h"
#include "ifl/cmds/surroundings.h"

int main(int argc, char** argv) {
    using namespace pbs::cmds;
    const Program kProgram{"qalter", kQalterUsage};
    const auto arguments = arguments_of(argc, argv);
    if (information_asked(kProgram, arguments)) return 0;
    const auto environment = submit_environment();
    if (!environment) return failed(kProgram, environment.error());
    auto options = parse_alter_options(arguments, option_context(*environment));
    if (!options) return usage_error(kProgram, options.error());
    if (const std::string warning = without_effect(options->attributes); !warning.empty())
        complain(kProgram, warning);
    attrl* attributes = options->attributes.attributes();
    return for_each_job(kProgram, options->operands,
                        [&](const Connection& connection, const std::string& job) {
                            return pbs_alterjob(connection.handle(), job.c_str(), attributes, nullptr);
                        });
}

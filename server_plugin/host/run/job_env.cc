#include "server_plugin/host/run/job_env.h"

#include <algorithm>
#include <map>

#include "server_plugin/host/run/runner.h"
#include "values/text.h"

namespace pbs::host {

namespace {

std::string_view variable(const JobStart& job, std::string_view name) {
    for (const auto& [key, value] : job.variables)
        if (key == name) return value;
    return {};
}

}  // namespace

std::vector<std::string> job_environment(const JobStart& job, const Account& owner, const JobPlaces& places,
                                         const std::vector<std::pair<std::string, std::string>>& defaults) {
    std::map<std::string, std::string> env;
    for (const auto& [name, value] : defaults) env[name] = value;
    for (const auto& [name, value] : job.variables) env[name] = value;
    env["HOME"] = owner.home;
    env["LOGNAME"] = owner.name;
    env["USER"] = owner.name;
    env["SHELL"] = places.shell;
    env["PBS_JOBID"] = job.id.job;
    env["PBS_JOBNAME"] = job.name;
    env["PBS_QUEUE"] = job.queue;
    env["PBS_ENVIRONMENT"] = job.interactive != 0 ? "PBS_INTERACTIVE" : "PBS_BATCH";
    if (job.interactive == 0) env["ENVIRONMENT"] = "BATCH";
    env["PBS_NODEFILE"] = places.node_file;
    env["PBS_JOBDIR"] = places.job_dir;
    env["PBS_JOBCOOKIE"] = places.cookie;
    env["PBS_NODENUM"] = "0";
    env["PBS_TASKNUM"] = "1";
    env["NCPUS"] = std::to_string(job.threads);
    env["OMP_NUM_THREADS"] = env["NCPUS"];
    if (!job.account.empty()) env["PBS_ACCOUNT"] = job.account;
    if (!places.tmp_dir.empty()) env["TMPDIR"] = places.tmp_dir;
    std::vector<std::string> result;
    result.reserve(env.size());
    for (const auto& [name, value] : env)
        if (!name.empty() && name.find('=') == name.npos) result.push_back(name + "=" + value);
    return result;
}

std::vector<std::pair<std::string, std::string>> parse_environment_file(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> variables;
    while (!text.empty()) {
        std::string_view line = values::take_line(text);
        while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
        const auto equals = line.find('=');
        if (line.starts_with('#') || equals == line.npos || equals == 0) continue;
        variables.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
    return variables;
}

std::string default_file_name(std::string_view job_name, std::string_view job_id, char stream) {
    std::string sequence;
    // The files of subjob 12[3].server end in 12.3.
    for (const char c : job_id.substr(0, job_id.find('.'))) {
        if (c == '[')
            sequence += '.';
        else if (c != ']')
            sequence += c;
    }
    return std::string(job_name) + "." + stream + sequence;
}

std::pair<std::string, std::string> split_path(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == text.npos || text.substr(0, colon).find('/') != text.npos) return {{}, std::string(text)};
    return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

bool same_host(std::string_view a, std::string_view b) {
    const auto any = [](std::string_view name) { return name.empty() || name == "localhost"; };
    if (any(a) || any(b)) return true;
    // If one of the names has no domain, compare both without their domains.
    const bool qualified = a.find('.') != a.npos && b.find('.') != b.npos;
    if (!qualified) {
        a = a.substr(0, a.find('.'));
        b = b.substr(0, b.find('.'));
    }
    return values::same_word(a, b);
}

std::string output_file(const JobStart& job, const Account& owner, char stream) {
    const std::string name = default_file_name(job.name, job.id.job, stream);
    // A d in Keep_Files asks for streams that are written directly to their requested paths.
    if (job.keep.find(stream) != job.keep.npos && job.keep.find('d') == job.keep.npos)
        return owner.home + "/" + name;
    const std::string path = split_path(stream == 'o' ? job.output_path : job.error_path).second;
    if (!path.empty()) return path.starts_with('/') ? path : owner.home + "/" + path;
    const auto work = variable(job, "PBS_O_WORKDIR");
    return (work.starts_with('/') ? std::string(work) : owner.home) + "/" + name;
}

}  // namespace pbs::host

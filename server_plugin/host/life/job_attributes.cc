#include "server_plugin/host/life/job_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/run/staging.h"
#include "server_plugin/host/state/accrual.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

constexpr size_t kLongestJobName = 230;

Result<void> check_name(std::string_view name) {
    if (name.empty() || name.size() > kLongestJobName)
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal Job_Name: expected 1 to {} characters", kLongestJobName));
    for (char c : name)
        if (std::isgraph(static_cast<unsigned char>(c)) == 0 || c == '/')
            return fail(
                PBSE_BADATVAL,
                fmt::format("Illegal Job_Name \"{}\": expected printable characters, no blanks and no /",
                            name));
    return {};
}

Result<void> one_of(std::string_view attribute, std::string_view value,
                    std::initializer_list<std::string_view> words) {
    if (std::find(words.begin(), words.end(), value) != words.end()) return {};
    return fail(PBSE_BADATVAL,
                fmt::format("Illegal {} \"{}\": expected {}", attribute, value, fmt::join(words, ", ")));
}

Result<void> letters_of(std::string_view attribute, std::string_view value, std::string_view letters) {
    if (!value.empty() && value.find_first_not_of(letters) == std::string_view::npos) return {};
    return fail(PBSE_BADATVAL,
                fmt::format("Illegal {} \"{}\": expected letters out of {}", attribute, value, letters));
}

Result<void> check_umask(std::string_view value) {
    const auto digits = value.find_first_not_of('0');
    const std::string_view rest = digits == std::string_view::npos ? "" : value.substr(digits);
    if (rest.size() <= 3 && rest.find_first_not_of("01234567") == std::string_view::npos) return {};
    return fail(PBSE_BADATVAL, fmt::format("Illegal umask \"{}\": expected octal 0 to 0777", value));
}

// Checks the name of a project. The characters that lists and limits of entities have between names aren't
// allowed.
Result<void> check_project(std::string_view value) {
    constexpr std::string_view kForbidden = "\"*+,/:;<>?[]|";
    if (value.find_first_of(kForbidden) == std::string_view::npos) return {};
    return fail(PBSE_BADATVAL,
                fmt::format("Illegal project \"{}\": expected none of the characters {}", value, kForbidden));
}

// Checks the value of the attribute Checkpoint; "u" means unset. The server stores and shows the value, but
// makes no checkpoints at intervals (pbs_server(8)).
Result<void> check_checkpoint(std::string_view value) {
    if (value.size() > 2 && (value.substr(0, 2) == "c=" || value.substr(0, 2) == "w=") &&
        value.find_first_not_of("0123456789", 2) == std::string_view::npos &&
        value.find_first_not_of('0', 2) != std::string_view::npos)
        return {};
    if (value.size() == 1 && value.find_first_of("nscwu") == 0) return {};
    return fail(PBSE_BADATVAL, fmt::format("Illegal Checkpoint \"{}\": expected n, s, c, c=minutes, w or "
                                           "w=minutes, with more than 0 minutes",
                                           value));
}

// Refuses control characters, because records and logs have one line for each value. Line breaks are allowed
// in an environment, and in a command and its arguments.
Result<void> check_characters(const AttributeDef& def, std::string_view value) {
    if (def.type == Type::environment || def.name == "Submit_arguments" || def.name == "executable" ||
        def.name == "argument_list")
        return {};
    for (char c : value)
        if (std::iscntrl(static_cast<unsigned char>(c)) != 0)
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal {}: expected no control characters, it has one "
                                    "with code {}",
                                    def.name, static_cast<int>(static_cast<unsigned char>(c))));
    return {};
}

// Checks the files to stage in or out. The server copies files only on this machine, so refuses any other
// host.
Result<void> check_staging(const AttributeDef& def, const Job& job, const State& state) {
    for (const std::string& entry : job.attributes.list(def.name)) {
        const auto file = parse_staged_file(entry);
        if (!file) return fail(PBSE_BADATVAL, fmt::format("Illegal {} {}", def.name, file.error().message));
        if (!state.is_this_server(file->host))
            return fail(PBSE_NOSUP,
                        fmt::format("No support for requested service: {} of {}, which is another machine",
                                    def.name, file->host));
    }
    return {};
}

// Checks the value of an attribute that has more rules than its type.
Result<void> check_value(const AttributeDef& def, const Job& job) {
    const std::string_view value = job.attributes.text(def.name);
    if (def.name == "Job_Name") return check_name(value);
    if (def.name == "Priority") {
        const int64_t priority = job.attributes.integer("Priority", 0);
        if (priority < -1024 || priority > 1023)
            return fail(PBSE_BADATVAL, fmt::format("Illegal Priority \"{}\": expected -1024 to 1023", value));
    }
    if (def.name == "Join_Path") return one_of(def.name, value, {"oe", "eo", "n"});
    if (def.name == "Remove_Files") return letters_of(def.name, value, "oe");
    if (def.name == "sandbox") return one_of(def.name, values::uppered(value), {"PRIVATE", "HOME"});
    if (def.name == "Keep_Files") return letters_of(def.name, value, "oedn");
    if (def.name == "Mail_Points") return letters_of(def.name, value, "abenj");
    if (def.name == "umask") return check_umask(value);
    if (def.name == "interactive" || def.name == "block") {
        const int64_t port = job.attributes.integer(def.name, 0);
        if (port < 1 || port > 65535)
            return fail(
                PBSE_BADATVAL,
                fmt::format("Illegal {} \"{}\": expected the port that qsub listens at", def.name, value));
    }
    if (def.name == "Checkpoint") return check_checkpoint(value);
    if (def.name == "project") return check_project(value);
    if (def.name == "max_run_subjobs" && job.attributes.integer(def.name, 0) < 0)
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal {} \"{}\": expected how many subjobs may run at once, 0 or more",
                                def.name, value));
    return {};
}

Result<void> check_rights(const AttributeDef& def, const ifl::Attribute& change, uint32_t rights,
                          const State& state) {
    const bool creating = (rights & at_creation) != 0;
    if ((def.flags & rights & (kAllWrites | (creating ? uint32_t{at_creation} : 0U))) == 0)
        return fail(PBSE_ATTRRO);
    if (def.type != Type::resources) return {};
    const Resource* resource = state.resources.find(change.resource);
    if (resource == nullptr)
        return fail(PBSE_UNKRESC, fmt::format("Unknown resource {}.{}", def.name, change.resource));
    const bool guarded = (resource->flags & (resource_read_only | resource_invisible)) != 0;
    if (guarded && (rights & (write_operator | write_manager)) == 0) return fail(PBSE_ATTRRO);
    return {};
}

// Sets eligible_time for a manager or operator. Counting goes on from this value.
Result<void> set_eligible(Job& job, const ifl::Attribute& change, const State& state) {
    if (!counts_eligible_time(state.server)) return fail(PBSE_ETEERROR);
    const auto value = canonical(Type::duration, change.value);
    if (!value) return tl::unexpected(value.error());
    set_attribute(job, "eligible_before", fmt::format("{}", amount_of(Type::duration, *value)));
    return {};
}

}  // namespace

Result<void> set_job_attribute(Job& job, const ifl::Attribute& change, uint32_t rights, const State& state) {
    const AttributeDef* def = job_table().find(change.name);
    if (def == nullptr) {
        // Refuse an attribute that only OpenPBS has: a job that relies on it must not run without it.
        if (job_table().is_openpbs_only(change.name))
            return fail(PBSE_NOSUP, fmt::format("No support for requested service: {}", change.name));
        return fail(PBSE_NOATTR);
    }
    if (auto ok = check_rights(*def, change, rights, state); !ok) return ok;
    if (auto ok = check_characters(*def, change.value); !ok) return ok;
    if (def->name == "eligible_time") return set_eligible(job, change, state);
    if (auto ok = apply_change(job.attributes, *def, change, state.resources); !ok) return ok;
    if (def->type == Type::resources) {
        // The user has set the value, so it isn't a default of the server.
        const Resource* resource = state.resources.find(change.resource);
        if (resource == nullptr) return {};
        job.set_defaulted(resource->name, false);
        const AttributeValue* value = job.attributes.find(def->name, resource->name);
        return value == nullptr ? Result<void>() : check_request(*resource, value->value());
    }
    if (!job.attributes.has(def->name)) return {};
    if (def->name == "stagein" || def->name == "stageout") return check_staging(*def, job, state);
    if (def->name != "depend") return check_value(*def, job);
    return full_depend(job.attributes.text("depend"), state).map([&](const std::string& value) {
        set_attribute(job, "depend", value);
    });
}

}  // namespace pbs::host

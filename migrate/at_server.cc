#include "migrate/at_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "migrate/qmgr_print.h"
#include "objects/config_json.h"
#include "objects/draft.h"
#include "objects/resources.h"
#include "text/hex.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

// The most bytes that a server takes as one value of a request (ifl/request.h), here a file's name and its
// text.
constexpr std::size_t kLongestValue = (4U << 20U) - 1;

Problems too_large(const LegacyText& text, std::size_t longest) {
    return {
        {text.file, 0, 0, "",
         fmt::format("has {} bytes, and a request has room for {}: expected a smaller file, or --into for a "
                     "server that isn't running",
                     text.text.size(), longest)}};
}

std::string unreachable(const std::string& server) {
    return fmt::format("can't connect to {}: {}", server.empty() ? "the default server" : "server " + server,
                       cmds::failure_text(-1));
}

std::string value_of(const batch_status* object, std::string_view name) {
    return std::string(cmds::value_of(object->attribs, name).value_or(std::string_view()));
}

// Builds objects from the document that a server exports. Refuses a document with an attribute that this
// program doesn't know: the server is of a later version.
Result<std::shared_ptr<const objects::Snapshot>> snapshot_of(const std::string& document) {
    const auto texts = objects::from_document(document);
    if (!texts) return refuse(texts.error().message);
    objects::Draft draft(std::make_shared<const objects::Snapshot>());
    for (const objects::ObjectText& text : *texts) {
        objects::Object object(text.type, text.name);
        for (const objects::AttributeText& attribute : text.attributes) {
            const objects::Attribute* row = objects::find_attribute(text.type, attribute.name);
            if (row == nullptr)
                return refuse(fmt::format("{} {}: {} isn't known here, the server is of a later version",
                                          objects::type_name(text.type), text.name, attribute.name));
            auto value = objects::value_of_items(*row, attribute.items);
            if (!value) return refuse(value.error().message);
            object.assign(*row, std::move(*value));
        }
        draft.put(std::move(object));
    }
    return draft.finish(1);
}

}  // namespace

Result<std::string> migrate_at(const std::string& server, const ServerRequest& request) {
    const auto connection = cmds::Connection::open(server);
    if (!connection) return refuse(unreachable(server));
    const int handle = connection->handle();
    cmds::AttrList changes;
    for (const LegacyKind& kind : legacy_kinds()) {
        const std::optional<LegacyText>& text = request.texts.*kind.text;
        if (!text) continue;
        // A fair-share usage file is binary and contains NULs, but a text in a request ends at the first NUL:
        // encode it.
        const bool binary = text->text.find('\0') != std::string::npos;
        // Make the path absolute: the server has another working folder.
        std::string value = std::filesystem::absolute(text->file).string() + "\n" +
                            (binary ? text::to_hex(text->text) : text->text);
        if (value.size() > kLongestValue)
            return tl::unexpected(too_large(*text, kLongestValue / (binary ? 2 : 1)));
        changes.add(binary ? "migrate_hex" : "migrate", std::string(kind.name), std::move(value));
    }
    changes.add("format", "", std::string(format_word(request.format)));
    if (request.infer) changes.add("infer", "", "True");
    if (request.strict) changes.add("strict", "", "True");
    if (request.dry_run) changes.add("dry_run", "", "True");
    if (const int refused =
            pbs_manager(handle, MGR_CMD_SET, MGR_OBJ_CONFIGURATION, "", changes.operations(), nullptr);
        refused != 0) {
        Problems problems;
        const std::string why = cmds::failure_text(handle);
        for (const std::string_view line : values::split_trimmed(why, '\n'))
            problems.push_back({"", 0, 0, "", std::string(line), false, {}, refused == PBSE_PROTOCOL});
        return tl::unexpected(std::move(problems));
    }
    return std::string(cmds::view(pbs_geterrmsg(handle)));
}

Result<ServerConfiguration> configuration_of(const std::string& server) {
    const auto connection = cmds::Connection::open(server);
    if (!connection) return refuse(unreachable(server));
    const int handle = connection->handle();
    const cmds::StatusList document(pbs_statconfiguration(handle, nullptr));
    if (!document) return refuse(cmds::failure_text(handle));
    auto snapshot = snapshot_of(value_of(document.get(), "json"));
    if (!snapshot) return tl::unexpected(snapshot.error());
    ServerConfiguration out{std::move(*snapshot), {}, {}, {}, {}};
    pbs_errno = PBSE_NONE;
    const cmds::StatusList queues(pbs_statque(handle, "", nullptr, nullptr));
    if (!queues && pbs_errno != PBSE_NONE) return refuse(cmds::failure_text(handle));
    for (const batch_status* queue = queues.get(); queue != nullptr; queue = queue->next) {
        const std::string name = std::string(cmds::view(queue->name));
        out.queues.push_back(name);
        const std::string type = value_of(queue, "execution_type");
        if (type.starts_with("execution_")) out.queue_types.push_back({name, type, "queue " + name});
    }
    pbs_errno = PBSE_NONE;
    const cmds::StatusList resources(pbs_statrsc(handle, "", nullptr, nullptr));
    if (!resources && pbs_errno != PBSE_NONE) return refuse(cmds::failure_text(handle));
    const objects::ResourceNames usual;
    for (const batch_status* resource = resources.get(); resource != nullptr; resource = resource->next) {
        const std::string name(cmds::view(resource->name));
        if (uses_up(value_of(resource, "flag"))) {
            out.consumables.push_back(name);
        } else if (!usual.contains(name)) {
            out.others.push_back(name);
        }
    }
    // Add the resources that a migrated sched_config named. An older server doesn't report them and returns
    // nothing here, without an error.
    pbs_errno = PBSE_NONE;
    const cmds::StatusList checked(pbs_statconfiguration(handle, "part=checked"));
    if (!checked && pbs_errno != PBSE_NONE) return refuse(cmds::failure_text(handle));
    for (const batch_status* resource = checked.get(); resource != nullptr; resource = resource->next)
        if (std::string name(cmds::view(resource->name));
            std::ranges::find(out.others, name) == out.others.end() &&
            std::ranges::find(out.consumables, name) == out.consumables.end())
            out.others.push_back(std::move(name));
    return out;
}

}  // namespace pbs::migrate

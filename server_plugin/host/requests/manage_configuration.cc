// Manager requests about the whole configuration (pbs_config): rollback to a revision, and import of a
// document. First the server changes its own objects by the handlers of single requests. Then the plugin
// changes its objects, and writes both changes into the history. Both are committed as one change.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/config_document.h"
#include "server_plugin/host/requests/backup.h"
#include "server_plugin/host/requests/carry_out.h"
#include "server_plugin/host/requests/config_targets.h"
#include "server_plugin/host/requests/in_slices.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// Returns the value of an option of the request; null: it isn't given. If the option comes several times, the
// last one counts, as in the plugin.
const std::string* value_of(const Management& request, std::string_view name) {
    const std::string* value = nullptr;
    for (const ifl::Attribute& attribute : request.body.attributes)
        if (attribute.name == name) value = &attribute.value;
    return value;
}

// Checks that the server has the object of the request, if it is a node or a resource. The plugin can't check
// that, because it knows only those that have changed.
Result<void> check_known(const Management& request) {
    const std::string_view object = request.body.object;
    const std::string_view word = object.substr(0, object.find(' '));
    const std::string name(values::trim(object.substr(word.size())));
    if (word.empty() || name.empty()) return {};
    for (const auto& [type, full, code] :
         {std::tuple(PBS_OBJ_NODE, std::string_view("node"), PBSE_UNKNODE),
          std::tuple(PBS_OBJ_RESOURCE, std::string_view("resource"), PBSE_UNKRESC)})
        if (full.starts_with(values::lowered(word)) &&
            !config_values(request.context.state(), request.context.server.options.home, {type, name}))
            return fail(code, fmt::format("the server has no {} '{}', and it had none then", full, name));
    return {};
}

// Changes values that a vnode had at an earlier revision: sets this machine's present name in them. The vnode
// was a part of this machine, which may have had another name then.
void take_name_of_today(const ConfigName& object, ConfigValues& values, std::string_view host) {
    const auto mom = std::ranges::find(values, "Mom", [](const auto& value) { return value.first; });
    if (object.type != PBS_OBJ_NODE || mom == values.end()) return;
    const std::string then = mom->second;
    for (auto& [key, value] : values) {
        if (key == "Mom") value = host;
        if (key != "resources_available.host") continue;
        if (same_name(value, then)) value = host;
        if (same_name(value, then.substr(0, then.find('.')))) value = host.substr(0, host.find('.'));
    }
}

// Returns the targets of a rollback: the server's objects that have changed since the revision, with their
// values at the revision.
Result<std::vector<ConfigTarget>> targets_of_revision(const Management& request,
                                                      PastConfiguration::Objects&& past) {
    std::vector<ConfigTarget> targets;
    for (auto& [object, values] : past) {
        if (values) take_name_of_today(object, *values, request.context.state().host_name);
        targets.push_back({object, std::move(values), false});
    }
    if (targets.empty())
        if (auto known = check_known(request); !known) return tl::unexpected(known.error());
    return targets;
}

// Returns whether the object is a vnode of another machine. Such vnodes of a document aren't made, because
// this server's vnodes are parts of its own machine.
bool is_foreign_node(const Context& context, const ConfigName& object, const ConfigValues& values) {
    if (object.type != PBS_OBJ_NODE) return false;
    const auto mom = std::ranges::find(values, "Mom", [](const auto& value) { return value.first; });
    return mom != values.end() && !context.state().is_own_mom(mom->second);
}

// Replaces the names of attributes and resources by the server's spelling of them, so that they can be
// compared. It is an error if an attribute belongs to the plugin, if a node's state isn't offline, or if a
// name comes twice.
Result<void> normalise(const Context& context, const ConfigName& object, ConfigValues& values) {
    const AttributeTable* table = attribute_table(object.type);
    std::set<std::string> seen;
    for (auto& [key, value] : values) {
        const auto refuse_key = [&, &place = key](std::string_view what) {
            return fail(PBSE_BADATVAL, fmt::format("host: {}: {}: {}", title(object), place, what));
        };
        const std::string name(split_key(key).first);
        const std::string resource(split_key(key).second);
        if (context.server.parts.plugin->owns(object.type, name))
            return refuse_key("expected outside of \"host\", among the policies' attributes");
        if (object.type == PBS_OBJ_NODE && same_name(name, "state") && value != "offline")
            return refuse_key(fmt::format("found {}, expected offline", value));
        if (const AttributeDef* def = table == nullptr ? nullptr : table->find(name)) {
            const Resource* known = context.state().resources.find(resource);
            key = resource.empty()
                      ? std::string(def->name)
                      : fmt::format("{}.{}", def->name, known == nullptr ? resource : known->name);
        } else if (table == nullptr) {
            key = values::lowered(key);
        }
        if (!seen.insert(values::lowered(key)).second) return refuse_key("it is there twice");
    }
    return {};
}

// Returns the object with the server's spelling of its name, because names of resources are case-insensitive.
ConfigName known_name(const Context& context, const ConfigName& object) {
    const Resource* known =
        object.type == PBS_OBJ_RESOURCE ? context.state().resources.find(object.name) : nullptr;
    return known == nullptr ? object : ConfigName{object.type, known->name};
}

ConfigName folded(const ConfigName& object) {
    return {object.type, object.type == PBS_OBJ_RESOURCE ? values::lowered(object.name) : object.name};
}

using HostPart = std::optional<HostConfiguration>;

// Finds the targets for the server's objects in a document, a few objects at a time.
class DocumentTargets {
  public:
    // `part`: the server's part of the document; nullopt: the document has none, so there are no targets.
    DocumentTargets(HostPart part, bool replace)
        : part_(std::move(part)),
          next_(part_ ? part_->begin() : HostConfiguration::iterator()),
          replace_(replace) {}
    DocumentTargets(const DocumentTargets&) = delete;
    DocumentTargets& operator=(const DocumentTargets&) = delete;

    // Finds the next few targets. Returns false when all are found.
    Result<bool> find_some(const Context& context) {
        constexpr int kAtOnce = 500;
        if (!part_) return false;
        for (int i = 0; i < kAtOnce && next_ != part_->end(); ++i, ++next_)
            if (auto found = find(context, known_name(context, next_->first), next_->second); !found)
                return tl::unexpected(found.error());
        if (next_ != part_->end()) return true;
        if (replace_) find_unnamed(context);
        return false;
    }
    std::vector<ConfigTarget>&& targets() { return std::move(targets_); }
    const std::string& warning() const { return warning_; }

  private:
    Result<void> find(const Context& context, const ConfigName& object, ConfigValues& values) {
        if (!named_.insert(folded(object)).second)
            return fail(PBSE_BADATVAL, fmt::format("host: {} is there twice", title(object)));
        if (auto normal = normalise(context, object, values); !normal) return normal;
        if (is_foreign_node(context, object, values)) {
            warning_ += fmt::format("{}Warning: {} is left out: it is a part of another machine",
                                    warning_.empty() ? "" : "\n", title(object));
        } else {
            targets_.push_back({object, std::move(values), !replace_});
        }
        return {};
    }
    void find_unnamed(const Context& context) {
        for (const ConfigName& object : config_names(context.state()))
            if (!named_.contains(folded(object)) && object != ConfigName{PBS_OBJ_SCHED, "default"} &&
                object.type != PBS_OBJ_SERVER)
                targets_.push_back({object, std::nullopt, false});
    }

    HostPart part_;
    HostConfiguration::iterator next_;
    bool replace_;
    std::set<ConfigName> named_;
    std::vector<ConfigTarget> targets_;
    std::string warning_;
};

// The most lines of warnings. Further lines are only counted, because nobody would read them.
constexpr size_t kMostLines = 1000;

void tell(std::span<const std::string> warnings, std::span<const ConfigChange> changes,
          std::string& warning) {
    std::vector<std::string> lines;
    for (const std::string& line : warnings) lines.push_back("Warning: " + line);
    for (; lines.size() < kMostLines && !changes.empty(); changes = changes.subspan(1))
        for (std::string& line : config_lines(changes.front())) lines.push_back(std::move(line));
    if (!changes.empty())
        lines.push_back(fmt::format("and {} more objects that the server keeps itself", changes.size()));
    for (const std::string& line : lines) {
        if (!warning.empty()) warning += '\n';
        warning += line;
    }
}

// A rollback or an import, done in parts: first finds the targets, then changes the objects to the targets.
class Work {
  public:
    explicit Work(const Management& request) {
        if (const std::string* revision = value_of(request, "revision"))
            past_.emplace(*revision, request.body.object);
    }

    // Does the next part, within Batch::run(), so that nobody else changes the data before the end. Returns
    // true if more is left.
    Result<bool> go_on(Context& context, const ifl::Manage& body) {
        if (past_) {
            auto more = past_->read_some(*context.server.parts.plugin, context.now, context.who);
            if (!more || *more) return more;
        }
        if (reach_) return reach_->go_on();
        Management request(context, body);
        if (past_) {
            auto targets = targets_of_revision(request, std::move(past_->objects()));
            if (!targets) return tl::unexpected(targets.error());
            past_.reset();
            reach_.emplace(context, std::move(*targets));
            return true;
        }
        if (!document_) {
            if (!has_read(request)) return fail(PBSE_TRYAGAIN);
            // If the request has no document, there is no server's part, and the plugin refuses the request.
            auto part = part_.valid() ? part_.get() : Result<HostPart>();
            if (!part) return tl::unexpected(part.error());
            document_.emplace(std::move(*part), replaces_);
        }
        if (auto more = document_->find_some(context); !more || *more) return more;
        warning_ = document_->warning();
        reach_.emplace(context, document_->targets());
        document_.reset();
        return true;
    }
    // Returns the warnings. REQUIRES: all parts are done.
    std::string warning(std::span<const ConfigChange> changes) const {
        std::string text = warning_;
        if (reach_) tell(reach_->warnings(), changes, text);
        return text;
    }

  private:
    // Returns whether the document has been read. A long document is read in a thread.
    bool has_read(const Management& request) {
        constexpr std::size_t kLong = 100'000;
        const std::string* document = value_of(request, "import");
        replaces_ = document == nullptr;
        if (replaces_) document = value_of(request, "replace");
        if (document == nullptr) return true;
        if (!part_.valid())
            part_ = std::async(document->size() < kLong ? std::launch::deferred : std::launch::async,
                               [text = *document] { return read_host_document(text); });
        return part_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout;
    }

    std::optional<PastConfiguration> past_;
    std::future<Result<HostPart>> part_;
    bool replaces_ = false;
    std::optional<DocumentTargets> document_;
    std::optional<Reach> reach_;
    std::string warning_;
};

bool is_dry_run(const Management& request) {
    const std::string* dry_run = value_of(request, "dry_run");
    if (dry_run == nullptr) return false;
    const auto value = canonical(Type::boolean, *dry_run);
    return value && *value == "True";  // the plugin refuses other values
}

// Can the files make objects of the server, such as resources?
bool has_work_for_server(const Management& request) {
    return std::ranges::any_of(request.body.attributes, [](const ifl::Attribute& attribute) {
        return attribute.name == "migrate" &&
               (attribute.resource == "qmgr_print" || attribute.resource == "resourcedef" ||
                attribute.resource == "grid_engine");
    });
}

ifl::Attribute attribute(const char* name, std::string value) {
    return {name, {}, std::move(value), ifl::Op::set};
}

// Migrates files that can make objects of the server: the output of an older server's qmgr, its resources, or
// Grid Engine's complexes. The plugin names the changes to these objects, and then gets their outcome.
ifl::Reply migrate(Management& request) {
    Context& context = request.context;
    ifl::Attributes asked = request.body.attributes;
    asked.push_back(attribute("format", "host"));
    asked.push_back(attribute("dry_run", "True"));
    std::string work;
    // Pass the ticket, so that the request waits while the plugin has other work.
    if (auto done = context.server.parts.plugin->manager(context.now, PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {},
                                                         asked, context.who, {}, work, {}, context.ticket);
        !done)
        return refuse(done.error());
    auto begun = CarryOut::begin(context, work);
    if (!begun) return refuse(begun.error());
    const std::shared_ptr<CarryOut> directives = std::move(*begun);
    Slices slices;
    slices.some = [directives](Context&) -> tl::expected<bool, ifl::Reply> { return directives->go_on(); };
    slices.plugins_part = [directives, body = request.body](Context& now, const HostRecord& record) {
        ifl::Manage told = body;
        told.attributes.push_back(attribute("host_outcome", directives->outcomes()));
        Management rest(now, told);
        return manage_plugin_object(rest, record);
    };
    slices.dry_run = is_dry_run(request);
    return in_slices(context, std::move(slices));
}

}  // namespace

ifl::Reply manage_configuration(Management& request) {
    Context& context = request.context;
    if (!context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    if (context.server.parts.plugin == nullptr) return ifl::Reply::error(PBSE_NOSUP);
    // Refuse these attributes from clients, because only the server passes them to the plugin.
    if (value_of(request, "host_outcome") != nullptr || value_of(request, "queue_type_done") != nullptr)
        return ifl::Reply::error(PBSE_NOATTR);
    if (has_work_for_server(request)) return migrate(request);
    if (const std::string* backup = value_of(request, "backup")) {
        if (request.command != PBS_CMD_SET || !request.body.object.empty() ||
            request.body.attributes.size() != 1 || *backup != "True")
            return ifl::Reply::error(PBSE_BADATVAL, "backup: expected True, and nothing else");
        return begin_backup(context);
    }
    const auto work = std::make_shared<Work>(request);
    Slices slices;
    slices.some = [work, &body = request.body](Context& now) -> tl::expected<bool, ifl::Reply> {
        auto more = work->go_on(now, body);
        if (!more) return tl::unexpected(refuse(more.error()));
        return *more;
    };
    slices.plugins_part = [work, &body = request.body, told = std::optional<std::string>()](
                              Context& now, const HostRecord& record) mutable {
        if (!told) told = work->warning(record.changes);
        Management rest(now, body);
        rest.warning = *told;
        return manage_plugin_object(rest, record);
    };
    slices.dry_run = is_dry_run(request);
    return in_slices(context, std::move(slices));
}

}  // namespace pbs::host

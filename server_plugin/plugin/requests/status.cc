#include "server_plugin/plugin/requests/status.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "objects/commands.h"
#include "objects/snapshot.h"
#include "server_plugin/plugin/requests/configuration.h"
#include "server_plugin/plugin/requests/explanation.h"
#include "server_plugin/plugin/requests/fair_share.h"
#include "server_plugin/plugin/requests/record.h"
#include "server_plugin/plugin/requests/show.h"
#include "server_plugin/plugin/text.h"
#include "values/text.h"

namespace pbs::plugin {
namespace {

constexpr std::string_view kInForce = "in_force";

// The computed attributes of a reply: in_force of quotas, if it is wanted.
class Computed {
  public:
    Computed(State& state, const pbs_status_request& request) {
        if (static_cast<objects::ObjectType>(request.object_type) != objects::ObjectType::quota) return;
        const std::span wanted(request.wanted, request.wanted_count);
        const auto is_in_force = [](const pbs_str& name) { return values::same_word(view(name), kInForce); };
        if (wanted.empty() || std::ranges::any_of(wanted, is_in_force))
            quotas_.emplace(state, sched::Instant(sched::Seconds(request.now)));
    }
    bool any() const { return quotas_.has_value(); }
    void add(std::string_view object, std::vector<ShownAttribute>& shown) const {
        const std::string_view scheds = quotas_ ? quotas_->scheds_of(object) : std::string_view();
        if (!scheds.empty()) shown.push_back({kInForce, scheds, {}});
    }

  private:
    std::optional<QuotasInForce> quotas_;
};

void add(Reply& reply, const objects::ObjectStatus& object, const Computed& computed) {
    std::vector<ShownAttribute> shown;
    shown.reserve(object.attributes.size() + 1);
    for (const objects::AttributeStatus& attribute : object.attributes) {
        shown.push_back({attribute.attribute->name, attribute.value, attribute.key});
    }
    computed.add(object.name, shown);
    reply.object(static_cast<int32_t>(object.type), object.name, shown);
}

std::string encode(const objects::ObjectStatus& object) {
    std::vector<ifl::AttributeView> attributes;
    attributes.reserve(object.attributes.size());
    for (const objects::AttributeStatus& attribute : object.attributes)
        attributes.push_back({attribute.attribute->name, attribute.key, attribute.value});
    return ifl::encode_object(static_cast<uint32_t>(object.type), object.name, attributes);
}

// Adds all attributes of an object. An object never changes, so its encoded text is computed once.
void add_whole(Reply& reply, const objects::Object& object, const Computed& computed) {
    if (reply.takes_encoded() && !computed.any()) {
        reply.encoded(object.kept_text([&object] { return encode(objects::status(object)); }));
    } else {
        add(reply, objects::status(object), computed);
    }
}

// Adds all objects of a type, or the one named `name`, with all attributes. Returns false if no object has
// the name.
bool add_whole_objects(Reply& reply, const objects::Snapshot& snapshot, objects::ObjectType type,
                       std::string_view name, const Computed& computed) {
    if (name.empty()) {
        for (const objects::ObjectPtr& object : snapshot.objects(type)) add_whole(reply, *object, computed);
        return true;
    }
    const objects::Object* object = snapshot.find(type, name);
    if (object) add_whole(reply, *object, computed);
    return object != nullptr;
}

// The number of objects in a page. A page takes a few milliseconds.
constexpr std::size_t kPage = 200;

// Adds a page of objects: those that follow the name `after`.
int32_t add_page(Reply& reply, const objects::Snapshot& snapshot, objects::ObjectType type,
                 std::string_view after, const std::vector<std::string>& wanted, const Computed& computed) {
    const auto known = objects::status(objects::Snapshot(), type, {}, wanted);
    if (!known) return reply.error(static_cast<int32_t>(known.error().code), known.error().message);
    const objects::ObjectList& all = snapshot.objects(type);
    const objects::Object* last = nullptr;
    std::size_t count = 0;
    for (auto at = all.behind(after); at != all.end(); ++at) {
        if (count++ == kPage) {
            reply.attribute({"after", last->name(), {}});
            break;
        }
        last = at->get();
        if (wanted.empty()) {
            add_whole(reply, *last, computed);
            continue;
        }
        const auto described = objects::status(snapshot, type, last->name(), wanted);
        if (!described)
            return reply.error(static_cast<int32_t>(described.error().code), described.error().message);
        for (const objects::ObjectStatus& object : *described) add(reply, object, computed);
    }
    return PBSE_NONE;
}

}  // namespace

int32_t status(State& state, const pbs_status_request* request, Reply reply) {
    if (!fits(request)) {
        return reply.error(PBSE_INTERNAL,
                           "the server's request isn't of this version of the plugin interface");
    }
    if (!state.store) return reply.error(PBSE_INTERNAL, "the policy store isn't open");
    if (request->object_type == PBS_OBJ_CONFIGURATION) return status_configuration(state, *request, reply);
    if (request->object_type == PBS_OBJ_HISTORY) return status_history(state, *request, reply);
    if (request->object_type == PBS_OBJ_EXPLANATION) return status_explanation(state, *request, reply);
    if (request->object_type == PBS_OBJ_FAIRSHARE) return status_fair_share(state, *request, reply);
    if (request->object_type == PBS_OBJ_QUOTA_USE) return status_quota_use(state, *request, reply);
    if (request->object_type == PBS_OBJ_RECORD) return status_record(state, *request, reply);
    if (request->object_type == PBS_OBJ_CHANGES) return status_changes(state, *request, reply);
    const auto type = static_cast<objects::ObjectType>(request->object_type);
    if (!objects::is_own_type(type) || (request->wanted_count != 0 && !request->wanted)) {
        return reply.error(PBSE_IVALREQ, {});
    }
    const auto snapshot = state.store->snapshot();
    const std::string_view name = view(request->object_name);
    std::vector<std::string> wanted;
    for (const pbs_str& one : std::span(request->wanted, request->wanted_count))
        wanted.emplace_back(view(one));
    const Computed computed(state, *request);
    constexpr std::string_view kAfter = "after=";
    if (const std::string_view extend = view(request->extend); name.empty() && extend.starts_with(kAfter))
        return add_page(reply, *snapshot, type, extend.substr(kAfter.size()), wanted, computed);
    if (wanted.empty() && add_whole_objects(reply, *snapshot, type, name, computed)) return PBSE_NONE;
    const auto described = objects::status(*snapshot, type, name, wanted);
    if (!described)
        return reply.error(static_cast<int32_t>(described.error().code), described.error().message);
    for (const objects::ObjectStatus& object : *described) add(reply, object, computed);
    return PBSE_NONE;
}

}  // namespace pbs::plugin

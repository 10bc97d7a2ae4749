#include "server_plugin/plugin/host.h"

#include <vector>

#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

pbs_attr to_c(const ShownAttribute& attribute) {
    return pbs_attr{c_str(attribute.name), c_str(attribute.resource), c_str(attribute.value), PBS_OP_SET, 0};
}

}  // namespace

int32_t Reply::error(int32_t code, std::string_view text) {
    host_.reply_error(reply_, code, c_str(text));
    return code;
}

void Reply::warning(std::string_view text) {
    host_.reply_warning(reply_, c_str(text));
}

void Reply::object(int32_t object_type, std::string_view name, std::span<const ShownAttribute> attributes) {
    std::vector<pbs_attr> list;
    list.reserve(attributes.size());
    for (const ShownAttribute& attribute : attributes) list.push_back(to_c(attribute));
    host_.reply_object(reply_, object_type, c_str(name), list.data(), list.size());
}

bool Reply::takes_encoded() const {
    return host_.reply_encoded != nullptr;
}

void Reply::encoded(std::string_view object) {
    host_.reply_encoded(reply_, c_str(object));
}

void Reply::attribute(const ShownAttribute& attribute) {
    const pbs_attr shown = to_c(attribute);
    host_.reply_attr(reply_, &shown);
}

std::string_view Host::home() const {
    return view(host_.home);
}
std::string_view Host::server_name() const {
    return view(host_.server_name);
}
std::string_view Host::time_zone() const {
    return view(host_.time_zone);
}

void Host::log(pbs_log_level level, std::string_view object, std::string_view message) const {
    host_.log(host_.context, level, c_str(object), c_str(message));
}

bool Host::has_pbs_sched() const {
    return host_.has_pbs_sched != 0;
}

bool Host::provisions() const {
    return host_.provisions != 0;
}

objects::ServerAbilities Host::abilities() const {
    return {.pulls = host_.pulls != 0,
            .has_log = !has_pbs_sched(),
            .weighs = host_.weighs != 0,
            .pbs_sched = has_pbs_sched() ? objects::PbsSched::none : objects::PbsSched::program};
}

void Host::cycle_finished() const {
    if (host_.cycle_finished != nullptr) host_.cycle_finished(host_.context);
}

bool Host::takes_work_finished() const {
    return host_.work_finished != nullptr;
}

void Host::work_finished() const {
    host_.work_finished(host_.context);
}

}  // namespace pbs::plugin

#include "cluster/queue.h"

#include "values/text.h"

namespace pbs::cluster {
namespace {

void read_type(Queue& queue, const ifl::AttributeView& attribute) {
    queue.execution = attribute.value == "Execution";
    queue.route = attribute.value == "Route";
}

void read_users(Queue& queue, const ifl::AttributeView& attribute) {
    for (const std::string_view user : values::split_trimmed(attribute.value, ','))
        if (!user.empty()) queue.acl_users.emplace_back(user);
}

constexpr Field<Queue> kQueueFields[] = {
    {"Priority", read_number<&Queue::priority>},
    {"acl_user_enable", read_truth<&Queue::user_acl>},
    {"acl_users", read_users},
    {"backfill_depth", read_number<&Queue::backfill_depth>},
    {"enabled", read_truth<&Queue::enabled>},
    {"node_group_key", read_text<&Queue::node_group_key>},
    {"partition", read_text<&Queue::partition>},
    {"queue_type", read_type},
    {"started", read_truth<&Queue::started>},
};
static_assert(std::ranges::is_sorted(kQueueFields, {}, &Field<Queue>::name));

}  // namespace

Queue queue_of(AttributeViews attributes) {
    Queue queue;
    read_fields<Queue>(queue, attributes, kQueueFields);
    read_fields(queue.limits, attributes, limit_fields());
    return queue;
}

ifl::Attributes queue_attributes() {
    ifl::Attributes names = names_of<Queue>(kQueueFields);
    for (ifl::Attribute& name : names_of(limit_fields())) names.push_back(std::move(name));
    return names;
}

}  // namespace pbs::cluster

#include "server_plugin/scheduler/model/fs_group.h"

#include <numbers>

#include "objects/snapshot.h"
#include "values/number.h"

namespace pbs::sched {
namespace {

ShareEntity entity_of(std::string_view word) {
    if (word == "egroup") return ShareEntity::egroup;
    if (word == "Account_Name") return ShareEntity::account;
    if (word == "queue") return ShareEntity::queue;
    return word == "egroup:euser" ? ShareEntity::egroup_euser : ShareEntity::euser;
}

}  // namespace

FsGroup read_fs_group(const objects::Object& object) {
    FsGroup group;
    group.name = object.name();
    for (const std::string& text : object.list("tree_element")) {
        const objects::TreeElement parts = objects::tree_element(text);
        FsGroup::Element element{std::string(parts.name), std::string(parts.parent)};
        element.shares = values::number<std::int64_t>(parts.shares).value_or(element.shares);
        group.elements.push_back(std::move(element));
    }
    group.unknown_shares = object.integer("unknown_shares");
    group.usage_formula = object.text("usage_formula");
    group.entity = entity_of(object.text("entity"));
    group.decay_time = object.seconds("decay_time");
    group.decay_factor = object.real("decay_factor");
    if (object.has("half_life")) {
        // Grid Engine's approximation of a decay in each minute: by 1 - ln 2 * minute / half_life.
        constexpr Seconds kMinute{60};
        group.half_life = object.seconds("half_life");
        group.decay_time = kMinute;
        group.decay_factor = 1 - std::numbers::ln2 * static_cast<double>(kMinute / Seconds(1)) /
                                     static_cast<double>(group.half_life.count());
    }
    group.compensation_factor = object.real("compensation_factor");
    group.enforce_no_shares = object.boolean("enforce_no_shares");
    return group;
}

}  // namespace pbs::sched

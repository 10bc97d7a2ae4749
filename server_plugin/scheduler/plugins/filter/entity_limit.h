// What the filters of limits on entities share: whose use lifts a refusal, and the reasons.
#pragma once

#include "server_plugin/scheduler/framework/filter.h"

namespace pbs::sched {

inline UseKey entity_key(bool in_queue, EntityKind kind, QueueSlot queue, std::uint32_t entity) {
    using Kind = UseKey::Kind;
    const std::uint32_t object = in_queue ? queue : 0;
    switch (kind) {
        case EntityKind::all:
            break;
        case EntityKind::user:
            return {in_queue ? Kind::queue_user : Kind::server_user, object, entity};
        case EntityKind::group:
            return {in_queue ? Kind::queue_group : Kind::server_group, object, entity};
        case EntityKind::project:
            return {in_queue ? Kind::queue_project : Kind::server_project, object, entity};
    }
    return {in_queue ? Kind::queue : Kind::server, object, 0};
}

// The reasons are in the order of EntityKind.
inline ReasonCode reason_of(ReasonCode of_all, EntityKind kind) {
    return static_cast<ReasonCode>(static_cast<int>(of_all) + static_cast<int>(kind));
}
inline ReasonCode run_reason(bool in_queue, EntityKind kind) {
    return reason_of(in_queue ? ReasonCode::queue_run_all : ReasonCode::server_run_all, kind);
}
inline ReasonCode amount_reason(bool in_queue, EntityKind kind) {
    return reason_of(in_queue ? ReasonCode::queue_amount_all : ReasonCode::server_amount_all, kind);
}

}  // namespace pbs::sched

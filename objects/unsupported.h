// The settings that have no effect: one table, made of the notes in the attribute tables. The warning at set,
// `list sched`, the log, the report of a migration, the notes of a simulation, qmgr's help and the manual
// page are all made from it. When an attribute gets its effect, its note is deleted, and all of these are
// silent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace pbs::objects {

class Object;

struct Unsupported {
    // queue: an attribute of the server's queues; then `word` is about the policy in force.
    ObjectType type;
    std::string_view attribute;  // empty: the whole object
    Asks asks;
    std::string_view word;
    std::string_view why;  // half a sentence; empty where `word` says enough
};

// The table. The rows of an attribute with Asks::of come before those with Asks::without.
std::span<const Unsupported> unsupported_table();

// The conditions in the `word` of a row with Asks::without: "a or b=x" gives "a" and "b=x". "c in f": the
// formula f uses the name c.
std::vector<std::string_view> unsupported_conditions(std::string_view word);

// For help and manual pages: "Has no effect: the load of hosts is not looked at." Empty: every value has an
// effect.
std::string unsupported_remark(ObjectType type, std::string_view attribute);

// A setting of an object that has no effect.
struct UnsupportedSetting {
    std::string_view attribute;  // empty: the object as a whole
    std::string text;  // "policy p1: load_balancing has no effect: the load of hosts is not looked at"
};

// The settings of an object that have no effect, in the order of the table. Link pbs_objects.
std::vector<UnsupportedSetting> unsupported_settings(const Object& object);
// The texts of unsupported_settings().
std::vector<std::string> unsupported_lines(const Object& object);
// The warning about a policy's preemption settings, for a server that carries out no preemptions. Empty: the
// policy has no preemption.
std::string unsupported_preemption(const Object& policy);
// The program that schedules by a policy of algorithm external.
enum class PbsSched : std::uint8_t {
    none,      // pbs_sched doesn't schedule here: the policy acts as one of algorithm standard
    program,   // a program of the site schedules, once it has registered
    runs,      // pbs_sched schedules for this server
    replaced,  // the plugin schedules in place of pbs_sched, which nobody starts
};
// The server's abilities that the plugin's scheduler can use.
struct ServerAbilities {
    bool pulls = true;    // pulls jobs from other servers (peer_queue)
    bool has_log = true;  // has a scheduler log, for which a policy says what is written (log_event)
    PbsSched pbs_sched = PbsSched::none;
};
// The settings of a policy that have no effect because the server lacks the ability. With algorithm
// external, only the algorithm can be one of them: pbs_sched acts on the other settings.
std::vector<UnsupportedSetting> unsupported_by_server(const Object& policy, ServerAbilities abilities);
// The warnings for a change: about settings without effect that it names, and about those that had an
// effect before. An object that has no effect as a whole is reported if the change names any attribute but
// the comment. Null: the object doesn't exist before or after the change.
std::vector<std::string> unsupported_by_change(const Object* before, const Object* after,
                                               std::span<const std::string_view> named);

// An attribute of a queue that the server keeps, and its value.
using QueueValue = std::pair<std::string_view, std::string_view>;
// The texts about the queue's attributes that have no effect while this policy is in force: "queue q1:
// Priority has no effect with policy o1: it belongs to algorithm standard". In the order of the table.
std::vector<std::string> unsupported_in_queue(const Object& policy, std::string_view queue,
                                              std::span<const QueueValue> values);

}  // namespace pbs::objects

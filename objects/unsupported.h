// Finds settings that have no effect, by one table, which is made from the notes in the attribute tables. The
// warning at set, `list sched`, the log, the report of a migration, the notes of a simulation, qmgr's help
// and the manual page are all made from it. When an attribute gets an effect, only its note has to be
// deleted.
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
    // If the type is queue, the row is about an attribute that the server keeps, and `word` about the policy
    // in force.
    ObjectType type;
    std::string_view attribute;  // empty: the whole object
    Asks asks;
    std::string_view word;
    std::string_view why;  // half a sentence; empty if `word` says enough
};

// Returns the table. Rows of an attribute with Asks::of come before its rows with Asks::without.
std::span<const Unsupported> unsupported_table();

// Returns the conditions in the `word` of a row with Asks::without: "a or b=x" gives "a" and "b=x". A
// condition "c in f" means that the formula f uses the name c.
std::vector<std::string_view> unsupported_conditions(std::string_view word);

// Returns a remark for help and manual pages: "Has no effect: the load of hosts is not looked at." Empty:
// every value has an effect.
std::string unsupported_remark(ObjectType type, std::string_view attribute);

// A setting of an object that has no effect.
struct UnsupportedSetting {
    std::string_view attribute;  // empty: the object as a whole
    std::string text;  // "policy p1: load_balancing has no effect: the load of hosts is not looked at"
};

// Returns the settings of an object that have no effect, in the order of the table. Needs pbs_objects.
std::vector<UnsupportedSetting> unsupported_settings(const Object& object);
// Returns the texts of unsupported_settings().
std::vector<std::string> unsupported_lines(const Object& object);
// Returns the warning about a policy's preemption settings, for a server that carries out no preemptions.
// Empty: the policy has no preemption.
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
    bool weighs = true;   // weighs the processes of running jobs (reprioritize)
    PbsSched pbs_sched = PbsSched::none;
};
// Returns who schedules by this policy of algorithm external.
PbsSched scheduler_by(const Object& policy, ServerAbilities abilities);
// Returns the settings of a policy that have no effect because the server lacks the ability that they need.
// With algorithm external, these can be among them: algorithm, external_program and, if a program of the site
// schedules, server_dyn_res, reprioritize and those by which a cycle orders jobs. Others can't, because
// pbs_sched or the tests of starts act on them.
std::vector<UnsupportedSetting> unsupported_by_server(const Object& policy, ServerAbilities abilities);
// Returns the warnings for a change: about settings without effect that it names, and about those that had an
// effect before. An object that has no effect as a whole is reported if the change names an attribute other
// than the comment. `before` or `after` is null if the object doesn't exist then.
std::vector<std::string> unsupported_by_change(const Object* before, const Object* after,
                                               std::span<const std::string_view> named);

// An attribute of a queue that the server keeps, and its value.
using QueueValue = std::pair<std::string_view, std::string_view>;
// Returns a text for each of the queue's attributes that has no effect while this policy is in force, in the
// order of the table: "queue q1: Priority has no effect with policy o1: it belongs to algorithm standard".
std::vector<std::string> unsupported_in_queue(const Object& policy, std::string_view queue,
                                              std::span<const QueueValue> values);

}  // namespace pbs::objects

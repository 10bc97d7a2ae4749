// What can be set and nothing acts on: one table, made of the notes in the attribute tables, from which the
// warning at set, `list sched`, the log, the report of a migration, the notes of a simulation, qmgr's help
// and the manual page all come. When an attribute comes to act, its note goes, and all of these fall silent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "objects/schema.h"

namespace pbs::objects {

class Object;

struct Unsupported {
    // Of type queue: an attribute of the server's queues, and `word` is about the policy in force.
    ObjectType type;
    std::string_view attribute;  // empty: all of an object of the type
    Asks asks;
    std::string_view word;
    std::string_view why;  // half a sentence; empty where `word` says it
};

// Of an attribute those of kind `of` come before those of kind `without`.
std::span<const Unsupported> unsupported_table();

// What the `word` of a row of kind `without` names: "a or b=x" gives "a" and "b=x". "c in f": the formula f
// with the name c in it.
std::vector<std::string_view> unsupported_conditions(std::string_view word);

// For help and manual pages: "Not acted on: the load of hosts is not looked at." Empty: every value is acted
// on.
std::string unsupported_remark(ObjectType type, std::string_view attribute);

// A setting of an object that isn't acted on.
struct UnsupportedSetting {
    std::string_view attribute;  // empty: the object as a whole
    std::string text;  // "policy p1: load_balancing is not acted on: the load of hosts is not looked at"
};

// In the order of the table. Link pbs_objects.
std::vector<UnsupportedSetting> unsupported_settings(const Object& object);
// Their texts.
std::vector<std::string> unsupported_lines(const Object& object);
// Of a policy, for a server that carries out no preemptions: what is said of that. Empty: it has none.
std::string unsupported_preemption(const Object& policy);
// What the server can do for the plugin's scheduler.
struct ServerAbilities {
    bool pulls = true;    // jobs from other servers (peer_queue)
    bool has_log = true;  // of the scheduler, in which a policy says what is written (log_event)
};
// The settings of a policy for which the server can't do enough. None of a policy of algorithm external,
// which pbs_sched acts on.
std::vector<UnsupportedSetting> unsupported_by_server(const Object& policy, ServerAbilities abilities);
// The texts of those that a change has to do with: the attributes that it named, and what wasn't so before.
// Of an object that isn't acted on as a whole, any attribute but its comment. Null: the object wasn't there,
// or isn't any more.
std::vector<std::string> unsupported_by_change(const Object* before, const Object* after,
                                               std::span<const std::string_view> named);

// An attribute of a queue that the server keeps, and its value.
using QueueValue = std::pair<std::string_view, std::string_view>;
// The texts of those of a queue's attributes that this policy, when it is in force, doesn't act on: "queue
// q1: Priority is not acted on with policy o1: it is of algorithm standard". In the order of the table.
std::vector<std::string> unsupported_in_queue(const Object& policy, std::string_view queue,
                                              std::span<const QueueValue> values);

}  // namespace pbs::objects

// Collects the changes of a migration, in an order in which a server can make them, with the report and the
// ledger of the migration.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "migrate/convert.h"
#include "objects/formula.h"
#include "objects/snapshot.h"

namespace pbs::migrate {

class Changes {
  public:
    // `current`: the objects before the migration (null: a fresh server). `before`: the ledger of earlier
    // migrations. `server`: the queues and resources of the server that takes the files over; `known` adds
    // those of the older server. `strict`: a formula that can't be read is a problem, not a note.
    Changes(const objects::Snapshot* current, const Ledger& before, const Surroundings& server,
            const Surroundings& known, bool strict);

    const objects::Snapshot* current() const { return current_; }
    const Ledger& before() const { return before_; }
    Conversion& result() { return out_; }

    // Begins a part of the configuration: the ledger records the changes that follow as of this part.
    void begin(Part part);
    // Creates an object, and records it as made by a migration only if it is new: the sweep must not delete
    // an object that somebody else created.
    void create(objects::ObjectType type, const std::string& object);
    // Sets an attribute unless it has that value already. A value equal to the default is set too, so that
    // the file's choice survives a change of defaults and can be seen.
    void set(objects::ObjectType type, const std::string& object, std::string_view name,
             const std::string& text, const std::string& from);
    void set_all(objects::ObjectType type, const std::string& object, const std::vector<SchedValue>& values,
                 const std::string& file);
    // Adds the definitions of resources in `file`, except resources that `print` (may be null) defines as
    // well, and resources that the server has although no migration made them. Returns the definitions of
    // resources that the server has so.
    std::vector<const PrintedCommand*> resources(const QmgrPrint& file, const QmgrPrint* print);
    // Returns the object as it will be after the changes so far.
    objects::Object& object_after(objects::ObjectType type, const std::string& object);

    // Adds a value to the ledger.
    void record(objects::ObjectType type, const std::string& object, std::string_view attribute,
                const std::string& value);
    // Returns the value that an earlier migration gave an attribute; empty: none did.
    std::string recorded(objects::ObjectType type, const std::string& object,
                         std::string_view attribute) const;

    void note(std::string note) { out_.report.notes.push_back(std::move(note)); }
    void note_all(const std::vector<std::string>& notes);
    // Adds a note unless it is there already: several policies may cause the same one.
    void note_once(std::string note);
    // Adds a note if the scheduler doesn't use the policy kPolicy, in which the migration puts the settings.
    void tell_unless_in_force();
    // Adds a problem, which stops the migration.
    void refuse(const std::string& from, std::string message);

    // Adds changes that take back objects and values that earlier migrations made and the files no longer
    // have, and returns all changes. `route_queues`: the route queues in the print of qmgr; their attributes
    // need no notes about scheduling. Returns the problems instead if there are any.
    Result<Conversion> finish(const std::set<std::string>& route_queues);

  private:
    bool is_formula(const objects::Attribute& attribute, const std::string& text, const std::string& from);
    void no_formula(const std::string& from, const objects::Error& error);
    // Returns the policies that the migration makes, or the scheduler's present ones if it makes none.
    std::vector<const objects::Object*> policies() const;
    void notes_on_queues(const std::set<std::string>& route_queues);
    // Returns the line that the ledger of earlier migrations has for an attribute, or with an empty one for
    // an object; null: none.
    const LedgerLine* line_before(objects::ObjectType type, std::string_view object,
                                  std::string_view attribute) const;

    const objects::Snapshot* current_;
    const Ledger& before_;
    const Surroundings& server_;
    bool strict_;
    objects::ResourceNames resources_;
    Part part_ = Part::options;
    std::set<Part> parts_;
    std::unordered_set<std::string> recorded_;  // type, object, attribute and value of the ledger's lines
    // The first line of before_ for each type, object and attribute.
    std::unordered_map<std::string, const LedgerLine*> lines_before_;
    std::map<std::pair<objects::ObjectType, std::string>, objects::Object> made_;
    Conversion out_;
    Problems problems_;
};

}  // namespace pbs::migrate

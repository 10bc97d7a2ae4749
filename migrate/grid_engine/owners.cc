// Reads su/, suser/ and sprj/, the shares and override tickets of departments, users and projects; and sconf,
// which has those of users without an entry, and limits on jobs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdint>
#include <set>

#include "migrate/grid_engine/output.h"
#include "migrate/words.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {
namespace {

using objects::ObjectType;

// The elements of a policy's attribute, and the lines that they come from.
struct OwnerList {
    std::string_view attribute;
    std::vector<std::string> elements{};
    std::vector<std::string> from{};
    std::set<std::string> owners{};
    std::set<char> generic{};  // letters of the kinds with an element for PBS_GENERIC
};

struct OwnerKind {
    std::string_view kind;
    char letter;
};

constexpr std::array kOwnerKinds{OwnerKind{"suser", 'u'}, OwnerKind{"su", 'g'}, OwnerKind{"sprj", 'p'}};

constexpr std::string_view kZero = "nothing to carry over: it is 0";
// The owner that stands for all owners without numbers of their own; and the department of users without a
// department.
constexpr std::string_view kGeneric = "PBS_GENERIC";
constexpr std::string_view kDefaultDepartment = "defaultdepartment";

// Settings of sconf that become nothing. `why` names the attribute of PBS with a similar purpose, if any.
struct GlobalRow {
    std::string_view names;  // separated by blanks
    std::string_view why;
};

constexpr std::array kGlobalRows{
    GlobalRow{"max_u_jobs max_jobs", "left out: max_queued of the server limits the jobs that there are"},
    GlobalRow{"max_aj_tasks", "left out: max_array_size of the server limits the size of an array"},
    GlobalRow{"enforce_user enforce_project auto_user_delete_time auto_user_default_project",
              "left out: users and projects are names here, which nobody makes or deletes"},
};

class OwnersReader {
  public:
    explicit OwnersReader(Output& out) : out_(out) {}

    void read() {
        // Read the numbers of PBS_GENERIC first: only if there is such a number does an owner's own 0 matter.
        if (const File* file = out_.folder().find("sconf")) read_global(*file);
        const File* department = out_.folder().find("su", kDefaultDepartment);
        if (department != nullptr) read_file(*department, {"su", 'g'});
        for (const OwnerKind& kind : kOwnerKinds)
            for (const File* file : out_.folder().of_kind(kind.kind))
                if (file != department) read_file(*file, kind);
        for (const OwnerList* list : {&shares_, &tickets_})
            if (!list->elements.empty())
                out_.set(ObjectType::policy, kPolicy, list->attribute,
                         fmt::format("{}", fmt::join(list->elements, ",")),
                         fmt::format("{}", fmt::join(list->from, ", ")));
    }

  private:
    void read_global(const File& file) {
        out_.expect_settings(file, {"enforce_user", "auto_user_fshare"});
        bool makes_users = false;
        for (const Line& line : file.lines) {
            const Field field = field_of(line);
            if (field.name == "enforce_user") makes_users = values::lowered(field.value) == "auto";
        }
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file.lines)
            if (out_.is_first(file, line, field_of(line).name, seen)) global(file, line, makes_users);
    }

    void global(const File& file, const Line& line, bool makes_users) {
        const Field field = field_of(line);
        if (field.name == "auto_user_fshare" || field.name == "auto_user_oticket") {
            if (!makes_users)
                return out_.left_out(file, line, field.name,
                                     "left out: without enforce_user auto no user gets it");
            return amount(file, line, field, {"suser", 'u'}, kGeneric,
                          field.name == "auto_user_fshare" ? shares_ : tickets_);
        }
        if (field.name == "max_aj_instances")
            return out_.set_checked(file, line, field, ObjectType::policy, kPolicy, "max_run_subjobs",
                                    std::string(field.value));
        if (field.name == "execd_params" && reserved_usage(field.value))
            return out_.note(
                file, line, field.name,
                "usage is what jobs have, and not what they use (SHARETREE_RESERVED_USAGE or "
                "ACCT_RESERVED_USAGE): with ncpus*walltime in place of cput, usage_formula of the "
                "fs_group counts that");
        for (const GlobalRow& row : kGlobalRows)
            for (const std::string_view name : values::words(row.names))
                if (name == field.name) return out_.left_out(file, line, field.name, row.why);
        out_.left_out(file, line, field.name, "left out: it is about how jobs run, and not when");
    }

    static bool reserved_usage(std::string_view params) {
        for (const std::string_view word : values::words(params))
            for (const std::string_view param : values::split(word, ',')) {
                const std::string text = values::lowered(param);
                for (const std::string_view name : {"sharetree_reserved_usage", "acct_reserved_usage"})
                    if (text == fmt::format("{}=true", name) || text == fmt::format("{}=1", name))
                        return true;
            }
        return false;
    }

    void read_file(const File& file, const OwnerKind& kind) {
        std::string_view name;
        bool department = false;
        for (const Line& line : file.lines) {
            const Field field = field_of(line);
            if (field.name == "name") name = field.value;
            if (field.name == "type")
                for (const std::string_view word : values::words(field.value))
                    department = department || values::lowered(word) == "dept";
        }
        has_shares_ = kind.kind != "su" || department;
        if (!file.lines.empty() && name != file.name)
            return out_.problem(file, file.lines.front(), file.lines.front().text, "",
                                "has no line name with the file's name, expected one");
        std::set<std::string, std::less<>> seen;
        for (const Line& line : file.lines)
            if (out_.is_first(file, line, field_of(line).name, seen)) read_line(file, line, kind, name);
    }

    void read_line(const File& file, const Line& line, const OwnerKind& kind, std::string_view name) {
        const Field field = field_of(line);
        if (field.name == "fshare" || field.name == "oticket") {
            if (!has_shares_)
                return out_.left_out(
                    file, line, field.name,
                    "left out: a list of access has no shares and tickets, only a department "
                    "(type DEPT) has");
            return amount(file, line, field, kind,
                          kind.letter == 'g' && name == kDefaultDepartment ? kGeneric : name,
                          field.name == "fshare" ? shares_ : tickets_);
        }
        if (field.name == "name") return out_.left_out(file, line, field.name, "names the owner");
        if (field.name == "entries") return entries(file, line, field, name);
        if (field.name == "type")
            return out_.left_out(
                file, line, field.name,
                "departments are groups, and lists of access are expanded in rules of quotas");
        if (field.name == "acl" || field.name == "xacl" || field.name == "default_project" ||
            field.name == "delete_time")
            return out_.left_out(
                file, line, field.name,
                "left out: users and projects are names here, which nobody makes or deletes");
        out_.left_out(file, line, field.name, "left out: pbs_migrate doesn't know this setting");
    }

    void amount(const File& file, const Line& line, const Field& field, const OwnerKind& kind,
                std::string_view name, OwnerList& list) {
        const auto number = values::digits<std::int64_t>(field.value);
        if (!number)
            return out_.problem(file, line, field.value.empty() ? field.name : field.value, field.name,
                                fmt::format("{} is no number, expected 0 or more", in_quotes(field.value)));
        if (*number == 0 && !list.generic.contains(kind.letter))
            return out_.left_out(file, line, field.name, kZero);
        if (!list.owners.insert(fmt::format("{}:{}", kind.letter, name)).second)
            return out_.problem(file, line, field.name, field.name, "is there twice, expected it once");
        std::string element = fmt::format("[{}:{}={}]", kind.letter, name, *number);
        if (!out_.checked_element(file, line, field.value, field.name, list.attribute, element)) return;
        if (name == kGeneric) list.generic.insert(kind.letter);
        list.elements.push_back(std::move(element));
        list.from.push_back(place_of(file, {&line}, field.name));
    }

    void entries(const File& file, const Line& line, const Field& field, std::string_view name) {
        if (name != kDeadlineUsers)
            return out_.left_out(file, line, field.name,
                                 "count in rules of quotas; the members of a group are those of the system");
        if (values::lowered(field.value) == "none")
            return out_.left_out(file, line, field.name,
                                 "nobody is in it: weight_deadline=0 of the policy says so");
        out_.set_checked(file, line, field, ObjectType::policy, kPolicy, "deadline_users",
                         std::string(field.value));
    }

    Output& out_;
    bool has_shares_ = true;  // whether the owner of the file that is read has shares and tickets
    OwnerList shares_{"functional_shares"};
    OwnerList tickets_{"override_tickets"};
};

}  // namespace

void read_owners(Output& out) {
    OwnersReader(out).read();
}

}  // namespace pbs::migrate::grid_engine

// Collects the objects, remarks and problems that the readers of Grid Engine's files produce. Internal to
// migrate/grid_engine/.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "migrate/grid_engine/folder.h"
#include "migrate/grid_engine/grid_engine.h"
#include "migrate/object_names.h"

namespace pbs::migrate::grid_engine {

// Returns the place of lines, and a name behind it: "conf/ssconf:3-5,7 name".
std::string place_of(const File& file, const std::vector<const Line*>& lines, std::string_view name = {});

// Returns a name with a number, "NAME_2". Cuts NAME off if the result would be too long.
std::string numbered_name(std::string_view name, std::size_t number);

// The list of the users who may set deadlines.
inline constexpr std::string_view kDeadlineUsers = "deadlineusers";

class Output {
  public:
    explicit Output(const Folder& folder) : folder_(folder) {}

    const Folder& folder() const { return folder_; }
    // Returns the entries of the list of users who may set deadlines, such as "NONE" or "ann,@vip". nullopt:
    // no file has the list.
    std::optional<std::string_view> deadline_users() const;

    void create(objects::ObjectType type, const std::string& object, const std::string& from);
    void set(objects::ObjectType type, const std::string& object, std::string_view attribute,
             std::string value, std::string from, std::string_view key = {});
    // Sets a value from a file. A mistake in it becomes a problem at its place.
    void set_checked(const File& file, const Line& line, const Field& field, objects::ObjectType type,
                     const std::string& object, std::string_view attribute, const std::string& value);

    // Makes a quota of these lines, and adds it to the policy's list. Returns its name: the wished one or, if
    // another quota has that, one with a number, with a note. `shown`: the name in the file.
    std::string new_quota(const File& file, std::vector<const Line*> lines, const std::string& wish,
                          std::string_view shown);
    std::string new_quota(const File& file, const Line& line, const std::string& wish,
                          std::string_view shown) {
        return new_quota(file, std::vector<const Line*>{&line}, wish, shown);
    }
    // Adds an element to the policy's load_thresholds.
    void threshold(std::string element, const std::string& from);
    // Note that jobs have reservations, and that a queue has closed times. With both, the policy gets
    // backfill_prime, so that no job starts that would run into a closed time of its queue.
    void reserves(std::string from) { reserves_from_ = std::move(from); }
    void closes(std::string from) { closes_from_ = std::move(from); }
    void resource(const std::string& name, std::string_view type, std::string_view flag, int line,
                  const std::string& path);

    void note(std::string text) { out_.notes.push_back(std::move(text)); }
    void note(const File& file, const Line& line, std::string_view name, std::string_view text);
    // Notes that a line becomes nothing, and why. Lines of a file with the same reason share one note.
    void left_out(const File& file, const Line& line, std::string_view name, std::string_view why);
    void problem(const File& file, const Line& line, std::string_view part, std::string_view option,
                 std::string message) {
        problems_.push_back(problem_at(file, line, part, option, std::move(message)));
    }
    // Returns whether this is the first line about its setting, and adds a problem if not. `seen`: the
    // settings so far.
    bool is_first(const File& file, const Line& line, std::string_view name,
                  std::set<std::string, std::less<>>& seen);
    // Adds a problem for each of these settings that a file of names and values lacks. qconf prints them at
    // every site, so the file isn't its whole output.
    void expect_settings(const File& file, std::initializer_list<std::string_view> names);
    // Returns a name for an object or rule: the name in the file or, if PBS doesn't allow that one, a similar
    // one, with a note. If `name` doesn't begin with a letter, `kind` is put before it.
    std::string name_of(const File& file, const Line& line, std::string_view name, std::string_view kind);
    // Returns whether an attribute of the policy may have this element. If not, adds a problem with `part` of
    // the line.
    bool checked_element(const File& file, const Line& line, std::string_view part, std::string_view option,
                         std::string_view attribute, const std::string& element);

    Result<GridEngine> finish();

  private:
    struct LeftOut {
        const File* file;
        std::string why;
        std::vector<const Line*> lines;
        std::vector<std::string> names;
        std::set<std::string> different;  // elements of `names`, to find repeated ones
    };

    const Folder& folder_;
    GridEngine out_;
    std::vector<LeftOut> left_out_;
    std::set<std::string> quotas_;
    std::string quota_list_;
    std::vector<std::pair<const File*, std::vector<const Line*>>> quotas_from_;  // the lines of each file
    std::vector<std::string> thresholds_;
    std::vector<std::string> thresholds_from_;
    std::string reserves_from_;
    std::string closes_from_;
    Problems problems_;
};

// Each of these functions reads the files of a kind, if there are any, and adds what they become to `out`.
void read_settings(Output& out);
void read_quotas(Output& out);
void read_share_tree(Output& out);
// The names of the time_windows of each calendar, by the calendar's name; empty if the calendar is always on.
using CalendarWindows = std::map<std::string, std::vector<std::string>>;
CalendarWindows read_calendars(Output& out);
void read_queues(Output& out, const CalendarWindows& windows);
void read_host_groups(Output& out);
void read_owners(Output& out);
void read_environments(Output& out);
void read_complexes(Output& out);

}  // namespace pbs::migrate::grid_engine

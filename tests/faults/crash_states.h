// Computes states in which a power failure may leave a disk, from a record of the calls that changed the disk
// (record.h).
//
// A disk keeps only two promises: a file's data are on it once the file is synced, and a name once its folder
// is synced. Each other change may be on it or not, in any order. A part of a write may be on it, by sectors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/faults/record.h"

namespace pbs::e2e {

struct DiskCall {
    record_type type{};
    std::uint64_t file = 0;
    std::int64_t at = 0;
    std::string path;
    std::string other;
    std::string data;
};

// Reads a record. Leaves the last entry out if it was cut off.
std::vector<DiskCall> read_record(const std::filesystem::path& path);

// How much of the data and names that weren't synced a power failure loses.
struct Loss {
    enum class Part { nothing, all, some };
    Part data = Part::all;
    Part names = Part::all;
    std::size_t sector = 512;     // unit, in bytes, in which parts of a write are lost
    bool ordered_names = true;    // names are lost from a call on, as with a journal; false: any names
    bool sync_keeps_name = true;  // a sync of a new file also keeps its name, as on most systems
    bool zeros = false;           // a lost part of a write may be on the disk as zeros
};

class Disk {
  public:
    // Begins with the files that are below the folder.
    explicit Disk(const std::filesystem::path& folder);
    // Applies the calls in their order. `index` is the number of the call, from 0.
    void apply(const DiskCall& call, long index);
    // The folders and files after a power failure. Each has its path as its key.
    struct State {
        std::set<std::string> folders;
        std::map<std::string, std::string> files;
    };
    State after(const Loss& loss, std::mt19937& random) const;

  private:
    struct Change {
        long index;
        bool size;
        std::int64_t at;
        std::string data;
    };
    struct File {
        std::string synced;
        std::vector<Change> changes;
    };
    // A name in a folder: the folder's number (0 is the folder of the disk), and the text of the name. Named
    // says which file or folder has the name.
    using Name = std::pair<std::size_t, std::string>;
    struct Named {
        bool is_folder;
        std::size_t number;
    };
    using Names = std::map<Name, Named>;
    // A change of names, such as a rename. It is on the disk as a whole or not at all.
    struct NameChange {
        long index;
        bool is_new;  // the change makes a new file
        std::optional<Name> gone;
        std::optional<Name> made;
        Named what;
    };
    static void apply(Names& names, const NameChange& change);
    std::optional<std::size_t> folder_at(std::string_view path) const;
    std::optional<Name> name_of(std::string_view path) const;
    std::size_t file_of(std::uint64_t number);
    void change_names(const DiskCall& call, long index);
    void add_to(State& state, const Names& names, std::size_t folder, const std::string& path,
                const std::function<const std::string&(std::size_t)>& content) const;
    void sync(const DiskCall& call);
    std::string content(const File& file, const Loss& loss, std::mt19937& random) const;

    std::string folder_;
    std::vector<File> files_;
    std::size_t folders_ = 1;
    std::map<std::uint64_t, std::size_t> numbers_;  // index in files_, by inode number
    Names now_;
    Names synced_;
    std::vector<NameChange> name_changes_;
    std::set<std::size_t> synced_files_;  // files that were synced while their names weren't
};

}  // namespace pbs::e2e

// The states in which a power failure may leave a disk, from a record of what programs did to it (record.h).
//
// A disk promises only this: data of a file are there when the file has been synced, and a name is there when
// its folder has been. Everything else may be there or not, in any order, and a write may be cut into
// sectors.
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

// Reads a record; a last entry that is cut off is left out.
std::vector<DiskCall> read_record(const std::filesystem::path& path);

// How much of what wasn't synced is lost.
struct Loss {
    enum class Part { nothing, all, some };
    Part data = Part::all;
    Part names = Part::all;
    std::size_t sector = 512;     // of torn writes
    bool ordered_names = true;    // names are lost from some call on, as with a journal; else any of them
    bool sync_keeps_name = true;  // the sync of a new file brings its name to the disk, as most systems do
    bool zeros = false;           // a file may have its length before its data
};

class Disk {
  public:
    // The files below the folder are on the disk.
    explicit Disk(const std::filesystem::path& folder);
    // Calls are applied in their order; `index` counts them from 0.
    void apply(const DiskCall& call, long index);
    // The files after a power failure, by their paths.
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
    // A name in a folder, and what it names. Folders are numbered from 0, the folder of the disk.
    using Name = std::pair<std::size_t, std::string>;
    struct Named {
        bool is_folder;
        std::size_t number;
    };
    using Names = std::map<Name, Named>;
    // Names go and come together: a rename is there as a whole or not at all, whatever is in a folder.
    struct NameChange {
        long index;
        bool is_new;  // the name of a new file
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
    std::map<std::uint64_t, std::size_t> numbers_;  // of the files that exist
    Names now_;
    Names synced_;
    std::vector<NameChange> name_changes_;
    std::set<std::size_t> synced_files_;  // files that were synced while their names weren't
};

}  // namespace pbs::e2e

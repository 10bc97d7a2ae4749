#include "tests/faults/crash_states.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/file_text.h"

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    return pbs::test::file_text(path);
}

void write_at(std::string& text, std::int64_t at, std::string_view data) {
    const auto begin = static_cast<std::size_t>(at);
    if (text.size() < begin + data.size()) text.resize(begin + data.size(), '\0');
    text.replace(begin, data.size(), data);
}

}  // namespace

std::vector<DiskCall> read_record(const fs::path& path) {
    const std::string text = text_of(path);
    std::vector<DiskCall> calls;
    std::size_t at = 0;
    record_entry entry{};
    while (at + sizeof entry <= text.size()) {
        std::memcpy(&entry, text.data() + at, sizeof entry);
        at += sizeof entry;
        if (at + entry.path_size + entry.other_size + entry.data_size > text.size()) break;
        DiskCall call{static_cast<record_type>(entry.type), entry.file, entry.at, {}, {}, {}};
        for (auto [part, size] :
             {std::pair{&call.path, entry.path_size}, std::pair{&call.other, entry.other_size},
              std::pair{&call.data, entry.data_size}}) {
            *part = text.substr(at, size);
            at += size;
        }
        calls.push_back(std::move(call));
    }
    return calls;
}

Disk::Disk(const fs::path& folder) : folder_(folder.string()) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto name = name_of(entry.path().string());
        if (!name) continue;
        if (entry.is_directory()) now_[*name] = {true, folders_++};
        if (!entry.is_regular_file()) continue;
        struct stat status {};
        if (::stat(entry.path().c_str(), &status) != 0) continue;
        numbers_[status.st_ino] = files_.size();
        now_[*name] = {false, files_.size()};
        files_.push_back({text_of(entry.path()), {}});
    }
    synced_ = now_;
}

std::optional<std::size_t> Disk::folder_at(std::string_view path) const {
    std::size_t at = 0;
    path.remove_prefix(std::min(path.size(), folder_.size()));
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view part = path.substr(0, path.find('/'));
        path.remove_prefix(part.size());
        const auto found = now_.find({at, std::string(part)});
        if (found == now_.end() || !found->second.is_folder) return std::nullopt;
        at = found->second.number;
    }
    return at;
}

std::optional<Disk::Name> Disk::name_of(std::string_view path) const {
    const std::size_t slash = path.rfind('/');
    if (slash < folder_.size()) return std::nullopt;
    const auto folder = folder_at(path.substr(0, slash));
    if (!folder) return std::nullopt;
    return Name(*folder, path.substr(slash + 1));
}

std::size_t Disk::file_of(std::uint64_t number) {
    const auto [found, is_new] = numbers_.try_emplace(number, files_.size());
    if (is_new) files_.emplace_back();
    return found->second;
}

void Disk::apply(Names& names, const NameChange& change) {
    if (change.gone) names.erase(*change.gone);
    if (change.made) names[*change.made] = change.what;
}

void Disk::change_names(const DiskCall& call, long index) {
    const auto name = name_of(call.path);
    if (!name) return;
    NameChange change{index, call.type == record_make, {}, {}, {}};
    if (call.type == record_make) {
        numbers_.erase(call.file);  // the inode number of a removed file may be used again for a new file
        change.made = name;
        change.what = {false, file_of(call.file)};
    } else if (call.type == record_mkdir) {
        change.made = name;
        change.what = {true, folders_++};
    } else {
        const auto named = now_.find(*name);
        if (named == now_.end()) return;
        change.what = named->second;
        if (call.type == record_rename || call.type == record_link) change.made = name_of(call.other);
        if (call.type != record_link) change.gone = name;
    }
    apply(now_, change);
    name_changes_.push_back(std::move(change));
}

void Disk::sync(const DiskCall& call) {
    if (const auto folder = folder_at(call.path)) {
        std::erase_if(name_changes_, [&](const NameChange& change) {
            const Name& name = change.made ? *change.made : *change.gone;
            if (change.index >= call.at || name.first != *folder) return false;
            apply(synced_, change);
            return true;
        });
        return;
    }
    const std::size_t id = file_of(call.file);
    File& file = files_[id];
    std::erase_if(file.changes, [&](const Change& change) {
        if (change.index >= call.at) return false;
        if (change.size)
            file.synced.resize(static_cast<std::size_t>(change.at), '\0');
        else
            write_at(file.synced, change.at, change.data);
        return true;
    });
    synced_files_.insert(id);
}

void Disk::apply(const DiskCall& call, long index) {
    switch (call.type) {
        case record_write:
            files_[file_of(call.file)].changes.push_back({index, false, call.at, call.data});
            break;
        case record_size:
            files_[file_of(call.file)].changes.push_back({index, true, call.at, {}});
            break;
        case record_sync:
            sync(call);
            break;
        case record_mark:
            break;
        default:
            change_names(call, index);
            break;
    }
}

std::string Disk::content(const File& file, const Loss& loss, std::mt19937& random) const {
    std::string text = file.synced;
    if (loss.data == Loss::Part::all) return text;
    const auto kept = [&] { return loss.data == Loss::Part::nothing || random() % 2 == 0; };
    for (const Change& change : file.changes) {
        if (change.size) {
            if (kept()) text.resize(static_cast<std::size_t>(change.at), '\0');
            continue;
        }
        if (loss.data == Loss::Part::nothing) {
            write_at(text, change.at, change.data);
            continue;
        }
        if (random() % 4 == 0) continue;  // the power failure loses the whole write
        const bool whole = random() % 2 == 0;
        for (std::size_t begin = 0; begin < change.data.size();) {
            const auto place = static_cast<std::size_t>(change.at) + begin;
            const std::size_t size = std::min(loss.sector - place % loss.sector, change.data.size() - begin);
            if (whole || kept())
                write_at(text, change.at + static_cast<std::int64_t>(begin),
                         std::string_view(change.data).substr(begin, size));
            else if (loss.zeros && text.size() < place + size)
                text.resize(place + size, '\0');
            begin += size;
        }
    }
    return text;
}

void Disk::add_to(State& state, const Names& names, std::size_t folder, const std::string& path,
                  const std::function<const std::string&(std::size_t)>& content) const {
    state.folders.insert(path);
    for (auto at = names.lower_bound({folder, ""}); at != names.end() && at->first.first == folder; ++at) {
        const std::string name = path + "/" + at->first.second;
        if (at->second.is_folder)
            add_to(state, names, at->second.number, name, content);
        else
            state.files[name] = content(at->second.number);
    }
}

Disk::State Disk::after(const Loss& loss, std::mt19937& random) const {
    Names names = synced_;
    const std::size_t kept = name_changes_.empty() ? 0 : random() % (name_changes_.size() + 1);
    std::size_t number = 0;
    for (const NameChange& change : name_changes_) {
        const bool by_file =
            loss.sync_keeps_name && change.is_new && synced_files_.contains(change.what.number);
        const bool by_chance = loss.ordered_names ? number < kept : random() % 2 == 0;
        ++number;
        if (by_file || loss.names == Loss::Part::nothing || (loss.names == Loss::Part::some && by_chance))
            apply(names, change);
    }
    std::map<std::size_t, std::string> contents;  // key: the file, as two names may have it
    State state;
    add_to(state, names, 0, folder_, [&](std::size_t file) -> const std::string& {
        const auto [found, is_new] = contents.try_emplace(file);
        if (is_new) found->second = content(files_[file], loss, random);
        return found->second;
    });
    return state;
}

}  // namespace pbs::e2e

#include "tests/faults/crash_states.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace pbs::e2e {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return std::move(text).str();
}

std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
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

Disk::Disk(const fs::path& folder) {
    now_.folders.insert(folder.string());
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_directory()) now_.folders.insert(entry.path().string());
        if (!entry.is_regular_file()) continue;
        struct stat status {};
        if (::stat(entry.path().c_str(), &status) != 0) continue;
        numbers_[status.st_ino] = files_.size();
        now_.files[entry.path().string()] = files_.size();
        files_.push_back({text_of(entry.path()), {}});
    }
    synced_ = now_;
}

std::size_t Disk::file_of(std::uint64_t number) {
    const auto [found, is_new] = numbers_.try_emplace(number, files_.size());
    if (is_new) files_.emplace_back();
    return found->second;
}

void Disk::Names::apply(const NameChange& change) {
    switch (change.type) {
        case record_make:
            files[change.path] = change.file;
            break;
        case record_link:
            files[change.other] = change.file;
            break;
        case record_rename:
            files.erase(change.path);
            files[change.other] = change.file;
            break;
        case record_unlink:
            files.erase(change.path);
            break;
        case record_mkdir:
            folders.insert(change.path);
            break;
        case record_rmdir:
            folders.erase(change.path);
            break;
        default:
            break;
    }
}

void Disk::change_names(NameChange change) {
    now_.apply(change);
    name_changes_.push_back(std::move(change));
}

void Disk::sync(const DiskCall& call) {
    if (now_.folders.contains(call.path)) {
        std::erase_if(name_changes_, [&](const NameChange& change) {
            const std::string& name = change.other.empty() ? change.path : change.other;
            if (change.index >= call.at || folder_of(name) != call.path) return false;
            synced_.apply(change);
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
    const auto named = [&](const std::string& path) {
        const auto found = now_.files.find(path);
        return found == now_.files.end() ? files_.size() : found->second;
    };
    switch (call.type) {
        case record_make:
            numbers_.erase(call.file);  // the number may have been that of a removed file
            change_names({index, call.type, call.path, {}, file_of(call.file)});
            break;
        case record_write:
            files_[file_of(call.file)].changes.push_back({index, false, call.at, call.data});
            break;
        case record_size:
            files_[file_of(call.file)].changes.push_back({index, true, call.at, {}});
            break;
        case record_sync:
            sync(call);
            break;
        case record_rename:
            if (now_.folders.contains(call.path)) {  // a folder with what is in it
                const std::string below = call.path + "/";
                std::vector<std::pair<std::string, std::size_t>> moved;
                for (const auto& [path, file] : now_.files)
                    if (path.starts_with(below)) moved.emplace_back(path, file);
                change_names({index, record_mkdir, call.other, {}, 0});
                for (const auto& [path, file] : moved)
                    change_names(
                        {index, record_rename, path, call.other + path.substr(call.path.size()), file});
                change_names({index, record_rmdir, call.path, {}, 0});
                break;
            }
            [[fallthrough]];
        case record_link:
            if (const auto file = named(call.path); file < files_.size())
                change_names({index, call.type, call.path, call.other, file});
            break;
        case record_unlink:
        case record_mkdir:
        case record_rmdir:
            change_names({index, call.type, call.path, {}, 0});
            break;
        case record_mark:
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
        if (random() % 4 == 0) continue;  // the whole write
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

Disk::State Disk::after(const Loss& loss, std::mt19937& random) const {
    Names names = synced_;
    const std::size_t kept = name_changes_.empty() ? 0 : random() % (name_changes_.size() + 1);
    std::size_t number = 0;
    for (const NameChange& change : name_changes_) {
        const bool by_file =
            loss.sync_keeps_name && change.type == record_make && synced_files_.contains(change.file);
        const bool by_chance = loss.ordered_names ? number < kept : random() % 2 == 0;
        ++number;
        if (by_file || loss.names == Loss::Part::nothing || (loss.names == Loss::Part::some && by_chance))
            names.apply(change);
    }
    State state{names.folders, {}};
    std::map<std::size_t, std::string> contents;  // a file with two names has one content
    for (const auto& [path, file] : names.files) {
        if (!state.folders.contains(folder_of(path))) continue;
        auto found = contents.find(file);
        if (found == contents.end())
            found = contents.emplace(file, content(files_[file], loss, random)).first;
        state.files[path] = found->second;
    }
    return state;
}

}  // namespace pbs::e2e

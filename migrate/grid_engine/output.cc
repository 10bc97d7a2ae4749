#include "migrate/grid_engine/output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tl/expected.hpp>

#include "migrate/words.h"
#include "objects/value.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::migrate::grid_engine {

using objects::ObjectType;

namespace {

constexpr std::size_t kLongestName = 64;  // the limit of objects::check_name()

}  // namespace

std::string place_of(const File& file, const std::vector<const Line*>& lines, std::string_view name) {
    std::string out = file.path + ":";
    int first = 0;
    int last = -1;
    const Line* before = nullptr;
    const auto add = [&] {
        if (first == 0) return;
        if (out.back() != ':') out += ',';
        out += first == last ? std::to_string(first) : fmt::format("{}-{}", first, last);
    };
    for (const Line* line : lines) {
        // Between neighbours in the file there are only comments and empty lines.
        if (before == nullptr || line != before + 1) {
            add();
            first = line->number();
        }
        last = line->last();
        before = line;
    }
    add();
    return name.empty() ? out : fmt::format("{} {}", out, name);
}

std::string numbered_name(std::string_view name, std::size_t number) {
    const std::string end = fmt::format("_{}", number);
    return fmt::format("{}{}", name.substr(0, kLongestName - end.size()), end);
}

std::optional<std::string_view> Output::deadline_users() const {
    const File* file = folder_.find("su", kDeadlineUsers);
    if (file == nullptr) return std::nullopt;
    for (const Line& line : file->lines)
        if (const Field field = field_of(line); field.name == "entries") return field.value;
    return std::nullopt;
}

void Output::create(ObjectType type, const std::string& object, const std::string& from) {
    out_.wanted.push_back({type, object, "", "", from});
}

void Output::set(ObjectType type, const std::string& object, std::string_view attribute, std::string value,
                 std::string from, std::string_view key) {
    out_.wanted.push_back(
        {type, object, std::string(attribute), std::move(value), std::move(from), std::string(key)});
}

void Output::set_checked(const File& file, const Line& line, const Field& field, ObjectType type,
                         const std::string& object, std::string_view attribute, const std::string& value) {
    const objects::Attribute* row = objects::find_attribute(type, attribute);
    const auto read = objects::parse_value(*row, value);
    if (!read) return problem(file, line, field.value, field.name, read.error().message);
    set(type, object, attribute, value, place_of(file, {&line}, field.name));
}

std::string Output::new_quota(const File& file, std::vector<const Line*> lines, const std::string& wish,
                              std::string_view shown) {
    std::string name = wish;
    for (std::size_t number = 2; !quotas_.insert(name).second; ++number) name = numbered_name(wish, number);
    if (name != wish)
        note(file, *lines.front(), shown,
             fmt::format("the quota is called {} here: another one is called {}", name, wish));
    create(ObjectType::quota, name, place_of(file, {lines.front()}));
    quota_list_ += (quota_list_.empty() ? "" : ",") + name;
    if (quotas_from_.empty() || quotas_from_.back().first != &file) quotas_from_.push_back({&file, {}});
    auto& all = quotas_from_.back().second;
    all.insert(all.end(), lines.begin(), lines.end());
    return name;
}

void Output::threshold(std::string element, const std::string& from) {
    if (std::ranges::find(thresholds_, element) != thresholds_.end()) return;
    thresholds_.push_back(std::move(element));
    if (thresholds_from_.empty() || thresholds_from_.back() != from) thresholds_from_.push_back(from);
}

void Output::resource(const std::string& name, std::string_view type, std::string_view flag, int line,
                      const std::string& path) {
    out_.resources.file = path;
    const auto change = [&](std::string_view attribute, std::string_view value) {
        out_.resources.commands.push_back({{objects::CommandKind::set,
                                            ObjectType::resource,
                                            name,
                                            {{std::string(attribute), std::string(value)}}},
                                           line,
                                           path});
    };
    out_.resources.commands.push_back(
        {{objects::CommandKind::create, ObjectType::resource, name, {}}, line, path});
    change("type", type);
    change("flag", flag);
    (uses_up(flag) ? out_.resources.consumables : out_.resources.others).push_back(name);
}

void Output::note(const File& file, const Line& line, std::string_view name, std::string_view text) {
    out_.notes.push_back(fmt::format("{}: {}: {}", place_of(file, {&line}), printable(name), text));
}

void Output::left_out(const File& file, const Line& line, std::string_view name, std::string_view why) {
    // Look back through the notes on this file only: all of its lines are read together.
    auto found = left_out_.end();
    for (auto one = left_out_.rbegin(); one != left_out_.rend() && one->file == &file; ++one)
        if (one->why == why) found = std::prev(one.base());
    if (found == left_out_.end()) found = left_out_.insert(found, {&file, std::string(why), {}, {}, {}});
    found->lines.push_back(&line);
    std::string shown = printable(name);
    if (found->different.insert(shown).second) found->names.push_back(std::move(shown));
}

bool Output::is_first(const File& file, const Line& line, std::string_view name,
                      std::set<std::string, std::less<>>& seen) {
    const bool first = seen.emplace(name).second;
    if (!first) problem(file, line, name, name, "is there twice, expected it once");
    return first;
}

void Output::expect_settings(const File& file, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names)
        if (std::ranges::none_of(file.lines, [&](const Line& line) { return field_of(line).name == name; }))
            problem(file, file.lines.back(), file.lines.back().text, "",
                    fmt::format("no line has {}, expected the whole output of qconf", name));
}

std::string Output::name_of(const File& file, const Line& line, std::string_view name,
                            std::string_view kind) {
    std::string out(name);
    if (objects::check_name("name", name)) return out;
    for (char& c : out)
        if (!values::is_letter(c) && !values::is_digit(c) && c != '-' && c != '_' && c != '.') c = '_';
    if (!values::is_letter(out.front())) out = fmt::format("{}_{}", kind, out);
    out = out.substr(0, kLongestName);
    note(
        file, line, name,
        fmt::format("is called {} here: names have a letter first, then letters, digits, -, _ and ., at most "
                    "{} characters",
                    out, kLongestName));
    return out;
}

bool Output::checked_element(const File& file, const Line& line, std::string_view part,
                             std::string_view option, std::string_view attribute,
                             const std::string& element) {
    const auto read = objects::parse_value(*objects::find_attribute(ObjectType::policy, attribute), element);
    if (!read) problem(file, line, part, option, read.error().message);
    return read.has_value();
}

Result<GridEngine> Output::finish() {
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    if (!quota_list_.empty()) {
        std::vector<std::string> from;
        for (const auto& [file, lines] : quotas_from_) from.push_back(place_of(*file, lines));
        set(ObjectType::policy, kPolicy, "quotas", quota_list_, fmt::format("{}", fmt::join(from, ", ")));
    }
    if (!thresholds_.empty())
        set(ObjectType::policy, kPolicy, "load_thresholds", fmt::format("{}", fmt::join(thresholds_, ",")),
            fmt::format("{}", fmt::join(thresholds_from_, ", ")));
    if (!reserves_from_.empty() && !closes_from_.empty())
        set(ObjectType::policy, kPolicy, "backfill_prime", "True",
            fmt::format("{}, {}", reserves_from_, closes_from_));
    std::ranges::stable_sort(out_.wanted, {}, [](const Wanted& wanted) {
        return std::ranges::find(values::kMakingOrder, wanted.type) - values::kMakingOrder.begin();
    });
    for (const LeftOut& one : left_out_)
        out_.notes.push_back(
            fmt::format("{}: {}: {}", place_of(*one.file, one.lines), fmt::join(one.names, ", "), one.why));
    out_.notes.insert(out_.notes.end(), folder_.notes.begin(), folder_.notes.end());
    return std::move(out_);
}

}  // namespace pbs::migrate::grid_engine

namespace pbs::migrate {

Result<GridEngine> parse_grid_engine(std::string_view text, const std::string& folder) {
    const auto files = grid_engine::parse_folder(text, folder);
    if (!files) return tl::unexpected(files.error());
    grid_engine::Output out(*files);
    grid_engine::read_share_tree(out);
    grid_engine::read_settings(out);
    grid_engine::read_queues(out, grid_engine::read_calendars(out));
    grid_engine::read_quotas(out);
    grid_engine::read_host_groups(out);
    grid_engine::read_owners(out);
    grid_engine::read_environments(out);
    grid_engine::read_complexes(out);
    return out.finish();
}

}  // namespace pbs::migrate

#include "server_plugin/host/state/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "server_plugin/host/state/job_name.h"
#include "text/variable_list.h"
#include "values/text.h"

namespace pbs::host {

std::string_view Reservation::owner() const {
    const std::string_view whole = attributes.text("Reserve_Owner");
    return whole.substr(0, whole.find('@'));
}

std::string_view Reservation::owner_host() const {
    const std::string_view whole = attributes.text("Reserve_Owner");
    const auto at = whole.find('@');
    return at == std::string_view::npos ? std::string_view() : whole.substr(at + 1);
}

std::string_view Job::owner() const {
    const auto text = attributes.text("Job_Owner");
    return text.substr(0, text.find('@'));
}

std::string_view Job::owner_host() const {
    const auto text = attributes.text("Job_Owner");
    const auto at = text.find('@');
    return at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
}

std::string_view Job::hold_types() const {
    const auto text = attributes.text("Hold_Types");
    return text.empty() ? "n" : text;
}

uint64_t Job::number() const {
    const uint64_t given = is_subjob() ? array : sequence;
    if (!is_foreign(given)) return number_in_id(given);
    const auto name = parse_job_name(id);
    return name ? name->number : 0;
}

bool is_legal_foreign_id(std::string_view id) {
    constexpr size_t kLongest = 128;
    const auto name = parse_job_name(id);
    if (!name || name->kind != JobName::Kind::job || name->server.empty() || id.size() > kLongest)
        return false;
    return std::ranges::all_of(
        id, [](char c) { return values::is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

// Reserves memory for the comment that a waiting job will get. Very many jobs get one at once, and each
// reallocation would leave a hole in memory that is too small for the next.
size_t Job::spare_attributes() const {
    const bool waits = !running() && !history();
    return waits && !attributes.has("comment") ? 1 : 0;
}

void Job::shrink(SharedTexts& texts) {
    attributes.shrink(texts, spare_attributes());
    for (SharedText* text : {&queue_name, &exec_vnode, &exec_host, &defaulted}) texts.share(*text);
}

bool Job::is_defaulted(std::string_view resource) const {
    const std::string_view text = defaulted.text();
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (text.substr(begin, end - begin) == resource) return true;
        begin = end + 1;
    }
    return false;
}

void Job::set_defaulted(std::string_view resource, bool set) {
    if (is_defaulted(resource) == set) return;
    const std::string_view text = defaulted.text();
    std::string next;
    const auto add = [&next](std::string_view name) {
        if (!next.empty()) next += ',';
        next += name;
    };
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view name = text.substr(begin, end - begin);
        if (set && resource < name) {
            add(resource);
            set = false;
        }
        if (name != resource) add(name);
        begin = end + 1;
    }
    if (set) add(resource);
    defaulted = SharedText(next);
}

void set_attribute(Job& job, std::string_view name, std::string_view value) {
    const AttributeDef* def = job_table().find(name);
    if (def != nullptr) job.attributes.set(*def, {}, value);
}

void unset_attribute(Job& job, std::string_view name) {
    job.attributes.unset(*job_table().find(name), {});
}

void set_attribute(Reservation& reservation, std::string_view name, std::string_view value) {
    reservation.attributes.set(*reservation_table().find(name), {}, value);
}

void unset_attribute(Reservation& reservation, std::string_view name) {
    reservation.attributes.unset(*reservation_table().find(name), {});
}

std::string environment_value(const Job& job, std::string_view name) {
    return text::find_variable(job.attributes.text("Variable_List"), name).value_or("");
}

void StateCounts::add(char state, int64_t by) {
    const char counted = state == job_state::kSuspended ? job_state::kRunning : state;
    const auto at = kLetters.find(counted);
    if (at != std::string_view::npos) counts[at] += by;
}

int64_t StateCounts::total() const {
    int64_t sum = 0;
    for (int64_t count : counts) sum += count;
    return sum;
}

int64_t StateCounts::running() const {
    return counts[kLetters.find('R')];
}

std::string StateCounts::text() const {
    constexpr std::array<std::string_view, kLetters.size()> names = {"Transit", "Queued",  "Held", "Waiting",
                                                                     "Running", "Exiting", "Begun"};
    std::string out;
    for (size_t i = 0; i < names.size(); ++i) out += fmt::format("{}:{} ", names[i], counts[i]);
    return out;
}

std::string node_state_words(uint32_t state) {
    std::string out;
    const auto say = [&](std::string_view word) { out += (out.empty() ? "" : ",") + std::string(word); };
    if ((state & node_down) != 0) say("down");
    if ((state & node_offline) != 0) say("offline");
    if ((state & node_stale) != 0) say("stale");
    return out;
}

}  // namespace pbs::host

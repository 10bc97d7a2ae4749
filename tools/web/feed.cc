#include "tools/web/feed.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "text/json_document.h"
#include "tools/web/pack.h"

namespace pbs::web {
namespace {

constexpr int kShareOfTime = 20;

// Makes a key of a page and its parameters. Different addresses have different keys, since no value contains
// a NUL.
std::string key_of(const Page& page, const Query& query) {
    std::string key(page.name);
    for (const auto& [name, value] : query) key.append(1, '\0').append(name).append(1, '\0').append(value);
    return key;
}

// Writes JSON. Replaces bytes that aren't UTF-8.
std::string text_of(const Json& json) {
    return text::write_json(json);
}

SharedAnswer told_of(const Answer& answer, std::size_t& hash) {
    SharedAnswer told{.status = answer.status, .body = text_of(answer.json), .time = answer.time.value_or(0)};
    hash = std::hash<std::string>{}(told.body) ^ static_cast<std::size_t>(answer.status);
    if (answer.time) {
        Json timed = answer.json;
        timed["time"] = *answer.time;
        told.body = text_of(timed);
    }
    told.packed = packed(told.body);
    return told;
}

}  // namespace

std::shared_ptr<const SharedAnswer> Feed::keep(const std::string& key, SharedAnswer told, std::size_t hash) {
    Entry& entry = entries_[key];
    told.revision = entry.told && entry.hash == hash ? entry.told->revision : ++revisions_;
    entry.told = std::make_shared<const SharedAnswer>(std::move(told));
    entry.hash = hash;
    return entry.told;
}

void Feed::make_room() {
    while (entries_.size() > kMost) {
        auto oldest = entries_.end();
        for (auto at = entries_.begin(); at != entries_.end(); ++at) {
            if (!at->second.asking && (oldest == entries_.end() || at->second.used < oldest->second.used))
                oldest = at;
        }
        if (oldest == entries_.end()) return;
        entries_.erase(oldest);
    }
}

std::shared_ptr<const SharedAnswer> Feed::get(const Page& page, const Query& query) {
    const std::string key = key_of(page, query);
    values::Lock lock(mutex_);
    for (;;) {
        Entry& entry = entries_[key];
        entry.used = ++uses_;
        if (!entry.asking) {
            if (entry.told && clock_() < entry.told->good_until) return entry.told;
            entry.asking = true;
            break;
        }
        // Look up the entry again after the wait: the request that another thread made may have failed, or
        // the entry may have been removed.
        lock.wait(answered_);
    }
    make_room();
    lock.unlock();

    const auto began = clock_();
    std::optional<Answer> answer;
    std::exception_ptr failure;
    try {
        answer = ask_(page, query);
    } catch (...) {
        failure = std::current_exception();
    }
    SharedAnswer told;
    std::size_t hash = 0;
    if (answer) told = told_of(*answer, hash);
    const auto ended = clock_();
    told.good_until =
        ended + std::max<std::chrono::steady_clock::duration>(page.good_for, kShareOfTime * (ended - began));

    lock.lock();
    entries_[key].asking = false;
    answered_.notify_all();
    if (failure) std::rethrow_exception(failure);
    return keep(key, std::move(told), hash);
}

}  // namespace pbs::web

// Guards the functions of the plugin's table, so that no exception crosses the C interface.
#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "server_plugin/plugin/state.h"
#include "values/memory.h"

namespace pbs::plugin {

// Logs an exception that escaped from the function `where`. Never throws.
void log_escaped(const State& state, std::string_view where, const char* what) noexcept;

// Returns work(state). If an exception escapes, logs it and returns `otherwise`.
template <class Result, class Work>
Result guarded(void* self, std::string_view where, Result otherwise, Work&& work) noexcept {
    auto& state = *static_cast<State*>(self);
    try {
        return std::forward<Work>(work)(state);
    } catch (const std::exception& escaped) {
        log_escaped(state, where, escaped.what());
    } catch (...) {
        log_escaped(state, where, "an unknown exception");
    }
    return otherwise;
}

template <class Work>
void guarded(void* self, std::string_view where, Work&& work) noexcept {
    guarded(self, where, 0, [&](State& state) {
        std::forward<Work>(work)(state);
        return 0;
    });
}

// Does the work of an event about a job or a reservation. Without memory in the middle of it, the columns of
// the scheduler's tables would have different lengths, and nobody would report the change again: ends the
// process. The host then starts anew, and reports all objects.
template <class Work>
void told(void* self, std::string_view where, Work&& work) noexcept {
    guarded(self, where, [&](State& state) {
        try {
            std::forward<Work>(work)(state);
        } catch (const std::bad_alloc&) {
            values::end_without_memory(where);
        }
    });
}

}  // namespace pbs::plugin

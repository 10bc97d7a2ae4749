#include "ifl/api.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "ifl/error_text.h"
#include "values/mutex.h"

namespace pbs::ifl::api {

namespace {

// The open connections, which clients refer to by number. With ThreadState, they are all that the library
// keeps between calls.
struct Connections {
    values::Mutex mutex;
    std::unordered_map<int, std::shared_ptr<Connection>> by_number PBS_GUARDED_BY(mutex);
};

Connections& connections() {
    // Never destroyed: a thread may still use a connection while the process ends.
    static auto* const table = new Connections;
    return *table;
}

// Copies a list of attrl or attropl, which have the same members.
template <class List>
std::optional<Attributes> copy_list(int number, const List* list) {
    Attributes attributes;
    for (; list; list = list->next) {
        if (!list->name) {
            set_error(number, {PBSE_BADATLST, "an attribute without a name in the list"});
            return std::nullopt;
        }
        attributes.push_back(
            {list->name, std::string(view(list->resource)), std::string(view(list->value)), Op::set});
        if constexpr (std::is_same_v<List, attropl>) attributes.back().op = static_cast<Op>(list->op);
    }
    return attributes;
}

}  // namespace

ThreadState& thread_state() {
    thread_local ThreadState state;
    return state;
}

void add_connection(const std::shared_ptr<Connection>& connection) {
    Connections& all = connections();
    const values::Lock lock(all.mutex);
    all.by_number[connection->fd()] = connection;
}

std::shared_ptr<Connection> find_connection(int number) {
    Connections& all = connections();
    const values::Lock lock(all.mutex);
    const auto found = all.by_number.find(number);
    return found == all.by_number.end() ? nullptr : found->second;
}

void remove_connection(int number) {
    std::shared_ptr<Connection> last;  // closed after the lock is released
    Connections& all = connections();
    const values::Lock lock(all.mutex);
    const auto found = all.by_number.find(number);
    if (found == all.by_number.end()) return;
    last = std::move(found->second);
    all.by_number.erase(found);
}

int set_error(int number, const Error& error) {
    ThreadState& state = thread_state();
    state.error = error.code;
    state.texts[number] = {find_connection(number), error.message};
    return error.code;
}

int refuse_missing(int number, const char* what) noexcept {
    return guarded(PBSE_SYSTEM, [&] {
        return set_error(number, {PBSE_IVALREQ, fmt::format("an argument is missing: expected {}", what)});
    });
}

bool is_short_enough(int number, std::string_view location) {
    constexpr std::size_t kMost = RequestLimits{}.value;
    if (location.size() <= kMost) return true;
    set_error(number, {PBSE_IVALREQ, fmt::format("the location has {} bytes: expected at most {}",
                                                 location.size(), kMost)});
    return false;
}

int set_result(int number, const std::shared_ptr<Connection>& connection, const Reply& reply) {
    ThreadState& state = thread_state();
    state.error = reply.code;
    const auto* text = std::get_if<TextReply>(&reply.body);
    state.texts[number] = {connection,
                           text ? text->text : std::string(reply.code ? error_text(reply.code) : "")};
    return reply.code;
}

std::optional<Reply> request_locked(int number, const std::shared_ptr<Connection>& connection,
                                    RequestType type, RequestBody body, const char* extend,
                                    const ObjectSink& sink) {
    auto reply = connection->request(type, std::move(body), view(extend), sink);
    if (!reply) {
        set_error(number, reply.error());
        return std::nullopt;
    }
    set_result(number, connection, *reply);
    return std::move(*reply);
}

std::optional<Reply> request(int number, RequestType type, RequestBody body, const char* extend,
                             const ObjectSink& sink) {
    const auto connection = find_connection(number);
    if (!connection) {
        set_error(number, {PBSE_IVALREQ, fmt::format("{} is no connection", number)});
        return std::nullopt;
    }
    const auto lock = connection->lock();
    return request_locked(number, connection, type, std::move(body), extend, sink);
}

int request_code(int number, RequestType type, RequestBody body, const char* extend) {
    request(number, type, std::move(body), extend);
    return thread_state().error;
}

std::optional<Attributes> to_attributes(int number, const attropl* list) {
    return copy_list(number, list);
}
std::optional<Attributes> to_attributes(int number, const attrl* list) {
    return copy_list(number, list);
}

char* c_string(std::string_view text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (!copy) throw std::bad_alloc();
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

std::size_t c_size(const ObjectView& object) {
    std::size_t size =
        sizeof(batch_status) + object.attributes.size() * sizeof(attrl) + object.name.size() + 1;
    for (const AttributeView& attribute : object.attributes) {
        size += attribute.name.size() + 1 + attribute.value.size() + 1;
        if (!attribute.resource.empty()) size += attribute.resource.size() + 1;
    }
    return size;
}

batch_status* c_object(void* memory, const ObjectView& object) {
    const std::size_t count = object.attributes.size();
    auto* status = static_cast<batch_status*>(memory);
    auto* attributes = reinterpret_cast<attrl*>(status + 1);
    auto* text = reinterpret_cast<char*>(attributes + count);
    const auto copied = [&text](std::string_view value) {
        char* copy = text;
        text += value.copy(copy, value.size());
        *text++ = '\0';
        return copy;
    };
    *status = {nullptr, copied(object.name), count == 0 ? nullptr : attributes, nullptr};
    for (std::size_t i = 0; i < count; ++i) {
        const AttributeView& attribute = object.attributes[i];
        attributes[i] = {i + 1 == count ? nullptr : attributes + i + 1, copied(attribute.name),
                         attribute.resource.empty() ? nullptr : copied(attribute.resource),
                         copied(attribute.value), static_cast<batch_op>(attribute.op)};
    }
    return status;
}

void StatusList::add(const ObjectView& object) {
    void* memory = std::malloc(c_size(object));
    if (!memory) throw std::bad_alloc();
    batch_status* status = c_object(memory, object);
    if (last_) {
        last_->next = status;
    } else {
        list_.reset(status);
    }
    last_ = status;
}

void StatusList::add(const ObjectStatus& object) {
    std::vector<AttributeView> attributes;
    attributes.reserve(object.attributes.size());
    for (const Attribute& attribute : object.attributes)
        attributes.push_back({attribute.name, attribute.resource, attribute.value, attribute.op});
    add(ObjectView{object.type, object.name, attributes});
}

}  // namespace pbs::ifl::api

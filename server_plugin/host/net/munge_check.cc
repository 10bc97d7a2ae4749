#include "server_plugin/host/net/munge_check.h"

#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/net/connection_owner.h"
#include "values/mutex.h"

namespace pbs::host {
namespace {

// The most threads. There are several, so that a slow look-up of a user's name doesn't delay other checks.
constexpr std::size_t kMostThreads = 4;

}  // namespace

CredentialSources credential_sources(const ifl::Munge& munge) {
    return {[munge](const std::string& credential) { return munge.decode(credential); },
            [](uid_t uid) -> std::optional<std::string> {
                auto user = find_user(uid);
                if (!user) return std::nullopt;
                return std::move(user->name);
            },
            [](const ifl::ConnectionEnds& ends) { return connection_owner(ends); }};
}

Result<std::string> user_of(const ShownCredential& shown, const CredentialSources& sources) {
    const auto decoded = sources.decode(shown.credential);
    if (!decoded) return tl::unexpected(decoded.error());
    const auto text = ifl::parse_credential_text(decoded->text);
    if (!text) return tl::unexpected(text.error());
    if (text->ends && *text->ends != shown.ends)
        return fail(PBSE_BADCRED,
                    fmt::format("the credential is for the connection from {} port {} to {} port {}",
                                text->ends->client, text->ends->client_port, text->ends->server,
                                text->ends->server_port));
    auto name = sources.user_name(decoded->uid);
    if (!name)
        return fail(PBSE_BADCRED, fmt::format("uid {} has no name on the server's host", decoded->uid));
    if (*name != text->user)
        return fail(PBSE_BADCRED, fmt::format("uid {} is {} on the server's host, and {} on the client's",
                                              decoded->uid, *name, text->user));
    if (!shown.own_host) return std::move(*name);
    const auto owner = sources.owner(shown.ends);
    if (!owner) return fail(PBSE_BADCRED, "the kernel doesn't know whose the client's end is");
    if (*owner != decoded->uid)
        return fail(PBSE_BADCRED,
                    fmt::format("a credential of uid {} on a connection of uid {}", decoded->uid, *owner));
    return std::move(*name);
}

struct MungeCheck::Shared {
    explicit Shared(CredentialSources from) : sources(std::move(from)) {}

    struct Question {
        uint64_t connection;
        ShownCredential shown;
    };
    struct Answer {
        uint64_t connection;
        Result<std::string> user;
    };
    const CredentialSources sources;
    values::Mutex mutex;
    std::deque<Question> waiting PBS_GUARDED_BY(mutex);
    std::vector<Answer> answers PBS_GUARDED_BY(mutex);
    std::size_t threads PBS_GUARDED_BY(mutex) = 0;
    uv_async_t* wake PBS_GUARDED_BY(mutex) = nullptr;  // nullptr: nobody waits for answers
};

struct MungeCheck::Handle {
    uv_async_t async;
    MungeCheck* owner;  // nullptr after MungeCheck::close()
};

MungeCheck::MungeCheck(uv_loop_s* loop, CredentialSources sources, Done done)
    : shared_(std::make_shared<Shared>(std::move(sources))),
      handle_(new Handle{{}, this}),
      done_(std::move(done)) {
    uv_async_init(loop, &handle_->async, [](uv_async_t* async) {
        auto* owner = static_cast<Handle*>(async->data)->owner;
        if (owner != nullptr) owner->take_answers();
    });
    handle_->async.data = handle_;
    uv_unref(reinterpret_cast<uv_handle_t*>(&handle_->async));
    const values::Lock lock(shared_->mutex);
    shared_->wake = &handle_->async;
}

MungeCheck::~MungeCheck() = default;

void MungeCheck::close() {
    if (handle_ == nullptr) return;
    {
        const values::Lock lock(shared_->mutex);
        shared_->wake = nullptr;
        shared_->waiting.clear();
    }
    handle_->owner = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(&std::exchange(handle_, nullptr)->async),
             [](uv_handle_t* closed) { delete static_cast<Handle*>(closed->data); });
}

// Starts a thread for the check, unless enough run. A thread ends when no credential waits. Nobody waits for
// the threads, because one may hang in libmunge when the server stops.
void MungeCheck::check(uint64_t connection, ShownCredential shown) {
    const values::Lock lock(shared_->mutex);
    shared_->waiting.push_back({connection, std::move(shown)});
    if (shared_->threads >= kMostThreads) return;
    std::thread([shared = shared_] { work(shared); }).detach();
    ++shared_->threads;
}

void MungeCheck::forget(uint64_t connection) {
    const values::Lock lock(shared_->mutex);
    std::erase_if(shared_->waiting,
                  [&](const Shared::Question& one) { return one.connection == connection; });
}

void MungeCheck::work(const std::shared_ptr<Shared>& shared) {
    values::Lock lock(shared->mutex);
    while (!shared->waiting.empty()) {
        const Shared::Question asked = std::move(shared->waiting.front());
        shared->waiting.pop_front();
        lock.unlock();
        Result<std::string> user = fail(PBSE_SYSTEM, "the credential could not be looked at");
        try {
            user = user_of(asked.shown, shared->sources);
        } catch (const std::exception& error) {
            user = fail(PBSE_SYSTEM, error.what());
        }
        lock.lock();
        shared->answers.push_back({asked.connection, std::move(user)});
        if (shared->wake != nullptr) uv_async_send(shared->wake);
    }
    --shared->threads;
}

void MungeCheck::take_answers() {
    std::vector<Shared::Answer> answers;
    {
        const values::Lock lock(shared_->mutex);
        answers.swap(shared_->answers);
    }
    for (const Shared::Answer& answer : answers) done_(answer.connection, answer.user);
}

}  // namespace pbs::host

#include "server_plugin/host/net/certificate.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <uv.h>

#include <array>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"

namespace pbs::host {
namespace {

constexpr unsigned kLookEveryMs = 1000;

std::string day_of(std::chrono::system_clock::time_point time) {
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

// Reads the certificate and its key. Checks the certificate's dates by the system's clock, not the server's,
// because they are real dates.
Result<ifl::TlsContext> load(const std::string& certificate, const std::string& key) {
    return ifl::TlsContext::server(certificate, key, std::chrono::system_clock::now());
}

}  // namespace

// Watches one of the two files for changes. It frees itself when its handle is closed.
struct Certificate::Watch {
    uv_fs_poll_t poll{};
    std::weak_ptr<Shared> owner;
};

struct Certificate::Shared {
    uv_loop_t* loop;
    Log& log;
    std::string certificate;
    std::string key;
    ifl::TlsContext context;
    std::array<Watch*, 2> watches{};
    bool reading = false;
    bool changed = false;  // a file has changed since the present reading began
    bool closed = false;

    void tell() const {
        log.write(LogEvent::system, LogClass::server, "TLS",
                  fmt::format("the certificate {} is in use, good until {}", certificate,
                              day_of(context.good_until())));
    }
};

Result<std::unique_ptr<Certificate>> Certificate::open(uv_loop_s* loop, Log& log,
                                                       const std::string& certificate,
                                                       const std::string& key) {
    for (const std::string& file : {certificate, key})
        if (!file.starts_with('/'))
            return fail(PBSE_BADATVAL, fmt::format("TLS: \"{}\": an absolute path expected", file));
    auto context = load(certificate, key);
    if (!context) return tl::unexpected(context.error());
    auto shared = std::make_shared<Shared>(Shared{loop, log, certificate, key, std::move(*context)});
    for (std::size_t i = 0; i < shared->watches.size(); ++i) {
        auto watch = std::make_unique<Watch>();
        watch->owner = shared;
        watch->poll.data = watch.get();
        uv_fs_poll_init(loop, &watch->poll);
        uv_fs_poll_start(
            &watch->poll,
            [](uv_fs_poll_t* poll, int, const uv_stat_t*, const uv_stat_t*) {
                if (const auto owner = static_cast<Watch*>(poll->data)->owner.lock())
                    guarded(owner->log, "TLS", [&] { read_anew(owner); });
            },
            (i == 0 ? certificate : key).c_str(), kLookEveryMs);
        shared->watches[i] = watch.release();
    }
    shared->tell();
    return std::unique_ptr<Certificate>(new Certificate(std::move(shared)));
}

Certificate::~Certificate() = default;

const ifl::TlsContext& Certificate::context() const {
    return shared_->context;
}

// Reads the files in a thread, because a disk may be slow. If a thread is reading them already, notes that
// they have to be read once more.
void Certificate::read_anew(const std::shared_ptr<Shared>& shared) {
    if (shared->closed) return;
    if (std::exchange(shared->reading, true)) {
        shared->changed = true;
        return;
    }
    shared->changed = false;
    struct Work {
        uv_work_t request{};
        std::shared_ptr<Shared> shared;
        Result<ifl::TlsContext> loaded = fail(PBSE_SYSTEM);
    };
    auto work = std::make_unique<Work>();
    work->shared = shared;
    work->request.data = work.get();
    const int code = uv_queue_work(
        shared->loop, &work->request,
        [](uv_work_t* request) {
            auto& todo = *static_cast<Work*>(request->data);
            todo.loaded = load(todo.shared->certificate, todo.shared->key);
            ifl::release_tls_of_thread();
        },
        [](uv_work_t* request, int) {
            const std::unique_ptr<Work> done(static_cast<Work*>(request->data));
            Shared& owner = *done->shared;
            owner.reading = false;
            if (owner.closed) return;
            guarded(owner.log, "TLS", [&] {
                if (owner.changed) {
                    read_anew(done->shared);
                } else if (done->loaded) {
                    owner.context = std::move(*done->loaded);
                    owner.tell();
                } else {
                    owner.log.error("TLS",
                                    done->loaded.error().message + "; the earlier certificate stays in use");
                }
            });
        });
    if (code == 0)
        (void)work.release();
    else
        shared->reading = false;
}

void Certificate::close() {
    if (std::exchange(shared_->closed, true)) return;
    for (Watch*& watch : shared_->watches)
        uv_close(reinterpret_cast<uv_handle_t*>(&std::exchange(watch, nullptr)->poll),
                 [](uv_handle_t* handle) { delete static_cast<Watch*>(handle->data); });
}

}  // namespace pbs::host

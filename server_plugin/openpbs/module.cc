// pbs_policy_openpbs.so: the module that pbs_policy_preload.so loads in pbs_server.bin. It makes the shim,
// which takes the calls, and the connection to the policy service.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/inside.h"
#include "server_plugin/openpbs/library.h"
#include "server_plugin/openpbs/link.h"
#include "server_plugin/openpbs/preload.h"
#include "server_plugin/openpbs/shim.h"

namespace pbs::openpbs {
namespace {

// The objects behind the replaced calls of libpbs. They are global because the calls carry no context. The
// server's main thread makes them once, never frees them, and is the only one to make these calls.
struct Attached {
    pbs_preload_calls real{};
    void (*log)(const char*) = nullptr;
    std::unique_ptr<Inside> inside;
    std::unique_ptr<Link> link;
    std::unique_ptr<Shim> shim;
};
Attached* attached = nullptr;

void log_line(const std::string& line) {
    attached->log(line.c_str());
}

// Calls `work`, and keeps its exceptions out of OpenPBS's code. After an exception returns `otherwise`, which
// makes the server take the request for an unreadable one.
template <class Work>
int guarded(Work&& work, int otherwise) noexcept {
    try {
        return work(*attached->shim);
    } catch (const std::exception& escaped) {
        attached->log(escaped.what());
    } catch (...) {
        attached->log("an unknown exception");
    }
    return otherwise;
}

constexpr int kUnreadable = 9;  // libpbs's error DIS_PROTO

int decode_header(int sock, void* request, int* type, int* version) {
    return guarded([&](Shim& shim) { return shim.decode_header(sock, request, type, version); }, kUnreadable);
}
int decode_manage(int sock, void* request) {
    return guarded([&](Shim& shim) { return shim.decode_manage(sock, request); }, kUnreadable);
}
int decode_status(int sock, void* request) {
    return guarded([&](Shim& shim) { return shim.decode_status(sock, request); }, kUnreadable);
}
int decode_run(int sock, void* request) {
    return guarded([&](Shim& shim) { return shim.decode_run(sock, request); }, kUnreadable);
}
int decode_extend(int sock, void* request) {
    return guarded([&](Shim& shim) { return shim.decode_extend(sock, request); }, kUnreadable);
}
int encode_reply(int sock, void* reply) {
    return guarded([&](Shim& shim) { return shim.encode_reply(sock, reply); }, kUnreadable);
}
int wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* signals) {
    constexpr int kFailed = -2;
    const int result =
        guarded([&](Shim& shim) { return shim.wait(epoll, events, most, timeout, signals); }, kFailed);
    return result != kFailed ? result : attached->real.wait(epoll, events, most, timeout, signals);
}

std::string attach(const pbs_preload& preload, pbs_preload_calls& calls) {
    auto library = Library::open(preload.real);
    if (!library) return library.error();
    const std::string home = pbs_home();
    auto made = std::make_unique<Attached>();
    made->real = preload.real;
    made->log = preload.log;
    Connector connector;
    std::string what;
    const std::string_view how = preload.attachment;
    if (how == "beside") {
        what = "pbs_policyd";
        connector = beside(service_file(home, "sock"));
    } else if (how == "inside") {
        what = "the policy service";
        made->inside = std::make_unique<Inside>(
            ServiceOptions{fmt::format("{}/pbs_policy.so", preload.folder), home, is_scheduler(), log_line});
        connector = [inside = made->inside.get()] { return inside->connect(); };
    } else {
        return fmt::format("PBS_POLICY_ATTACHMENT is \"{}\", expected inside or beside", how);
    }
    made->link = std::make_unique<Link>(std::move(connector), std::move(what), log_line);
    ShimOptions options;
    options.log = log_line;
    options.attachment = fmt::format("since {:%Y-%m-%d %H:%M:%S}, {} the server, by {}/{} {}",
                                     fmt::localtime(std::time(nullptr)), how, preload.folder,
                                     PBS_POLICY_MODULE, PBSPOLICY_VERSION);
    made->shim = std::make_unique<Shim>(*library, *made->link, std::move(options));
    attached = made.release();
    pthread_atfork(nullptr, nullptr, [] {
        attached->link->forget();
        if (attached->inside) attached->inside->forget();
    });
    // End the service's thread before the destructors of the libraries that it uses run.
    std::atexit([] {
        if (attached->inside) attached->inside->stop();
    });
    calls = {decode_header, decode_manage, decode_status, decode_run, decode_extend, encode_reply, wait};
    log_line(fmt::format("attached, with the policy service {} the server", how));
    return {};
}

}  // namespace
}  // namespace pbs::openpbs

extern "C" __attribute__((visibility("default"))) int pbs_policy_openpbs_attach(const pbs_preload* preload,
                                                                                pbs_preload_calls* calls,
                                                                                char* error,
                                                                                std::size_t error_size) {
    std::string why;
    try {
        why = preload->size < sizeof(pbs_preload) ? "the preloaded object is of another version"
                                                  : pbs::openpbs::attach(*preload, *calls);
    } catch (const std::exception& escaped) {
        why = escaped.what();
    } catch (...) {
        why = "an unknown exception";
    }
    const std::size_t size = std::min(why.size(), error_size - 1);
    std::memcpy(error, why.data(), size);
    error[size] = '\0';
    return why.empty() ? 0 : -1;
}

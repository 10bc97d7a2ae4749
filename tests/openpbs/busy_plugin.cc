// busy_plugin.so: stands in for the plugin, which it loads as real_policy.so from its own folder. While the
// file /var/spool/pbs/busy exists, it refuses each test of a start as if too much changed during the test.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "ifl/pbs_error.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace {

pbs_host the_host{};
decltype(pbs_plugin::test_start) real_test = nullptr;

int32_t test_start(void* self, const pbs_start_request* request, pbs_cycle_result* result, pbs_reply* reply) {
    if (access("/var/spool/pbs/busy", F_OK) != 0) return real_test(self, request, result, reply);
    const std::string why = "too much has changed";
    if (reply != nullptr) the_host.reply_error(reply, PBSE_OBJBUSY, {why.data(), why.size()});
    return PBSE_OBJBUSY;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" int32_t pbs_policy_plugin_init(const pbs_host* host, pbs_plugin* plugin, char* error,
                                          size_t error_size) {
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&pbs_policy_plugin_init), &here) == 0) return PBSE_INTERNAL;
    std::string path = here.dli_fname;
    path.replace(path.rfind('/') + 1, std::string::npos, "real_policy.so");
    void* const real = dlopen(path.c_str(), RTLD_NOW);
    if (real == nullptr) return PBSE_SYSTEM;
    const auto init = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(real, "pbs_policy_plugin_init"));
    const int32_t code = init == nullptr ? PBSE_SYSTEM : init(host, plugin, error, error_size);
    if (code != 0) return code;
    the_host = *host;
    real_test = plugin->test_start;
    plugin->test_start = test_start;
    return 0;
}
#pragma GCC visibility pop

#include "server_plugin/openpbs/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "ifl/packet.h"
#include "ifl/reply.h"
#include "ifl/request.h"

namespace pbs::openpbs {
namespace {

// While an Exchange exists, libpbs reads and writes these bytes in place of a connection's. They are global
// because libpbs moves bytes by plain functions. Only the server's main thread uses them.
struct Scratch {
    void* channel = nullptr;  // libpbs's own object for a connection
    std::string_view in{};    // bytes that libpbs has still to read
    std::string out{};
};
Scratch& scratch() {
    static Scratch one;
    return one;
}

void* get_scratch(int) {
    return scratch().channel;
}
int set_scratch(int, void* channel) {
    scratch().channel = channel;
    return 0;
}
int feed_scratch(int, void* to, int size) {
    std::string_view& in = scratch().in;
    const auto wanted = static_cast<std::size_t>(size);
    if (size < 0 || wanted > in.size()) return -2;  // libpbs's code for the end of the file
    std::memcpy(to, in.data(), wanted);
    in.remove_prefix(wanted);
    return size;
}
int take_scratch(int, void* from, int size) {
    scratch().out.append(static_cast<const char*>(from), static_cast<std::size_t>(size));
    return size;
}

constexpr int kTooLong = 1;  // libpbs's code for a text that is too long
constexpr unsigned long kMostAttributes = 1000000;
constexpr unsigned long kLongestAttribute = 256UL << 20;

template <class Function>
bool find(const char* name, Function& function, std::string& missing) {
    void* found = dlsym(RTLD_DEFAULT, name);
    static_assert(sizeof function == sizeof found);
    std::memcpy(&function, &found, sizeof found);
    if (found == nullptr && missing.empty()) missing = fmt::format("libpbs has no {}", name);
    return found != nullptr;
}

// Memory that is large enough for any structure of libpbs that a decoder fills in or an encoder reads.
struct Room {
    alignas(16) std::array<unsigned char, 65536> bytes{};
    bool holds(std::string_view text) const {
        const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return all.find(text) != std::string_view::npos;
    }
};

}  // namespace

// While an Exchange exists, libpbs reads from and writes to Scratch: the Exchange replaces the four functions
// by which libpbs moves bytes.
class Exchange {
  public:
    Exchange(void* (**get)(int), int (**set)(int, void*), int (**receive)(int, void*, int),
             int (**send)(int, void*, int), void (*setup)(int, void* (*)(int)))
        : get_(get),
          set_(set),
          receive_(receive),
          send_(send),
          old_get_(*get),
          old_set_(*set),
          old_receive_(*receive),
          old_send_(*send) {
        *get_ = get_scratch;
        *set_ = set_scratch;
        *receive_ = feed_scratch;
        *send_ = take_scratch;
        errno = 0;
        // At the first call this makes libpbs's channel; it also empties the channel.
        setup(0, get_scratch);
    }
    ~Exchange() {
        *get_ = old_get_;
        *set_ = old_set_;
        *receive_ = old_receive_;
        *send_ = old_send_;
    }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

  private:
    void* (**get_)(int);
    int (**set_)(int, void*);
    int (**receive_)(int, void*, int);
    int (**send_)(int, void*, int);
    void* (*old_get_)(int);
    int (*old_set_)(int, void*);
    int (*old_receive_)(int, void*, int);
    int (*old_send_)(int, void*, int);
};

void put_raw(ifl::DisWriter& out, const RawAttributes& attributes) {
    out.put_unsigned(attributes.size());
    for (const RawAttribute& attribute : attributes) {
        out.put_unsigned(attribute.length);
        out.put_string(attribute.name);
        out.put_unsigned(attribute.resource ? 1 : 0);
        if (attribute.resource) out.put_string(*attribute.resource);
        out.put_string(attribute.value);
        out.put_unsigned(attribute.op);
    }
}

std::string Library::find_all() {
    std::string missing;
    find("disrul", disrul_, missing);
    find("disrcs", disrcs_, missing);
    find("disrfcs", disrfcs_, missing);
    find("dis_puts", dis_puts_, missing);
    find("dis_flush", dis_flush_, missing);
    find("DIS_tcp_funcs", tcp_funcs_, missing);
    find("dis_setup_chan", setup_channel_, missing);
    find("pfn_transport_get_chan", get_channel_, missing);
    find("pfn_transport_set_chan", set_channel_, missing);
    find("pfn_transport_recv", receive_, missing);
    find("pfn_transport_send", send_, missing);
    find("tpp_em_init", event_init_, missing);
    find("tpp_em_destroy", event_destroy_, missing);
    find("tpp_em_add_fd", event_add_, missing);
    find("tpp_em_pwait", event_wait_, missing);
    return missing;
}

std::string Library::check_request() const {
    // The decoder allocates memory for members of the structure, some hundred bytes. It isn't freed, because
    // this function runs once.
    static Room request;
    ifl::Request sample{ifl::RequestType::manager, "pbspolicytest",
                        ifl::Manage{0, 64, "pbspolicyobject", {{"pbspolicyname", {}, "value", ifl::Op::set}}},
                        "pbspolicyextend"};
    const std::string data = ifl::encode_request(sample);
    int type = 0;
    int version = 0;
    const int rc = feed(data, [&] {
        if (const int bad = real_.decode_header(0, request.bytes.data(), &type, &version); bad != 0)
            return bad;
        if (const int bad = real_.decode_manage(0, request.bytes.data()); bad != 0) return bad;
        return real_.decode_extend(0, request.bytes.data());
    });
    if (rc != 0) return fmt::format("libpbs doesn't decode a request as expected: error {}", rc);
    if (type != static_cast<int>(ifl::kProtocolType) || version != static_cast<int>(ifl::kProtocolVersion))
        return fmt::format("libpbs speaks version {}.{} of the batch protocol, expected 2.2", type, version);
    if (!request.holds("pbspolicytest") || !request.holds("pbspolicyobject"))
        return "libpbs decodes a request to somewhere else than expected";
    static Room status;
    const std::string body =
        ifl::encode_request({ifl::RequestType::status_scheduler, "u", ifl::Status{"x", {}}, {}});
    const int bad = feed(body, [&] {
        if (const int e = real_.decode_header(0, status.bytes.data(), &type, &version); e != 0) return e;
        if (const int e = real_.decode_status(0, status.bytes.data()); e != 0) return e;
        return real_.decode_extend(0, status.bytes.data());
    });
    if (bad != 0) return fmt::format("libpbs doesn't decode a status request as expected: error {}", bad);
    static Room start;
    const std::string run = ifl::encode_request(
        {ifl::RequestType::run_job, "u", ifl::RunJob{"pbspolicyjob", "pbspolicyplace", 0}, {}});
    const int wrong = feed(run, [&] {
        if (const int e = real_.decode_header(0, start.bytes.data(), &type, &version); e != 0) return e;
        if (const int e = real_.decode_run(0, start.bytes.data()); e != 0) return e;
        return real_.decode_extend(0, start.bytes.data());
    });
    if (wrong != 0) return fmt::format("libpbs doesn't decode a start as expected: error {}", wrong);
    if (!start.holds("pbspolicyjob")) return "libpbs decodes a start to somewhere else than expected";
    return {};
}

std::string Library::check_reply() const {
    // In memory, as on a connection, a reply begins with its code, its auxiliary code and its choice.
    static Room room;
    const std::array<std::int32_t, 4> begin{15004, 7, 1, 0};
    std::memcpy(room.bytes.data(), begin.data(), sizeof begin);
    const auto data = encoded(0, room.bytes.data());
    if (!data) return fmt::format("libpbs doesn't encode a reply as expected: error {}", data.error());
    const auto reply = ifl::decode_reply(*data);
    if (!reply) return fmt::format("libpbs's reply: {}", reply.error().message);
    if (reply->code != 15004 || reply->auxiliary != 7 || !std::holds_alternative<ifl::NullReply>(reply->body))
        return fmt::format("libpbs encoded reply 15004 with auxiliary code 7 as {} with {}", reply->code,
                           reply->auxiliary);
    return {};
}

// Checks that libpbs returns the descriptor as an event's data, and that it also returns events that it
// hasn't made itself. The plugin uses such events to make the server read from a connection.
std::string Library::check_events() const {
    const std::string unexpected = "libpbs doesn't wait for events as expected";
    const int fd = eventfd(1, EFD_CLOEXEC);
    void* context = event_init_(1);
    std::string why;
    epoll_event* events = nullptr;
    if (fd < 0 || context == nullptr || event_add_(context, fd, EPOLLIN) != 0 ||
        event_wait_(context, &events, 1000, nullptr) != 1 || events == nullptr || events[0].data.fd != fd ||
        (events[0].events & EPOLLIN) == 0)
        why = unexpected;
    if (context != nullptr) event_destroy_(context);
    if (fd >= 0) close(fd);
    return why;
}

tl::expected<Library, std::string> Library::open(const pbs_preload_calls& real) {
    Library library;
    library.real_ = real;
    if (std::string missing = library.find_all(); !missing.empty()) return tl::unexpected(std::move(missing));
    library.tcp_funcs_();
    library.tcp_get_channel_ = *library.get_channel_;
    for (const auto check : {&Library::check_request, &Library::check_reply, &Library::check_events})
        if (std::string why = (library.*check)(); !why.empty()) return tl::unexpected(std::move(why));
    return library;
}

bool Library::on_connection() const {
    return *get_channel_ == tcp_get_channel_;
}

int Library::get_unsigned(int sock, unsigned long& value) const {
    int rc = 0;
    value = disrul_(sock, &rc);
    return rc;
}

int Library::get_text(int sock, std::size_t longest, std::string& value) const {
    // Don't fill the buffer beforehand: a client may claim any length, and only the pages that receive bytes
    // should take memory.
    const auto text = std::make_unique_for_overwrite<char[]>(longest + 1);
    std::size_t size = 0;
    const int rc = disrfcs_(sock, &size, longest, text.get());
    if (rc == 0) value.assign(text.get(), std::min(size, longest));
    return rc;
}

int Library::get_any_text(int sock, std::string& value) const {
    std::size_t size = 0;
    int rc = 0;
    char* text = disrcs_(sock, &size, &rc);
    if (rc == 0 && text != nullptr) value.assign(text, size);
    std::free(text);
    return rc;
}

int Library::get_attributes(int sock, RawAttributes& attributes) const {
    unsigned long count = 0;
    if (const int rc = get_unsigned(sock, count); rc != 0) return rc;
    if (count > kMostAttributes) return kTooLong;
    for (unsigned long i = 0; i < count; ++i) {
        RawAttribute attribute;
        unsigned long has_resource = 0;
        if (const int rc = get_unsigned(sock, attribute.length); rc != 0) return rc;
        const unsigned long longest = attribute.length;
        if (longest > kLongestAttribute) return kTooLong;
        if (const int rc = get_text(sock, longest, attribute.name); rc != 0) return rc;
        if (const int rc = get_unsigned(sock, has_resource); rc != 0) return rc;
        if (has_resource != 0)
            if (const int rc = get_text(sock, longest, attribute.resource.emplace()); rc != 0) return rc;
        if (const int rc = get_text(sock, longest, attribute.value); rc != 0) return rc;
        if (const int rc = get_unsigned(sock, attribute.op); rc != 0) return rc;
        attributes.push_back(std::move(attribute));
    }
    return 0;
}

int Library::get_extend(int sock, std::string& extend, bool& present) const {
    unsigned long there = 0;
    if (const int rc = get_unsigned(sock, there); rc != 0) return rc;
    present = there != 0;
    return present ? get_any_text(sock, extend) : 0;
}

int Library::feed(std::string_view bytes, const std::function<int()>& decoder) const {
    const std::string packet = ifl::make_packet(bytes);
    const Exchange exchange(get_channel_, set_channel_, receive_, send_, setup_channel_);
    scratch().in = packet;
    const int rc = decoder();
    scratch().in = {};
    return rc;
}

tl::expected<std::string, int> Library::encoded(int sock, void* reply) const {
    const Exchange exchange(get_channel_, set_channel_, receive_, send_, setup_channel_);
    scratch().out.clear();
    int rc = real_.encode_reply(sock, reply);
    if (rc == 0) rc = dis_flush_(sock);
    if (rc != 0) return tl::unexpected(rc);
    std::string out;
    std::swap(out, scratch().out);
    if (out.size() <= ifl::kPacketHeaderSize) return tl::unexpected(-1);
    return out.substr(ifl::kPacketHeaderSize);
}

int Library::put(int sock, std::string_view data) const {
    return dis_puts_(sock, data.data(), data.size()) < 0 ? -1 : 0;
}
int Library::flush(int sock) const {
    return dis_flush_(sock);
}
void Library::use_connections() const {
    tcp_funcs_();
}

}  // namespace pbs::openpbs

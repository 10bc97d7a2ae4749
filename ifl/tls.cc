#include "ifl/tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>
#include <utility>

#include "ifl/openssl.h"
#include "ifl/pbs_error.h"
#include "values/fd.h"
#include "values/text.h"

namespace pbs::ifl {
namespace {

using SystemTime = std::chrono::system_clock::time_point;

// Types of TLS records (RFC 8446, 5.1).
constexpr unsigned char kAlertRecord = 21;
constexpr unsigned char kHandshakeRecord = 22;
constexpr std::size_t kRecordHeader = 5;
// The approximate memory that OpenSSL takes for a session besides the data, in bytes.
constexpr std::size_t kSessionSize = std::size_t{16} << 10;

tl::unexpected<Error> bad(const std::string& file, std::string_view why) {
    return tl::unexpected(Error{PBSE_SYSTEM, fmt::format("TLS: {}: {}", file, why)});
}

// OpenSSL's text for a failure in this thread: the first recorded error, which is the cause of the others.
std::string reason(const OpenSsl& ssl) {
    const unsigned long code = ssl.ERR_peek_error();
    // an error of the system has its errno in place of a reason
    if (ERR_SYSTEM_ERROR(code)) return values::system_text(ERR_GET_REASON(code));
    const char* text = ssl.ERR_reason_error_string(code);
    return text != nullptr ? text : "unknown error";
}

// Checks the file's owner and mode: whoever could write the file, or read a secret key, could pose as the
// server.
Result<void> check_file(const std::string& file, bool secret) {
    const values::Fd opened(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!opened || fstat(opened.get(), &status) != 0) return bad(file, values::system_text(errno));
    if (!S_ISREG(status.st_mode)) return bad(file, "a regular file expected");
    if (status.st_uid != 0 && status.st_uid != geteuid())
        return bad(file, fmt::format("owned by uid {}: root expected", status.st_uid));
    const mode_t others = status.st_mode & (secret ? S_IRWXG | S_IRWXO : S_IWGRP | S_IWOTH);
    if (others != 0)
        return bad(file, fmt::format("mode {:04o}: {} expected", status.st_mode & 07777U,
                                     secret ? "a key that its owner alone may read (0600)"
                                            : "a certificate that its owner alone may write (0644)"));
    return {};
}

Result<SystemTime> time_of(const OpenSsl& ssl, const ASN1_TIME* time, const std::string& file) {
    std::tm parts{};
    if (ssl.ASN1_TIME_to_tm(time, &parts) != 1) return bad(file, "a certificate with a time expected");
    return std::chrono::system_clock::from_time_t(timegm(&parts));
}

std::string text_of(SystemTime time) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

bool is_address(const std::string& name) {
    in6_addr address{};
    return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

using Context = std::unique_ptr<SSL_CTX, decltype(&::SSL_CTX_free)>;

// Makes a context for TLS 1.3 only: every peer is a program of this project. There are no tickets, because
// sessions aren't resumed.
Result<Context> make_context(const OpenSsl& ssl, const SSL_METHOD* method) {
    ssl.ERR_clear_error();
    Context made(ssl.SSL_CTX_new(method), ssl.SSL_CTX_free);
    if (!made || ssl.SSL_CTX_ctrl(made.get(), SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_3_VERSION, nullptr) != 1)
        return tl::unexpected(Error{PBSE_SYSTEM, fmt::format("TLS: {}", reason(ssl))});
    ssl.SSL_CTX_ctrl(made.get(), SSL_CTRL_MODE, SSL_MODE_RELEASE_BUFFERS, nullptr);
    ssl.SSL_CTX_set_num_tickets(made.get(), 0);
    return made;
}

}  // namespace

bool begins_tls(std::string_view bytes) {
    return !bytes.empty() && static_cast<unsigned char>(bytes.front()) == kHandshakeRecord;
}

bool is_tls(std::string_view bytes) {
    return begins_tls(bytes) || (!bytes.empty() && static_cast<unsigned char>(bytes.front()) == kAlertRecord);
}

void release_tls_of_thread() {
    if (const auto loaded = OpenSsl::load()) (*loaded)->OPENSSL_thread_stop();
}

struct TlsContext::Data {
    const OpenSsl& ssl;
    Context context;
    bool of_server = false;
    SystemTime good_until{};
};

Result<TlsContext> TlsContext::server(const std::string& certificate, const std::string& key,
                                      SystemTime now) {
    if (auto good = check_file(certificate, false); !good) return tl::unexpected(good.error());
    if (auto good = check_file(key, true); !good) return tl::unexpected(good.error());
    const auto loaded = OpenSsl::load();
    if (!loaded) return tl::unexpected(loaded.error());
    const OpenSsl& ssl = **loaded;
    auto made = make_context(ssl, ssl.TLS_server_method());
    if (!made) return tl::unexpected(made.error());
    SSL_CTX* context = made->get();
    // nobody can be asked for a passphrase: a key that needs one is an error
    ssl.SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
    if (ssl.SSL_CTX_use_certificate_chain_file(context, certificate.c_str()) != 1)
        return bad(certificate, fmt::format("a certificate in PEM expected ({})", reason(ssl)));
    const X509* own = ssl.SSL_CTX_get0_certificate(context);
    const auto from = time_of(ssl, ssl.X509_get0_notBefore(own), certificate);
    const auto until = time_of(ssl, ssl.X509_get0_notAfter(own), certificate);
    if (!from || !until) return tl::unexpected((from ? until : from).error());
    if (now < *from)
        return bad(certificate, fmt::format("the certificate is good from {} on", text_of(*from)));
    if (now > *until)
        return bad(certificate, fmt::format("the certificate has expired, at {}", text_of(*until)));
    ssl.ERR_clear_error();
    if (ssl.SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
        if (ERR_GET_REASON(ssl.ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH &&
            ERR_GET_LIB(ssl.ERR_peek_error()) == ERR_LIB_X509)
            return bad(key, fmt::format("the key isn't that of the certificate {}", certificate));
        return bad(key, fmt::format("a private key in PEM without a passphrase expected ({})", reason(ssl)));
    }
    if (ssl.SSL_CTX_check_private_key(context) != 1)
        return bad(key, fmt::format("the key isn't that of the certificate {}", certificate));
    return TlsContext(std::make_shared<const Data>(Data{ssl, std::move(*made), true, *until}));
}

Result<TlsContext> TlsContext::client(const std::string& authorities) {
    const auto loaded = OpenSsl::load();
    if (!loaded) return tl::unexpected(loaded.error());
    const OpenSsl& ssl = **loaded;
    auto made = make_context(ssl, ssl.TLS_client_method());
    if (!made) return tl::unexpected(made.error());
    if (authorities.empty()) {
        if (ssl.SSL_CTX_set_default_verify_paths(made->get()) != 1)
            return tl::unexpected(Error{PBSE_SYSTEM, fmt::format("TLS: {}", reason(ssl))});
    } else if (ssl.SSL_CTX_load_verify_file(made->get(), authorities.c_str()) != 1) {
        return bad(authorities, fmt::format("certificates of authorities in PEM expected ({})", reason(ssl)));
    }
    ssl.SSL_CTX_set_verify(made->get(), SSL_VERIFY_PEER, nullptr);
    return TlsContext(std::make_shared<const Data>(Data{ssl, std::move(*made), false, {}}));
}

SystemTime TlsContext::good_until() const {
    return data_->good_until;
}

struct TlsSession::Data {
    std::shared_ptr<const TlsContext::Data> context;
    const OpenSsl& ssl;
    std::unique_ptr<SSL, decltype(&::SSL_free)> session;
    BIO* in;   // belongs to the session
    BIO* out;  // belongs to the session
    std::string name{};
    bool failed = false;
    // The part of the current TLS record that has come. `header`: the number of bytes of its header. `left`:
    // the length, read from the header's last two bytes; once the header is whole, the number of bytes of
    // data still to come.
    std::size_t header = 0;
    std::size_t left = 0;

    void follow(std::string_view bytes);
};

// Counts the peer's bytes in `header` and `left`. A record has a type, a version, a length of two bytes, and
// the data (RFC 8446, 5.1).
void TlsSession::Data::follow(std::string_view bytes) {
    while (!bytes.empty()) {
        if (header == kRecordHeader) {
            const std::size_t size = std::min(left, bytes.size());
            left -= size;
            bytes.remove_prefix(size);
        } else {
            // the length is the last two bytes
            left = (left << 8 | static_cast<unsigned char>(bytes.front())) & 0xffff;
            ++header;
            bytes.remove_prefix(1);
        }
        if (header == kRecordHeader && left == 0) header = 0;
    }
}

TlsSession::TlsSession(std::unique_ptr<Data> data) : data_(std::move(data)) {}
TlsSession::~TlsSession() = default;

Result<std::unique_ptr<TlsSession>> TlsSession::make(const TlsContext& context) {
    const OpenSsl& ssl = context.data_->ssl;
    ssl.ERR_clear_error();
    std::unique_ptr<SSL, decltype(&::SSL_free)> session(ssl.SSL_new(context.data_->context.get()),
                                                        ssl.SSL_free);
    BIO* in = ssl.BIO_new(ssl.BIO_s_mem());
    BIO* out = ssl.BIO_new(ssl.BIO_s_mem());
    if (!session || in == nullptr || out == nullptr) {
        ssl.BIO_free(in);
        ssl.BIO_free(out);
        return tl::unexpected(Error{PBSE_SYSTEM, fmt::format("TLS: {}", reason(ssl))});
    }
    // an empty buffer means that more has to come, not the end
    ssl.BIO_ctrl(in, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nullptr);
    ssl.SSL_set_bio(session.get(), in, out);
    return std::unique_ptr<TlsSession>(
        new TlsSession(std::make_unique<Data>(Data{context.data_, ssl, std::move(session), in, out})));
}

Result<std::unique_ptr<TlsSession>> TlsSession::accept(const TlsContext& context) {
    auto made = make(context);
    if (made) (*made)->data_->ssl.SSL_set_accept_state((*made)->data_->session.get());
    return made;
}

Result<std::unique_ptr<TlsSession>> TlsSession::connect(const TlsContext& context, const std::string& name) {
    auto made = make(context);
    if (!made) return made;
    Data& data = *(*made)->data_;
    SSL* session = data.session.get();
    data.name = name;
    data.ssl.SSL_set_connect_state(session);
    bool set = false;
    if (is_address(name)) {
        set = data.ssl.X509_VERIFY_PARAM_set1_ip_asc(data.ssl.SSL_get0_param(session), name.c_str()) == 1;
    } else {
        set = data.ssl.SSL_set1_host(session, name.c_str()) == 1 &&
              data.ssl.SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                                std::string(name).data()) == 1;
    }
    if (!set)
        return tl::unexpected(Error{PBSE_BADHOST, fmt::format("TLS: \"{}\": a host's name expected", name)});
    // puts the first message of the handshake among the bytes for the peer
    if (auto begun = (*made)->read(nullptr, 0); !begun) return tl::unexpected(begun.error());
    return made;
}

Result<void> TlsSession::feed(std::string_view bytes) {
    data_->follow(bytes);
    while (!bytes.empty()) {
        const auto piece = static_cast<int>(std::min<std::size_t>(bytes.size(), INT_MAX));
        const int taken = data_->ssl.BIO_write(data_->in, bytes.data(), piece);
        if (taken <= 0) return tl::unexpected(Error{PBSE_SYSTEM, "TLS: no memory"});
        bytes.remove_prefix(static_cast<std::size_t>(taken));
    }
    return {};
}

// Returns the reason why the session has failed, for a message to the user.
Error TlsSession::failure() const {
    const OpenSsl& ssl = data_->ssl;
    const long verified = ssl.SSL_get_verify_result(data_->session.get());
    if (!data_->context->of_server && verified != X509_V_OK)
        return {PBSE_BADCRED, fmt::format("TLS: the server's certificate isn't accepted for {}: {}",
                                          data_->name, ssl.X509_verify_cert_error_string(verified))};
    return {PBSE_PROTOCOL, fmt::format("TLS: {}", reason(ssl))};
}

Result<std::size_t> TlsSession::read(char* data, std::size_t size) {
    const OpenSsl& ssl = data_->ssl;
    SSL* session = data_->session.get();
    if (data_->failed) return tl::unexpected(Error{PBSE_PROTOCOL, "TLS: the session has failed"});
    ssl.ERR_clear_error();
    int result = 1;
    if (!established()) result = ssl.SSL_do_handshake(session);
    if (result == 1 && size == 0) return 0;
    if (result == 1)
        result = ssl.SSL_read(session, data, static_cast<int>(std::min<std::size_t>(size, INT_MAX)));
    if (result > 0) return static_cast<std::size_t>(result);
    const int error = ssl.SSL_get_error(session, result);
    if (error == SSL_ERROR_WANT_READ) return 0;
    data_->failed = true;
    if (error == SSL_ERROR_ZERO_RETURN)
        return tl::unexpected(Error{PBSE_PROTOCOL, "TLS: the peer has ended it"});
    return tl::unexpected(failure());
}

bool TlsSession::established() const {
    return data_->ssl.SSL_is_init_finished(data_->session.get()) == 1;
}

bool TlsSession::in_progress() const {
    return !established() || data_->header != 0 || data_->ssl.BIO_ctrl_pending(data_->in) != 0;
}

Result<void> TlsSession::write(std::string_view data) {
    const OpenSsl& ssl = data_->ssl;
    if (data_->failed || !established())
        return tl::unexpected(Error{PBSE_PROTOCOL, "TLS: there is no session to write to"});
    while (!data.empty()) {
        ssl.ERR_clear_error();
        const auto piece = static_cast<int>(std::min<std::size_t>(data.size(), INT_MAX));
        const int taken = ssl.SSL_write(data_->session.get(), data.data(), piece);
        if (taken <= 0) {
            data_->failed = true;
            return tl::unexpected(failure());
        }
        data.remove_prefix(static_cast<std::size_t>(taken));
    }
    return {};
}

std::size_t TlsSession::unsent() const {
    return data_->ssl.BIO_ctrl_pending(data_->out);
}

std::string TlsSession::take_unsent() {
    std::string bytes(unsent(), '\0');
    std::size_t taken = 0;
    while (taken < bytes.size()) {
        const auto room = static_cast<int>(std::min<std::size_t>(bytes.size() - taken, INT_MAX));
        const int size = data_->ssl.BIO_read(data_->out, bytes.data() + taken, room);
        if (size <= 0) break;
        taken += static_cast<std::size_t>(size);
    }
    bytes.resize(taken);
    return bytes;
}

std::size_t TlsSession::size() const {
    return kSessionSize + unsent() + data_->ssl.BIO_ctrl_pending(data_->in);
}

}  // namespace pbs::ifl

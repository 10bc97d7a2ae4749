// The OpenSSL functions that this project calls. They are looked up in the library when it is loaded.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "ifl/error.h"

namespace pbs::ifl {

// Functions that OpenSSL's headers have as macros are called by their underlying names.
#define PBS_OPENSSL_FUNCTIONS(X)          \
    X(ASN1_TIME_to_tm)                    \
    X(BIO_ctrl)                           \
    X(BIO_ctrl_pending)                   \
    X(BIO_free)                           \
    X(BIO_new)                            \
    X(BIO_read)                           \
    X(BIO_s_mem)                          \
    X(BIO_write)                          \
    X(ERR_clear_error)                    \
    X(ERR_peek_error)                     \
    X(ERR_reason_error_string)            \
    X(OPENSSL_thread_stop)                \
    X(SSL_CTX_check_private_key)          \
    X(SSL_CTX_ctrl)                       \
    X(SSL_CTX_free)                       \
    X(SSL_CTX_get0_certificate)           \
    X(SSL_CTX_load_verify_file)           \
    X(SSL_CTX_new)                        \
    X(SSL_CTX_set_default_passwd_cb)      \
    X(SSL_CTX_set_default_verify_paths)   \
    X(SSL_CTX_set_num_tickets)            \
    X(SSL_CTX_set_verify)                 \
    X(SSL_CTX_use_PrivateKey_file)        \
    X(SSL_CTX_use_certificate_chain_file) \
    X(SSL_ctrl)                           \
    X(SSL_do_handshake)                   \
    X(SSL_free)                           \
    X(SSL_get0_param)                     \
    X(SSL_get_error)                      \
    X(SSL_get_verify_result)              \
    X(SSL_is_init_finished)               \
    X(SSL_new)                            \
    X(SSL_read)                           \
    X(SSL_set1_host)                      \
    X(SSL_set_accept_state)               \
    X(SSL_set_bio)                        \
    X(SSL_set_connect_state)              \
    X(SSL_write)                          \
    X(TLS_client_method)                  \
    X(TLS_server_method)                  \
    X(X509_VERIFY_PARAM_set1_ip_asc)      \
    X(X509_get0_notAfter)                 \
    X(X509_get0_notBefore)                \
    X(X509_verify_cert_error_string)

struct OpenSsl {
    // NOLINTNEXTLINE(bugprone-macro-parentheses): a member's name
#define PBS_MEMBER(name) decltype(&::name) name = nullptr;
    PBS_OPENSSL_FUNCTIONS(PBS_MEMBER)
#undef PBS_MEMBER

    /// Loads the library once; it stays loaded. Errors: PBSE_NOSUP, saying what is missing.
    static Result<const OpenSsl*> load();
};

}  // namespace pbs::ifl

// Makes a certificate authority and certificates for tests, with the program openssl.
#pragma once

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pbs::test {

class Certificates {
  public:
    // Returns whether openssl is installed. If it isn't, tests that need it are skipped.
    static bool can_be_made() { return access("/usr/bin/openssl", X_OK) == 0; }
    static constexpr const char* kMissing = "openssl isn't installed (Debian's package openssl)";

    // Makes a temporary folder with a certificate authority: the files authority.pem and authority.key.
    Certificates() {
        char name[] = "/tmp/certificates.XXXXXX";
        folder_ = mkdtemp(name);
        chmod(folder_.c_str(), 0755);
        run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority "
            "-keyout " +
            path("authority.key") + " -out " + authority());
        chmod(authority().c_str(), 0644);
    }
    ~Certificates() { std::filesystem::remove_all(folder_); }
    Certificates(const Certificates&) = delete;
    Certificates& operator=(const Certificates&) = delete;

    std::string path(const std::string& file) const { return folder_ + "/" + file; }
    std::string authority() const { return path("authority.pem"); }
    std::string certificate(const std::string& name = "server") const { return path(name + ".pem"); }
    std::string key(const std::string& name = "server") const { return path(name + ".key"); }

    // Makes NAME.pem and NAME.key in folder(), or replaces them. `names` is the subjectAltName, such as
    // "DNS:head,IP:127.0.0.1". The certificate is valid from `from` to `until` (YYYYMMDDHHMMSSZ); if these
    // are empty, for a day from now. Returns false if openssl failed.
    bool make(const std::string& names, const std::string& name = "server", const std::string& from = "",
              const std::string& until = "") const {
        const std::string file = path(name);
        std::ofstream(file + ".ext") << "subjectAltName=" << names << '\n';
        bool done = run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server -keyout " +
                        file + ".key.new -out " + file + ".csr");
        if (from.empty()) {
            done = done && run("x509 -req -days 1 -in " + file + ".csr -CA " + authority() + " -CAkey " +
                               path("authority.key") + " -CAcreateserial -extfile " + file + ".ext -out " +
                               file + ".pem.new");
        } else {
            // Use `openssl ca`, as `openssl x509` takes no dates in the past.
            std::ofstream(file + ".db").close();
            std::ofstream(file + ".conf") << "[ca]\ndefault_ca=a\n[a]\ndatabase=" << file
                                          << ".db\nserial=" << file << ".serial\nnew_certs_dir=" << folder_
                                          << "\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n";
            done = done &&
                   run("ca -batch -rand_serial -notext -config " + file + ".conf -startdate " + from +
                       " -enddate " + until + " -in " + file + ".csr -cert " + authority() + " -keyfile " +
                       path("authority.key") + " -extfile " + file + ".ext -out " + file + ".pem.new");
        }
        if (!done) return false;
        chmod((file + ".key.new").c_str(), 0600);
        chmod((file + ".pem.new").c_str(), 0644);
        std::filesystem::rename(file + ".key.new", file + ".key");
        std::filesystem::rename(file + ".pem.new", file + ".pem");
        return true;
    }

  private:
    bool run(const std::string& arguments) const {
        const int status = std::system(("openssl " + arguments + " >" + path("log") + " 2>&1").c_str());
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    std::string folder_;
};

}  // namespace pbs::test

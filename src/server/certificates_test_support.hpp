// A certificate authority of a test's own.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <fstream>
#include <memory>
#include <string>

namespace cuzk {

class TestAuthority {
 public:
  struct Pair {
    std::string certificate, key;  // PEM
  };

  explicit TestAuthority(const std::string& name) : name_(name), key_(EVP_EC_gen("P-256")) {
    certificate_.reset(make(name_, key_.get(), true));
  }
  std::string certificate() const { return pem(certificate_.get()); }

  // For "localhost" and 127.0.0.1.
  Pair issue(const std::string& name) const {
    const Key key(EVP_EC_gen("P-256"));
    const Certificate certificate(make(name, key.get(), false));
    return {pem(certificate.get()), pem(key.get())};
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(BIO* bio) const { BIO_free(bio); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;

  X509* make(const std::string& name, EVP_PKEY* key, bool authority) const {
    static long serial = 0;
    X509* out = X509_new();
    X509_set_version(out, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(out), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(out), -60);
    X509_gmtime_adj(X509_getm_notAfter(out), 3600);
    X509_set_pubkey(out, key);
    set_name(X509_get_subject_name(out), name);
    set_name(const_cast<X509_NAME*>(X509_get_issuer_name(out)), name_);
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, out, out, nullptr, nullptr, 0);
    const auto extend = [&](int kind, const char* value) {
      X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
      X509_add_ext(out, extension, -1);
      X509_EXTENSION_free(extension);
    };
    extend(NID_basic_constraints, authority ? "critical,CA:TRUE" : "CA:FALSE");
    if (!authority) extend(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    EXPECT_GT(X509_sign(out, key_.get(), EVP_sha256()), 0);
    return out;
  }
  static void set_name(X509_NAME* out, const std::string& name) {
    X509_NAME_add_entry_by_txt(out, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                               0);
  }
  static std::string pem(X509* certificate) {
    const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(bio.get(), certificate);
    return text(bio.get());
  }
  static std::string pem(EVP_PKEY* key) {
    const std::unique_ptr<BIO, Free> bio(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
    return text(bio.get());
  }
  static std::string text(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, static_cast<size_t>(size)};
  }

  std::string name_;
  Key key_;
  Certificate certificate_;
};

}  // namespace cuzk

"""The client's options for TLS against a daemon, by handshake."""
import unittest

import certificates
from certificates import Authority
from daemon import DaemonTest
from harness import IO, USAGE, cuzk, environment
from test_serve import free_port


@unittest.skipUnless(certificates.available(), "the openssl program is missing")
class Tls(DaemonTest):
    def served(self, *flags, authority=None, certificate=None):
        authority = authority or Authority(self.tmp, "authority")
        chain, key = certificate or authority.issue("server")
        self.port = free_port()
        running = self.enterContext(self.daemon("--listen", f"127.0.0.1:{self.port}", "--tls.certificate", chain, "--tls.key", key,
                                                *flags))
        return authority, running

    def ask(self, *words, host="localhost", env=None):
        return cuzk(*words, "--addr", f"https://{host}:{self.port}", env=env)

    def test_whom_the_client_trusts(self):
        authority, _ = self.served()
        stranger = Authority(self.tmp, "stranger")
        trust = "--tls-ca", authority.certificate
        self.assert_ok(self.ask("status", *trust))
        self.assert_ok(self.ask("status", env=environment(CUZK_CLIENT_CA=authority.certificate)))
        self.assert_ok(self.ask("status", *trust, host="127.0.0.1"))
        self.assert_fails(self.ask("status", "--tls-ca", stranger.certificate), IO, "certificate verify failed")
        self.assert_fails(self.ask("status"), IO)  # the machine's authorities do not know it
        self.assert_fails(self.ask("status", *trust, "--tls-name", "other.example"), IO)
        self.assert_fails(cuzk("status", "--addr", f"127.0.0.1:{self.port}"), IO)  # without TLS
        self.assert_fails(self.ask("status", "--tls-ca", self.tmp / "none.pem"), 6, "none.pem")

    def test_a_name_that_the_daemon_has_not(self):
        authority = Authority(self.tmp, "authority")
        self.served(authority=authority, certificate=authority.issue("elsewhere", "DNS:prover.example"))
        self.assert_fails(self.ask("status", "--tls-ca", authority.certificate), IO)
        self.assert_ok(self.ask("status", "--tls-ca", authority.certificate, "--tls-name", "prover.example"))

    def test_an_expired_certificate(self):
        authority = Authority(self.tmp, "authority")
        self.served(authority=authority, certificate=authority.issue("old", valid=certificates.EXPIRED))
        self.assert_fails(self.ask("status", "--tls-ca", authority.certificate), IO, "certificate verify failed")

    def test_clients_with_certificates_and_roles(self):
        authority = Authority(self.tmp, "clients")
        tokens = self.file("tokens", "submitter certificate:curio\nreader certificate:prometheus\n")
        tokens.chmod(0o600)
        server, _ = self.served("--tls.client_ca", authority.certificate, "--auth.tokens", tokens)
        trust = "--tls-ca", server.certificate

        def who(name, *words, by=authority, valid=("-days", 1)):
            chain, key = by.issue(name, valid=valid)
            return self.ask(*words, *trust, "--tls-cert", chain, "--tls-key", key)

        work = "bench", "single", *self.winning(), "--no-verify"
        self.assert_ok(who("curio", *work))
        self.assert_ok(who("prometheus", "metrics"))
        self.assert_fails(who("prometheus", *work), USAGE, "the certificate's role is reader")
        self.assert_fails(who("somebody", "status"), USAGE, "no name of the client's certificate is known")
        self.assert_fails(self.ask("status", *trust), IO)  # none at all
        self.assert_fails(who("curio", "status", by=Authority(self.tmp, "stranger")), IO)
        self.assert_fails(who("curio", "status", valid=certificates.EXPIRED), IO)
        chain, _ = authority.issue("curio")
        self.assert_fails(self.ask("status", *trust, "--tls-cert", chain), USAGE, "only of use together")


if __name__ == "__main__":
    unittest.main()

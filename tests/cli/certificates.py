"""Authorities and certificates for tests, made by the openssl program."""
import shutil
import subprocess


def available():
    return shutil.which("openssl") is not None


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    """Files NAME.pem and NAME.key in a folder; so has each certificate that it issues."""
    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.certificate, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", 2, "-subj",
                f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, alternative="DNS:localhost,IP:127.0.0.1", valid=("-days", 1)):
        """(certificate, key). `valid`: how long, as openssl's ca command has it."""
        certificate, key, request, more = (self.folder / f"{name}.{end}" for end in ("pem", "key", "csr", "ext"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-keyout",
                key, "-out", request)
        key.chmod(0o600)
        more.write_text(f"subjectAltName={alternative}\n")
        index = self.folder / f"{name}.index"
        index.write_text("")
        settings = self.folder / f"{name}.cnf"
        settings.write_text(f"[ca]\ndefault_ca=d\n[d]\ndatabase={index}\nnew_certs_dir={self.folder}\nrand_serial=yes\n"
                            f"default_md=sha256\npolicy=p\nunique_subject=no\n[p]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-config", settings, "-cert", self.certificate, "-keyfile", self.key, "-in", request, "-out",
                certificate, "-extfile", more, "-notext", *valid)
        return certificate, key


EXPIRED = "-startdate", "20200101000000Z", "-enddate", "20200102000000Z"

"""Requests of every kind but PoRep at 2 KiB: upstream's vectors (tests/golden) as options of the command line."""
import base64
import json
import struct

from harness import GOLDEN, cuzk

MODULUS = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001
NOT_CANONICAL = MODULUS.to_bytes(32, "little")


class Request:
    """One vector. `blobs` are its vanilla proofs, `options` what goes with them; change either, then write()."""

    def __init__(self, name):
        self.name = name
        self.vector = json.loads((GOLDEN / (name + ".json")).read_text())
        v = self.vector
        self.kind = v["kind"]
        self.circuit = self.kind + "-2k"
        files = [v["file"]] if self.kind == "snap" else [s["file"] for s in v["sectors"]]
        self.blobs = [(GOLDEN / f).read_bytes() for f in files]
        if self.kind == "snap":
            self.options = {"registered-proof": v["registered_update_proof"]}
            for key in ("comm_r_old", "comm_r_new", "comm_d_new"):
                self.options[key.replace("_", "-")] = v[key]
        else:
            self.options = {"registered-proof": v["registered_post_proof"], "randomness": v["randomness"]}

    @property
    def public_inputs(self):
        return [int.from_bytes(bytes.fromhex(x), "little") for x in self.vector["public_inputs"]]

    def arguments(self, **changes):
        """The options; None leaves one out."""
        merged = {**self.options, **{k.replace("_", "-"): v for k, v in changes.items()}}
        out = ["--kind", self.kind]
        for key, value in merged.items():
            if value is not None:
                out += ["--" + key, str(value)]
        return out


def vanilla_json(blobs):
    return json.dumps([base64.b64encode(blob).decode() for blob in blobs]).encode()


def u64(value):
    return struct.pack("<Q", value)


def replaced(blob, offset, data):
    return blob[:offset] + data + blob[offset + len(data):]


def flipped(blob, offset, bit=1):
    return replaced(blob, offset, bytes([blob[offset] ^ bit]))


def parameter_stem(circuit):
    return cuzk("circuit", "info", circuit, "--json").json["params_file"].removesuffix(".params")

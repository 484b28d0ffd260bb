"""`cuzk worker`, the process that a daemon starts for each device, talked to over its socket."""
import os
import signal
import socket
import struct
import subprocess
import unittest

from harness import BINARY, CommandTest, environment

READY, LIMIT_S = 0x100, 60


class Worker(CommandTest):
    def setUp(self):
        self.socket, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(LIMIT_S)
        self.process = subprocess.Popen([BINARY, "worker", f"--fd={other.fileno()}"], pass_fds=[other.fileno()],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        env=environment())
        other.close()
        self.addCleanup(self.process.stdout.close)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)
        self.addCleanup(self.socket.close)

    def test_serves_until_its_socket_ends(self):
        magic, kind = struct.unpack_from("<4sI", self.socket.recv(1 << 16))
        self.assertEqual((magic, kind), (b"cuzk", READY))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(self.process.pid, number)
        with self.assertRaises(subprocess.TimeoutExpired):
            self.process.wait(0.3)
        self.socket.close()
        self.assertEqual(self.process.wait(LIMIT_S), 0)
        self.assertEqual(self.process.stdout.read(), b"")

    def test_nonsense_ends_it(self):
        self.socket.recv(1 << 16)
        self.socket.send(b"nonsense")
        self.assertEqual(self.process.wait(LIMIT_S), 4)


if __name__ == "__main__":
    unittest.main()

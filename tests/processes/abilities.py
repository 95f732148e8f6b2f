"""What code inside the process that reads footage tries: each line of its output names a success.

Arguments: the project's folder, the fences to put up (`both`, `seccomp`, `landlock` or `none`), and
JSON of what the tries aim at. It loads the decoder first, as the reader of footage does.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT, FENCES, TOLD = sys.argv[1:]
sys.path.insert(0, ROOT)
from replay.footage.decoding import reader  # noqa: E402, F401 - the decoder is in memory
from replay.footage.decoding.landlock import refuse_files  # noqa: E402
from replay.footage.decoding.limits import LIMITS, Confined  # noqa: E402, F401
from replay.footage.decoding.sandbox import seal  # noqa: E402
from replay.footage.decoding.seccomp import filter_system_calls  # noqa: E402

AIMS = json.loads(TOLD)
LIBC = ctypes.CDLL(None, use_errno=True)


def read(path: str) -> bool:
    with open(path, "rb") as file:  # noqa: PTH123 - as little of the library as possible
        return bool(file.read(1))


class _Piece(ctypes.Structure):
    """struct iovec."""

    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def memory_of(pid: int) -> bool:
    """Whether a byte of another process's memory can be read."""
    byte = ctypes.create_string_buffer(1)
    here, there = _Piece(ctypes.addressof(byte), 1), _Piece(AIMS["address"], 1)
    taken = LIBC.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    return bool(taken == 1)


def connected(family: int, address: object) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as made:
        made.settimeout(5)
        made.connect(address)  # type: ignore[arg-type] # of either family
        return True


def forked() -> bool:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def done(act: Callable[[], object]) -> bool:
    act()
    return True


TRIES: dict[str, Callable[[], bool]] = {
    "reads a key": lambda: read(AIMS["key"]),
    "reads any file": lambda: read("/etc/passwd"),
    "connects to a Unix socket": lambda: connected(socket.AF_UNIX, AIMS["socket"]),
    "connects by TCP": lambda: connected(socket.AF_INET, ("127.0.0.1", AIMS["port"])),
    "deletes a file": lambda: done(Path(AIMS["deleted"]).unlink),
    "truncates a file": lambda: done(lambda: os.truncate(AIMS["truncated"], 0)),
    "writes a file": lambda: done(lambda: os.close(os.open(AIMS["written"], os.O_CREAT))),
    "runs a program": lambda: subprocess.run(["/bin/true"], check=True).returncode == 0,
    "reads an environment": lambda: read(f"/proc/{AIMS['pid']}/environ"),
    "reads memory": lambda: memory_of(AIMS["pid"]),
    "starts a process": forked,
    "signals a process": lambda: done(lambda: os.kill(AIMS["pid"], signal.SIGCONT)),
}


def fence() -> None:
    if FENCES == "both":
        confined = seal(Confined(network=True))
        if confined.opens or not confined.landlock or confined.network:
            raise SystemExit(f"not sealed: {confined}")
    elif FENCES == "seccomp" and not filter_system_calls():
        raise SystemExit("no filter of system calls")
    elif FENCES == "landlock" and not refuse_files():
        raise SystemExit("no Landlock")


def main() -> None:
    fence()
    for name, attempt in TRIES.items():
        try:
            able = attempt()
        except OSError:
            able = False
        if able:
            sys.stdout.write(f"{name}\n")
    sys.stdout.flush()


main()

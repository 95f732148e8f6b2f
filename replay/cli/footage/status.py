"""`footage status`: the sandbox of footage readers, and what is installed."""

from replay.cli.footage.group import library
from replay.cli.shell.app import family
from replay.footage.decoding.limits import BUSY, LIMITS, confinement
from replay.footage.muxing.muxing import available
from replay.shell.output import Json, print_json, say

group = family()

MIB = 1 << 20


@group.command("status")
def status(*, json: Json = False) -> None:
    """Show how processes that read footage are confined, and what is available.

    Separate processes read footage. On Linux they can open no other file, no connection and no
    program, unless a container or a policy forbids that protection. Otherwise the output says so.
    Even then they open only local files of five formats.

    Example: round-ledger footage status
    """
    confined, index = confinement(), library()
    told = {
        "network": confined.network if confined else None,
        "opens_files": confined.opens if confined else None,
        "landlock": confined.landlock if confined else None,
        "limits_refused": confined.refused if confined else None,
        "memory_bytes": LIMITS.memory_bytes,
        "cpu_s": LIMITS.cpu_s,
        "job_s": LIMITS.job_s,
        "bytes_a_s": LIMITS.bytes_a_s,
        "video": available(),
        "index": str(index.folder),
        "segments": sum(1 for _ in index.folder.glob("entries/??/*.json")),
    }
    if json:
        print_json(told)
        return
    if confined is None:
        say("The process that reads footage cannot be started.")
    elif confined.opens:
        say(
            "Footage is read by a process that COULD open other files: system calls are unfiltered."
        )
    else:
        say("Footage is read by a process that can open no other file, connection or program.")
    if confined and confined.opens and confined.network:
        say("It HAS a network: the system gives it no namespace.")
    if confined and confined.refused:
        say(f"Limits that the system refused: {', '.join(confined.refused)}.")
    say(
        f"Limits: {LIMITS.memory_bytes // MIB:,} MiB of memory, {LIMITS.cpu_s} s of processor time."
        f" Each file has {LIMITS.job_s} s of it, 1 s more for each {LIMITS.bytes_a_s // MIB} MiB."
        f" Real time may be {BUSY} times as long."
    )
    say(f"Copies for browsers and clips: {'yes' if available() else 'no, PyAV is missing'}.")
    say(f"Index: {told['index']}, {told['segments']:,} segments.")

"""README.txt: what a reader finds in a dossier, how to check it, and what it cannot show."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from replay.dossier.writing.evidence import Evidence


def readme(evidence: Evidence, key_id: str | None) -> str:
    """The text, in lines that fit a terminal; key_id: of who signs it, None: nobody."""
    about = f" (dispute {evidence.dispute})" if evidence.dispute else ""
    what = "settlements and findings with their sections, and the money"
    rulings = (
        f"rulings/            a file a round: {what} beside them"
        if evidence.window
        else f"ruling.json         {what} beside them"
    )
    return f"""{evidence.about[0].upper()}{evidence.about[1:]}{about}
{_signed(key_id)}
Open report.html in any browser; it needs no network and prints.

To check that nothing here was changed, and who made it, with Python 3.8 or newer and no network:

    python verify.py --key KEY

KEY is the public signing key of the house, 64 hexadecimal digits or a file with them. Get it from
the house by another way than this dossier: a forger of the dossier could also forge a key in it,
and verify.py. The same file comes with Round Ledger.

report.html         what was paid beside what was owed, and every fact with table and cameras
report.pdf          the same to print; pictures of the facts that a finding names
ruling.pdf          one page: what was paid, what was owed, by which sections; lines to sign
replay.txt          the same replay as text
{rulings}
replay.jsonl        one object a fact: the table after it, and what each camera has of it

facts.jsonl         its {len(evidence.rows)} facts, one a line, `data` as received
submission.jsonl    the Rules Submission that applied, if one was on file
corrections.jsonl   later corrections of its facts, if any
case.jsonl          the dispute's own facts, or the locks of a window, if any
camera-facts.jsonl  the facts of its cameras: clocks, segments, locks
custody.jsonl       who viewed, exported, locked and released their footage
between.jsonl       other facts of the same tapes, between its first and its last
proof.jsonl         where each fact stands in the hash chain of its tape; `data` of several lines
                    (which the files above put on one) in the bytes received
heads.jsonl         the newest row of every tape when this was read

footage/            the recorded segments themselves, untouched
clips/              parts cut out of them without decoding: derived, and listed so; two if the
                    clock of the camera was set in between
frames/             the frames named in the report, as PNG: derived, and listed so
clocks.csv, .txt    each comparison of a camera's clock with a reference, and what follows
custody.csv         the custody record as a table
coverage.txt, .json which camera filmed what of it, and what none did, and why

verify.py           the program that checks all this
manifest.json       size and SHA-256 of each file above, and the heads
manifest.sig        the signature over manifest.json (Ed25519), if it is signed
SHA256SUMS          the same sums, and the manifest's, for the common tool

Without Python, check that no file was changed:
    sha256sum -c SHA256SUMS   (macOS: shasum -a 256 -c SHA256SUMS)
    certutil -hashfile FILE SHA256   (Windows)
Compare the facts with their record: round-ledger verify --head heads.jsonl

What this cannot show: that devices sent the truth, or that the record was honest before its heads
were first kept elsewhere. A camera's time is known within its uncertainty, never better.
"""


def _signed(key_id: str | None) -> str:
    if key_id:
        return f"Signed with key {key_id}.\n"
    return """
*** THIS DOSSIER IS UNSIGNED. Its checksums show it is unchanged, not who wrote it. ***
"""

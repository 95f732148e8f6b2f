"""README.txt: what is in a dossier, how to check it, and what it cannot show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.values import quantity

if TYPE_CHECKING:
    from replay.dossier.writing.evidence import Evidence


def readme(evidence: Evidence, key_id: str | None) -> str:
    """The text, in lines that fit a terminal. key_id: the signing key; None: unsigned."""
    about = f" (dispute {evidence.dispute})" if evidence.dispute else ""
    what = "settlements, findings and sections, and the money moved"
    rulings = (
        f"rulings/            a file for each round: {what}"
        if evidence.window
        else f"ruling.json         {what}"
    )
    return f"""{evidence.about[0].upper()}{evidence.about[1:]}{about}
{_signed(key_id)}
Open report.html in any browser. It needs no network and can be printed.

To check who made this dossier and that nothing was changed, with Python 3.8 or newer and no
network:

    python verify.py --key KEY [--log KEY --witness KEY]

KEY is the public signing key of the house: 64 hexadecimal digits, or a file with them. Get it from
the house by another way than this dossier, because a forger could put a false key in it. A forger
could replace verify.py too; Round Ledger comes with the same file.

report.html         what was owed and paid, and every fact with table and cameras
report.pdf          the same to print, with pictures of the facts that a finding names
ruling.pdf          one page to sign: what was paid, what was owed, by which sections
replay.txt          the same replay as text
{rulings}
replay.jsonl        for each fact the table after it, and the frame of each camera

facts.jsonl         its {quantity(len(evidence.rows), "fact")}, one per line, `data` as received
submission.jsonl    the Rules Submission that applied, if one was on file
corrections.jsonl   later corrections of its facts, if any
case.jsonl          the dispute's own facts, or the locks of a window, if any
camera-facts.jsonl  the facts of its cameras: clocks, segments, locks
marks.jsonl         bookmarks, stills, and shapes beside frames, if any
custody.jsonl       who viewed, exported, locked and released their footage
between.jsonl       other facts on the same tapes, between its first and its last fact
proof.jsonl         the place of each fact in the hash chain of its tape; if `data` came in
                    several lines, also its bytes as received
heads.jsonl, log/   newest row of every tape when this was read; proofs of the witnessed log

footage/            the recorded segments, untouched
clips/              parts cut from them without decoding, derived; one a setting of a clock
frames/, stills/    the frames named in the report, and those saved as pictures, as derived
clocks.csv, .txt    each comparison of a camera's clock with a reference, and its uncertainty
custody.csv         the custody record as a table
coverage.txt, .json which cameras filmed it, each gap and its cause

verify.py           the program that checks all of this
manifest.json       size and SHA-256 of each file above, and the heads
manifest.sig        the signature over manifest.json (Ed25519), if the dossier is signed
SHA256SUMS          the same checksums, and the manifest's, for standard tools

Without Python, check that no file was changed:
    sha256sum -c SHA256SUMS   (macOS: shasum -a 256 -c SHA256SUMS)
    certutil -hashfile FILE SHA256   (Windows)
Compare the facts with their record: round-ledger verify --head heads.jsonl

What this cannot show: that devices sent the truth, or that the record was honest before its heads
were first kept elsewhere. A camera's time is only known within its uncertainty.
"""


def _signed(key_id: str | None) -> str:
    if key_id:
        return f"Signed with key {key_id}.\n"
    return """
*** THIS DOSSIER IS UNSIGNED. Its checksums show it is unchanged, not who wrote it. ***
"""

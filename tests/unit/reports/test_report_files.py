"""Reports as files: amounts to the cent, and no text that a spreadsheet takes for a formula."""

from __future__ import annotations

import csv
import io
import re
import sys
import zlib

import openpyxl
import pyarrow.parquet
import pytest

from replay.reports.files import WRITERS
from replay.reports.table import ReportColumn, ReportHead, ReportTable, digest
from replay.text.extras import extra_of
from tests.footage.qr_codes import read_pdf, read_svg

FORMULAS = ("=1+1", "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x","y")')
TABLE = ReportTable(
    (
        ReportColumn("says"),
        ReportColumn("amount", "money"),
        ReportColumn("pieces", "count"),
        ReportColumn("hold", "percent"),
    ),
    [
        ["plain", 1_234_567, 3, 1_234],
        ["negative", -5, -2, -50],
        ["none", None, None, None],
        [None, 0, 0, 0],
        *([each, 1, 1, 1] for each in FORMULAS),
        ["<script>alert(1)</script>", 10**15, 10**12, 1],
    ],
)
HEAD = ReportHead(
    "hollywood", "The three wins", "2026-11-20", "SEALED", 2, "d" * 64,
    "2026-11-21T10:00:00Z", "os:maria", 0,
)  # fmt: skip
AGAIN = HEAD._replace(reprint=1)
CHECKPOINT = (
    "ledger.example/record\n91417\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\n"
    "— ledger.example/record 5Yd2Kc8AaRk0Q1PDdJcLb0Ke7bM4n0mUq1fMx0nJrEWoPJqCyPm9pS0Q1PDdJcLb\n"
    "— witness.example 9sE0Q1PDdJcLb0Ke7bM4n0mUq1fMx0nJrEWoPJqCyPm9pS0Q1PDdJcLbJrEWoPJqCyPm9pS0\n"
)
SEALED = HEAD._replace(checkpoint=CHECKPOINT)


def rows_of_csv(head: ReportHead = HEAD) -> list[list[str]]:
    return list(csv.reader(io.StringIO(WRITERS[".csv"](head, TABLE).decode(), newline="")))


def sheet_of(head: ReportHead = HEAD) -> list[list[openpyxl.cell.cell.Cell]]:
    book = openpyxl.load_workbook(io.BytesIO(WRITERS[".xlsx"](head, TABLE)))
    return [list(row) for row in book.active.iter_rows()]


def test_csv_has_the_head_then_amounts_in_dollars() -> None:
    rows = rows_of_csv()
    assert rows[:6] == [
        ["facility", "hollywood"],
        ["title", "The three wins"],
        ["gaming day", "2026-11-20"],
        ["grade", "SEALED"],
        ["version", "2"],
        ["digest", "d" * 64],
    ]
    assert rows[7] == []
    assert rows[8:13] == [
        ["says", "amount", "pieces", "hold"],
        ["plain", "12345.67", "3", "12.34"],
        ["negative", "-0.05", "-2", "-0.50"],
        ["none", "", "", ""],
        ["", "0.00", "0", "0.00"],
    ]


def test_no_text_of_a_csv_file_begins_like_a_formula() -> None:
    texts = [row[0] for row in rows_of_csv() if row]
    assert [text for text in texts if text.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert [text for text in texts if text.startswith("'")] == [f"'{each}" for each in FORMULAS]


def test_no_text_of_a_workbook_is_a_formula_and_amounts_are_numbers() -> None:
    cells = [cell for row in sheet_of() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s", "n"}
    assert "=1+1" in [cell.value for cell in cells]
    told = next(cell for cell in cells if cell.value == "=1+1")
    assert told.quotePrefix
    rows = sheet_of()
    plain = next(row for row in rows if row[0].value == "plain")
    assert [cell.value for cell in plain[1:]] == [12_345.67, 3, 12.34]
    none = next(row for row in rows if row[0].value == "none")
    assert [cell.value for cell in none[1:]] == [None] * 3


def test_a_formula_would_be_seen() -> None:
    """The negative control: openpyxl takes such a text for a formula by itself."""
    book = openpyxl.Workbook()
    book.active["A1"] = FORMULAS[0]
    assert book.active["A1"].data_type == "f"


def test_parquet_has_integer_cents_and_the_head_as_metadata() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(WRITERS[".parquet"](AGAIN, TABLE)))
    assert table.schema.names == ["says", "amount_cents", "pieces", "hold_hundredths"]
    assert {str(each.type) for each in table.schema} == {"string", "int64"}
    assert [list(row.values()) for row in table.to_pylist()] == TABLE.rows
    metadata = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert metadata["digest"] == HEAD.digest
    assert "REPRINT" in metadata


def test_html_shows_texts_as_they_are_and_runs_none() -> None:
    told = WRITERS[".html"](HEAD, TABLE).decode()
    assert "<script" not in told
    assert "&lt;script&gt;" in told
    assert "$12,345.67" in told
    assert "n/a" in told


def test_pdf_has_pages() -> None:
    many = ReportTable(TABLE.columns, [*TABLE.rows] * 20)
    octets = WRITERS[".pdf"](HEAD, many)
    assert octets.startswith(b"%PDF-")
    assert octets.count(b"/Type /Page\n") > 1
    assert WRITERS[".pdf"](HEAD, ReportTable(TABLE.columns, [])).startswith(b"%PDF-")


def test_no_amount_and_no_name_is_torn_in_a_pdf_of_many_columns() -> None:
    amounts = [ReportColumn(f"hand_{nth}", "money") for nth in range(20)]
    row = ["CC-02/2026-11-20/61", *(18_200_000 + nth for nth in range(20)), "SEALED", "two words"]
    wide = ReportTable(
        (ReportColumn("round"), *amounts, ReportColumn("grade"), ReportColumn("says")), [row]
    )
    drawn = drawn_texts(WRITERS[".pdf"](HEAD, wide))
    assert {"CC-02/2026-11-20/61", "SEALED", "$182,000.00", "$182,000.19"} <= drawn
    assert {"hand 3", "hand 19"} <= drawn or {"hand", "19"} <= drawn
    assert "$182,000.0" not in drawn


def test_two_people_sign_what_is_of_a_closed_day_on_paper() -> None:
    """The control is a report that follows the record; the credentials are of a closed day."""
    signed = TABLE._replace(signed=True)
    closed = HEAD._replace(closed_by=("F-3001", "F-3002"))
    drawn = drawn_texts(WRITERS[".pdf"](closed, signed))
    assert {"Signatures", "signature and name", "credential", "date", "F-3001"} <= drawn
    page = WRITERS[".html"](closed, signed).decode()
    assert "<td></td><td>F-3001</td><td></td>" in page
    assert "<td></td><td>F-3002</td><td></td>" in page
    assert WRITERS[".html"](HEAD, signed).decode().count("<td></td><td></td><td></td>") == 2
    assert "credential" not in WRITERS[".html"](HEAD, TABLE).decode()
    assert "Signatures" not in drawn_texts(WRITERS[".pdf"](closed, TABLE))


def drawn_texts(octets: bytes) -> set[str]:
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", octets, re.DOTALL)
    pages = b"".join(zlib.decompressobj().decompress(each) for each in streams if each[:1] == b"x")
    return {each.decode("cp1252") for each in re.findall(rb"\((.*?)\) Tj", pages)}


@pytest.mark.parametrize("end", [".csv", ".html"])
def test_only_a_reprint_says_so(end: str) -> None:
    assert b"REPRINT" not in WRITERS[end](HEAD, TABLE)
    assert b"REPRINT" in WRITERS[end](AGAIN, TABLE)


def test_a_digest_is_of_the_content_alone() -> None:
    named = ("hollywood", "three-wins", "2026-11-20")
    same = digest(*named, TABLE)
    assert digest(*named, ReportTable(TABLE.columns, [list(row) for row in TABLE.rows])) == same
    other = [*TABLE.rows[:-1], ["<script>alert(1)</script>", 10**15, 10**12, 2]]
    assert digest(*named, ReportTable(TABLE.columns, other)) != same
    assert digest("lucky", *named[1:], TABLE) != same


@pytest.mark.parametrize(("end", "library"), [(".xlsx", "openpyxl"), (".parquet", "pyarrow")])
def test_a_file_whose_library_is_not_there_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, end: str, library: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError) as found:
        WRITERS[end](HEAD, TABLE)
    assert extra_of(found.value.name or "") == "reports"


def test_the_code_on_paper_is_the_signed_checkpoint() -> None:
    assert read_svg(WRITERS[".html"](SEALED, TABLE).decode()) == CHECKPOINT
    assert read_pdf(WRITERS[".pdf"](SEALED, TABLE)) == CHECKPOINT


def test_a_checkpoint_of_many_witnesses_is_cut_between_its_signatures() -> None:
    many = SEALED._replace(checkpoint=CHECKPOINT + CHECKPOINT.splitlines(keepends=True)[-1] * 20)
    read = read_pdf(WRITERS[".pdf"](many, TABLE))
    assert read == many.scanned
    assert (many.checkpoint.startswith(read), read.endswith("\n")) == (True, True)
    assert len(CHECKPOINT) < len(read) < len(many.checkpoint)


def test_a_report_without_a_log_has_no_code_and_says_nothing_of_one() -> None:
    assert b"<svg" not in WRITERS[".html"](HEAD, TABLE)
    assert "log" not in dict(HEAD.lines())
    assert dict(SEALED.lines())["log"] == (
        "ledger.example/record with 91,417 entries,"
        " root AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    )

"""Writes a report as CSV, XLSX, Parquet, HTML or PDF. No text in it ever becomes a formula.

CSV and XLSX have amounts in dollars, Parquet in integer cents. XLSX and Parquet need the extra
`reports`.
"""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING, Any

from replay.dossier.writing.pages import Paper
from replay.reports.table import SIGNATURE, shown
from replay.shell.output import printable
from replay.text import qr_code
from replay.text.sheets import FORMULA, decimal, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from replay.reports.table import Kind, ReportHead, ReportTable, Value

_XLSX_FORMAT: Mapping[Kind, str] = {
    "money": "#,##0.00;[Red]-#,##0.00",
    "percent": "0.00",
    "count": "#,##0",
    "text": "@",
}
_CODE_IS = "The log's checkpoint"
_SIGNED_MM, _SIGNED_POINTS = (120, 60, 60), 14  # lines that a pen has room on
_PARQUET_UNIT = {"money": "_cents", "percent": "_hundredths"}
_STYLE = (
    "body { font: 14px/1.4 system-ui, sans-serif; color: #1b1f1d; margin: 2em }",
    "table { border-collapse: collapse; margin-top: 1.5em }",
    "th, td { border-bottom: 1px solid #bec6c1; padding: .3em .6em; text-align: left }",
    "thead th { background: #f3f6f4 }",
    ".n { text-align: right; font-variant-numeric: tabular-nums }",
    ".reprint { font-weight: bold; border: 2px solid; padding: .4em .8em; color: #9a1b1b }",
    "svg { float: right }",
    ".sign td { width: 18em; height: 2.6em; vertical-align: bottom }",
    "@media print { thead { display: table-header-group } body { margin: 0 } }",
)


def csv_octets(head: ReportHead, table: ReportTable) -> bytes:
    """CSV in UTF-8: the lines of the head, an empty one, then columns and rows.

    A text that begins like a formula has an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerows([safe(name), safe(value)] for name, value in head.lines())
    writer.writerow([])
    writer.writerow([each.name for each in table.columns])
    kinds = [each.kind for each in table.columns]
    writer.writerows(map(_csv_cell, row, kinds) for row in table.rows)
    return out.getvalue().encode()


def _csv_cell(value: Value, kind: Kind) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return safe(value)
    return str(value) if kind == "count" else decimal(value)


def xlsx_octets(head: ReportHead, table: ReportTable) -> bytes:
    """A workbook with one sheet. Each text is kept as text; an amount is a number in dollars."""
    from openpyxl import Workbook  # noqa: PLC0415 - only with the extra `reports`

    book = Workbook()
    sheet: Any = book.active
    sheet.title = "Report"
    for at, line in enumerate(head.lines(), 1):
        for column, text in enumerate(line, 1):
            _put(sheet.cell(at, column), text, "text")
    top = sheet.max_row + 2
    for column, each in enumerate(table.columns, 1):
        _put(sheet.cell(top, column), each.title, "text")
    for at, row in enumerate(table.rows, top + 1):
        for column, (value, each) in enumerate(zip(row, table.columns, strict=True), 1):
            _put(sheet.cell(at, column), value, each.kind)
    sheet.freeze_panes = sheet.cell(top + 1, 1)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _put(cell: Any, value: Value, kind: Kind) -> None:  # noqa: ANN401 - it has no types
    """Set a cell; a text stays a text even if somebody edits it."""
    if isinstance(value, str):
        cell.value = printable(value)
        cell.data_type = "s"
        cell.quotePrefix = value.startswith(FORMULA)
    elif value is not None:
        cell.value = value if kind == "count" else Decimal(value) / 100
    cell.number_format = _XLSX_FORMAT[kind]


def parquet_octets(head: ReportHead, table: ReportTable) -> bytes:
    """Parquet: columns of text and 64-bit integers, amounts in cents; the head is its metadata."""
    import pyarrow as pa  # noqa: PLC0415 - only with the extra `reports`
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    fields = [
        pa.field(
            f"{each.name}{_PARQUET_UNIT.get(each.kind, '')}",
            pa.string() if each.kind == "text" else pa.int64(),
        )
        for each in table.columns
    ]
    schema = pa.schema(fields, metadata=dict(head.lines()))
    columns = [
        pa.array([row[at] for row in table.rows], type=field.type)
        for at, field in enumerate(fields)
    ]
    out = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_arrays(columns, schema=schema), out)
    octets: bytes = out.getvalue().to_pybytes()
    return octets


def html_octets(head: ReportHead, table: ReportTable) -> bytes:
    """A page that loads nothing from elsewhere."""
    lines = [(escape(name), escape(value)) for name, value in head.lines()]
    heads = "".join(
        f'<th scope="col"{_side(each.kind)}>{escape(each.title)}</th>' for each in table.columns
    )
    rows = "\n".join(
        "<tr>"
        + "".join(
            f"<td{_side(each.kind)}>{escape(shown(value, each.kind))}</td>"
            for value, each in zip(row, table.columns, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    code = qr_code.svg(head.scanned, _CODE_IS) if head.checkpoint else ""
    told = "".join(
        f'<p class="reprint">{name}: {value}</p>'
        if name == "REPRINT"
        else f"<p>{name}: {value}</p>"
        for name, value in lines
    )
    title = escape(f"{head.title} {head.gaming_day}")
    whole = (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{title}</title>\n'
        f"<style>{' '.join(_STYLE)}</style>\n{code}<h1>{title}</h1>\n{told}\n<table>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
    )
    return f"{whole}{_signatures(head) if table.signed else ''}</html>\n".encode()


def _signatures(head: ReportHead) -> str:
    """Lines for the two people who sign, as a table of HTML."""
    heads = "".join(f'<th scope="col">{each}</th>' for each in SIGNATURE)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in line) + "</tr>"
        for line in head.signatures
    )
    return (
        f'<table class="sign">\n<thead><tr>{heads}</tr></thead>\n<tbody>{rows}</tbody>\n</table>\n'
    )


def _side(kind: Kind) -> str:
    return "" if kind == "text" else ' class="n"'


def pdf_octets(head: ReportHead, table: ReportTable) -> bytes:
    """Pages in landscape, with the columns' names on each."""
    foot = f"{head.facility} · {head.title} · {head.gaming_day} · {head.digest}"
    if head.reprint:
        foot = f"REPRINT · {foot}"
    paper = Paper(
        f"{head.title} {head.gaming_day}", foot, head.printed, wide=True, with_all="the HTML file"
    )
    if head.checkpoint:
        paper.code(qr_code.modules(head.scanned), _CODE_IS)
    paper.big(f"{head.title} {head.gaming_day}")
    for name, value in head.lines():
        if name == "REPRINT":
            paper.flag(f"{name}: {value}")
        else:
            paper.say(f"{name}: {value}", soft=True)
    paper.pass_code()
    cells = [
        [_unbroken(value, each.kind) for value, each in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    titles = [each.title for each in table.columns]
    fitted = paper.fitted(titles, cells, size=6.5)
    paper.rows(
        titles,
        cells,
        fitted.widths,
        right=[at for at, each in enumerate(table.columns) if each.kind != "text"],
        size=fitted.size,
    )
    if table.signed:
        paper.part("Signatures")
        paper.rows(SIGNATURE, head.signatures, _SIGNED_MM, size=_SIGNED_POINTS)
    return paper.octets()


def _unbroken(value: Value, kind: Kind) -> str:
    """A value as people read it; a percentage has no space at which a line could end."""
    text = shown(value, kind)
    return text.replace(" %", "%") if kind == "percent" else text


WRITERS: Mapping[str, Callable[[ReportHead, ReportTable], bytes]] = {
    ".csv": csv_octets,
    ".xlsx": xlsx_octets,
    ".parquet": parquet_octets,
    ".html": html_octets,
    ".pdf": pdf_octets,
}
"""What writes a file, by the end of its name."""

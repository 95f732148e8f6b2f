"""PDF pages in the standard fonts that every PDF reader has.

The same content gives the same bytes: the date in the file is an argument. Characters that those
fonts lack are printed as their code point, and the page says so.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, NamedTuple

from fpdf import FPDF, FontFace, XPos, YPos
from fpdf.enums import TableBordersLayout

from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

INK, SOFT, LINE, WASH = (27, 31, 29), (86, 96, 91), (190, 198, 193), (243, 246, 244)
FLAG, FLAG_WASH = (154, 27, 27), (253, 241, 240)
MARGIN_MM = 18.0
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_NOTE = "Characters missing in this font are printed as code points, like U+0000; see {}."
_FOOT_MM = 17.0
_CODE_MM = 38.0
_PADDING_MM = 3.0
_WHOLE_LETTERS = 40
# A card has its letter before the sign of its suit, so the sign can be left out.
_IN_OTHER_WORDS = str.maketrans(
    {"◄": "<", "░": "#", "→": "->", "\u2212": "-", "♠": "", "♥": "", "♦": "", "♣": ""}
)


class FittedColumns(NamedTuple):
    """How wide the columns of a table are, and how large its letters, so that no word is torn."""

    widths: Sequence[float]  # mm
    size: float  # points


class Paper(FPDF):
    """Pages with a footer, of Letter size or another. The library requires a subclass."""

    def __init__(
        self,
        title: str,
        foot: str,
        made_at: str,
        *,
        wide: bool = False,
        with_all: str = "report.html",
        sheet: str = "Letter",
    ) -> None:
        """A first page. wide: in landscape. with_all: the file that has every character."""
        super().__init__("landscape" if wide else "portrait", format=sheet, unit="mm")
        self.core_fonts_encoding = "windows-1252"
        self.set_margins(MARGIN_MM, MARGIN_MM)
        self.set_auto_page_break(auto=True, margin=MARGIN_MM + 4)
        self._foot = foot
        self._note = _NOTE.format(with_all)
        self._lacked = False
        self._below_mm = 0.0
        self.set_title(self.plain(title))
        self.set_creator("Round Ledger")
        self.set_lang("en-US")
        at_us = parse_time(made_at)
        self.set_creation_date(_EPOCH + dt.timedelta(microseconds=at_us or 0))
        self.add_page()

    def footer(self) -> None:
        """The footer of every page: the dossier and the page number."""
        self.set_y(-_FOOT_MM)
        self.set_draw_color(*LINE)
        self.line(MARGIN_MM, self.get_y(), self.w - MARGIN_MM, self.get_y())
        self.ln(1.5)
        self.set_font("Courier", size=6.5)
        self.set_text_color(*SOFT)
        self.cell(0, 3, self.plain(self._foot), new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        self.set_font("Helvetica", size=7)
        note = f"{self._note}  " if self._lacked else ""
        self.cell(0, 3.5, f"{note}Page {self.page_no()} of {{nb}}", align="R")

    def plain(self, text: str) -> str:
        """A text in the characters of the font."""
        shown = text.translate(_IN_OTHER_WORDS)
        told = "".join(each if _is_there(each) else f"U+{ord(each):04X}" for each in shown)
        self._lacked |= told != shown
        return told

    def big(self, text: str) -> None:
        """The title of the paper."""
        self._text(text, 17, "B", 8)

    def part(self, text: str) -> None:
        """The title of a section, never alone at the end of a page."""
        if self.will_page_break(24):
            self.add_page()
        self.ln(3.5)
        self._text(text, 11.5, "B", 6)
        self.ln(0.5)

    def say(self, text: str, *, size: float = 9.5, soft: bool = False, style: str = "") -> None:
        """A paragraph."""
        self._text(text, size, style, size * 0.46, SOFT if soft else INK)

    def flag(self, text: str) -> None:
        """A warning in a frame, so that it does not depend on colour."""
        self.ln(1)
        self.set_fill_color(*FLAG_WASH)
        self.set_draw_color(*FLAG)
        self.set_text_color(*FLAG)
        self.set_font("Helvetica", "B", 9.5)
        self.multi_cell(
            0, 5, self.plain(text), border=1, fill=True, padding=2,
            new_x=XPos.LMARGIN, new_y=YPos.NEXT,
        )  # fmt: skip
        self.set_fill_color(255)
        self.ln(1.5)

    def code(self, modules: Sequence[Sequence[bool]], label: str) -> None:
        """A QR code in the upper corner of the page; `pass_code` goes below it."""
        left, top = self.w - MARGIN_MM - _CODE_MM, MARGIN_MM
        side = _CODE_MM / len(modules)
        self.set_fill_color(0)
        for y, row in enumerate(modules):
            for x, is_dark in enumerate(row):
                if is_dark:
                    self.rect(left + x * side, top + y * side, side, side, style="F")
        self.set_fill_color(255)
        self.set_font("Helvetica", size=7)
        self.set_text_color(*SOFT)
        self.set_xy(left, top + _CODE_MM)
        self.cell(_CODE_MM, 4, self.plain(label), align="C")
        self._below_mm = self.get_y() + 4
        self.set_xy(MARGIN_MM, top)

    def pass_code(self) -> None:
        """Go below the QR code, if the page has one that ends further down."""
        if self.page_no() == 1:
            self.set_y(max(self.get_y(), self._below_mm))

    def fitted(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], *, size: float
    ) -> FittedColumns:
        """Columns that hold their longest word whole, in letters of `size` points or smaller.

        What is left of the page goes to the columns with the longest texts. A word of over
        40 letters, such as a digest, may be torn.
        """
        self.set_font("Helvetica", "B", size)
        texts = [
            [self.plain(each) for each in column] for column in zip(columns, *rows, strict=True)
        ]
        words = [max(_word_mm(self, text) for text in its) for its in texts]
        whole = [max(self.get_string_width(text) for text in its) for its in texts]
        room = self.epw - _PADDING_MM * len(columns)
        smaller = min(1.0, room / sum(words))
        spare = max(0.0, room - sum(words) * smaller)
        wanted = [long - word for long, word in zip(whole, words, strict=True)]
        share = min(1.0, spare / sum(wanted)) if any(wanted) else 0.0
        widths = [
            word * smaller + want * share + _PADDING_MM
            for word, want in zip(words, wanted, strict=True)
        ]
        return FittedColumns(widths, size * smaller)

    def rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[str]],
        widths: Sequence[float],
        *,
        right: Sequence[int] = (),
        marked: Sequence[int] = (),
        size: float = 8.5,
    ) -> None:
        """A table with its head on every page. right: columns of figures; marked: rows in bold."""
        self.set_font("Helvetica", size=size)
        self.set_draw_color(*LINE)
        self.set_text_color(*INK)
        align = tuple("RIGHT" if at in right else "LEFT" for at in range(len(columns)))
        with self.table(
            col_widths=tuple(widths),
            text_align=align,
            borders_layout=TableBordersLayout.HORIZONTAL_LINES,
            headings_style=FontFace(emphasis="BOLD", color=SOFT, fill_color=WASH),
            line_height=size * 0.47,
            padding=(0.9, 1.2),
            first_row_as_headings=True,
        ) as table:
            table.row([self.plain(each) for each in columns])
            for at, cells in enumerate(rows):
                style = FontFace(emphasis="BOLD", fill_color=FLAG_WASH) if at in marked else None
                table.row([self.plain(each) for each in cells], style=style)
        self.ln(1.5)

    def octets(self) -> bytes:
        """The file."""
        return bytes(self.output())

    def _text(
        self,
        text: str,
        size: float,
        style: str,
        height: float,
        colour: tuple[int, int, int] = INK,
    ) -> None:
        self.set_font("Helvetica", style, size)
        self.set_text_color(*colour)
        self.multi_cell(0, height, self.plain(text), align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT)


def _word_mm(paper: Paper, text: str) -> float:
    """The width of the longest word of a text in the font of the paper, mm."""
    words = (each[:_WHOLE_LETTERS] for each in text.split())
    return max(map(paper.get_string_width, words), default=0.0)


def _is_there(character: str) -> bool:
    """Whether the standard fonts have this character."""
    try:
        return character == "\n" or (character.isprintable() and bool(character.encode("cp1252")))
    except UnicodeEncodeError:
        return False

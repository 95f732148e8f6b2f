"""The page `adr/README.md` of the site: every decision by its subject."""

from __future__ import annotations

from pathlib import Path

from replay.docs import markdown

FOLDER = Path(__file__).parents[2] / "docs" / "adr"

SUBJECTS: dict[str, tuple[int, ...]] = {
    "The record": (
        *(1, 3, 4, 5, 6, 7, 8, 9, 51, 124, 172, 188, 234, 244, 245, 246, 247, 255, 256, 257),
        *(270, 280, 281, 282),
    ),
    "Facts on their way in": (32, 52, 54, 125, 170, 175, 177, 191, 231, 232, 233, 250, 265),
    "Rules of all games": (22, 23, 25, 43, 45, 82, 84, 87, 155, 162, 178, 186),
    "Readings of one game": (20, 21, 24, 78, 79, 80, 81, 83, 85, 86, 89),
    "Simulation": (30, 31, 33, 63, 65, 129, 150, 235, 279),
    "Views": (40, 41, 42, 44, 61, 66, 110, 149, 184, 189, 196, 199, 208, 217, 225, 239),
    "Finance": (
        180,
        185,
        187,
        190,
        192,
        193,
        194,
        195,
        197,
        198,
        200,
        201,
        202,
        203,
        204,
        205,
        264,
        206,
        207,
        209,
        210,
        218,
        226,
        227,
        236,
        240,
        241,
        242,
        243,
        258,
        268,
        259,
        260,
        261,
        262,
        271,
        276,
        277,
        272,
        284,
        274,
        283,
    ),
    "The feed on Kafka": (70, 71, 72, 75, 76, 134, 144, 145, 148, 160, 163, 164, 168),
    "Alerts": (77, 136, 143, 161, 166, 167),
    "Cameras and their clocks": (10, 62, 122, 126, 131, 138, 141, 146, 154),
    "Footage and clips": (
        11,
        12,
        13,
        14,
        127,
        130,
        133,
        142,
        153,
        221,
        222,
        223,
        224,
        237,
        278,
        238,
        263,
        267,
        269,
    ),
    "Disputes and custody": (120, 121, 132, 140, 211, 212, 213, 219, 220, 228, 229, 230),
    "Dossiers": (64, 123),
    "Replay and pages": (60, 128, 147, 159, 169, 176, 214, 215, 216, 248, 249, 252, 253, 254, 266),
    "The program and its house": (2, 50, 53, 156, 157, 158, 165, 173, 182, 251, 286),
}
"""The numbers of the decisions on each subject; each stands once."""


def page(folder: Path = FOLDER) -> str:
    """The page: a heading for each subject, and a line for each decision on it.

    Raises `KeyError` for a number without a file, and for a file without a subject.
    """
    paths = {int(path.name[:4]): path for path in sorted(folder.glob("[0-9]*.md"))}
    named = [number for numbers in SUBJECTS.values() for number in numbers]
    if sorted(named) != sorted(paths):
        raise KeyError(set(named) ^ set(paths) or "a decision stands under two subjects")
    sections = [
        f"## {subject}\n" + "\n".join(_line(paths[number]) for number in numbers)
        for subject, numbers in SUBJECTS.items()
    ]
    return markdown.page(
        "Decisions",
        "One page each: context, decision, consequences, alternatives. A later decision may "
        "supersede an earlier one; what was decided is not edited.",
        *sections,
    )


def _line(path: Path) -> str:
    """One decision: its number, its file and its title."""
    number, _, title = path.read_text(encoding="utf-8").partition("\n")[0].partition(": ")
    return f"- [{number.removeprefix('# ')}]({path.name}) {title}"

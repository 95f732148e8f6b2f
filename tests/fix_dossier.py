"""An intact dossier to check and to break, and the verify.py that lies in it."""

from __future__ import annotations

import importlib.util
import io
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, NamedTuple

import pytest

from replay.dossier.making import write_dossier
from tests.dossiers import HOUSE, evidence

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

KEY = HOUSE.public.hex()


class Made(NamedTuple):
    """An intact dossier as a folder and as a zip, and its checker."""

    folder: Path
    zip: Path
    verify: ModuleType

    def checked(self, *arguments: str | Path, key: str | None = KEY) -> tuple[int, str]:
        """What verify.py ends with and says."""
        out = io.StringIO()
        with redirect_stdout(out):
            code = self.verify.main([*(("--key", key) if key else ()), *map(str, arguments)])
        return code, out.getvalue()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    place = tmp_path_factory.mktemp("made")
    told = evidence(place)
    write_dossier(told, place / "dossier", signer=HOUSE)
    write_dossier(told, place / "dossier.zip", signer=HOUSE, zipped=True)
    spec = importlib.util.spec_from_file_location("verify_of_dossier", place / "dossier/verify.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return Made(place / "dossier", place / "dossier.zip", module)

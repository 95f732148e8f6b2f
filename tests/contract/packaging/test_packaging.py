"""What is installed is what is in the checkout: every package is named, and every extra pinned."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import yaml
from starlette.routing import Route

from replay.shell.settings import TABLE
from replay.web.app import FACTS, build

if TYPE_CHECKING:
    from infra.postgres.tape import PostgresTape
    from ledger.record.group_commit import Committer

ROOT = Path(__file__).parents[3]
VERSIONS = (ROOT / "docs" / "how-to" / "install.md").read_text()
TOP_LEVEL = ("ledger", "consumers", "infra", "replay")
# Python writes a module's compiled form beside the others under a name of its own at first, so a
# file half written there is no file of ours.
NOT_READ = {"__pycache__", "docker", "caddy", "systemd"}


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_package_names_the_pythons_that_ci_runs(project: dict) -> None:
    told = project["project"]
    named = [each for each in told["classifiers"] if re.search(r":: 3\.\d+$", each)]
    versions = [each.rpartition(" ")[2] for each in named]
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    (run,) = re.findall(r"python: \[(.+)\]", workflow)
    assert versions == re.findall(r"[\d.]+", run)
    assert told["requires-python"] == f">={versions[0]}"
    assert "CI runs " + ", ".join(versions[:-1]) + f" and {versions[-1]}" in VERSIONS
    assert (told["license"], told["readme"]) == ("Apache-2.0", "README.md")
    assert not [each for each in told["classifiers"] if each.startswith("License")]
    assert "urls" not in told  # there is no address to name


def test_package_and_changelog_are_of_one_version(project: dict) -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == project["project"]["version"] == metadata.version("round-ledger")


def test_every_folder_of_modules_is_a_package_of_the_build(project: dict) -> None:
    find = project["tool"]["setuptools"]["packages"]["find"]
    assert find == {"include": [f"{top}*" for top in TOP_LEVEL], "namespaces": False}
    folders = {path.parent for top in TOP_LEVEL for path in (ROOT / top).rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_every_file_that_is_read_at_run_time_is_packaged(project: dict) -> None:
    packaged = {
        path
        for package, patterns in project["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    data = {
        path
        for top in TOP_LEVEL
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix != ".py" and not NOT_READ & {*path.parts}
    }
    assert data - packaged == set()


def test_every_dependency_is_pinned_for_tests(project: dict) -> None:
    text = (ROOT / "constraints.txt").read_text()
    pinned = {name_of(line) for line in text.splitlines() if "==" in line}
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *(n for names in extras.values() for n in names)]
    assert {name_of(each) for each in wanted} - pinned == {"round-ledger"}  # extras of its own


@pytest.fixture(scope="module")
def services() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


def test_containers_have_no_right_that_they_do_not_need(services: dict) -> None:
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service.get("read_only") or name.startswith("kafka"), name
    assert [name for name, each in services.items() if "cap_add" in each] == ["caddy"]
    assert [each for each in services["serve"]["volumes"] if each.endswith(":/recordings:ro")]


def test_each_service_has_a_login_of_its_own_and_two_know_the_superuser(services: dict) -> None:
    logins = {
        name: each["environment"]["PGUSER"]
        for name, each in services.items()
        if "PGUSER" in each.get("environment", {})
    }
    assert [name for name, user in logins.items() if user == "ledger"] == ["migrate", "logins"]
    created = set(
        re.findall(r"^login (\w+)", (ROOT / "infra/docker/logins.sh").read_text(), re.MULTILINE)
    )
    for name, user in logins.items():
        given = [each for each in services[name]["secrets"] if isinstance(each, dict)]
        own = "postgres" if user == "ledger" else user.removeprefix("ledger_")
        if name != "logins":
            assert [each["source"] for each in given] == [f"{own}_password"]
            assert own in created | {"postgres"}
    known = {each.removesuffix("_password") for each in services["logins"]["secrets"]}
    assert known == created | {"postgres"}
    passwords = re.search(r"addsuffix _password,([\w ]+)", (ROOT / "Makefile").read_text())
    assert passwords
    assert set(passwords[1].split()) == known


def test_every_service_that_stays_is_watched_and_gets_every_setting(services: dict) -> None:
    for name, service in services.items():
        stays = service["restart"] == "unless-stopped"
        assert ("healthcheck" in service) == stays, name
        if service["image"] == "round-ledger:local":
            assert service["env_file"] == [{"path": "settings/env", "required": False}], name
            assert "./settings:/etc/round-ledger:ro" in service["volumes"] or name == "backup", name
    named = re.findall(
        r"^#?(ROUND_LEDGER_\w+)=", (ROOT / "infra/docker/env.example").read_text(), re.MULTILINE
    )
    assert {*named} <= {row.name for row in TABLE}
    assert "ROUND_LEDGER_SECOND_FACTOR" in named, "who may sign in is set up with the server"


def test_the_units_are_valid_and_run_what_the_containers_run(
    services: dict, tmp_path: Path
) -> None:
    units = tmp_path / "units"
    shutil.copytree(ROOT / "infra" / "systemd", units)
    commands = {}
    for unit in units.glob("*.service"):
        text = unit.read_text()
        (command,) = re.findall(r"^ExecStart=(.+)", text, re.MULTILINE)
        (user,) = re.findall(r"^Environment=PGUSER=(.+)", text, re.MULTILINE)
        commands[unit.stem.removeprefix("round-ledger-")] = (
            command.split("round-ledger ")[1],
            user,
        )
        unit.write_text(text.replace("/opt/round-ledger/bin/round-ledger", "/bin/true"))
    assert {*commands} == {"serve", "views", "alerts", "relay", "seal", "backup"}
    for name, (command, user) in commands.items():
        ours = services[name]
        assert ours["environment"]["PGUSER"] == user
        if name != "backup":
            assert sorted(command.split()) == sorted(ours["command"][1:])
    if not shutil.which("systemd-analyze"):
        return
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units.glob("*.service"), *units.glob("*.timer")],
        env={**os.environ, "SYSTEMD_UNIT_PATH": f"{units}:"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_in_containers_one_service_keeps_the_views(services: dict) -> None:
    told = [each["command"] for each in services.values() if "command" in each]
    commands = [each[1:] for each in told if each[0] == "round-ledger"]
    keep = [each for each in commands if each[0] == "serve" and "--no-views" not in each]
    keep += [each for each in commands if each[0] == "consume" and "all" in each]
    assert len(keep) == 1, keep


def name_of(requirement: str) -> str:
    """A distribution's name as indexes compare it, without version or extras."""
    return re.split(r"[\[<>=!~ ]", requirement)[0].lower().replace("_", "-")


def test_every_broker_in_a_container_tells_clients_where_they_really_reach_it() -> None:
    """A broker answers with its configured address; the second call meets a wrong one."""
    text = (ROOT / "docker-compose.yml").read_text()
    services = re.findall(r"^  (kafka\S*):\n((?:    .*\n)+)", text, re.MULTILINE)
    assert [name for name, _ in services] == ["kafka", "kafka-1", "kafka-2", "kafka-3"]
    (listeners,) = re.findall(r"KAFKA_LISTENERS: (\S+)", text)
    assert listeners == "INSIDE://:19092,OUTSIDE://:9092,CONTROLLER://:9093"
    (bootstrap,) = re.findall(r"ROUND_LEDGER_KAFKA_BOOTSTRAP: (\S+)", text)
    for name, body in services:
        (published,) = re.findall(r'ports: \["(\S+):9092"\]', body)
        (told,) = re.findall(r"KAFKA_ADVERTISED_LISTENERS: (\S+)", body)
        assert told == f"INSIDE://{name}:19092,OUTSIDE://{published}"
        assert published in bootstrap.split(",")
    voters = re.findall(r"KAFKA_CONTROLLER_QUORUM_VOTERS: (\S+)", text)
    voting = {each for line in voters for each in line.split(",")}
    assert voting == {"1@kafka:9093", *(f"{n}@kafka-{n}:9093" for n in (1, 2, 3))}


def test_the_proxy_keeps_inside_what_needs_no_sign_in() -> None:
    """The routes of the application itself, but the one for facts, which takes keys."""
    app = build(cast("PostgresTape", SimpleNamespace()), cast("Committer", SimpleNamespace()))
    open_ = {route.path for route in app.routes if isinstance(route, Route)} - {FACTS}
    text = (ROOT / "infra/caddy/Caddyfile").read_text()
    (kept,) = re.findall(r"^\t@inside path (.+)$", text, re.MULTILINE)
    assert set(kept.split()) == {*open_, "/openapi.json"}
    assert text.index("respond @inside 404") < text.index("reverse_proxy")


def test_the_proxy_sends_browsers_on_to_tls_and_refuses_facts() -> None:
    """A device that sends facts without TLS would work, and nobody would see that it shows them."""
    text = (ROOT / "infra/caddy/Caddyfile").read_text()
    assert "auto_https disable_redirects" in text, "Caddy sends every request on by itself"
    (plain,) = re.findall(r"^http:// \{\n(.+?)^\}", text, re.MULTILINE | re.DOTALL)
    address = "{$ROUND_LEDGER_PUBLIC_URL:https://localhost}"
    assert plain.split("\n") == [
        f"\t@api path {FACTS.removesuffix('facts')}*",
        f'\trespond @api "Use {address}." 403',
        f"\t@pages not path {FACTS.removesuffix('facts')}*",
        f"\tredir @pages {address}{{uri}} 308",
        "",
    ]

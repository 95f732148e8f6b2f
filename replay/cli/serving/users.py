"""`users`: who may sign in to the pages. Passwords are typed or read, never an argument."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from infra.access.connections import AccessDatabase, local_actor
from infra.access.passkeys import Passkey
from infra.access.sessions import Begun
from infra.access.users import ROLES, Account, Role, User, Users
from ledger.errors import NotFound, Usage
from ledger.values import format_time, quantity
from replay.cli.shell.app import family
from replay.cli.shell.people import opened_sessions, typed_secret
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_lines, print_list, say, show_table
from replay.shell.zones import house_zones
from replay.text.times import day, stamp

app = family()
group = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
app.add_typer(group, name="users", help="Manage users of the pages and their roles.")

_SHOWN = 12
"""How many characters of a session's digest are shown: they name it and do not open it."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="Sign-in name, lower case.")]
Roles = Annotated[list[str], typer.Option("--role", help=f"{', '.join(ROLES)}; may be repeated.")]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="First line of a file, `-` for stdin; default: typed.",
    ),
]


@contextmanager
def opened_users() -> Iterator[Users]:
    """The users, opened with the database role for access."""
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        yield Users(access)


@group.command("add")
def add(
    name: Name,
    *,
    employee: Annotated[str, typer.Option(help="Credential number, as in facts.")],
    role: Roles,
    subject: Annotated[
        str | None,
        typer.Option(help="Their subject at the identity provider; then they need no password."),
    ] = None,
    password_file: PasswordFile = None,
) -> None:
    """Add a user.

    With `--subject` and without `--password-file` they sign in only at the identity provider. There
    is no default password.

    Example: round-ledger users add maria --employee S-2001 --role surveillance
    """
    user = User(name, employee, frozenset(_roles(role)))
    password = None if subject and not password_file else _password(password_file)
    with opened_users() as users:
        users.add(user, password=password, subject=subject, actor=local_actor())
    say(f"{name} may sign in as {', '.join(sorted(user.roles))}.")


@group.command("list")
def list_(*, json: Json = False) -> None:
    """List users, without passwords.

    Example: round-ledger users list
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        found = Users(access).list()
        zone = house_zones(database).of(None)
    print_list(
        "Users",
        found,
        {
            "name": lambda each: each.name,
            "employee": lambda each: each.employee,
            "roles": lambda each: ", ".join(each.roles),
            "signs in with": lambda each: ", ".join(
                filter(None, ("password" if each.password else None, each.subject))
            ),
            "made": lambda each: day(each.made_at_us, zone),
            "disabled": lambda each: day(each.disabled_at_us, zone) if each.disabled_at_us else "",
        },
        json=json,
        as_json=_json,
        none="There is no user yet. `round-ledger users add NAME` makes one.",
    )


@group.command("disable")
def disable(
    name: Name,
    *,
    again: Annotated[bool, typer.Option("--undo", help="Enable them again.")] = False,
) -> None:
    """Disable a user, and end their sessions.

    The user stays on file: the record names them.

    Example: round-ledger users disable maria
    """
    with opened_users() as users:
        users.disable(name, local_actor(), disabled=not again)
    say(f"{name} may sign in again." if again else f"{name} cannot sign in any more.")


@group.command("roles")
def roles(name: Name, *, role: Roles) -> None:
    """Replace a user's roles, and end their sessions.

    Example: round-ledger users roles maria --role surveillance --role auditor
    """
    with opened_users() as users:
        users.set_roles(name, _roles(role), local_actor())
    say(f"{name} is {', '.join(sorted(role))} from the next sign-in on.")


@group.command("password")
def password(name: Name, *, password_file: PasswordFile = None) -> None:
    """Replace a user's password, and end their sessions.

    Example: round-ledger users password maria
    """
    with opened_users() as users:
        if name not in {each.name for each in users.list()}:
            raise _unknown(name)
        users.set_password(name, _password(password_file), local_actor())
    say(f"{name} has a new password.")


@group.command("sessions")
def sessions(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A user's sign-in name; default: every user."),
    ] = None,
    *,
    json: Json = False,
) -> None:
    """List who is signed in to the pages, newest sign-in first.

    Example: round-ledger users sessions
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        found = opened_sessions(access).running(name)
        zone = house_zones(database).of(None)
    print_list(
        "Sessions",
        found,
        {
            "user": lambda each: each.name,
            "session": lambda each: each.digest[:_SHOWN],
            "signed in": lambda each: stamp(each.began_at_us, zone, ms=False),
            "last used": lambda each: stamp(each.used_at_us, zone, ms=False),
        },
        json=json,
        as_json=_session_json,
        none="Nobody is signed in." if name is None else f"{name} is not signed in.",
    )


@group.command("end")
def end(
    name: Name,
    *,
    session: Annotated[
        str, typer.Option(help="Only this one, as `users sessions` shows it; default: every one.")
    ] = "",
) -> None:
    """End a user's sessions. They may sign in again; `users disable` keeps them out.

    Example: round-ledger users end maria
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        if name not in {each.name for each in Users(access).list()}:
            raise _unknown(name)
        found = [each for each in opened_sessions(access).running(name) if _is(each, session)]
        if session and not found:
            raise NotFound(
                f"{name} has no session {session}",
                where="--session",
                hint=f"See `round-ledger users sessions {name}`.",
            )
        opened_sessions(access).end(found, local_actor())
    say(
        f"{quantity(len(found), 'session')} of {name} ended."
        if found
        else f"{name} is not signed in."
    )


@group.command("second-factor")
def second_factor(
    name: Name,
    *,
    reset: Annotated[
        bool, typer.Option("--reset", help="Remove the app, and end the user's sessions.")
    ] = False,
) -> None:
    """Say whether a user has a second factor, or remove the app of a user who lost it.

    Example: round-ledger users second-factor maria --reset
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        if name not in {each.name for each in Users(access).list()}:
            raise _unknown(name)
        factors = opened_sessions(access).factors
        removed = reset and factors.remove(name, local_actor(), "second_factor_reset")
        still = factors.is_on(name)
    if not removed:
        say(f"{name} has {'a' if still else 'no'} second factor.")
    elif still:
        say(f"The app of {name} is removed. See `round-ledger users passkeys {name}` for the rest.")
    else:
        say(f"The second factor of {name} is removed. The password alone signs in, or sets one up.")


@group.command("passkeys")
def passkeys(
    name: Name,
    *,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove every one, and end the user's sessions.")
    ] = False,
    json: Json = False,
) -> None:
    """List a user's passkeys, or remove those of a user who lost a device.

    Example: round-ledger users passkeys maria
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        if name not in {each.name for each in Users(access).list()}:
            raise _unknown(name)
        sessions = opened_sessions(access)
        removed = sessions.passkeys.remove_all(name, local_actor()) if remove else 0
        found = sessions.passkeys.of(name)
        alone = not sessions.factors.is_on(name)
        zone = house_zones(database).of(None)
    if removed:
        then = "The password alone signs in, or sets a second factor up." if alone else ""
        say(f"{quantity(removed, 'passkey')} of {name} removed. {then}".rstrip())
        return
    print_list(
        f"Passkeys of {name}",
        found,
        {
            "passkey": lambda each: each.label,
            "added": lambda each: stamp(each.made_at_us, zone, ms=False),
            "last used": lambda each: (
                "never" if each.used_at_us is None else stamp(each.used_at_us, zone, ms=False)
            ),
        },
        json=json,
        as_json=_passkey_json,
        none=f"{name} has no passkey.",
    )


@group.command("log")
def log(
    *,
    readings: Annotated[
        bool, typer.Option("--readings", help="Who read what on the pages, and where from.")
    ] = False,
    about: Annotated[
        str, typer.Option(help="Only of what has this text, such as CC-02/2026-11-20/61.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 100,
    json: Json = False,
) -> None:
    """List sign-ins, failures and changes of users and keys, newest first; or who read what.

    Example: round-ledger users log --limit 20
    """
    with opened_database() as database, closing(AccessDatabase(database)) as access:
        found = access.events(limit, read=readings, about=about)
        zone = house_zones(database).of(None)
    if json:
        print_lines({**each._asdict(), "at_us": format_time(each.at_us)} for each in found)
        return
    columns = ("at", "what", "about", "by", "from", "detail")
    rows = ((stamp(each.at_us, zone, ms=False), *each[1:]) for each in found)
    title, none = (
        ("Readings", "Nobody has read such a thing on the pages.")
        if readings
        else ("Sign-ins and changes", "Nobody has signed in yet.")
    )
    show_table(title, columns, rows, none=none)


def _unknown(name: str) -> NotFound:
    return NotFound(f"There is no user {name}", where="NAME", hint="See `users list`.")


def _is(session: Begun, shown: str) -> bool:
    """Whether this is the session that a list shows so. A shorter text names none but if empty."""
    return not shown or (len(shown) >= _SHOWN and session.digest.startswith(shown))


def _session_json(session: Begun) -> dict[str, object]:
    """A session as JSON."""
    return {
        "name": session.name,
        "session": session.digest[:_SHOWN],
        "signed_in": format_time(session.began_at_us),
        "last_used": format_time(session.used_at_us),
    }


def _passkey_json(passkey: Passkey) -> dict[str, object]:
    """A passkey as JSON."""
    used = passkey.used_at_us
    return {
        "passkey": passkey.label,
        "made": format_time(passkey.made_at_us),
        "last_used": None if used is None else format_time(used),
    }


def _roles(given: list[str]) -> list[Role]:
    """Roles as typed. Raises `Usage`."""
    known = [role for role in ROLES if role in given]
    if len(known) < len(set(given)):
        wrong = ", ".join(sorted(set(given) - set(ROLES)))
        raise Usage(
            f"There is no role {wrong}", where="--role", hint=f"Roles are {', '.join(ROLES)}."
        )
    return known


def _password(file: Path | None) -> str:
    """A password: the first line of a file or stdin, or typed twice, hidden. Raises `Usage`."""
    password = typed_secret(file)
    if file is None and password != typed_secret(None, "Again: "):
        raise Usage("The two passwords differ", where="Password", hint="Run the command again.")
    return password


def _json(account: Account) -> dict[str, object]:
    """A user as JSON."""
    return {
        "name": account.name,
        "employee": account.employee,
        "roles": account.roles,
        "password": account.password,
        "subject": account.subject,
        "made": format_time(account.made_at_us),
        "disabled": None if account.disabled_at_us is None else format_time(account.disabled_at_us),
    }

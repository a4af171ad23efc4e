"""What sacctmgr prints: ``sacctmgr dump CLUSTER`` files, and ``sacctmgr show assoc|qos|user|account|tres``.

``show`` is read with any columns, separated by bars (-P, -p) or set in a table; the header tells what it is. A dump
holds no QOS but their names, ``show assoc`` no accounts above accounts unless ParentName is among its columns or it was
printed as a ``tree``: what had to be guessed is noted. Source: ``src/sacctmgr/file_functions.c`` and sacctmgr(1), Slurm
22.05 to 25.05; checked with text that Slurm 22.05.8 wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import Accounts, Association, Qos, User
from gnomon.systems.slurm.accounting.database import Database
from gnomon.systems.slurm.accounting.sacctmgr_fields import (
    ASSOCIATION_OPTIONS,
    QOS_OPTIONS,
    Option,
    change_association,
    change_qos,
    find_option,
)

Row = Mapping[str, str]

_DUMP_LINE = re.compile(r"\s*(Cluster|Parent|Account|User)\s*-\s*'([^']*)'\s*:?(.*)", re.IGNORECASE)
_DUMP_TERM = re.compile(r"([A-Za-z ]+)=('(?:[^']*)'|\"(?:[^\"]*)\"|[^:]*)(?::|$)")
_USER_FIELDS = ("defaultaccount", "defaultwckey", "adminlevel", "coordinator", "wckeys")
_SILENT = frozenset("description organization classification cluster id lft rgt parentid parid defacct admin".split())
_SILENT_QOS = frozenset("description id qosid name".split())


# ------------------------------------------------------------------ dump


def is_dump(text: str) -> bool:
    """Whether a text looks like the file of ``sacctmgr dump``."""
    return any(_DUMP_LINE.match(line) for line in text.splitlines()[:200] if not line.lstrip().startswith("#"))


def read_dump(text: str, *, file: str | None = None, start: Accounts | None = None) -> Accounts:
    """The accounts of a file that ``sacctmgr dump`` wrote, added to those there are.

    >>> dumped = ["Cluster - 'c1':Fairshare=1:QOS='normal'", "Parent - 'root'", "Account - 'phys':MaxJobs=50"]
    >>> read_dump("\\n".join(dumped)).associations[-1].limits.max_jobs
    50

    :raises InputError: a line is of no kind, or names a parent that does not stand above it.
    """
    database = Database(start)
    parent = "root"
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            parent = _dump_line(database, line, parent)
        except InputError as error:
            raise error.at(file=file, line=number) from None
    return database.accounts()


def _dump_line(database: Database, line: str, parent: str) -> str:
    found = _DUMP_LINE.fullmatch(line)
    if not found:
        allowed = "Cluster, Parent, Account or User - 'name':…"
        raise InputError("not a line of a dump", found=line.strip(), allowed=allowed)
    kind, name, rest = found[1].lower(), found[2].strip().lower(), found[3]
    terms = {key.strip().lower().replace(" ", ""): value.strip("'\"") for key, value in _DUMP_TERM.findall(rest)}
    if kind == "parent":
        database.need_account(name)
        return name
    if kind == "cluster":
        one = replace(database.associations["root", "", ""], qos=frozenset({"normal"}), qos_delta=())
    elif kind == "account":
        one = Association(name, parent=parent)
    else:
        one = Association(parent, user=name, partition=terms.pop("partition", "").lower(), parent=parent)
        _dump_user(database, name, parent, terms)
    for key, value in terms.items():
        one = _change(database, one, key, value)
    database.put(one)
    return parent


def _dump_user(database: Database, name: str, account: str, terms: dict[str, str]) -> None:
    old = database.users.get(name, User(name))
    coordinator = {item.strip().lower() for item in terms.get("coordinator", "").split(",") if item.strip()}
    database.users[name] = replace(
        old,
        default_account=terms.get("defaultaccount", old.default_account or account).lower(),
        default_wckey=terms.get("defaultwckey", old.default_wckey),
        admin=terms.get("adminlevel", old.admin),
        coordinator_of=old.coordinator_of | coordinator,
    )
    for key in _USER_FIELDS:
        terms.pop(key, None)


@cache
def _association_option(key: str) -> Option | None:
    return find_option(ASSOCIATION_OPTIONS, key)


def _change(database: Database, one: Association, key: str, value: str) -> Association:
    option = _association_option(key)
    if option is None or option.kind == "usage":
        if key not in _SILENT:
            database.note("not modelled", key, "a field of sacctmgr that nothing here looks at")
        return one
    names = value.split(",") if option.field in ("qos", "default_qos") else []
    for name in sorted({name.strip("+- ").lower() for name in names} - {""} - set(database.qos)):
        database.qos[name] = Qos(name)
        database.note("default", "QOS", "a QOS of which only the name is known: without limits, of priority 0")
    return change_association(one, option, "", value)


# ------------------------------------------------------------------ show


def read_show(text: str, *, file: str | None = None, start: Accounts | None = None, cluster: str = "") -> Accounts:
    """The accounts of what ``sacctmgr show`` printed, added to those there are. ``cluster``: of several, this one ("":
    the first).

    >>> shown = "Name|Priority|MaxWall\\nhigh|100|1-00:00:00\\n"
    >>> read_show(shown).qos[-1].limits.max_wall_min
    1440

    :raises InputError: the header is of nothing that is known, or a value does not fit its column.
    """
    database = Database(start)
    header, rows = _table(text, file)
    names = set(header)
    try:
        if names >= {"type", "name"} and "grptres" not in names:
            _show_tres(database, rows)
        elif "user" in names and "account" not in names:
            _show_users(database, rows)
        elif "account" in names and not names & {"descr", "description", "org", "organization"}:
            _show_associations(database, rows, cluster)
        elif "name" in names:
            _show_qos(database, rows)
        elif "account" not in names:
            raise InputError("not a table of sacctmgr show", line=1, found=", ".join(header))
    except InputError as error:
        raise error.at(file=file) from None
    return database.accounts()


def _table(text: str, file: str | None) -> tuple[list[str], list[tuple[int, Row]]]:
    """The header and the rows with their line numbers. In the column of accounts leading blanks stay: the tree."""
    lines = [(number, line.rstrip("\r")) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if not lines:
        raise InputError("there is no table of sacctmgr show in it", file=file)
    first, body = lines[0][1], lines[1:]
    if "|" in first:
        header = [_column(name) for name in first.split("|")]
        split = [(number, line.split("|")) for number, line in body]
    else:
        if not body or set(body[0][1]) - {"-", " "}:
            raise InputError("neither columns with bars nor a ruled table", file=file, line=lines[0][0], found=first)
        spans = [found.span() for found in re.finditer("-+", body[0][1])]
        header = [_column(first[start:end]) for start, end in spans]
        split = [(number, [line[start:end].strip() for start, end in spans]) for number, line in body[1:]]
    rows: list[tuple[int, Row]] = []
    for number, cells in split:
        if len(cells) < len(header) and not (header[-1] == "" and len(cells) == len(header) - 1):
            raise InputError(
                "the line has too few columns", file=file, line=number, found=len(cells), allowed=str(len(header))
            )
        rows.append((number, dict(zip(header, cells, strict=False))))
    return header, rows


@contextmanager
def _line(number: int) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise error.at(line=number) from None


def _column(name: str) -> str:
    name = name.strip().lower().replace(" ", "")
    return {
        "share": "fairshare",
        "usagethres": "usagethreshold",
        "defqos": "defaultqos",
        "defacct": "defaultaccount",
        "admin": "adminlevel",
        "parname": "parentname",
        "minprio": "minpriothresh",
    }.get(name, name)


def _show_tres(database: Database, rows: Iterable[tuple[int, Row]]) -> None:
    numbered = [
        (
            int(given) if (given := row.get("id", "")).isdecimal() and len(given) < 10 else number,
            row["type"] + ("/" + row["name"]).rstrip("/"),
        )
        for number, row in rows
    ]
    database.tres = tuple(name.lower() for _, name in sorted(numbered))


def _show_qos(database: Database, rows: Iterable[tuple[int, Row]]) -> None:
    shown = [(number, row, Qos(row["name"].strip().lower())) for number, row in rows]
    for _, _, qos in shown:
        database.qos.setdefault(qos.name, qos)  # known before one of them names it in Preempt
    for number, row, qos in shown:
        for column, text in row.items():
            option = find_option(QOS_OPTIONS, column) if column not in _SILENT_QOS else None
            if option is None:
                if text.strip() and column and column not in _SILENT_QOS:
                    database.note("not modelled", column, "a column of sacctmgr that nothing here looks at")
            elif text.strip():
                with _line(number):
                    qos = change_qos(qos, option, "", text)
        database.qos[qos.name] = qos


def _show_users(database: Database, rows: Iterable[tuple[int, Row]]) -> None:
    for _, row in rows:
        _know_user(database, row)


def _know_user(database: Database, row: Row) -> None:
    name = row["user"].strip().lower()
    old = database.users.get(name, User(name))
    coordinator = {item.strip().lower() for item in row.get("coordaccounts", "").split(",") if item.strip()}
    database.users[name] = replace(
        old,
        default_account=row.get("defaultaccount", "").strip().lower() or old.default_account,
        default_wckey=row.get("defaultwckey", "").strip() or old.default_wckey,
        admin=row.get("adminlevel", "").strip() or old.admin,
        coordinator_of=old.coordinator_of | coordinator,
    )


_USER_COLUMNS = frozenset("user account partition cluster defaultaccount adminlevel parentname coordaccounts".split())


def _show_associations(database: Database, rows: list[tuple[int, Row]], cluster: str) -> None:
    rows = _of_one_cluster(database, rows, cluster)
    above: list[tuple[int, str]] = []  # in a tree: the accounts above, by how far they are set in
    for number, row in rows:
        account, user = row["account"].strip().lower(), row.get("user", "").strip().lower()
        depth = len(row["account"]) - len(row["account"].lstrip())
        if user:
            parent = account
            if not database.has_account(account):
                database.put(Association(account))
                _guess_parents(database)
        else:
            while above and above[-1][0] >= depth:
                above.pop()
            parent = row.get("parentname", "").strip().lower() or (above[-1][1] if above else "root")
            above.append((depth, account))
        if account == "root" and not user:
            one = replace(database.associations["root", "", ""], qos=frozenset(), qos_delta=())
        else:
            one = Association(account, user=user, partition=row.get("partition", "").strip().lower(), parent=parent)
            if parent not in ("", account) and not database.has_account(parent):
                database.put(Association(parent))
        with _line(number):
            database.put(_from_row(database, one, row))
        if user:
            database.add_user(user, account)
            _know_user(database, row)
    depths = {len(row["account"]) - len(row["account"].lstrip()) for _, row in rows}
    if not any("parentname" in row for _, row in rows) and len(depths) == 1:
        _guess_parents(database)


def _guess_parents(database: Database) -> None:
    database.note("guess", "ParentName", "which account is below which is not shown: all are put below root")


def _from_row(database: Database, one: Association, row: Row) -> Association:
    for column, text in row.items():
        if text.strip() and column and column not in _USER_COLUMNS:
            one = _change(database, one, column, text.strip())
    return one


def _of_one_cluster(database: Database, rows: list[tuple[int, Row]], cluster: str) -> list[tuple[int, Row]]:
    clusters = list(dict.fromkeys(row["cluster"].strip() for _, row in rows if row.get("cluster", "").strip()))
    if len(clusters) < 2 and not cluster:
        return rows
    wanted = cluster or clusters[0]
    if wanted not in clusters and clusters:
        raise InputError("there is no such cluster", field="Cluster", found=wanted, allowed=", ".join(clusters))
    for other in clusters:
        if other != wanted:
            database.note("not modelled", f"cluster {other}", "another cluster")
    return [(number, row) for number, row in rows if row.get("cluster", "").strip() in ("", wanted)]

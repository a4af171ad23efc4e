"""Commands of sacctmgr: ``add``, ``modify``, ``delete`` of accounts, users, QOS, coordinators.

Words may be cut short as sacctmgr allows, names are taken in lower case, ``-1`` takes a limit away. What a command
refuses, this refuses; an option that nothing here looks at is noted. Source: sacctmgr(1) and ``src/sacctmgr`` of Slurm
22.05 to 25.05.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from gnomon.model.errors import InputError
from gnomon.systems.slurm.accounting.accounts import Accounts, Association, Qos
from gnomon.systems.slurm.accounting.database import Database, Key
from gnomon.systems.slurm.accounting.sacctmgr_fields import (
    ASSOCIATION_OPTIONS,
    QOS_OPTIONS,
    change_association,
    change_qos,
    find_option,
    means,
)

_VERBS = {"add": 3, "create": 2, "delete": 3, "remove": 3, "modify": 1, "update": 1}
_LOOKS = {"show": 3, "list": 3, "dump": 3, "problem": 4, "version": 4, "ping": 4}
_ENTITIES = {"account": 3, "acct": 4, "association": 3, "cluster": 2, "coordinator": 2, "qos": 1, "user": 1}
_SILENT = {"description": 1, "organization": 1, "clusters": 1, "wckeys": 1, "comment": 3, "email": 5}
"""Options that change nothing that is decided here."""


class Term(NamedTuple):
    """One word of a command: ``name+=value``; of a bare word the name is empty."""

    name: str
    sign: str
    value: str

    def means(self, *words: tuple[str, int]) -> bool:
        """Whether its name is one of these words, cut short to no less than so many letters."""
        return any(means(self.name, word, least) for word, least in words)

    def names(self) -> list[str]:
        """The names that its value lists."""
        return [name.strip().strip("'\"").lower() for name in self.value.split(",") if name.strip("'\" ")]


def apply_commands(accounts: Accounts, commands: Iterable[str], *, file: str | None = None) -> Accounts:
    """The accounts after these commands, one after another; a comment line (#) and an empty one are none.

    >>> done = apply_commands(Accounts(), ["add account phys fairshare=3", "add user alice account=phys"])
    >>> [(one.account, one.user, one.shares) for one in done.associations]
    [('root', '', 1), ('root', 'root', 1), ('phys', '', 3), ('phys', 'alice', 1)]

    :raises InputError: a command cannot be carried out; its number stands as the line.
    """
    database = Database(accounts)
    for line, command in enumerate(commands, start=1):
        try:
            _apply(database, command)
        except InputError as error:
            raise error.at(file=file, line=line) from None
    return database.accounts()


def _apply(database: Database, command: str) -> None:
    try:
        words = shlex.split(command, comments=command.lstrip().startswith("#"))
    except ValueError as error:
        raise InputError(f"cannot be split into words: {error}", found=command) from None
    while words and (words[0].rpartition("/")[2] == "sacctmgr" or words[0].startswith("-")):
        words = words[1:]
    words = [word for word in words if word not in ("-i", "--immediate", "-Q", "--quiet")]
    if not words or any(means(words[0], look, least) for look, least in _LOOKS.items()):
        return
    verb = next((verb for verb, least in _VERBS.items() if means(words[0], verb, least)), None)
    if verb is None:
        raise InputError("no such command of sacctmgr", found=words[0], allowed="add, modify, delete")
    entity = next((name for name, least in _ENTITIES.items() if words[1:] and means(words[1], name, least)), None)
    if entity is None:
        database.note("not modelled", " ".join(words[:2]), "this command of sacctmgr")
        return
    terms = [_term(word) for word in words[2:]]
    verb = {"create": "add", "remove": "delete", "update": "modify"}.get(verb, verb)
    act = {"add": _add, "modify": _modify, "delete": _delete}[verb]
    act(database, "account" if entity == "acct" else entity, terms)


def _term(word: str) -> Term:
    name, equals, value = word.partition("=")
    if not equals:
        return Term("", "", word)
    return Term(name[:-1], name[-1], value) if name[-1:] in ("+", "-") else Term(name, "", value)


def _named(terms: list[Term], *words: tuple[str, int]) -> list[str]:
    """What is named by these options, or by bare words where ``names`` is among them."""
    bare = any(word == "names" for word, _ in words)
    found = [term for term in terms if (not term.name and bare) or (term.name and term.means(*words))]
    return list(dict.fromkeys(name for term in found for name in term.names()))


_NAMES = ("names", 1)
_ACCOUNTS = (("accounts", 2), ("accts", 4))


def _plain(terms: list[Term]) -> list[Term]:
    """Without the words ``where`` and ``set``."""
    return [term for term in terms if term.name or term.value.lower() not in ("where", "set")]


# ------------------------------------------------------------------ add


def _add(database: Database, entity: str, terms: list[Term]) -> None:
    terms = _plain(terms)
    if entity == "qos":
        names = _named(terms, _NAMES)
        _need(names, "a QOS to add")
        for name in names:
            if name not in database.qos:  # sacctmgr: "This QOS already exists. Not adding."
                database.qos[name] = _with_qos_terms(database, Qos(name), [term for term in terms if term.name])
    elif entity == "account":
        names = _named(terms, _NAMES)
        _need(names, "an account to add")
        for name in names:
            if not database.has_account(name):
                rest = [term for term in terms if term.name and not term.means(_NAMES)]
                database.put(_with_terms(database, Association(name), rest))
    elif entity == "user":
        _add_user(database, terms)
    elif entity == "coordinator":
        _coordinate(database, terms, add=True)
    elif entity == "association":
        database.note("not modelled", "add association", "sacctmgr adds accounts and users instead")


def _need(names: list[str], what: str) -> None:
    if not names:
        raise InputError(f"the command names no {what.partition(' ')[2]}", allowed="a name, or name=…")


def _add_user(database: Database, terms: list[Term]) -> None:
    names = _named(terms, _NAMES)
    _need(names, "a user to add")
    default = _named(terms, ("defaultaccount", 8))
    accounts = _named(terms, *_ACCOUNTS) or default
    _need(accounts, "an account for the user")
    partitions = _named(terms, ("partitions", 3)) or [""]
    own = [*_ACCOUNTS, _NAMES, ("partitions", 3), ("defaultaccount", 8), ("adminlevel", 2), ("defaultwckey", 8)]
    rest = [term for term in terms if term.name and not term.means(*own)]
    for name in names:
        for account in accounts:
            database.need_account(account)
            for partition in partitions:
                if (account, name, partition) not in database.associations:
                    one = Association(account, user=name, partition=partition, parent=account)
                    database.put(_with_terms(database, one, rest))
        database.add_user(name, (default or accounts)[0])
        _change_user(database, name, terms)


def _with_terms(database: Database, one: Association, terms: list[Term]) -> Association:
    for term in terms:
        option = find_option(ASSOCIATION_OPTIONS, term.name) if not term.means(*_SILENT.items()) else None
        if option is None:
            if not term.means(*_SILENT.items()):
                database.note("not modelled", term.name, "an option of sacctmgr that nothing here looks at")
        elif option.kind == "usage":
            database.usage[one.account, one.user, one.partition] = float(term.value or 0)
        elif not (option.field == "parent" and one.user):
            one = change_association(one, option, term.sign, term.value)
    return one


def _with_qos_terms(database: Database, qos: Qos, terms: list[Term]) -> Qos:
    for term in terms:
        if term.means(_NAMES, *_SILENT.items()):
            continue
        option = find_option(QOS_OPTIONS, term.name)
        if option is None:
            database.note("not modelled", term.name, "an option of sacctmgr that nothing here looks at")
            continue
        qos = change_qos(qos, option, term.sign, term.value)
    database.need_qos(sorted(qos.preempt - {qos.name}))
    return qos


# ------------------------------------------------------------------ modify


def _modify(database: Database, entity: str, terms: list[Term]) -> None:
    """Conditions stand after ``where`` or at the start, what is changed after ``set``."""
    conditions: list[Term] = []
    changes: list[Term] = []
    part = conditions
    for term in terms:
        if not term.name and term.value.lower() in ("where", "set"):
            part = changes if term.value.lower() == "set" else conditions
        else:
            part.append(term)
    if not changes:
        raise InputError("the command does not say what to set", allowed="modify … where … set …")
    if entity == "qos":
        names = _named(conditions, _NAMES) or list(database.qos)
        database.need_qos(names)
        for name in names:
            database.qos[name] = _with_qos_terms(database, database.qos[name], changes)
    elif entity == "cluster":
        database.put(_with_terms(database, database.associations["root", "", ""], changes))
    elif entity == "account":
        _modify_accounts(database, conditions, changes)
    elif entity == "user":
        _modify_users(database, conditions, changes)
    else:
        database.note("not modelled", f"modify {entity}", "this command of sacctmgr")


def _modify_accounts(database: Database, conditions: list[Term], changes: list[Term]) -> None:
    names = _named(conditions, _NAMES, *_ACCOUNTS)
    names = names or [account for account, user, _ in database.associations if not user]
    for name in names:
        database.need_account(name)
        old = database.associations[name, "", ""]
        new = _with_terms(database, old, [term for term in changes if not term.means(_NAMES)])
        if new.parent != old.parent:
            database.move(name, new.parent)
        database.put(new)


def _modify_users(database: Database, conditions: list[Term], changes: list[Term]) -> None:
    own = (("adminlevel", 2), ("defaultaccount", 8), ("defaultwckey", 8))
    keys = _associations_of(database, conditions)
    limits = [term for term in changes if not term.means(*own)]
    for key in keys:
        database.put(_with_terms(database, database.associations[key], limits))
    for name in dict.fromkeys(user for _, user, _ in keys):
        _change_user(database, name, changes)


def _associations_of(database: Database, conditions: list[Term]) -> list[Key]:
    names, accounts = _named(conditions, _NAMES, ("users", 1)), _named(conditions, *_ACCOUNTS)
    partitions = _named(conditions, ("partitions", 3))
    unknown = next((name for name in names if name not in database.users), None)
    if unknown is not None:
        known = ", ".join(database.users)
        raise InputError("there is no such user", field="User", found=unknown, allowed=known)
    for account in accounts:
        database.need_account(account)
    return [
        (account, user, partition)
        for account, user, partition in database.associations
        if user
        and (not names or user in names)
        and (not accounts or account in accounts)
        and (not partitions or partition in partitions)
    ]


def _change_user(database: Database, name: str, terms: list[Term]) -> None:
    user = database.users[name]
    for account in _named(terms, ("defaultaccount", 8)):
        if not any((account, name) == key[:2] for key in database.associations):
            raise InputError("the user is not in this account", field="DefaultAccount", found=account)
        user = replace(user, default_account=account)
    for level in _named(terms, ("adminlevel", 2)):
        words = {"none": "None", "operator": "Operator", "administrator": "Administrator"}
        found = next((shown for word, shown in words.items() if means(level, word, 1)), "None")
        user = replace(user, admin=found)
    for key in _named(terms, ("defaultwckey", 8)):
        user = replace(user, default_wckey=key)
    database.users[name] = user


# ------------------------------------------------------------------ delete, coordinators


def _delete(database: Database, entity: str, terms: list[Term]) -> None:
    terms = _plain(terms)
    if entity == "qos":
        names = _named(terms, _NAMES)
        database.need_qos(names)
        for name in names:
            database.remove_qos(name)
    elif entity == "account":
        names = _named(terms, _NAMES, *_ACCOUNTS)
        for name in names:
            database.need_account(name)
            if name == "root":
                raise InputError("the root account cannot be deleted", found=name)
            database.remove_account(name)
    elif entity == "user":
        database.remove(_associations_of(database, terms))
    elif entity == "coordinator":
        _coordinate(database, terms, add=False)
    else:
        database.note("not modelled", f"delete {entity}", "this command of sacctmgr")


def _coordinate(database: Database, terms: list[Term], *, add: bool) -> None:
    for account in _named(terms, *_ACCOUNTS):
        database.need_account(account)
        for name in _named(terms, _NAMES, ("users", 1)):
            user = database.users.get(name)
            if user is None:
                raise InputError("there is no such user", field="User", found=name, allowed=", ".join(database.users))
            of = user.coordinator_of | {account} if add else user.coordinator_of - {account}
            database.users[name] = replace(user, coordinator_of=of)

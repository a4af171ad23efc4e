"""What slurmdbd holds, while it is being read or changed: QOS, users, and the tree of associations.

A new database has the account ``root`` with the user ``root``, who is an Administrator, and the QOS ``normal``, which
everybody may use.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gnomon.model.errors import InputError
from gnomon.model.work import Note
from gnomon.systems.slurm.accounting.accounts import Accounts, Association, User

Key = tuple[str, str, str]
"""Account, user ("": the account itself), partition ("": all)."""


class Database:
    """The records by name, in the order in which they were made."""

    def __init__(self, start: Accounts | None = None) -> None:
        start = start or Accounts()
        self.qos = {qos.name: qos for qos in start.qos}
        self.users = {user.name: user for user in start.users}
        self.associations = {(one.account, one.user, one.partition): one for one in start.associations}
        self.usage = dict(start.usage)
        self.tres = start.tres
        self._notes = {(note.what, note.field): note for note in start.notes}
        if ("root", "", "") not in self.associations:
            root = Association("root", parent="", qos=frozenset({"normal"}))
            first: dict[Key, Association] = {
                ("root", "", ""): root,
                ("root", "root", ""): Association("root", user="root", parent="root"),
            }
            self.associations = {**first, **self.associations}
        self.users.setdefault("root", User("root", default_account="root", admin="Administrator"))

    def accounts(self) -> Accounts:
        """The state as a value."""
        return Accounts(
            tuple(self.qos.values()),
            tuple(self.users.values()),
            tuple(self.associations.values()),
            dict(self.usage),
            self.tres,
            tuple(self._notes.values()),
        )

    def note(self, what: str, field: str, text: str) -> None:
        """Note something that was left out or guessed, once a kind."""
        old = self._notes.get((what, field))
        self._notes[what, field] = replace(old, count=old.count + 1) if old else Note(what, field, text)

    def has_account(self, name: str) -> bool:
        """Whether there is such an account."""
        return (name, "", "") in self.associations

    def need_account(self, name: str) -> None:
        """:raises InputError: there is no such account."""
        if not self.has_account(name):
            known = ", ".join(account for account, user, _ in self.associations if not user)
            raise InputError("there is no such account", field="Account", found=name, allowed=known)

    def need_qos(self, names: Iterable[str]) -> None:
        """:raises InputError: one of these QOS is not there."""
        for name in names:
            if name not in self.qos:
                raise InputError("there is no such QOS", field="QOS", found=name, allowed=", ".join(self.qos))

    def put(self, association: Association) -> None:
        """Set an association; its QOS must be there.

        :raises InputError: a QOS or the account above is not there.
        """
        plain = {*association.qos, *(name[1:] for name in association.qos_delta), association.default_qos} - {""}
        self.need_qos(sorted(plain))
        if association.parent:
            self.need_account(association.parent)
        self.associations[association.account, association.user, association.partition] = association

    def move(self, name: str, parent: str) -> None:
        """Put an account under another one, with what is below it.

        :raises InputError: it is below itself then, or one of them is not there.
        """
        self.need_account(parent)
        above = parent
        while above:
            if above == name:
                raise InputError("an account cannot be below itself", field="Parent", found=parent)
            above = self.associations[above, "", ""].parent
        self.associations[name, "", ""] = replace(self.associations[name, "", ""], parent=parent)

    def add_user(self, name: str, account: str) -> None:
        """Make the user known; the first account that he gets is his default."""
        user = self.users.get(name)
        if user is None:
            self.users[name] = User(name, default_account=account)
        elif not user.default_account:
            self.users[name] = replace(user, default_account=account)

    def remove_account(self, name: str) -> None:
        """Take an account away, with the accounts and users below it."""
        below = [account for (account, user, _), one in self.associations.items() if not user and one.parent == name]
        for account in below:
            self.remove_account(account)
        self.associations = {key: one for key, one in self.associations.items() if key[0] != name}
        self._forget_defaults()

    def remove(self, keys: Iterable[Key]) -> None:
        """Take associations of users away; a user without any is gone."""
        for key in keys:
            self.associations.pop(key, None)
        self._forget_defaults()

    def remove_qos(self, name: str) -> None:
        """Take a QOS away, also from every list that names it."""
        self.qos.pop(name, None)
        self.qos = {one.name: replace(one, preempt=one.preempt - {name}) for one in self.qos.values()}
        for key, one in self.associations.items():
            delta = tuple(change for change in one.qos_delta if change[1:] != name)
            default = "" if one.default_qos == name else one.default_qos
            self.associations[key] = replace(one, qos=one.qos - {name}, qos_delta=delta, default_qos=default)

    def _forget_defaults(self) -> None:
        left = {(account, user) for account, user, _ in self.associations if user}
        users = {user for _, user in left}
        self.users = {
            name: user if (user.default_account, name) in left else replace(user, default_account="")
            for name, user in self.users.items()
            if name in users
        }

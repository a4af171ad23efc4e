"""``kubectl gnomon``: as gnomon, about the cluster that kubectl is set to where no file is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gnomon.cli.terminal import say, write
from gnomon.model.errors import InputError

VERBS: Final = ("explain", "simulate")
"""Those that take a snapshot by themselves."""

HELP: Final = """\
Usage: kubectl gnomon VERB ... [-n NAMESPACE] [--context NAME] [--kubeconfig FILE]

  As gnomon, about the live cluster: explain and simulate without a file take a snapshot of it first, read only.

Options of kubectl:
  -n, --namespace NAME  Where SUBJECT is. The snapshot is of the whole cluster in any case.
  --context NAME        The context of kubectl's configuration.
  --kubeconfig FILE     The configuration of kubectl.

Examples:
  kubectl gnomon explain POD
  kubectl gnomon explain deployment/web -n shop
  kubectl gnomon explain POD --why-not NODE --context staging
  kubectl gnomon simulate --until 1h
  kubectl gnomon snapshot --out cluster.json
"""

_PLACEHOLDER: Final = "the-live-cluster"


@dataclass(frozen=True)
class _Asked:
    """The arguments for gnomon, and what is for kubectl."""

    arguments: list[str]
    namespace: str | None = None
    context: str | None = None
    kubeconfig: str | None = None


def plugin() -> None:
    """Run the command line of this process as that of the plug-in, and end it."""
    from gnomon.cli import main

    main(with_snapshot, "kubectl gnomon")


def with_snapshot(arguments: Sequence[str]) -> list[str] | None:
    """The arguments for gnomon, with a snapshot of the live cluster where they name no file; None: all is said.

    They are checked before it is taken. Raises InputError, and what the command line raises for wrong usage.
    """
    asked = _parted(arguments)
    given = asked.arguments
    verb = given[0] if given else "--help"
    if verb in ("-h", "--help"):
        write(HELP)
        return None
    if verb == "snapshot":
        system = [] if "kubernetes" in given else ["kubernetes"]
        return [verb, *system, *given[1:], *([] if asked.context is None else ["--context", asked.context])]
    if verb not in VERBS:
        return given
    if {"-h", "--help"} & set(given):
        write(f"{HELP}\n")
        return given
    whole = [*given, *(["-f"] if verb == "explain" else []), _PLACEHOLDER]
    said = _said(verb, whole)
    if verb == "explain" and not said["subject"]:
        raise InputError("say what is to be explained", field="SUBJECT", allowed="kubectl gnomon explain POD")
    files = said["work"] if verb == "simulate" else [*(said["file"] or []), *(said["more"] or []), said["run"]]
    if [one for one in files if one] != [_PLACEHOLDER]:
        return given
    if asked.namespace:
        whole = _in_namespace(whole, said.get("subject"), asked.namespace)
    return [*whole[:-1], str(_taken(asked))]


def _parted(arguments: Sequence[str]) -> _Asked:
    """What is for kubectl, and the rest. Raises InputError for an option without its value."""
    names = {"-n": "namespace", "--namespace": "namespace", "--context": "context", "--kubeconfig": "kubeconfig"}
    rest: list[str] = []
    found: dict[str, str] = {}
    left = list(arguments)
    while left:
        one = left.pop(0)
        name, sign, value = one.partition("=")
        short = one.startswith("-n") and len(one) > 2 and not one.startswith("--")
        if short:
            found["namespace"] = one[2:].removeprefix("=")
        elif name in names and sign:
            found[names[name]] = value
        elif one in names:
            if not left:
                raise InputError("a value is missing", field=one, allowed=f"{one} NAME")
            found[names[one]] = left.pop(0)
        else:
            rest.append(one)
    return _Asked(rest, **found)


def _said(verb: str, arguments: Sequence[str]) -> dict[str, Any]:
    """What the arguments of a verb say, by the names of its parameters; nothing is run."""
    import typer

    from gnomon.cli.app import app

    every = typer.main.get_command(app)
    command = every.commands[verb]  # type: ignore[attr-defined]
    with every.make_context("kubectl gnomon", [verb]) as above:
        return dict(command.make_context(verb, list(arguments[1:]), parent=above).params)


def _in_namespace(arguments: Sequence[str], subject: str | None, namespace: str) -> list[str]:
    """The arguments with the subject's name in a namespace: ``deployment/web`` is ``deployment/shop/web``."""
    if subject is None:
        raise InputError("a namespace is for explain", field="--namespace", found=namespace)
    kind, slash, name = subject.rpartition("/")
    if "/" in kind or kind in ("node", "nodes", "no"):
        return list(arguments)
    changed = f"{kind}/{namespace}/{name}" if slash else f"{namespace}/{name}"
    place = list(arguments).index(subject)
    return [*arguments[:place], changed, *arguments[place + 1 :]]


def _taken(asked: _Asked) -> Path:
    """A snapshot of the cluster, in a file that is gone with this process."""
    import atexit
    import shutil
    import tempfile

    from gnomon.backends.kubectl import collect

    folder = Path(tempfile.mkdtemp(prefix="gnomon-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    taken = collect(context=asked.context, kubeconfig=asked.kubeconfig)
    (folder / "cluster.json").write_bytes(taken.json)
    for missing in taken.missing:
        say(f"left out: {missing}")
    return folder / "cluster.json"

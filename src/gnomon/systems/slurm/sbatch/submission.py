"""A submission as a whole: the command line, the script, the environment, for one component or several.

Of a component the command line overrules the environment, that ``#BSUB`` or ``#PBS`` lines, those ``#SBATCH``. Source:
``main`` of ``src/sbatch/sbatch.c``, ``process_options_…_pass`` of ``src/sbatch/opt.c`` of Slurm 22.05 to 25.05.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from gnomon.model.work import Note
from gnomon.systems.slurm.sbatch import scripts
from gnomon.systems.slurm.sbatch.combine import combined
from gnomon.systems.slurm.sbatch.foreign import translate
from gnomon.systems.slurm.sbatch.options import OPTIONS, options
from gnomon.systems.slurm.sbatch.refusals import WRONG, Refusal, RefusedError, error
from gnomon.systems.slurm.sbatch.request import JobRequest
from gnomon.systems.slurm.sbatch.settings import Settings, obey, obey_environment
from gnomon.systems.slurm.sbatch.site import Site
from gnomon.systems.slurm.sbatch.values import Place

_WHY = {one.name: one.why for one in OPTIONS if one.why}
_ANY_SITE = Site()


@dataclass(frozen=True)
class Submission:
    """What sbatch sends. ``requests``: one a component; ``said``: lines that sbatch prints before its answer;
    ``parsable``, ``quiet``: how it answers; ``notes``: options that are not modelled."""

    requests: tuple[JobRequest, ...]
    said: tuple[str, ...] = ()
    parsable: bool = False
    quiet: bool = False
    notes: tuple[Note, ...] = ()


def submission(
    args: Sequence[str],
    script: str | None = None,
    env: Mapping[str, str] | None = None,
    *,
    user: str = "",
    site: Site = _ANY_SITE,
    read: Callable[[str], str | None] = lambda path: None,
    now: datetime | None = None,
) -> Submission | Refusal:
    """What ``sbatch args`` submits, or how it refuses.

    ``script``: the text of the script, wherever it comes from; without it that which ``args`` name is asked of
    ``read``, as files of hosts are. ``env``: the variables that are looked at. ``now``: when (without it
    ``--begin`` and ``--deadline`` are not compared). ``user`` root may
    ask for more. Raises nothing.

    >>> submission(["-n4", "x.sh"], "#!/bin/sh\\n#SBATCH -t 5 -n2\\nrun\\n").requests[0].tasks
    4
    >>> submission(["-t", "abc"], "#!/bin/sh\\n")
    Refusal(text='sbatch: error: Invalid --time specification', rc=255, controller=False)
    """
    place = Place(site.version, user == "root", read, now)
    try:
        return _submission([str(word) for word in args], script, env or {}, user, site, place)
    except RefusedError as refused:
        lines = dict.fromkeys([*place.said, refused.refusal.text])
        return replace(refused.refusal, text="\n".join(filter(None, lines)))


def _submission(
    args: list[str], script: str | None, env: Mapping[str, str], user: str, site: Site, place: Place
) -> Submission:
    settings = Settings()
    lines, rest = _command_lines(args, settings, place)
    wrap = settings.get("wrap")
    if wrap is not None and rest:
        raise error("Script arguments not permitted with --wrap option", WRONG)
    text = scripts.wrapped(wrap) if wrap is not None else _text(script, rest, place)
    scripts.check(text)
    name = posixpath.basename(rest[0]) if rest else "stdin"
    parts = scripts.components(text, name, place.said)
    foreign = "SBATCH_IGNORE_PBS" not in env and "--ignore-pbs" not in args
    own_name = "wrap" if wrap is not None else name if rest else "sbatch"
    known = {one.name: one for one in options(place.version)}
    requests: list[JobRequest] = []
    for at in range(max(len(lines), len(parts))):
        settings.next_component()
        obey(parts[at] if at < len(parts) else [], settings, place, script=True)
        if foreign:
            translate(text, name, lambda option, value: settings.set(known[option], value, place))
        obey_environment(env, settings, place)
        # beyond the last component of the command line, its options hold on
        obey(lines[min(at, len(lines) - 1)], settings, place)
        request = combined(settings, place, site)
        requests.append(replace(request, user=user, name=request.name or own_name, script=text))
    return Submission(
        tuple(requests),
        tuple(dict.fromkeys(place.said)),
        bool(settings.get("parsable")),
        bool(settings.get("quiet")),
        tuple(Note("not modelled", f"--{option}", _WHY[option]) for option in settings.met if option in _WHY),
    )


def _command_lines(args: list[str], settings: Settings, place: Place) -> tuple[list[list[str]], list[str]]:
    """The options of each component, which ``:`` separates, and the script with its arguments. What holds for all
    components is set from here on, the last one's over the others'."""
    lines: list[list[str]] = []
    rest = args
    while True:
        end = obey(rest, settings, place, early=True)
        lines.append(rest[:end])
        rest = rest[end:]
        if rest[:1] != [":"]:
            # the next pass over the components finds no hint of this one
            settings.drop("hint")
            # and what is left of this pass counts no more than the environment
            settings.by_environment.update(settings.values)
            return lines, rest
        rest = rest[1:]


def _text(script: str | None, rest: list[str], place: Place) -> str:
    if script is not None:
        return script
    text = place.read(rest[0]) if rest else ""
    if text is None:
        raise error(f"Unable to open file {rest[0]}", WRONG)
    return text

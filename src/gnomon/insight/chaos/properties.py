"""Declared properties: texts such as "every job ends" or "p95 wait < 10 min", read into what can be judged.

Upper or lower case and blanks do not matter, ``≤`` is ``<=``, and ``at most``, ``at least``, ``below``, ``above`` may
stand for the signs. :data:`FORMS` lists all that is understood.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from gnomon.insight.chaos.bounds import SHARES, TIMES, LittleLost, Makespan, ShareBound, SlowdownBound, TimeBound
from gnomon.insight.chaos.facts import Facts
from gnomon.insight.chaos.rules import Ends, FewFail, OneLeader, Rule, RunsOnce, TakesEffectOnce, Verdict
from gnomon.insight.chaos.workloads import FORMS as WORKLOAD_FORMS
from gnomon.insight.chaos.workloads import workload_rule
from gnomon.model.errors import InputError, nearest, unknown_name
from gnomon.model.quantity import parse_count, parse_duration
from gnomon.model.scenario import Scenario

DEFAULTS: Final = ("every job ends", "no task runs twice at once")
"""What is demanded where nothing is declared."""

FORMS: Final = (
    "every job ends",
    "every job ends within 2h",
    "no task runs twice at once",
    "no task takes effect twice",
    "at most one leader",
    "no task waits longer than 1h",
    "every lost task starts again within 5m",
    "at most 3 tasks fail",
    "at most 2 % tasks fail",
    "at most 5 % work lost",
    "p95 wait < 10 min",
    "makespan < 2h",
    "availability >= 99 %",
    *WORKLOAD_FORMS,
)
"""One example of each form. In the place of ``p95``: mean, max, or any percentile; of ``wait``: turnaround, recovery,
detection, slowdown; of ``availability``: goodput."""

MEASURES: Final = (*TIMES, "slowdown", "makespan", *SHARES)
"""What bounds may be put on."""

_SYNONYMS: Final = {"detect": "detection", "time to detect": "detection", "time to recover": "recovery"}
_WORDS: Final = (
    (r"≤|⩽|=<", "<="),
    (r"≥|⩾|=>", ">="),
    (r"\b(?:is |stays )?(?:at most|no more than|not more than|up to)\b", "<="),
    (r"\b(?:is |stays )?(?:at least|no less than|not less than)\b", ">="),
    (r"\b(?:is |stays )?(?:below|under|less than|shorter than)\b", "<"),
    (r"\b(?:is |stays )?(?:above|over)\b", ">"),
    (r"\bjobs?\b", "task"),
    (r"\btasks\b", "task"),
    (r"\b(?:each|all)\b", "every"),
    (r"\bper ?cent\b", "%"),
    (r"\bmedian\b", "p50"),
)
_UNITS: Final = (
    (r"(?<=[\d ])(?:minutes|minute|mins|min)\b", "m"),
    (r"(?<=[\d ])(?:seconds|second|secs|sec)\b", "s"),
    (r"(?<=[\d ])(?:hours|hour|hrs|hr)\b", "h"),
    (r"(?<=[\d ])(?:days|day)\b", "d"),
)


@dataclass(frozen=True, slots=True)
class Property:
    """What was declared, and what it demands."""

    text: str
    rule: Rule

    def judge(self, facts: Facts) -> Verdict:
        """Whether a run has it."""
        return self.rule.judge(facts)


def parse_property(text: str, *, field: str = "properties") -> Property:
    """What a text declares. Raises InputError for what is not understood, with the forms that are.

    >>> parse_property("P95 wait < 10 min").rule
    TimeBound(statistic='95', measure='wait', bound_ns=600000000000, strict=True)
    >>> parse_property("at most 5 % work lost").rule
    LittleLost(most=Fraction(1, 20), strict=False)
    """
    try:
        if (rule := workload_rule(text)) is not None:
            return Property(text.strip(), rule)
    except ValueError as error:
        raise InputError(str(error), field=field, found=text, allowed=_allowed()) from None
    plain = _plain(text)
    for pattern, make in _FORMS:
        if match := pattern.fullmatch(plain):
            try:
                return Property(text.strip(), make(*(part or "" for part in match.groups())))
            except InputError as error:
                raise error.at(field=field) from None
            except ValueError as error:
                raise InputError(str(error), field=field, found=text, allowed=_allowed()) from None
    hint = nearest(plain, FORMS)
    raise InputError(f"not a property that is understood{hint}", field=field, found=text, allowed=_allowed())


def properties_of(texts: Iterable[str], scenario: Scenario, *, field: str = "properties") -> tuple[Property, ...]:
    """The properties of a scenario, each once. Raises InputError for one that no run of it could ever break or keep."""
    found = tuple(parse_property(text, field=field) for text in dict.fromkeys(texts))
    for one in found:
        if objection := one.rule.objection(scenario):
            problem = f"this can never be evaluated in this scenario: {objection}"
            raise InputError(problem, field=field, found=one.text)
    return found


def _allowed() -> str:
    return f"forms such as {', '.join(FORMS)}"


def _plain(text: str) -> str:
    """Lower case, single blanks, one word for each meaning."""
    plain = " ".join(text.lower().split()).rstrip(".")
    for pattern, word in (*_WORDS, *_UNITS):
        plain = re.sub(pattern, word, plain)
    plain = re.sub(r"\s*(<=|>=|<|>)\s*", r" \1 ", plain)
    return " ".join(re.sub(r"\s*%", "%", plain).split())


def _whole(text: str) -> int:
    words = {"no": 0, "one": 1, "two": 2, "three": 3}
    return words[text] if text in words else parse_count(text)


def _share(text: str) -> Fraction:
    """A part of a whole: ``5%`` or ``0.05``; at least 0, and at most 1."""
    number = text.removesuffix("%")
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", number):
        raise ValueError("not a share (as in 99 %, 0.05)")
    share = Fraction(number) / (100 if text.endswith("%") else 1)
    if share > 1:
        raise ValueError("not a share: it is more than all")
    return share


def _bound(statistic: str, measure: str, sign: str, bound: str) -> Rule:
    """``p95 wait < 10m``: a statistic, a measure, a sign and a bound."""
    measure = _SYNONYMS.get(measure, measure)
    if measure not in MEASURES:
        raise unknown_name("measure", measure, MEASURES)
    upper, strict = sign.startswith("<"), "=" not in sign
    if measure in SHARES:
        if statistic or upper:
            raise ValueError(f"{measure} is one number of the whole run, of which a least value is demanded")
        return ShareBound(measure, _share(bound), strict)
    if not upper:
        raise ValueError(f"of {measure} only a largest value can be demanded")
    if measure == "makespan":
        if statistic:
            raise ValueError("makespan is one number of the whole run")
        return Makespan(parse_duration(bound), strict)
    if not statistic:
        raise ValueError(f"of which {measure}: of the mean, the max, or a percentile such as p95?")
    statistic = statistic.removeprefix("p")
    if measure == "slowdown":
        if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", bound):
            raise ValueError("a slowdown is a plain number")
        return SlowdownBound(statistic, Fraction(bound), strict)
    return TimeBound(statistic, measure, parse_duration(bound), strict)


def _fail(most: str) -> Rule:
    return FewFail(_share(most) if "%" in most else _whole(most))


def _longest(measure: str) -> Callable[[str], Rule]:
    return lambda bound: TimeBound("max", measure, parse_duration(bound))


_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[..., Rule]], ...]] = tuple(
    (re.compile(pattern), make)
    for pattern, make in (
        (r"every task (?:ends|end|is done)", Ends),
        (r"every task (?:ends|end|is done) within (.+)", _longest("turnaround")),
        (r"no task (?:ever )?runs twice(?: at once| at the same time)?", RunsOnce),
        (r"no task (?:takes effect|ends|finishes) twice", TakesEffectOnce),
        (r"(?:<= )?(?:one|1) leader", OneLeader),
        (r"no task waits (?:longer|more) than (.+)", _longest("wait")),
        (r"every lost task (?:starts again|recovers|runs again) within (.+)", _longest("recovery")),
        (r"(no) task fails?", _fail),
        (r"<= (\w+|[\d.]+%)(?: of (?:the )?)? ?task fails?", _fail),
        (r"<= ([\d.]+%)(?: of)?(?: the)? work(?: is)? lost", lambda most: LittleLost(_share(most))),
        (r"(no) work(?: is)? lost", lambda most: LittleLost(Fraction(_whole(most)))),
        (r"(?:the )?(?:(mean|max|p\d{1,2}(?:\.\d{1,3})?) )?([a-z][\w -]*?) (<=|<|>=|>) (\S.*)", _bound),
    )
)

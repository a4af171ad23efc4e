"""An explanation as text, compared as a whole."""

from textwrap import dedent
from typing import Any

import pytest

from gnomon.report.explanation import explanation

pytestmark = pytest.mark.unit

FOUND: dict[str, Any] = {
    "subject": "task/render",
    "state": "rejected",
    "summary": "render asks for more GPUs than any node has.",
    "native": "render asks for more GPUs than any node has.",
    "waiting": [
        {
            "kind": "infeasible",
            "rule": "too-large",
            "object": "node/n1",
            "numbers": {"asked_gpu": 4, "largest_gpu": 2, "asked_memory": 2**31},
            "earliest_s": None,
        }
    ],
    "classes": [{"nodes": 3, "example": "n1", "reasons": ["4 gpu asked, 2 in all", "too old"]}],
    "chain": [{"row": 7, "t_s": 60, "event": "arrive", "text": "render arrives"}],
    "changes": [
        {
            "what": "ask for 2 gpu instead of 4: it starts at 1m",
            "object": "task/render",
            "field": "gpu",
            "from": 4,
            "to": 2,
            "cost": 1.3333,
            "confirmed": True,
        }
    ],
}


def same(shown: str, wanted: str) -> None:
    assert shown.splitlines() == dedent(wanted).strip("\n").splitlines()


def test_it_reads_from_the_answer_to_its_causes_and_what_would_change_it() -> None:
    same(
        explanation(FOUND).plain,
        """
        task/render   rejected
        render asks for more GPUs than any node has.

        WHAT IT WAITS FOR
        WAITS           RULE        FOR       NUMBERS
        can never run   too-large   node/n1   gpu 4 asked, 2 largest; memory 2Gi asked

        THE NODES
        NODES   EXAMPLE   REASONS
            3   n1        4 gpu asked, 2 in all; too old

        HOW IT CAME TO BE
        AT   EVENT    WHAT
        1m   arrive   render arrives

        WHAT WOULD CHANGE IT (each alone, the smallest change first)
        CHANGE                                        CONFIRMED
        ask for 2 gpu instead of 4: it starts at 1m   yes
        """,
    )


def test_spells_of_waiting_have_their_times() -> None:
    numbers = {"position": 7, "ahead": 6, "promised_start_s": 90.5, "from_s": 0, "waited_s": 3600}
    wait = {"kind": "behind", "rule": "order", "object": "task/a", "numbers": numbers, "earliest_s": 7200}
    shown = explanation({**FOUND, "waiting": [wait], "classes": [], "chain": [], "changes": []}).plain
    same(
        "\n".join(shown.splitlines()[3:]),
        """
        WHAT IT WAITS FOR
        WAITS           RULE    FOR      SINCE   LASTED   EARLIEST   NUMBERS
        behind others   order   task/a   0s      1h       2h         position 7; ahead 6; promised start 1m31s
        """,
    )


def test_wide_adds_rows_of_the_log_and_the_parts_of_changes() -> None:
    shown = explanation(FOUND, wide=True).plain
    assert "1m   arrive   render arrives   7" in shown
    assert shown.splitlines()[-1].split()[-6:] == ["yes", "task/render", "gpu", "4", "2", "1.33"]


def test_the_systems_words_are_shown_where_they_differ() -> None:
    shown = explanation({**FOUND, "native": "0/3 nodes are available\nno victims"}).plain.splitlines()
    assert shown[2:5] == ["", "  0/3 nodes are available", "  no victims"]


def test_names_cannot_steer_the_terminal() -> None:
    hostile = {**FOUND, "subject": "\x1b[2J", "summary": "a\u202eb", "native": "x\x07"}
    assert not set("\x1b\u202e\x07") & set(explanation(hostile).plain)

"""An explanation as a page: what the terminal shows, escaped, and nothing that runs."""

import pytest

from gnomon.report.explanation_page import page
from tests.report.test_html import HOSTILE, Parsed

pytestmark = pytest.mark.unit

FOUND = {
    "subject": "task/render",
    "state": "waiting",
    "summary": "render waits for 1 gpu",
    "native": f"0/2 nodes are available\n{HOSTILE}",
    "waiting": [{"kind": "event", "rule": "resources", "object": "node/a", "numbers": {}, "earliest_s": 60}],
    "classes": [{"nodes": 2, "example": "a", "reasons": ["no gpu", HOSTILE]}],
    "chain": [{"row": 3, "t_s": 0, "event": "arrive", "text": "render arrives"}],
    "changes": [
        {
            "what": "ask for no gpu",
            "object": "task/render",
            "field": "gpus",
            "from": 1,
            "to": 0,
            "cost": 1.0,
            "confirmed": True,
        }
    ],
}


def test_a_page_says_what_the_terminal_says_and_runs_nothing() -> None:
    parsed = Parsed(page(FOUND, ["assumed: nothing"]))
    for text in (
        "task/render: waiting",
        "What it waits for",
        "The nodes",
        "How it came to be",
        "ask for no gpu",
        "for something to happen",
        "0/2 nodes are available",
        "assumed: nothing",
    ):
        assert text in parsed.text
    assert not [tag for tag, attrs in parsed.tags if tag in ("script", "link", "img") or "onclick" in attrs]
    assert parsed.text.count("alert(1)") == 2
    policy = next(attrs["content"] for _, attrs in parsed.tags if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"

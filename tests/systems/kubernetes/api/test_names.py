"""Names and labels: what the tests of apimachinery's validation take and refuse (``validation_test.go``)."""

from __future__ import annotations

import pytest

from gnomon.systems.kubernetes.api.names import (
    Rule,
    container_resource,
    label,
    label_value,
    path_segment,
    port_name,
    qualified,
    subdomain,
)

TAKEN: dict[Rule, tuple[str, ...]] = {
    subdomain: ("a", "ab", "a1", "a-1", "0", "0.0", "a.a", "a--1--2--b", "1.2.3", "a.b-c.d", "a" * 253),
    label: ("a", "a1", "0-0", "a--b", "a" * 63),
    qualified: (
        *("simple", "now-with-dashes", "1-starts-with-num", "1234", "simple/simple", "now-with-dashes/simple"),
        *("1.2.3.4/5678", "Uppercase_Is_OK_123", "example.com/Uppercase_Is_OK_123", "requests.storage-foo", "a" * 63),
        f"{'a' * 253}/{'b' * 63}",
    ),
    label_value: ("", "simple", "1.2", "end-with-num-1", "a" * 63, "Aa_9"),
    port_name: ("telnet", "re-mail-ck", "pop3", "a", "a-1", "1-a", "a-1-b-2-c", "1-a-2-b-3"),
    path_segment: ("A_b", "web", "..a"),
    container_resource: (
        "cpu",
        "memory",
        "ephemeral-storage",
        "hugepages-2Mi",
        "nvidia.com/gpu",
        "kubernetes.io/batch",
    ),
}
REFUSED: dict[Rule, tuple[str, ...]] = {
    subdomain: ("", "A", "aBc", "-", "a-", "-a", ".", "a..b", ".a", "a.", "_", "a_b", "a b", "a\n", "a" * 254, "1.A"),
    label: ("", "A", "a.b", "a_b", "-a", "a-", " a", "a" * 64, "a\n"),
    qualified: (
        *("nospecialchars%^=@", "cantendwithadash-", "-cantstartwithadash", "only/one/slash", "Example.com/abc"),
        *("example_com/abc", "example.com/", "/simple", "strange:", "", "a" * 64, f"{'a' * 254}/abc", "a b"),
    ),
    label_value: ("nospecialchars^=@", "Tama-nui-te-ra.sun!", "-start", "end-", "a b", "a" * 64, ".", "only/one"),
    port_name: ("longerthan15characters", "", "0", "12-34", "1-2-3-4", "-begin", "end-", "two--hyphens", "TEL", "s_p"),
    path_segment: (".", "..", "a/b", "a%b"),
    container_resource: (
        "memroy",
        "gpu",
        "requests.nvidia.com/gpu",
        "nvidia.com/",
        "pods",
        "a b/c",
        f"x.io/{'a' * 64}",
    ),
}


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in TAKEN.items() for name in names])
def test_taken(rule: Rule, name: str) -> None:
    assert rule(name) is None


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in REFUSED.items() for name in names])
def test_refused(rule: Rule, name: str) -> None:
    assert rule(name)


def test_the_words_are_the_servers() -> None:
    assert label("A") == (
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
    )
    assert label("a.b") == "must not contain dots"
    assert qualified("a b") == (
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
        "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
    )
    assert label_value("a" * 64) == "must be no more than 63 bytes"

"""Whatever stands in the new fields of a scenario: it means something, or is an error with its place, never a crash."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.formats.yaml import Located, parse_yaml
from gnomon.formats.yaml_write import as_yaml
from gnomon.model.cluster import Cluster
from gnomon.model.errors import InputError
from gnomon.systems.plain.fault_specs import AMOUNT_KEYS, FIELDS, KINDS, read_fault
from gnomon.systems.plain.operation_specs import read_operation
from gnomon.systems.plain.read import read_cluster, read_reservations, read_tenants, read_work
from gnomon.systems.plain.recovery_specs import read_recovery
from gnomon.systems.plain.specs import TaskSpec
from gnomon.systems.plain.usage_specs import read_usage

WORDS = [
    *KINDS,
    *FIELDS.values(),
    *AMOUNT_KEYS,
    *("cpu memory disk disk-io store from to over leak base spike every for points trace gpus gpu_share").split(),
    *("retries on limit backoff in_place checkpoint exclude first factor most free jitter reset cost").split(),
    *("enforcement detection eviction orphans fence message speculation control budgets pressures pauses").split(),
    *("resource below check order grace calm beat since lag probe period timeout misses zone members job").split(),
    *("unavailable above at_full quota out_of_memory limits usage recovery needs machine used disk_rate").split(),
    *("exit node kill shares wait replace weibull largest resources").split(),
]
SCALARS = (
    st.sampled_from([*WORDS, "1Gi", "10m", "50%", "1e300", "", "a", None, True, 0, 1, -1, 0.5, 10**30, 1e300, 5e-324])
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    SCALARS,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inside, max_size=4),
    max_leaves=12,
)
DOCUMENTS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5) | VALUES


@pytest.mark.property
@given(DOCUMENTS)
def test_is_read_or_refused_with_its_line(value: Any) -> None:
    (document,) = parse_yaml(as_yaml({"here": value}))
    for read in (read_fault, read_operation, read_recovery, lambda found: read_usage(found, 10**12)):
        if error := refusal(read, document.at("here")):
            assert error.file is not None or error.line is not None


def refusal(read: Callable[[Located], object], document: Located) -> InputError | None:
    try:
        read(document)
    except InputError as error:
        return error
    return None


@pytest.mark.property
@given(st.dictionaries(st.sampled_from(["usage", "recovery", "needs", "limits", "duration"]), DOCUMENTS))
def test_tasks(value: dict[str, Any]) -> None:
    with suppress(InputError):
        read_work(*parse_yaml(as_yaml([{"id": "t", "cpu": 1, **value}])))


@pytest.mark.property
@given(DOCUMENTS)
def test_nodes(value: Any) -> None:
    with suppress(InputError):
        read_cluster(*parse_yaml(as_yaml({"nodes": [{"name": "n", "cpu": 1, "machine": value}]})))


keys = st.sampled_from(sorted(field.alias or name for name, field in TaskSpec.model_fields.items()))
words = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.sampled_from(["1", "2Gi"])
)
entries = st.lists(
    st.dictionaries(keys, words | st.lists(words, max_size=2) | st.dictionaries(st.text(), words, max_size=2))
)


@pytest.mark.property
@given(entries)
def test_whatever_stands_in_the_fields_is_read_or_refused(found: list[dict[str, Any]]) -> None:
    with suppress(InputError):
        read_work(Located(found))
    with suppress(InputError):
        read_cluster(Located({"nodes": found}))
    with suppress(InputError):
        read_tenants(Located(found))
    with suppress(InputError):
        read_reservations(Located(found), Cluster.of_processors(1))

"""Systems whose names and files are known, and whose files and rules are not read yet."""

from __future__ import annotations

from typing import Final

from gnomon.formats.signs import Signs

FIRST: Final = {
    "ray": Signs(
        (
            ("a RayCluster of KubeRay", r"^ *\"?apiVersion\"?: *\"?ray\.io/"),
            ("a Ray cluster configuration", r"^(cluster_name|available_node_types|head_node_type):"),
            ("a list of Ray's state API", r"\A\[\s*\{\s*\"(node|actor|task|object|worker|placement_group)_id\":"),
            ("a list of Ray's state API", r"\A\[\s*\{\s*\"type\": *\"(DRIVER|SUBMISSION)\","),
        )
    ),
}
"""Looked for before the systems that are modelled: such files look like theirs too."""

LAST: Final = {
    "yarn": Signs((("a configuration of YARN", r"<name> *yarn\.|<allocations>"),)),
    "flink": Signs(
        (
            ("a configuration of Flink", r"^(jobmanager|taskmanager|parallelism|execution|state)\.[a-z.-]+:"),
            ("an answer of Flink's REST API", r"\A\s*\{\s*\"(jid|flink-version)\":"),
        )
    ),
    "kafka": Signs(
        (("a configuration of Kafka", r"^(broker\.id|process\.roles|bootstrap\.servers|log\.dirs) *="),),
    ),
}

SYSTEMS_TO_COME: Final = (*FIRST, *LAST, "mesos", "pregel", "storm", "training")

"""Resources after placement: what tasks use, how it is shared, what happens when there is too little.

Pure parts, without a world: values in, values out (:mod:`gnomon.control` puts them together). ``node_use.NodeUse`` is
one node with all of it: ``enter`` and ``leave`` an attempt, ``next_ns`` says when to ask again, ``happen`` gives the
incidents. Behind it stand ``usage`` (profiles, exactly), ``sharing`` and ``speeds`` (who gets how much, and how fast it
goes then), ``memory``, ``space`` and ``pressure`` (who dies or is sent away), ``victims.ORDERS`` (in which order);
``node_state`` and ``attempt`` hold what they look at.
"""

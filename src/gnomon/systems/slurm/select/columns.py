"""The columns that the choice of nodes works on: the hardware, what is taken of it, what jobs ask, and one trial.

N nodes, S sockets of the largest node, C cores of it, H holders of generic resources of it, P partitions that are
tracked, Q rows of shared partitions, R requests for generic resources in one demand, W switches.

A *holder* is one device (a GPU), one device's shares (shards), or a pool that is only counted. A *demand* is what a job
asks, resolved against the configuration and its partition; jobs that ask the same share one row.
"""

from __future__ import annotations

from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.engine.world import I8, I32, I64, I8x2, I32x2, I64x2, I64x3

I8x3 = Annotated[npt.NDArray[np.int8], 3]

ANY_COUNT: Final = 1 << 40
"""In place of a limit that there is not."""

BITS: Final = 32
"""Cores in a word of a set of cores."""

REQUESTS: Final = 6
"""Requests for generic resources that one demand may hold (R)."""


class Hardware(NamedTuple):
    """The nodes as configured."""

    rule: I64
    sockets: I32
    cores: I32  # of a socket
    tpc: I32  # CPUs of a core, as slurmctld counts CPUs
    cpus: I32  # without those kept for the system
    memory: I64  # MiB, without what is kept for the system
    weight: I64
    barred: I8x2  # (N, C): cores kept for the system
    every: I32x2  # (N, S): the other cores
    kind: I32x2  # (N, H), -1 none
    type: I32x2  # 0 none
    capacity: I32x2
    near: I64x2  # (N, H): bits of the sockets that it is bound to, 0 none
    number: I32x2  # -1: counted only
    device: I32x2  # the holder of the device whose shares these are, -1 none
    links: I64x3  # (L, H, H)
    link_table: I32  # (N,), -1: not known
    # partitions
    track: I32  # -1: not tracked
    tier: I32
    stays: I8  # PreemptMode=OFF: its jobs are in the way of all
    row_part: I32  # (Q,)
    # topology
    level: I32
    parent: I32
    below: I8x2  # (W, N): nodes under a switch
    distance: I64x2  # (W, W)
    block: I32  # (N,) number of its block, -1 none


class Occupied(NamedTuple):
    """What jobs have taken."""

    cores: I8x2  # (N, C): jobs on it
    free: I32x2  # (N, S): cores without a job
    idle: I32  # (N,): their sum
    memory: I64
    jobs: I32
    whole: I32  # jobs that have the node to themselves
    state: I32  # sum of the Share of its jobs
    part_jobs: I32x2  # (P, N)
    part_cores: I32x2  # (P, N): cores of its jobs
    rows: I8x3  # (Q, N, C): which cores each row of a shared partition uses
    taken: I32x2  # (N, H)


class Demands(NamedTuple):
    """What jobs ask."""

    value: I64x2  # (J, Ask)
    gres: I64x3  # (J, R, Want)


class Trial(NamedTuple):
    """One question with its answer, and the room to work it out. ``usable``, ``required``, ``extra``: set by whoever
    asks."""

    usable: I8
    required: I8
    extra: I64  # what a node weighs more for this job
    ask: I64
    want: I64x2  # (R, Want)
    at: I64
    sock: I64x2  # (Sock, S)
    row_busy: I8  # (Q,)
    # what each node offers
    open: I8  # it can be chosen
    listed: I32  # those that offered something, in order
    open_before: I8
    offer: I32  # CPUs
    most: I32  # CPUs without the job's own limits
    gpus: I32
    worth: I32
    here: I32  # CPUs as the choice goes on
    weight: I64
    keep: I32x2  # (N, S): it may use so many of the first free cores of a socket
    keep_before: I32x2
    total: I64x2  # (N, R)
    anywhere: I64x2
    near: I64x3  # (N, R, S)
    limit: I64x2  # (N, R), 0 none
    run: I64x2  # (Run, N + 1)
    run_total: I64x2  # (N + 1, R)
    gathered: I64  # (R,)
    switch: I64x2  # (4, W)
    picked: I8
    # the answer, one row a node
    node: I32
    cpus: I32
    tasks: I32
    cores: I32x2  # (N, S): so many of the first free cores
    memory: I64
    words: I64x2  # (N, words): which cores, 32 a word
    devices: I32x2  # (N, H)
    need: I64x2  # (N, R): so many of each request
    linked: I64  # (H,): links to the devices that are chosen


class Running(NamedTuple):
    """The shares of jobs that run: each job's are linked, in no order."""

    first: I32  # (K,): of a job; -1 none
    partition: I32
    whole: I8
    share: I32
    row: I32  # of its partition, -1: it is in none
    after: I32  # (M,): the next share of the job, -1 none
    node: I32
    memory: I64
    cores: I64x2  # (M, words): 32 cores a word
    devices: I32x2  # (M, H)
    cpus: I64  # (M,): CPUs of its cores: as many are idle again when the job ends, if it shares none
    listed: I64  # (2,): how many jobs the order has, and how many of them a plan has taken out
    order: I32  # (K,): jobs by expected end
    ends: I64  # (K,): when, in seconds, in that order
    freed: I64  # (K,): CPUs that are idle once it and all before it have ended, in that order; see idle_cpus.foresee
    gone: I32  # (K,): whom the plan has taken out

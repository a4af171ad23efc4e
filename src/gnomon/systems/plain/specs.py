"""What may stand in a plain file: one model for each kind of entry, fields and bounds."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationInfo, field_validator, model_validator

from gnomon.formats.schema import Amount, Count, Cpu, Duration, Gpus, Memory, Name, Priority, Share, Spec, Weight
from gnomon.model.cluster import Machine
from gnomon.model.resources import E4, NEVER, Resources
from gnomon.systems.plain.amounts import Part, Rate

_BUILT_IN = ("cpu", "memory", "gpu", "gpus")


class AmountSpec(Spec):
    """An amount of every resource; ``resources`` holds those without a name of their own, by name."""

    cpu: Cpu = 0
    memory: Memory = 0
    gpus: Gpus = 0
    gpu_share: Share | None = None
    resources: dict[Name, Amount] = Field(default_factory=dict)

    @field_validator("gpu_share")
    @classmethod
    def _of_one_device(cls, share: int | None, info: ValidationInfo) -> int | None:
        if share is not None and share < E4 and info.data.get("gpus", 0) > 1:
            raise ValueError("a part of a device can be asked of one device only (gpus: 1, or leave it out)")
        return share

    @field_validator("resources")
    @classmethod
    def _named(cls, resources: dict[str, int]) -> dict[str, int]:
        for name in resources:
            if name in _BUILT_IN:
                raise ValueError(f"{name} is a field of its own, beside resources")
        return resources

    def amounts(self) -> Resources:
        """As the model has it; ``gpu_share`` alone means one device."""
        gpus = self.gpus or (0 if self.gpu_share is None else 1)
        named = tuple(sorted(self.resources.items()))
        return Resources(self.cpu, self.memory, gpus, self.gpu_share or E4, named)


class MachineSpec(Part):
    """What a node really has."""

    cpu_milli: Cpu = Field(default=0, alias="cpu")
    memory_bytes: Memory = Field(default=0, alias="memory")
    used_bytes: Memory = Field(default=0, alias="used")
    disk_bytes: Memory = Field(default=0, alias="disk")
    disk_rate: Rate = 0
    store_bytes: Memory = Field(default=0, alias="store")


class NodeSpec(AmountSpec):
    """A machine, or ``count`` of them named ``name-0``, ``name-1``..."""

    name: Name
    kind: Name = ""
    labels: dict[Name, Name] = Field(default_factory=dict)
    count: Count | None = None
    machine: MachineSpec = MachineSpec()

    @field_validator("gpu_share")
    @classmethod
    def _whole_devices(cls, share: int | None) -> int | None:
        if share is not None:
            raise ValueError("a node has whole devices: gpus")
        return share

    @field_validator("machine")
    @classmethod
    def _leaves_memory(cls, machine: MachineSpec, info: ValidationInfo) -> MachineSpec:
        memory = machine.memory_bytes or info.data.get("memory", 0)
        if machine.used_bytes and machine.used_bytes >= memory:
            raise ValueError("the system itself uses all memory that there is (used)")
        return machine

    def really(self) -> Machine:
        """What it really has, as the model has it."""
        return Machine(**self.machine.given())


class LimitSpec(AmountSpec):
    """The most that may be held or used; what is not named is not limited."""

    @model_validator(mode="after")
    def _is_above_zero(self) -> LimitSpec:
        for name in sorted(self.model_fields_set - {"resources"} | self.resources.keys()):
            if not self.resources.get(name, getattr(self, name, None)):
                raise ValueError(f"a limit is above zero; {name} is not")
        return self


class TaskSpec(AmountSpec):
    """A task, or ``count`` of them named ``id-0``, ``id-1``...; tasks with the same ``job`` belong together.

    ``kinds`` and ``labels``: the nodes that it accepts. Without a duration it runs as long as it said, else for ever.
    ``limits``: the most that it may use; ``usage`` (:mod:`.usage_specs`) and ``recovery`` (:mod:`.recovery_specs`) are
    read on their own; ``needs``: the ids of the tasks whose results it reads.
    """

    id: Name = ""
    job: Name = ""
    submit: Duration = 0
    duration: Duration | None = None
    estimate: Duration | None = None
    deadline: Duration = NEVER
    user: Name = ""
    queue: Name = ""
    priority: Priority = 0
    kinds: list[Name] = Field(default_factory=list)
    labels: dict[Name, Name] = Field(default_factory=dict)
    count: Count | None = None
    limits: LimitSpec | None = None
    usage: Any = None
    recovery: Any = None
    needs: list[Name] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_something(self) -> TaskSpec:
        if not self.id and not self.job:
            raise ValueError("a task needs an id, or the job that it belongs to")
        if not self.amounts().names():
            raise ValueError("this task asks for nothing: say how much cpu, memory, gpus or resources it needs")
        return self


class TenantSpec(Spec):
    """A user or a queue."""

    name: Name
    share: Weight | None = None
    weight: Weight | None = None
    limit: LimitSpec | None = None
    max_running: Count | None = None

    @model_validator(mode="after")
    def _one_weight(self) -> TenantSpec:
        if self.share is not None and self.weight is not None:
            raise ValueError("share and weight are two words for the same; give one")
        return self


class ReservationSpec(Spec):
    """Capacity set aside, from ``start`` to ``end`` or ``for`` some time; on the named nodes, or on every node."""

    name: Name
    start: Duration = 0
    end: Duration | None = None
    length: Duration | None = Field(default=None, alias="for")
    node: Name | None = None
    nodes: list[Name] = Field(default_factory=list)
    amount: LimitSpec | None = None
    users: list[Name] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_one_end(self) -> ReservationSpec:
        if self.end is not None and self.length is not None:
            raise ValueError("end and for say the same; give one")
        if self.node is not None and self.nodes:
            raise ValueError("node and nodes say the same; give one")
        if self.end_ns() <= self.start:
            raise ValueError("this reservation ends before it begins")
        return self

    def end_ns(self) -> int:
        """When it ends, NEVER if it does not."""
        if self.length is not None:
            return self.start + self.length
        return NEVER if self.end is None else self.end

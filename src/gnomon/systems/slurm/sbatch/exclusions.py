"""Options that exclude one another. Source: ``validate_options_salloc_sbatch_srun`` of ``src/common/slurm_opt.c``."""

from __future__ import annotations

from typing import Final

from gnomon.systems.slurm.sbatch.refusals import WRONG, error, fatal
from gnomon.systems.slurm.sbatch.settings import Settings
from gnomon.systems.slurm.sbatch.tres import cpus_of_task
from gnomon.systems.slurm.sbatch.values import Place

_MEMORY: Final = ("mem", "mem-per-cpu", "mem-per-gpu")
_NOT_WITH_TASKS_PER_GPU: Final = ("tres-per-task", "gpus-per-task", "gpus-per-socket", "ntasks-per-node")


def exclusions(settings: Settings, place: Place) -> None:
    """Raises :class:`RefusedError` where options exclude one another; drops what the command line overrules."""
    _tasks_per_gpu(settings)
    _kept_cores(settings)
    _memory(settings)
    if place.version >= (23, 2) and settings.said("exclusive") and settings.said("oversubscribe"):
        raise fatal("--exclusive and --oversubscribe options are mutually exclusive")
    cpus_of_task(settings)
    both = settings.get("cpus-per-gpu") is not None and settings.get("cpus-per-task") is not None
    if both and place.version >= (23, 11):
        if settings.said("cpus-per-task") and "cpus-per-gpu" in settings.by_environment:
            settings.drop("cpus-per-gpu")
        elif settings.said("cpus-per-gpu") and "cpus-per-task" in settings.by_environment:
            settings.drop("cpus-per-task")
        else:
            raise fatal("--cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive")
    if settings.get("bb") is not None and settings.get("bbf") is not None:
        raise error("Cannot specify both --burst-buffer and --bbf", WRONG)
    if settings.get("quiet") and settings.get("verbose"):
        raise error("don't specify both --verbose (-v) and --quiet (-Q)", WRONG)


def _memory(settings: Settings) -> None:
    said = [key for key in _MEMORY if settings.said(key)]
    if len(said) > 1:
        raise fatal("--mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.")
    if said:
        settings.drop(*(key for key in _MEMORY if key != said[0]))
    elif sum(settings.get(key) is not None for key in _MEMORY) > 1:
        raise fatal("SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE are mutually exclusive.")


def _tasks_per_gpu(settings: Settings) -> None:
    if settings.get("ntasks-per-gpu") is None and settings.get("ntasks-per-tres") is None:
        return
    gpu, tres = settings.get("ntasks-per-gpu"), settings.get("ntasks-per-tres")
    if gpu is not None and tres is not None and gpu != tres:
        raise fatal(f"Inconsistent values set to --ntasks-per-gpu={gpu} and --ntasks-per-tres={tres} ")
    for key in _NOT_WITH_TASKS_PER_GPU:
        if settings.get(key) is not None:
            name = f"--{key}" if settings.said(key) else f"SLURM_{key.upper().replace('-', '_')}"
            raise fatal(f"{name} is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU")


def _kept_cores(settings: Settings) -> None:
    keys = ("core-spec", "thread-spec")
    if all(settings.said(key) for key in keys):
        raise fatal("-S/--core-spec and --thred-spec options are mutually exclusive")
    if all(key in settings.by_environment for key in keys):
        both = "Both --core-spec and --thread-spec set using environment variables."
        raise fatal(f"{both} Those options are mutually exclusive.")

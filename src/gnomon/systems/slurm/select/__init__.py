"""The choice of nodes and cores: select/cons_tres, and select/linear.

- :class:`Selector`: what the controller asks; :class:`Occupancy`: what is taken; :class:`Allocation`: what a job got.
- ``columns``, ``ask``, ``at``, ``rule``: the columns that kernels work on, and what their places mean.
- ``offering``, ``gres_offering``, ``nodes``: what a node offers a job; ``picking``, ``consecutive``, ``orders``,
  ``tree``, ``linear``: the choice among nodes; ``layout``, ``devices``: tasks, cores and devices on the chosen ones;
  ``testing``: all of it in order; ``future``: when running jobs have ended.
"""

from gnomon.systems.slurm.select.allocation import Allocation
from gnomon.systems.slurm.select.demand import Demand
from gnomon.systems.slurm.select.occupancy import Occupancy
from gnomon.systems.slurm.select.selector import Selector
from gnomon.systems.slurm.select.shortfall import NEVER, Shortfall

__all__ = ["NEVER", "Allocation", "Demand", "Occupancy", "Selector", "Shortfall"]

"""Where Gnomon meets real systems: what it reads of a live cluster, and (to come) what it runs for real."""

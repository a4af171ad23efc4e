"""What happens to pods besides scheduling: controllers of workloads, kubelets, loss of nodes, evictions and drains."""

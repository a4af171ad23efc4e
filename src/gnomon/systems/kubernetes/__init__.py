"""Kubernetes: its objects, their admission, the scheduler, controllers and kubelets (version 1.34)."""

"""What the API server makes of an object that is created: defaults, priorities, limit ranges, quotas; and refusals."""

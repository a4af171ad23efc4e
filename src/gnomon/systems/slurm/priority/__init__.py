"""Who is first: the factors of the priority, and both ways to a fair share."""

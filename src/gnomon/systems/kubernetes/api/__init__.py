"""Objects of the API as typed values, and what can be said of one by itself: amounts, matching, names, requests."""

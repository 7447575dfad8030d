"""Stories 19 and following: scenes in motion whose outcome is certain, and their measurement."""

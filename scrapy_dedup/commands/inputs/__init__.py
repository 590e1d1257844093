"""What the commands work on: the project, observations in its store or in files, pages, times."""

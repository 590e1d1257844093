"""The terminal of the commands: where they print, progress, and exit codes."""

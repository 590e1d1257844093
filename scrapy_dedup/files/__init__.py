"""Text files that people review and edit: read with line numbers, written whole under a lock."""

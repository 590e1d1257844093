"""What is compared: the package's learners, methods as published, other tools."""

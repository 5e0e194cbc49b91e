"""Whole experiments, from the tasks to the table, that can be run as they are."""

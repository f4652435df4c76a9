"""What is proved of an experiment before it is run."""

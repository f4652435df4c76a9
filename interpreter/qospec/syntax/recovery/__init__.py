"""From a mistake in the text to a message: where it is, what was meant, where reading goes on."""

"""`explore`: which of all designs of a kernel fit a described board, and which of these are the best."""

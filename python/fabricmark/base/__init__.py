"""What every room uses: errors, paths, files, tables in the terminal, and what there is to run."""

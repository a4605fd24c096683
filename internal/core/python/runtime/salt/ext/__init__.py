"""Names of other projects that Salt carried."""

"""Models that come with the package: no key, no network. Nothing is imported here, since worker processes pass through."""

"""What runs must obey: rules, each declared together with its judge."""

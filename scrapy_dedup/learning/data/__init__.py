"""The data of a site: its observed URLs as duplicate clusters, columns and groups, and what rules do to them."""

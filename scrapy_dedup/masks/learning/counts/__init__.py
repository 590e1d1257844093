"""How often what stands at each place of a site's pages changed from version to version."""

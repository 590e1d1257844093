"""What plugs into Scrapy: the add-on, and the components that it lists."""

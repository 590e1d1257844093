import scrapy

BOT_NAME = "shop"
SPIDER_MODULES = ["shop.spiders"]

# The whole installation of scrapy-dedup.
ADDONS = {"scrapy_dedup.Addon": 600}

ROBOTSTXT_OBEY = True
LOG_LEVEL = "INFO"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

# Only for the demo: its mirror www.localhost is a name that no machine resolves by itself.
TWISTED_DNS_RESOLVER = "shop.resolver.LoopbackResolver"
if scrapy.version_info < (2, 15):
    DNS_RESOLVER = TWISTED_DNS_RESOLVER

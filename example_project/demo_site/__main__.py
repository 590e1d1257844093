import argparse

from .server import Shop

parser = argparse.ArgumentParser(prog="python -m demo_site", description="Serve the demo shop on loopback.")
parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default: %(default)s)")
parser.add_argument("--quiet", action="store_true", help="without clock, advertisement, counters and tokens")
options = parser.parse_args()

shop = Shop(options.port, passing=not options.quiet)
print(f"{shop.url} (end with Ctrl-C)", flush=True)
try:
    shop.serve_forever()
except KeyboardInterrupt:
    shop.server_close()

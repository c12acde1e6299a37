"""A pool that somebody still uses goes on working when the manager makes room for another host."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import urllib3


class Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, *_: object) -> None:
        pass


servers = [ThreadingHTTPServer(("127.0.0.1", 0), Hello) for _ in range(2)]
for server in servers:
    threading.Thread(target=server.serve_forever, daemon=True).start()
here, there = (f"http://127.0.0.1:{server.server_port}/" for server in servers)

manager = urllib3.PoolManager(num_pools=1)
pool = manager.connection_from_url(here)  # one thread has got its pool ...
manager.request("GET", there)  # ... and before it sends, another one visits a second host
assert pool.request("GET", "/", retries=False).data == b"hello"

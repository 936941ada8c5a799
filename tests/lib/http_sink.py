"""An HTTP server on the loopback that takes what is pushed to it."""

import contextlib
import http.server
import json
import threading


@contextlib.contextmanager
def sink():
    """(its address, a list of what was sent there by POST, as JSON)."""
    taken = []

    class Sink(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            taken.append(json.loads(self.rfile.read(int(self.headers['Content-Length']))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    with http.server.HTTPServer(('127.0.0.1', 0), Sink) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{server.server_port}', taken
        server.shutdown()

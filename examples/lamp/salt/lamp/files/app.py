#!/usr/bin/python3
"""Serves a page with the greeting of settings.json."""
import http.server
import json
import pathlib

settings = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text())


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = f"<h1>{settings['greeting']}</h1>\n<p>database {settings['database']}</p>\n".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", settings["port"]), Page).serve_forever()

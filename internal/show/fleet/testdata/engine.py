"""ClickHouse's engine in this process, behind the part of its HTTP interface that the store uses, for tests:
python3 engine.py PORT DIRECTORY. It has no users, no cluster, and answers one request after the other."""
import gzip, http.server, os, sys, tempfile, urllib.parse
from chdb import session

engine = session.Session(os.path.join(sys.argv[2], "data"))


def ask(text):
    return engine.query(text, "RowBinary").bytes()


def insert(query, rows):
    """Inserts rows of RowBinary: a query of this engine is a text, so they come from a file."""
    table = query.split()[2]
    names = query[query.index("(") + 1 : query.rindex(")")]
    types = engine.query("SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '%s'" % table, "TSVRaw").bytes().decode()
    if not types.strip():
        raise RuntimeError("Code: 60. DB::Exception: Table %s does not exist" % table)
    of = dict(line.split("\t") for line in types.strip().split("\n"))
    with tempfile.NamedTemporaryFile(dir=sys.argv[2]) as f:
        f.write(rows)
        f.flush()
        structure = ", ".join("%s %s" % (n, of[n]) for n in names.split(", "))
        return ask("INSERT INTO %s (%s) SELECT %s FROM file('%s', 'RowBinary', '%s')" % (table, names, names, f.name, structure.replace("'", "\\'")))


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, b"Ok.\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        of = {k: v[0] for k, v in urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).items()}
        try:
            if "database" in of:
                ask("USE " + of["database"])
            self.answer(200, insert(of["query"], body) if "query" in of else ask(body.decode()))
        except Exception as e:
            self.answer(500, str(e).encode())


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Server).serve_forever()

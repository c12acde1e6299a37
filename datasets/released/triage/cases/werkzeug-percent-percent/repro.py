"""A link with a double slash leads to the clean address, spelled as before."""

from werkzeug.routing import Map, RequestRedirect, Rule

adapter = Map([Rule("/files/<path:name>", endpoint="file")]).bind("example.com")
try:
    adapter.match("/files//Müller 1.pdf")
except RequestRedirect as redirect:
    found = redirect.new_url
else:
    found = "no redirect"
assert found == "http://example.com/files/M%C3%BCller%201.pdf", found

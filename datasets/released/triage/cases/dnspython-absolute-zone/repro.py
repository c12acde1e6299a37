"""A zone that keeps absolute names can be read although only its text says where it begins."""

import dns.zone

TEXT = """$ORIGIN example.com.
$TTL 3600
@ IN SOA ns1 hostmaster 1 7200 900 1209600 86400
@ IN NS ns1
ns1 IN A 192.0.2.1
www IN CNAME ns1
"""

zone = dns.zone.from_text(TEXT, relativize=False)
found = sorted(str(name) for name in zone.keys())
assert found == ["example.com.", "ns1.example.com.", "www.example.com."], found
assert zone.get_node("www") is not None, "a short name is looked up below the origin"

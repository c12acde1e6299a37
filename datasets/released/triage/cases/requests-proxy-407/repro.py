"""Name and password of the proxy in the environment reach the proxy."""

import os

from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies

URL = "http://shop.example.com/prices"

has_login = "@" in os.environ.get("http_proxy", "")
pool = HTTPAdapter().get_connection(URL, get_environ_proxies(URL))
sends_login = "proxy-authorization" in {name.lower() for name in pool.proxy_headers}
assert sends_login == has_login, f"the variable has a login: {has_login}; it is sent: {sends_login}"

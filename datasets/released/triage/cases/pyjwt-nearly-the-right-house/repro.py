"""A token is refused when its issuer is only a part of the expected one."""

import jwt

KEY = "a key that is long enough for this purpose"
token = jwt.encode({"iss": "https://login.example.com", "sub": "7"}, KEY, algorithm="HS256")
try:
    found = jwt.decode(token, KEY, algorithms=["HS256"], issuer="https://login.example.com/tenants/north")
except jwt.InvalidIssuerError:
    found = None
assert found is None, found

"""An error about a broken answer survives the way from one process to another."""

import pickle

from requests import Response
from requests.exceptions import RequestException

response = Response()
response.status_code, response._content, response.encoding = 200, b"<html>busy</html>", "utf-8"
try:
    response.json()
except RequestException as error:
    raised = error

again = pickle.loads(pickle.dumps(raised))
assert type(again) is type(raised)
assert str(again) == str(raised), (str(again), str(raised))

"""A handshake is a handshake also where the browser lists more than one connection option."""

from werkzeug.routing import Map, Rule
from werkzeug.test import create_environ

rules = Map([Rule("/live", endpoint="live", websocket=True)])


def endpoint(connection: str) -> str:
    environ = create_environ("/live", headers={"Connection": connection, "Upgrade": "websocket"})
    return rules.bind_to_environ(environ).match()[0]


assert endpoint("Upgrade") == "live"
assert endpoint("keep-alive, Upgrade") == "live"

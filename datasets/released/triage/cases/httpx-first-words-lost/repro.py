"""What a server says right behind its agreement to switch protocols can be read."""

import socket
import threading

import httpx

AGREED = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: chat\r\n\r\n"


def serve(server: socket.socket) -> None:
    connection, _ = server.accept()
    connection.recv(65536)
    connection.sendall(AGREED + b"welcome")  # in one packet, as a server does that has something to say
    connection.recv(65536)


server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=serve, args=(server,), daemon=True).start()

url = f"http://127.0.0.1:{server.getsockname()[1]}/chat"
with (
    httpx.Client(trust_env=False) as client,
    client.stream("GET", url, headers={"Connection": "Upgrade", "Upgrade": "chat"}) as response,
):
    assert response.status_code == 101
    found = response.extensions["network_stream"].read(100, timeout=2)
assert found == b"welcome", found

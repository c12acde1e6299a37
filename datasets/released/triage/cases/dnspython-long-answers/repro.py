"""A truncated answer over UDP is asked for again over TCP."""

import socket
import struct
import threading

import dns.flags
import dns.message
import dns.resolver
import dns.rrset

NAME = "records.example.com."


def answer(wire: bytes, *texts: str) -> dns.message.Message:
    response = dns.message.make_response(dns.message.from_wire(wire))
    response.answer.append(dns.rrset.from_text(NAME, 60, "IN", "TXT", *texts))
    return response


def serve_udp(server: socket.socket) -> None:
    while True:
        wire, peer = server.recvfrom(4096)
        cut = answer(wire, '"only the first"')
        cut.flags |= dns.flags.TC
        server.sendto(cut.to_wire(), peer)


def serve_tcp(server: socket.socket) -> None:
    while True:
        connection, _ = server.accept()
        with connection:
            (length,) = struct.unpack("!H", connection.recv(2))
            wire = answer(connection.recv(length), *(f'"{number:040d}"' for number in range(60))).to_wire()
            connection.sendall(struct.pack("!H", len(wire)) + wire)


tcp = socket.create_server(("127.0.0.1", 0))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(tcp.getsockname())
threading.Thread(target=serve_udp, args=(udp,), daemon=True).start()
threading.Thread(target=serve_tcp, args=(tcp,), daemon=True).start()

resolver = dns.resolver.Resolver(configure=False)
resolver.nameservers, resolver.port = ["127.0.0.1"], tcp.getsockname()[1]
found = resolver.resolve(NAME, "TXT", lifetime=1.5)
assert len(found) == 60, len(found)

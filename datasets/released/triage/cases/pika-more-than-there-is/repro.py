"""A large negative number in a message's headers is the same number when it arrives."""

from pika import frame
from pika.spec import BasicProperties

sent = {"balance": -5_000_000_000, "booked": 7_000_000_000}
wire = frame.Header(1, 0, BasicProperties(headers=sent)).marshal()
_, arrived = frame.decode_frame(wire)

assert arrived.properties.headers == sent, arrived.properties.headers

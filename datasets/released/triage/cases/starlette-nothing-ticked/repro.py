"""A form in which nothing was filled in is an empty form."""

import asyncio

from starlette.requests import Request

BOUNDARY = b"----form42"


async def receive() -> dict[str, object]:
    return {"type": "http.request", "body": b"--" + BOUNDARY + b"--\r\n", "more_body": False}


async def main() -> int:
    headers = [(b"content-type", b"multipart/form-data; boundary=" + BOUNDARY)]
    request = Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)
    return len(await request.form())


assert asyncio.run(main()) == 0

"""Static files are served from the folder that was named, not from one whose name begins alike."""

import asyncio
import tempfile
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles


async def status(app: StaticFiles, path: str) -> int:
    scope = {"type": "http", "method": "GET", "path": path, "headers": []}
    try:
        return (await app.get_response(app.get_path(scope), scope)).status_code
    except HTTPException as error:
        return error.status_code


with tempfile.TemporaryDirectory() as folder:
    for name in ("media", "media-drafts"):
        (Path(folder) / name).mkdir()
        (Path(folder) / name / "plan.txt").write_text(name)
    app = StaticFiles(directory=Path(folder) / "media")
    assert asyncio.run(status(app, "/plan.txt")) == 200
    found = asyncio.run(status(app, "/../media-drafts/plan.txt"))

assert found == 404, found

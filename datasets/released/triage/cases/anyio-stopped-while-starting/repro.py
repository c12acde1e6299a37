"""A service that is stopped while it starts stops quietly."""

import anyio
from anyio.abc import TaskStatus


async def main() -> None:
    async with anyio.create_task_group() as group:

        async def service(*, task_status: TaskStatus[None]) -> None:
            group.cancel_scope.cancel()  # a signal arrives between two lines
            task_status.started()

        await group.start(service)


anyio.run(main)

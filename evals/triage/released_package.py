"""A release of a published package that a case is about."""

from typing import Annotated

from pydantic import Field

from evals.models.base import Closed

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
PackageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")]


class Release(Closed):
    """One release. `sha256` (hex) is that of its pure-Python wheel, or of its sdist where it has no such wheel."""

    package: PackageName
    version: Version
    sha256: Sha256

    @property
    def name(self) -> str:
        """What its files are kept under; another file of the same version gets another name."""
        return f"{self.package}-{self.version}-{self.sha256[:16]}"

    def __str__(self) -> str:
        return f"{self.package} {self.version}"


class ReleaseFix(Closed):
    """The release that mended a fault: of the case's own package, or of the dependency named."""

    package: PackageName | None = None
    version: Version
    sha256: Sha256

    def release_of(self, own: str) -> Release:
        """The release, where the case is about the package `own`."""
        return Release(package=self.package or own, version=self.version, sha256=self.sha256)

"""Where the pages of the estimators are, to which scikit-learn's HTML diagrams link."""

from __future__ import annotations

from importlib import metadata

__all__ = ["DocumentationLink", "documentation_address"]


def documentation_address() -> str:
    """Return the address of the documentation site, "" while there is none.

    It stands in one place, ``Documentation`` in ``[project.urls]`` of pyproject.toml, from which
    the metadata of the installed package have it.
    """
    for entry in metadata.metadata("gegenbauer").get_all("Project-URL") or ():
        name, _, address = entry.partition(",")
        if name.strip().lower() == "documentation":
            return str(address).strip().rstrip("/")
    return ""


class DocumentationLink:
    """What scikit-learn's diagrams look for; without an address they show no link."""

    _doc_link_module = "gegenbauer"

    @property
    def _doc_link_template(self) -> str:
        address = documentation_address()
        return f"{address}/reference/{{package}}.{{name}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        """Return the place of the page: estimators are imported from the top, others for Dask."""
        _, room, *_ = type(self).__module__.split(".")
        package = "gegenbauer" if room == "estimators" else f"gegenbauer.{room}"
        return {"package": package, "name": type(self).__name__}

"""XMP files: read safely, changed without losing what is not understood."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

from greycard.errors import GreycardError

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_EMPTY = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description rdf:about=""/></rdf:RDF></x:xmpmeta>\n'
)


class Document:
    """An XMP file: its tree, and the text around the root that a parser would lose."""

    def __init__(self, content: bytes | None, path: Path) -> None:
        """Parse a file, or begin an empty one."""
        content = _EMPTY.encode() if content is None else content
        if b"\0" in content:  # another encoding would hide from the next check what makes XML unsafe
            raise GreycardError(f"{path}: is not in UTF-8; save it again in that encoding")
        if re.search(rb"<!(DOCTYPE|ENTITY)", content):
            raise GreycardError(f"{path}: has a document type, which no sidecar has; it was not read")
        try:
            for _, (prefix, uri) in ElementTree.iterparse(io.BytesIO(content), ["start-ns"]):  # noqa: S314
                if not re.fullmatch(r"ns\d+", prefix):
                    ElementTree.register_namespace(prefix, uri)
            self.root = ElementTree.fromstring(content)  # noqa: S314
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise GreycardError(f"{path}: is not XML ({error}); mend or remove it") from error
        # Only those right below: descriptions deeper down are of snapshots and presets.
        self._descriptions = [one for rdf in self.root.iter(f"{RDF}RDF") for one in rdf.findall(f"{RDF}Description")]
        if not self._descriptions:
            raise GreycardError(f"{path}: is XML, but no XMP: it has no rdf:Description; mend or remove it")
        self.description = self._descriptions[0]
        packet = re.search(rb"<\?xpacket begin.*?\?>", content)
        self._head = packet[0].decode("utf-8", "replace") + "\n" if packet else ""
        self._tail = '\n<?xpacket end="w"?>' if packet else ""

    def get(self, name: str) -> str | None:
        """The value of a property {namespace}name of the picture: an attribute or an element."""
        for description in self._descriptions:
            element = description.find(name)
            value = description.get(name) if element is None else element.text
            if value is not None:
                return value.strip()
        return None

    def set(self, name: str, value: str) -> None:
        """Set a property, in place of what it was."""
        for description in self._descriptions:
            description.attrib.pop(name, None)
            for element in description.findall(name):
                description.remove(element)
        self.description.set(name, value)

    def text(self) -> str:
        """The file."""
        body = ElementTree.tostring(self.root, encoding="unicode")
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self._head}{body}{self._tail}\n'

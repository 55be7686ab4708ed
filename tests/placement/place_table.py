"""A CSV file that is still being made: rows by column name, and where in the text each field lies."""

from dataclasses import dataclass, field


def counted(texts: list[str]) -> list[int]:
    """The column behind the texts, in characters and in bytes."""
    text = "".join(texts)
    return sorted({len(text) + 1, len(text.encode()) + 1})


@dataclass
class Table:
    columns: list[str]
    rows: list[dict]
    line_end: str = "\n"
    has_mark: bool = False
    tail: str = ""
    lines_changed: dict[int, str] = field(default_factory=dict)   # line number from 1: the text instead

    def fields(self, index: int) -> list[str]:
        """Of row `index`; -1 is the header."""
        if index < 0:
            return list(self.columns)
        return [str(self.rows[index].get(column, "x")) for column in self.columns]

    def columns_of(self, index: int, field_index: int) -> list[int]:
        """Where a field lies in the line of a row, from 1: counted in characters, and in bytes."""
        before = self.fields(index)[:field_index]
        return counted([text + "," for text in before])

    def places(self, index: int, name: str) -> list[int]:
        return self.columns_of(index, self.columns.index(name))

    def lines(self) -> list[str]:
        lines = [",".join(self.fields(index)) for index in range(-1, len(self.rows))]
        return [self.lines_changed.get(number, line) for number, line in enumerate(lines, start=1)]

    def write(self, file: str) -> None:
        text = "" if not self.columns else "".join(line + self.line_end for line in self.lines()) + self.tail
        with open(file, "w", encoding="utf-8-sig" if self.has_mark else "utf-8", newline="") as handle:
            handle.write(text)

async def program() -> str:
    page = await tools.read({"file_path": "a.txt", "limit": 20})
    numbers: list[int] = [line["number"] for line in page["lines"]]
    found = await tools.grep({"pattern": "x", "include": "*.rs"})
    places: list[tuple[str, int]] = [(match["path"], match["lineNumber"]) for match in found["matches"]]
    some = await tools.glob({"pattern": "*.md", "path": "docs"})
    missed: list[str] = some.get("warnings", some["paths"])
    written = await tools.write({"file_path": "b.txt", "content": "".join(missed)})
    before: str | None = written["before"]
    edited = await tools.edit({"file_path": "b.txt", "old_string": "a", "new_string": "b", "replace_all": True})
    after: str = f"{edited['after']}{len(numbers)}{len(places)}{before}"

    await tools.read({"limit": 20})  # type: ignore[typeddict-item]
    await tools.read({"file_path": 1})  # type: ignore[typeddict-item]
    await tools.edit({"file_path": "", "old_string": "a", "new_string": "b", "replace_all": "yes"})  # type: ignore[typeddict-item]
    await tools.glob({"pattern": "*", "path": None})  # type: ignore[typeddict-item]
    await tools.grep("x")  # type: ignore[arg-type]
    await tools.write()  # type: ignore[call-arg]
    await tools.remove({"file_path": "b.txt"})  # type: ignore[attr-defined]
    page["text"]  # type: ignore[typeddict-item]
    len(written["before"])  # type: ignore[arg-type]
    text: str = found  # type: ignore[assignment]
    return after + text

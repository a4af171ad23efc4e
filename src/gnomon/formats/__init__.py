"""Files as they lie there, to plain values with their places: text, YAML and JSON, tables, schemas.

:func:`~gnomon.formats.files.open_text` streams lines, gzip or not; :func:`~gnomon.formats.yaml.load_yaml` gives
documents that know the line of each of their parts; :func:`~gnomon.formats.table.rows` streams a table with a header;
:func:`~gnomon.formats.schema.validated` fits a document to a pydantic model. ``xml`` and ``hadoop`` read properties,
``signs`` tell whose a file is; ``yaml_write`` writes, ``whole`` puts files there all at once. Whatever is wrong with a
file is an :class:`~gnomon.model.errors.InputError` with file, line and field. Everything is bounded: lengths, depths,
numbers.
"""

"""Files to objects: YAML and JSON of the API, what is wrong with their fields, samples of use, configurations."""

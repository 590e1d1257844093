"""Items: the pipelines that strip transient content from their fields, and drop those that are exported already."""

"""The report on what crawls have saved, why not more, and how sure that is: one HTML file, or lines of JSON."""

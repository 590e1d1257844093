"""The report on what crawls have saved, and how sure that is: one HTML file, or lines of JSON."""

"""What a response is: rows of values, seen and unseen, with the sketches and fingerprints that follow."""

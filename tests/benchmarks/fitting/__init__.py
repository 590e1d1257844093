"""Sites of known truth that priors and weights are fitted to, and the fits."""

"""Sites of known truth that priors are fitted to, and the fit."""

"""Other people's methods, each in its own file, all with the same two calls: `fit` and `predict`."""

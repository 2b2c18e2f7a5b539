"""Training the likelihood network. The only part of greycard that needs torch: `pip install 'greycard[train]'`."""

"""OSWorld's in-VM protocol over our own desktop: same addresses, fields, status codes and results as its server's."""

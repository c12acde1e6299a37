"""What the page shows, as frozen values of ready strings: the template only has to put them in their places."""

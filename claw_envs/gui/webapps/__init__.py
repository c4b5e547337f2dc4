"""Tasks in offline web applications: a page whose whole state lies in our process, where it is read and scored."""

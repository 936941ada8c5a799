# by argcomplete
register-python-argcomplete --shell fish membw | source

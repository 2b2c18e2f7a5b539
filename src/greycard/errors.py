"""The one exception that greycard raises for anything a user can mend."""


class GreycardError(ValueError):
    """Something is wrong with an input; the message names it and says what would be right."""

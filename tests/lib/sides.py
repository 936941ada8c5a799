"""To which side a bound errs: of arrays that a cache may hold, which was allowed, to both."""

SIGNS = {'lower': '≥', 'unknown': '~'}
WORDS = {'lower': 'a lower bound', 'unknown': 'a bound on neither side'}


def side(record, own='lower'):
    reasons = [one['reason'] for one in record['reasons']]
    return 'unknown' if 'array-too-small' in reasons else own

"""Statistics as pure functions over numbers; each cites its source."""

# median absolute deviation x 1.4826 estimates the standard deviation of normal noise:
# 1 / Phi^-1(3/4). B. Iglewicz, D. Hoaglin, How to Detect and Handle Outliers, ASQC 1993.
MAD_TO_SIGMA = 1.4826
# the loss of a node that counts as slow; of a DRIFT, of a cause
MARGIN = 0.03
# nights of a series before anything is compared with them
LEAST_BEFORE = 7

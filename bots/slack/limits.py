"""What Slack takes in one message, with some room left (platforms change their minds without a word)."""

TEXT = 3_900  # characters of a message without blocks: an edit takes no more than 4,000
SUMMARY = 3_000  # characters that stand beside blocks, for notifications and screen readers
MARKDOWN = 10_000  # characters of one block of Markdown; Slack takes 12,000
SUM = 12_500  # characters of all blocks together; Slack takes about 13,200
CONTEXT = 2_800  # characters of a context element; Slack takes 3,000
BLOCKS = 48  # Slack takes 50
LINK = 2_900  # characters of an address; Slack takes 3,000
BUTTON = 75
VALUE = 2_000

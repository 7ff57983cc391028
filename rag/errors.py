"""Everything that can go wrong, as one tree. Each error carries the sentence its reader sees.

FootnoteError
├── BadSetting             a setting, a route or a template that is wrong: names itself, stops the start
├── BadHistory             history handed in that has no accepted form
├── BadQuestion            a question that cannot be asked (empty, too long)
├── ModelError
│   ├── ModelUnavailable   a model did not answer: try again later
│   ├── ModelRefused       a model refused this request: trying again does not help
│   └── ModelTimeout       a model was too slow
├── StoreError
│   ├── StoreUnavailable   a database or an index cannot be reached
│   ├── IndexMismatch      an index was made with another embedder or splitter
│   └── IndexMissing       nothing has been indexed yet
├── PassageTooLong         one passage alone is over the limit of a model call
├── Unreadable             a document that cannot be read: names it, with the reason
├── TooManyRemovals        an indexing run would remove more than is allowed
├── RunInProgress          another run of the same base is under way
├── RunCancelled           an indexing run was stopped by somebody; what it wrote stays
├── RunFailed              an indexing run that was joined failed: says why
├── DeliveryError
│   ├── PostRefused        a platform refuses a message as it is: a plainer one may pass
│   ├── PostLater          a platform takes no message now: wait, and try again
│   ├── PostGone           a message that was to be changed is no longer there
│   └── PostImpossible     nothing of ours can be shown in this place
│       └── QuestionGone   who asked deleted the question
└── DeadlineExceeded       a question took longer than it may
"""

from __future__ import annotations


class FootnoteError(Exception):
    """The base of all: `str(error)` is for the log and the operator, `user_message` for the person who asked."""

    user_message = "Something went wrong on my side, so I could not answer. Please ask again in a moment."

    def __init__(self, message: str, *, user_message: str | None = None) -> None:
        super().__init__(message)
        if user_message is not None:
            self.user_message = user_message


class BadSetting(FootnoteError):
    user_message = "I am not set up correctly; please tell the people who run me."


class BadHistory(FootnoteError):
    user_message = "I could not read the conversation so far."


class BadQuestion(FootnoteError):
    user_message = "I could not read that question. Please ask it in words."


class ModelError(FootnoteError):
    user_message = "The language model I write with has a problem, so I could not answer. Please ask again in a moment."


class ModelUnavailable(ModelError):
    """`retry_after` is how many seconds the model's server asks to wait, where it says so."""

    user_message = "The language model I write with cannot be reached just now. Please ask again in a moment."

    def __init__(self, message: str, *, user_message: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, user_message=user_message)
        self.retry_after = retry_after


class ModelRefused(ModelError):
    user_message = "The language model I write with refused this question. Please tell the people who run me."


class ModelTimeout(ModelError):
    user_message = "The language model I write with took too long. Please ask again in a moment."


class StoreError(FootnoteError):
    user_message = "I cannot reach my documents just now. Please ask again in a moment."


class StoreUnavailable(StoreError):
    pass


class IndexMismatch(StoreError):
    user_message = "My index of the documents must be rebuilt; please tell the people who run me."


class IndexMissing(StoreError):
    user_message = "No documents have been indexed yet; please tell the people who run me."


class PassageTooLong(FootnoteError):
    user_message = "One of the passages is too long for the language model; please tell the people who run me."


class Unreadable(FootnoteError):
    """`document` names what could not be read, `reason` says why in one sentence."""

    def __init__(self, document: str, reason: str) -> None:
        super().__init__(f"{document}: {reason}")
        self.document = document
        self.reason = reason


class TooManyRemovals(FootnoteError):
    user_message = "The update of my documents was stopped, since it would have removed too many of them."


class RunInProgress(FootnoteError):
    user_message = "My documents are being indexed already."


class RunCancelled(FootnoteError):
    user_message = "The update of my documents was cancelled. What is done stays, and the next one goes on from there."


class RunFailed(FootnoteError):
    user_message = "The update of my documents failed; please tell the people who run me."


class DeliveryError(FootnoteError):
    user_message = "I could not show my answer here."


class PostRefused(DeliveryError):
    pass


class PostLater(DeliveryError):
    """Worth trying again after `seconds`. `unsure` says that the message may have been taken all the same."""

    def __init__(self, message: str, *, seconds: float = 1.0, unsure: bool = False) -> None:
        super().__init__(message)
        self.seconds = seconds
        self.unsure = unsure


class PostGone(DeliveryError):
    pass


class PostImpossible(DeliveryError):
    pass


class QuestionGone(PostImpossible):
    """Who asked deleted the question."""


class DeadlineExceeded(FootnoteError):
    user_message = "That took too long, so I stopped. Please ask again, perhaps more narrowly."


def first_of(group: BaseExceptionGroup) -> BaseException:
    """The error that ended a group of tasks, out of its wrapping."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error

"""What `benchmarks.in_slack` compares with: the smallest bot that slack-bolt can be, on the same fake workspace. It shows a status
and posts a fixed text, remembers nothing, looks nothing up, and answers twice what Slack tells twice."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
from pathlib import Path
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient


async def bare(api_url: str, bot_token: str, app_token: str, notes: str, text: str) -> None:
    app = AsyncApp(client=AsyncWebClient(bot_token, base_url=api_url))

    @app.event("app_mention")
    async def _(event: dict[str, Any], client: AsyncWebClient) -> None:
        channel, thread = event["channel"], event.get("thread_ts") or event["ts"]
        await client.assistant_threads_setStatus(channel_id=channel, thread_ts=thread, status="is looking …")
        await client.chat_postMessage(channel=channel, thread_ts=thread, text=text)

    @app.event("message")
    async def _() -> None:
        pass

    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    before = resource.getrusage(resource.RUSAGE_SELF)
    handler = AsyncSocketModeHandler(app, app_token)
    await handler.connect_async()  # type: ignore[no-untyped-call]  # the library's
    await ended.wait()
    await handler.close_async()  # type: ignore[no-untyped-call]  # the library's
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    await asyncio.to_thread(Path(notes).write_text, json.dumps({"firsts": {}, "processor": seconds}), encoding="utf-8")

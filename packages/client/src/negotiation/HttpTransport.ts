/**
 * Opens a transport over HTTP for the era of the server. The parts in `http/` serve every era. The legacy era is the only one
 * that the client speaks so far; `legacy/Fallback` chooses between its two transports.
 */
import { HttpClient } from "@effect/platform/HttpClient"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as HttpConnection from "../http/HttpConnection.js"
import * as PlatformClient from "../http/PlatformClient.js"
import type { Settings } from "../http/Settings.js"
import * as Fallback from "../legacy/Fallback.js"
import * as Outgoing from "../legacy/Outgoing.js"

/** Closing the scope waits for messages in flight and ends the session; each step takes a bounded time. */
export const open = (
  url: URL,
  settings: Settings
): Effect.Effect<Transport, TransportError, HttpClient | Scope.Scope> =>
  PlatformClient.configure(settings.tracing)(Effect.gen(function*() {
    const connection = yield* HttpConnection.make(url, settings, yield* HttpClient)
    const { sender, terminate } = yield* Fallback.choose(connection)
    yield* Effect.addFinalizer(() => connection.finish(terminate))
    const { incoming, run } = connection.reader
    return { incoming, run, ...Outgoing.make(connection, sender) }
  }))

/**
 * Opens a transport over HTTP that speaks both eras. The era of each request decides how it travels: a modern one by
 * `modern/Http`, any other by the legacy transport that `Fallback` chooses. Other messages travel as the last request did.
 */
import { HttpClient } from "@effect/platform/HttpClient"
import * as JsonRpcError from "@effect-mcp/jsonrpc/JsonRpcError"
import type { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import * as Message from "@effect-mcp/jsonrpc/Message"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Era from "@effect-mcp/protocol/Era"
import * as ExtensionTable from "@effect-mcp/protocol/unstable/ExtensionTable"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as HttpConnection from "../http/HttpConnection.js"
import * as Outgoing from "../http/Outgoing.js"
import * as PlatformClient from "../http/PlatformClient.js"
import type { Reader } from "../http/Reader.js"
import type { Settings } from "../http/Settings.js"
import * as Fallback from "../legacy/Fallback.js"
import * as Modern from "../modern/Http.js"
import { GivenExtensions } from "../session/GivenExtensions.js"

/** Closing the scope waits for messages in flight and ends the session; each step takes a bounded time. */
export const open = (
  url: URL,
  settings: Settings
): Effect.Effect<Transport, TransportError, HttpClient | Scope.Scope> =>
  PlatformClient.configure(settings.tracing)(Effect.gen(function*() {
    const connection = yield* HttpConnection.make(url, settings, yield* HttpClient)
    const { sender, terminate } = yield* Fallback.choose(connection)
    yield* Effect.addFinalizer(() => connection.finish(terminate))
    const { onConversation } = connection
    const { incoming, run } = connection.reader
    const modern = settings.transport === "sse"
      ? withoutModern(connection.reader)
      : yield* Modern.make(connection, ExtensionTable.nameParameters(yield* GivenExtensions))
    let isModern = false
    const senderOf = (message: Message.Message): Effect.Effect<Outgoing.Sender> => {
      if (Message.isRequest(message)) isModern = Era.ofMessage(message) === "modern"
      return isModern ? Effect.succeed(modern) : Ref.get(sender)
    }
    const isResumed = settings.session !== undefined
    return {
      incoming,
      run,
      canResume: true,
      hasExchanges: true,
      isResumed,
      credentials: connection.credentials,
      onConversation,
      ...Outgoing.make(connection, senderOf)
    }
  }))

/** HTTP+SSE is legacy, so no modern request needs to be sent in order to know that the server refuses it. */
const withoutModern = ({ deliver }: Reader): Outgoing.Sender => ({
  cancelsByClosing: true,
  canResume: false,
  request: ({ id, method }) =>
    deliver(Message.failure(id, {
      code: JsonRpcError.METHOD_NOT_FOUND,
      message: `"${method}" was not sent: HTTP+SSE has only legacy revisions`
    })),
  send: () => Effect.void
})

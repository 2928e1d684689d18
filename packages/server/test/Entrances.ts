/** Requests that belong to no conversation, on channels of a test. */
import type * as Message from "@effect-mcp/jsonrpc/Message"
import type { Channel } from "@effect-mcp/jsonrpc/Side"
import type { ActiveRequest } from "@effect-mcp/jsonrpc/unstable/Requests"
import * as Version from "@effect-mcp/protocol/Version"
import { Dispatcher } from "@effect-mcp/server/Dispatcher"
import { Effect } from "effect"
import type { Entrances } from "../src/dispatch/Dispatch.js"
import { withoutHandshake } from "../src/legacy/Stateless.js"
import { envelopeOf } from "../src/modern/Serve.js"

/** What HTTP endpoints use of the dispatcher. */
export const entrances = Effect.map(Dispatcher, (dispatcher) => dispatcher as Entrances)

/** Starts a request as a POST without a session does. */
export const exchange = Effect.map(
  entrances,
  ({ legacy, modern, requests, versions }) =>
  (request: Message.Request, channel: Channel, version: Version.Version): ActiveRequest | undefined =>
    requests.start(
      channel,
      request,
      Version.isLegacy(version)
        ? legacy!.to(withoutHandshake(request, version))
        : modern!.posted({ envelope: envelopeOf(request.params, versions), headers: {} })
    )
)

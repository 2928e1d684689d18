/**
 * A function that is run around the sending of a message, such as a function that adds a span to a notification. `ClientTelemetry` provides
 * the function for a call of `Transport.send`, and `Outgoing` reads it. The function is a service, because the fiber that sends the message
 * is not the fiber of the caller. Requests have the option `around` instead.
 */
import * as Context from "effect/Context"
import type { SendOptions } from "../../jsonrpc/Transport.js"

export class Surrounding extends Context.Reference<Surrounding>()("@effect-mcp/core/client/http/Surrounding", {
  defaultValue: (): SendOptions["around"] => undefined
}) {}

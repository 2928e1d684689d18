/**
 * The function that the caller of `Transport.send` wants around the sending of its message, such as a span around a notification.
 * `ClientTelemetry` provides it, and `Outgoing` reads it. It is a service because the fiber that sends the message is another fiber than
 * the caller. Requests have the option `around` instead.
 */
import * as Context from "effect/Context"
import type { SendOptions } from "../../jsonrpc/Transport.js"

export class Surrounding extends Context.Reference<Surrounding>()("@effect-mcp/core/client/http/Surrounding", {
  defaultValue: (): SendOptions["around"] => undefined
}) {}

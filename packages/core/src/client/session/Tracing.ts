/**
 * The service that records the calls and sessions of a client. `Client` looks for this service in its context, and `ClientTelemetry.layer`
 * provides it. Without that layer nothing is recorded, and no code of `ClientTelemetry` is loaded.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Connector } from "../../jsonrpc/Connector.js"
import type { Outbound } from "../../jsonrpc/Outbound.js"
import type { ExtensionTable } from "../../protocol/extension/ExtensionTable.js"
import type { Table } from "../../protocol/telemetry/Telemetry.js"

/** Records the calls to one server. */
export interface ClientTracing {
  /** Records how long the session lasted, when the scope closes. */
  readonly session: Effect.Effect<void, never, Scope.Scope>
  /**
   * Returns the same `Outbound`, with a span around every request and notification. `version` returns the agreed revision. `methods` are
   * the methods of the era; spans and metrics may contain only the names of these methods and of the methods of `extensions`.
   */
  readonly traced: (
    outbound: Outbound,
    version: () => string,
    methods: Table,
    extensions: ExtensionTable
  ) => Outbound
}

export class Tracing extends Context.Tag("@effect-mcp/core/client/Tracing")<
  Tracing,
  (server: Pick<Connector, "name" | "origin">) => ClientTracing
>() {}

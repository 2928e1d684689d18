/**
 * What clients and nodes have seen: how calls have ended, how often handlers have begun, and the metrics of the nodes. It judges nothing;
 * the parts of the run do.
 */
import type * as ClientError from "@effect-mcp/client/ClientError"
import * as HttpRefused from "@effect-mcp/client/HttpRefused"
import * as McpError from "@effect-mcp/protocol/McpError"
import type { Report } from "../NodeConfig.js"

/** How a call ended: with its answer, or in one of the ways that a client can see. */
export type End =
  | "answered"
  | `error ${number}`
  | `HTTP ${number}`
  | "connection lost"
  | "another error"
  | "another call's answer"

export interface Call {
  /** The name of the client. */
  readonly client: string
  readonly tool: string
  readonly nonce: string
  /** The session that the client had at the end. */
  readonly session: string | undefined
  /** In milliseconds. */
  readonly began: number
  readonly ended: number
  readonly end: End
  /** The error, if there was one. */
  readonly message: string | undefined
}

/** How a call failed, by the error that the client has. */
export const endOf = (error: ClientError.ClientError): End => {
  if (McpError.isMcpError(error)) return `error ${McpError.toWire(error, "modern").code}`
  if (error._tag !== "TransportError") return "another error"
  return error.cause instanceof HttpRefused.HttpRefused ? `HTTP ${error.cause.status}` : "connection lost"
}

interface Begun {
  readonly tool: string
  readonly node: string
}

/**
 * `calls` has those that have ended, in this order; `open` is how many have not. `begun` has the handlers by the nonces of their calls,
 * `metrics` what each node has reported last.
 */
export class Ledger {
  readonly calls: Array<Call> = []
  open = 0
  /** The nonces of the calls whose handler has begun more than once. */
  readonly repeated: Array<string> = []
  private readonly begun = new Map<string, Begun>()
  private readonly metrics = new Map<string, Readonly<Record<string, number>>>()

  readonly onReport = (node: string) => (report: Report): void => {
    if (report.type === "metrics") this.metrics.set(node, report.values)
    if (report.type !== "began") return
    if (this.begun.has(report.nonce)) this.repeated.push(report.nonce)
    this.begun.set(report.nonce, { tool: report.tool, node })
  }

  /** How many handlers of a tool have begun. */
  begunOf(tool: string): number {
    return [...this.begun.values()].filter((one) => one.tool === tool).length
  }

  /** The node where the handler of a call has begun. */
  ranOn({ nonce }: Call): string | undefined {
    return this.begun.get(nonce)?.node
  }

  /** The node of a session: where the handler of its last call has begun. */
  nodeOf(session: string | undefined): string | undefined {
    const last = this.calls.filter((call) => call.session === session && this.ranOn(call) !== undefined).at(-1)
    return session === undefined || last === undefined ? undefined : this.ranOn(last)
  }

  /** What a node has reported last of a metric. */
  metric(node: string, name: string): number {
    return this.metrics.get(node)?.[name] ?? 0
  }

  /** The names of all metrics. */
  metricNames(): ReadonlyArray<string> {
    return [...new Set([...this.metrics.values()].flatMap(Object.keys))].sort()
  }

  since(time: number): ReadonlyArray<Call> {
    return this.calls.filter(({ began }) => began >= time)
  }
}

/** `3 × answered, 1 × error -32000` */
export const summary = (calls: ReadonlyArray<Call>): string => {
  const counts = new Map<End, number>()
  for (const { end } of calls) counts.set(end, (counts.get(end) ?? 0) + 1)
  return calls.length === 0 ? "none" : [...counts].map(([end, count]) => `${count} × ${end}`).join(", ")
}

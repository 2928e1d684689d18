/**
 * The official clients, old and new, under one shape: promises as effects, and what a test wants to know beside them.
 */
import { Client as Client2 } from "@modelcontextprotocol/client"
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import type { Scope } from "effect"
import { Effect } from "effect"
import { node } from "../Fixture.js"

export interface CallOptions {
  readonly onprogress?: (progress: unknown) => void
  readonly signal?: AbortSignal
}

interface Verbs {
  readonly serverInfo: () => unknown
  readonly instructions: () => unknown
  readonly listTools: () => Promise<{ readonly tools: ReadonlyArray<unknown> }>
  readonly callTool: (name: string, args: Record<string, unknown>, options: CallOptions) => Promise<any>
  readonly setLevel: (level: "warning") => Promise<unknown>
  readonly ping: () => Promise<unknown>
  readonly close: () => Promise<void>
  readonly pid: () => number | null
}

/** Either of them, connected. */
export interface Official {
  readonly serverInfo: unknown
  readonly instructions: unknown
  readonly pid: number
  readonly list: Effect.Effect<ReadonlyArray<any>, any>
  /** What a call gives, or the error that the client throws. */
  readonly call: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Effect.Effect<any, any>
  readonly setLevel: (level: "warning") => Effect.Effect<unknown, any>
  readonly ping: Effect.Effect<unknown, any>
  readonly close: Effect.Effect<void>
  readonly logs: ReadonlyArray<unknown>
  /** What it complains of: answers to nothing, lines that are no messages. */
  readonly complaints: ReadonlyArray<Error>
  /** What the server has written to its stderr. */
  readonly stderr: () => string
}

interface Heard {
  readonly logs: Array<unknown>
  readonly complaints: Array<Error>
  stderr: string
}

type Connect = (command: string, args: ReadonlyArray<string>, heard: Heard) => Promise<Verbs>

const info = { name: "official", version: "1.0.0" }

const hear = (stream: NodeJS.ReadableStream | null, heard: Heard) => {
  stream?.on("data", (chunk: unknown) => heard.stderr += String(chunk))
}

const connect1: Connect = async (command, args, heard) => {
  const transport = new Stdio1({ command, args: [...args], stderr: "pipe" })
  hear(transport.stderr as NodeJS.ReadableStream | null, heard)
  const client = new Client1(info)
  client.onerror = (error) => heard.complaints.push(error)
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.logs.push(params)
  })
  // Its own declarations do not stand exact optional properties.
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    serverInfo: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    setLevel: (level) => client.setLoggingLevel(level),
    ping: () => client.ping(),
    close: () => client.close(),
    pid: () => transport.pid
  }
}

const connect2 = (mode: "legacy" | "auto"): Connect => async (command, args, heard) => {
  const transport = new Stdio2({ command, args: [...args], stderr: "pipe" })
  hear(transport.stderr as NodeJS.ReadableStream | null, heard)
  const client = new Client2(info, { versionNegotiation: { mode } })
  client.onerror = (error) => heard.complaints.push(error)
  client.setNotificationHandler("notifications/message", ({ params }) => {
    heard.logs.push(params)
  })
  await client.connect(transport)
  return {
    serverInfo: () => client.getServerVersion(),
    instructions: () => client.getInstructions(),
    listTools: () => client.listTools(),
    callTool: (name, args, options) => client.callTool({ name, arguments: args }, options),
    setLevel: (level) => client.setLoggingLevel(level),
    ping: () => client.ping(),
    close: () => client.close(),
    pid: () => transport.pid
  }
}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, any> =>
  Effect.tryPromise({ try: run, catch: (error) => error })

const official = (connect: Connect) =>
(
  program: string,
  launch: (program: string) => readonly [command: string, ...args: ReadonlyArray<string>] = (program) => [node, program]
): Effect.Effect<Official, never, Scope.Scope> =>
  Effect.gen(function*() {
    const heard: Heard = { logs: [], complaints: [], stderr: "" }
    const [command, ...args] = launch(program)
    const verbs = yield* Effect.acquireRelease(
      Effect.promise(() => connect(command, args, heard)),
      (verbs) => Effect.promise(verbs.close)
    )
    return {
      serverInfo: verbs.serverInfo(),
      instructions: verbs.instructions(),
      pid: verbs.pid()!,
      list: Effect.map(attempt(verbs.listTools), ({ tools }) => tools),
      call: (name, args = {}, options = {}) => attempt(() => verbs.callTool(name, args, options)),
      setLevel: (level) => attempt(() => verbs.setLevel(level)),
      ping: attempt(verbs.ping),
      close: Effect.promise(verbs.close),
      logs: heard.logs,
      complaints: heard.complaints,
      stderr: () => heard.stderr
    }
  })

/** By the era that they begin in. */
export const clients = {
  legacy: {
    "the official client 1.32": official(connect1),
    "the official client 2.4": official(connect2("legacy"))
  },
  auto: {
    "the official client 2.4": official(connect2("auto"))
  }
} as const

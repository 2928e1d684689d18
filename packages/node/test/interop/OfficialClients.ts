/**
 * The official clients, of both SDK versions, behind one interface and over all their transports. The official schema of the
 * revision is applied to all messages that they receive.
 */
import * as OfficialSchema from "@effect-mcp/testing/OfficialSchema"
import * as Transcript from "@effect-mcp/testing/Transcript"
import {
  Client as Client2,
  type McpSubscription,
  SSEClientTransport as Sse2,
  StreamableHTTPClientTransport as Http2,
  type SubscriptionFilter,
  type VersionNegotiationMode
} from "@modelcontextprotocol/client"
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio"
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport as Sse1 } from "@modelcontextprotocol/sdk/client/sse.js"
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import * as Schemas from "@modelcontextprotocol/sdk/types.js"
import { Effect, type Scope } from "effect"

/** How to reach the server. */
export type Address =
  | { readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly url: string; readonly transport: "http" | "sse"; readonly sessionId?: string | undefined }

/** How the client answers requests of the server. It declares only these capabilities. */
export interface Answers {
  readonly sampling?: (params: any) => any
  readonly elicitation?: (params: any) => any
  readonly roots?: () => any
}

export interface CallOptions {
  readonly onprogress?: (progress: any) => void
  readonly signal?: AbortSignal
  readonly timeout?: number
  readonly resumptionToken?: string
  readonly onresumptiontoken?: (token: string) => void
}

type Page = { readonly cursor: string }

/** The methods that both clients have. */
interface Sdk {
  getServerVersion(): any
  getServerCapabilities(): any
  getInstructions(): any
  ping(): Promise<unknown>
  close(): Promise<void>
  callTool(params: { readonly name: string; readonly arguments?: {}; readonly _meta?: {} }): Promise<any>
  listTools(page?: Page): Promise<any>
  listResources(page?: Page): Promise<any>
  listResourceTemplates(page?: Page): Promise<any>
  listPrompts(page?: Page): Promise<any>
  readResource(params: { readonly uri: string }): Promise<any>
  subscribeResource(params: { readonly uri: string }): Promise<unknown>
  unsubscribeResource(params: { readonly uri: string }): Promise<unknown>
  getPrompt(params: { readonly name: string; readonly arguments?: Record<string, string> }): Promise<any>
  complete(params: any): Promise<any>
  setLoggingLevel(level: "warning"): Promise<unknown>
  sendRootsListChanged(): Promise<void>
}

interface Made {
  readonly sdk: Sdk
  readonly listen?: (filter: SubscriptionFilter) => Promise<McpSubscription>
  readonly connect: () => Promise<void>
  readonly call: (name: string, args: Record<string, unknown>, options: CallOptions) => Promise<any>
  readonly transport: Stdio1 | Http1 | Sse1 | Stdio2 | Http2 | Sse2
}

/** The notifications that the client received. */
export interface Received {
  readonly logs: Array<unknown>
  readonly changes: Array<string>
  readonly updates: Array<string>
  readonly completed: Array<string>
  /** The errors that the client reports: unknown responses, lines that are not messages. */
  readonly errors: Array<Error>
}

/** A connected client. Its effects fail with the error that the client throws. */
export interface Official extends Readonly<Received> {
  readonly serverInfo: any
  readonly capabilities: any
  readonly instructions: unknown
  readonly pid: number
  /** The stderr of the server. */
  readonly stderr: () => string
  readonly sessionId: () => string | undefined
  /** Calls a method of the client. */
  readonly ask: <A>(verb: (sdk: Sdk) => Promise<A>) => Effect.Effect<A, any>
  readonly call: (name: string, args?: Record<string, unknown>, options?: CallOptions) => Effect.Effect<any, any>
  /** All tools. */
  readonly list: Effect.Effect<ReadonlyArray<any>, any>
  readonly ping: Effect.Effect<unknown, any>
  /** Opens a subscription, from 2026-07-28 on; earlier the client has none. Closing the scope ends it. */
  readonly listen: (filter: SubscriptionFilter) => Effect.Effect<McpSubscription, any, Scope.Scope>
  /** The messages in the order in which the client sent and received them. */
  readonly transcript: Transcript.Transcript
  /** Ends the session, if there is one. */
  readonly terminate: Effect.Effect<void, any>
  readonly close: Effect.Effect<void>
}

const info = { name: "official", version: "1.0.0" }

// Short delays, so that tests are fast.
const reconnectionOptions = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 100,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 20
}

const capabilities = ({ elicitation, roots, sampling }: Answers) => ({
  ...(sampling === undefined ? {} : { sampling: {} }),
  ...(elicitation === undefined ? {} : { elicitation: { form: {}, url: {} } }),
  ...(roots === undefined ? {} : { roots: { listChanged: true } })
})

const listeners = ({ changes, completed, logs, updates }: Received) => ({
  "notifications/message": (params: any) => logs.push(params),
  "notifications/tools/list_changed": () => changes.push("tools"),
  "notifications/resources/list_changed": () => changes.push("resources"),
  "notifications/prompts/list_changed": () => changes.push("prompts"),
  "notifications/resources/updated": ({ uri }: any) => updates.push(uri),
  "notifications/elicitation/complete": ({ elicitationId }: any) => completed.push(elicitationId)
})

const schemas = {
  "notifications/message": Schemas.LoggingMessageNotificationSchema,
  "notifications/tools/list_changed": Schemas.ToolListChangedNotificationSchema,
  "notifications/resources/list_changed": Schemas.ResourceListChangedNotificationSchema,
  "notifications/prompts/list_changed": Schemas.PromptListChangedNotificationSchema,
  "notifications/resources/updated": Schemas.ResourceUpdatedNotificationSchema,
  "notifications/elicitation/complete": Schemas.ElicitationCompleteNotificationSchema
}

type Make = (address: Address, answers: Answers, received: Received) => Made

export const transport1 = (address: Address) =>
  "command" in address
    ? new Stdio1({ command: address.command, args: [...address.args], stderr: "pipe" })
    : address.transport === "sse"
    ? new Sse1(new URL(address.url))
    : new Http1(new URL(address.url), {
      reconnectionOptions,
      ...(address.sessionId === undefined ? {} : { sessionId: address.sessionId })
    })

const make1: Make = (address, answers, received) => {
  const transport = transport1(address)
  const client = new Client1(info, { capabilities: capabilities(answers) })
  client.onerror = (error) => received.errors.push(error)
  for (const [method, listen] of Object.entries(listeners(received))) {
    client.setNotificationHandler(schemas[method as keyof typeof schemas], ({ params }: any) => void listen(params))
  }
  const { elicitation, roots, sampling } = answers
  if (sampling !== undefined) {
    client.setRequestHandler(Schemas.CreateMessageRequestSchema, ({ params }) => sampling(params))
  }
  if (elicitation !== undefined) {
    client.setRequestHandler(Schemas.ElicitRequestSchema, ({ params }) => elicitation(params))
  }
  if (roots !== undefined) client.setRequestHandler(Schemas.ListRootsRequestSchema, () => ({ roots: roots() }))
  return {
    sdk: client,
    transport,
    // The declarations of the SDK do not compile with exact optional properties.
    connect: () => client.connect(transport as Parameters<typeof client.connect>[0]),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options)
  }
}

const transport2 = (address: Address) =>
  "command" in address
    ? new Stdio2({ command: address.command, args: [...address.args], stderr: "pipe" })
    : address.transport === "sse"
    ? new Sse2(new URL(address.url))
    : new Http2(new URL(address.url), {
      reconnectionOptions,
      ...(address.sessionId === undefined ? {} : { sessionId: address.sessionId })
    })

const make2 = (mode: VersionNegotiationMode): Make => (address, answers, received) => {
  const transport = transport2(address)
  const client = new Client2(info, { versionNegotiation: { mode }, capabilities: capabilities(answers) })
  client.onerror = (error) => received.errors.push(error)
  for (const [method, listen] of Object.entries(listeners(received))) {
    client.setNotificationHandler(method as "notifications/message", ({ params }) => void listen(params))
  }
  const { elicitation, roots, sampling } = answers
  if (sampling !== undefined) client.setRequestHandler("sampling/createMessage", ({ params }) => sampling(params))
  if (elicitation !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => elicitation(params))
  if (roots !== undefined) client.setRequestHandler("roots/list", () => ({ roots: roots() }))
  return {
    sdk: client,
    transport,
    listen: (filter) => client.listen(filter),
    connect: () => client.connect(transport),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options)
  }
}

const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, any> =>
  Effect.tryPromise({ try: run, catch: (error) => error })

/** Observes the messages of a transport. */
const observed = (transport: Made["transport"], add: (from: Transcript.Entry["from"], message: any) => void): void => {
  const either = transport as {
    send: (message: unknown, options: any) => Promise<void>
    onmessage?: (...args: ReadonlyArray<any>) => void
  }
  const { send } = either
  either.send = (message, options) => {
    for (const one of [message].flat()) add("client", one)
    return send.call(transport, message, options)
  }
  let receive: typeof either.onmessage
  // A receiver may call the one that it replaces.
  let last: unknown
  Object.defineProperty(transport, "onmessage", {
    get: () => receive,
    set: (next: typeof receive) => {
      receive = next === undefined ? undefined : (message, ...rest) => {
        if (message !== last) add("server", last = message)
        next(message, ...rest)
      }
    }
  })
}

/** Checks the messages that a client receives on a transport, and records all that it sends and receives. */
export const recorded = (transport: Made["transport"]): Effect.Effect<Transcript.Transcript, never, Scope.Scope> =>
  Effect.map(OfficialSchema.check("server"), (check) => {
    const transcript = Transcript.make()
    observed(transport, (from, message) => {
      transcript.add({ from, message })
      check.observe(from, message)
    })
    return transcript
  })

const official = (make: Make) => (address: Address, answers: Answers = {}): Effect.Effect<Official, any, Scope.Scope> =>
  Effect.gen(function*() {
    const received: Received = { logs: [], changes: [], updates: [], completed: [], errors: [] }
    const { call, connect, listen, sdk, transport } = make(address, answers, received)
    const transcript = yield* recorded(transport)
    let stderr = ""
    if ("stderr" in transport) {
      ;(transport.stderr as NodeJS.ReadableStream | null)?.on("data", (chunk: unknown) => stderr += String(chunk))
    }
    yield* Effect.acquireRelease(attempt(connect), () => Effect.promise(() => sdk.close()))
    return {
      ...received,
      serverInfo: sdk.getServerVersion(),
      capabilities: sdk.getServerCapabilities(),
      instructions: sdk.getInstructions(),
      pid: "pid" in transport ? transport.pid! : NaN,
      stderr: () => stderr,
      sessionId: () => "sessionId" in transport ? transport.sessionId : undefined,
      ask: (verb) => attempt(() => verb(sdk)),
      call: (name, args = {}, options = {}) => attempt(() => call(name, args, options)),
      list: Effect.map(
        Effect.iterate({ tools: [] as ReadonlyArray<any>, next: "" as string | undefined }, {
          while: ({ next }) => next !== undefined,
          body: ({ next, tools }) =>
            Effect.map(
              attempt(() => sdk.listTools(next === undefined || next === "" ? undefined : { cursor: next })),
              (page) => ({ tools: [...tools, ...page.tools], next: page.nextCursor as string | undefined })
            )
        }),
        ({ tools }) => tools
      ),
      ping: attempt(() => sdk.ping()),
      listen: (filter) =>
        Effect.acquireRelease(
          attempt(() => listen!(filter)),
          (subscription) => Effect.promise(() => subscription.close())
        ),
      transcript,
      terminate: "terminateSession" in transport ? attempt(() => transport.terminateSession()) : Effect.void,
      close: Effect.promise(() => sdk.close())
    }
  })

/** By the era of their first request. */
export const clients = {
  legacy: {
    "the official client 1.32": official(make1),
    "the official client 2.4": official(make2("legacy"))
  },
  auto: {
    "the official client 2.4": official(make2("auto"))
  },
  modern: {
    "the official client 2.4": official(make2({ pin: "2026-07-28" }))
  }
} as const

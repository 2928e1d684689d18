/**
 * A server that answers with exactly the bytes of a script, over HTTP or a pipe, and two clients that call it: ours with default
 * options, and the official client 2.4.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as OurClient from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import type { ClientSessionService } from "@effect-mcp/core/ClientSession"
import * as Connector from "@effect-mcp/core/Connector"
import { ConnectionClosed, TransportError } from "@effect-mcp/core/LocalError"
import * as Remote from "@effect-mcp/core/Remote"
import {
  Client,
  ProtocolError,
  ReadBuffer,
  serializeMessage,
  StreamableHTTPClientTransport
} from "@modelcontextprotocol/client"
import { Cause, Effect, Either, Layer, Logger, LogLevel, type Scope, Stream } from "effect"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { PassThrough } from "node:stream"
import * as Pipe from "../../src/stdio/Pipe.js"

export interface HttpAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** `$id` stands for the id of the request, `$token` for its progress token. */
  readonly body: string
  readonly encode?: (body: string) => Uint8Array
  /** Whether the response stays open. */
  readonly isOpen?: boolean
}

/** What the server does with the first request of a method. `$id` stands for its id, `$token` for its progress token. */
export interface Script {
  readonly kind: string
  readonly name: string
  readonly method: string
  /** Texts, or messages. */
  readonly sends?: ReadonlyArray<unknown>
  readonly http?: HttpAnswer
  /** The tools that the client lists before it calls one. */
  readonly listed?: object
  /** What the official client takes and a rule of the specification forbids: the page with the rule. */
  readonly forbidden?: string
  readonly over?: Over
  /** Whether the script sends an error. Default: false. */
  readonly isError?: boolean
}

export type Over = "http" | "pipe"

/** What came of the call, and what the client gave to the application beside it. */
export interface Outcome {
  /** Whether the client took what the script sends: it gave a value, or the error that the script sends. */
  readonly isTaken: boolean
  readonly result: Either.Either<unknown, unknown>
  readonly logs: ReadonlyArray<unknown>
  readonly progress: ReadonlyArray<unknown>
  readonly changes: ReadonlyArray<string>
}

const complete = { resultType: "complete" }
const hints = { ttlMs: 0, cacheScope: "private" }

export const good: Readonly<Record<string, object>> = {
  "server/discover": {
    ...complete,
    ...hints,
    supportedVersions: ["2026-07-28"],
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {}
    },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } }
  },
  "tools/list": { ...complete, ...hints, tools: [{ name: "t", inputSchema: { type: "object" } }] },
  "tools/call": { ...complete, content: [{ type: "text", text: "done" }] },
  "resources/list": { ...complete, ...hints, resources: [{ uri: "memo://note", name: "note" }] },
  "resources/templates/list": {
    ...complete,
    ...hints,
    resourceTemplates: [{ uriTemplate: "memo://{name}", name: "memo" }]
  },
  "resources/read": { ...complete, ...hints, contents: [{ uri: "memo://note", text: "a" }] },
  "prompts/list": { ...complete, ...hints, prompts: [{ name: "p" }] },
  "prompts/get": { ...complete, messages: [{ role: "user", content: { type: "text", text: "a" } }] },
  "completion/complete": { ...complete, completion: { values: ["a"] } }
}

const textOf = (one: unknown, { id, params }: any): string =>
  (typeof one === "string" ? one : JSON.stringify(one))
    .replaceAll("\"$id\"", JSON.stringify(id))
    .replaceAll("\"$token\"", JSON.stringify(params?._meta?.progressToken) ?? "null")

/** The answers of one server. */
const server = (script: Script) => {
  let calls = 0
  return (message: any): ReadonlyArray<string> | HttpAnswer | undefined => {
    const { id, method } = message
    if (method === undefined || id === undefined) return undefined
    if (
      method === script.method && (method === "server/discover" || method === "subscriptions/listen" || calls++ === 0)
    ) {
      return script.http === undefined
        ? script.sends!.map((one) => textOf(one, message))
        : { ...script.http, body: textOf(script.http.body, message) }
    }
    const result = method === "tools/list" && script.listed !== undefined ? script.listed : good[method]
    return [JSON.stringify({
      jsonrpc: "2.0",
      id,
      ...(result === undefined ? { error: { code: -32601, message: "Not here" } } : { result })
    })]
  }
}

const listening = (script: Script): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<http.Server>((resume) => {
        const answer = server(script)
        const served = http.createServer((request, response) => {
          let text = ""
          request.setEncoding("utf8").on("data", (chunk: string) => text += chunk)
          request.on("end", () => {
            if (request.method !== "POST") return void response.writeHead(405).end()
            const given = answer(JSON.parse(text))
            if (given === undefined) return void response.writeHead(202).end()
            if ("body" in given) {
              response.writeHead(given.status ?? 200, given.headers ?? { "content-type": "application/json" })
              response.write(given.encode === undefined ? given.body : given.encode(given.body))
              return void (given.isOpen === true || response.end())
            }
            const isOne = given.length === 1 && script.method !== "subscriptions/listen"
            response.writeHead(200, { "content-type": isOne ? "application/json" : "text/event-stream" })
            response.write(
              isOne
                ? given[0]
                : given.map((text) => text.split("\n").map((line) => `data: ${line}\n`).join("") + "\n").join("")
            )
            if (script.method !== "subscriptions/listen" || isOne) response.end()
          })
        })
        served.listen(0, "127.0.0.1", () => resume(Effect.succeed(served)))
      }),
      (served) =>
        Effect.sync(() => {
          served.close()
          served.closeAllConnections()
        })
    ),
    (served) => `http://127.0.0.1:${(served.address() as AddressInfo).port}/mcp`
  )

/** The two ends of a pipe to the server. */
const pipe = (script: Script) => {
  const input = new PassThrough()
  const output = new PassThrough()
  const answer = server(script)
  let text = ""
  output.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (text + chunk).split("\n")
    text = lines.pop()!
    for (const line of lines) {
      const given = answer(JSON.parse(line))
      if (Array.isArray(given)) { for (const one of given) input.write(one + "\n") }
    }
  })
  return { input, output }
}

/** The numbers of the log messages, reports of progress, and changes. */
export const countsOf = ({ changes, logs, progress }: Omit<Outcome, "isTaken" | "result">): ReadonlyArray<number> => [
  logs.length,
  progress.length,
  changes.length
]

const ourVerbs: Readonly<
  Record<
    string,
    (client: ClientSessionService, onProgress: (one: object) => Effect.Effect<void>) => Effect.Effect<unknown, unknown>
  >
> = {
  "server/discover": ({ instructions, serverCapabilities, serverInfo, version }) =>
    version === "2026-07-28"
      ? Effect.succeed({ instructions, serverCapabilities, serverInfo, version })
      : Effect.fail(`speaks ${version}`),
  "tools/list": (client) => client.listTools(),
  "tools/call": (client, onProgress) => client.callTool("t", {}, { onProgress }),
  "listed": (client) => Effect.zipRight(client.listTools(), client.callTool("t", {})),
  "resources/list": (client) => client.listResources(),
  "resources/templates/list": (client) => client.listResourceTemplates(),
  "resources/read": (client) => client.readResource("memo://note"),
  "prompts/list": (client) => client.listPrompts(),
  "prompts/get": (client) => client.getPrompt("p"),
  "completion/complete": (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }),
  "subscriptions/listen": (client) => client.awaitSubscription
}

/** How long a client waits for an answer that it does not recognize. Ours is asked only what the other has taken. */
const limits = { ours: "40 seconds", official: "2500 millis" } as const

const isTaken = (
  { isError = false }: Script,
  result: Either.Either<unknown, unknown>,
  isOfServer: (error: unknown) => boolean
): boolean => Either.isRight(result) ? !isError : isError && isOfServer(result.left)

const isLocal = (error: unknown): boolean =>
  error instanceof TransportError || error instanceof ConnectionClosed || Cause.isTimeoutException(error)

/** What our client, with default options, makes of the script. Waits until it has given so many messages to the application. */
export const ours = (
  script: Script,
  over: Over,
  counts: ReadonlyArray<number>
): Effect.Effect<Outcome, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [logs, progress, changes] = [[] as Array<unknown>, [] as Array<unknown>, [] as Array<string>]
    const connector = over === "http"
      ? Effect.map(listening(script), (url) => {
        const { connect, name } = Remote.connector(url)
        return Connector.make(name, Effect.provide(connect, FetchHttpClient.layer))
      })
      : Effect.map(Effect.orDie(Pipe.make(pipe(script))), (transport) => Connector.fromTransport(transport, "scripted"))
    const result = yield* Effect.gen(function*() {
      const client = yield* OurClient.make(yield* connector, {
        features: Layer.mergeAll(
          ClientFeatures.sampling(() =>
            Effect.succeed({ role: "assistant" as const, content: { type: "text" as const, text: "hi" }, model: "m" })
          ),
          ClientFeatures.elicitation(() => Effect.succeed({ action: "accept" as const, content: { name: "x" } })),
          ClientFeatures.urlElicitation(() => Effect.succeed("accept" as const)),
          ClientFeatures.roots(Effect.succeed([{ uri: "file:///work" }])),
          ClientFeatures.logging((message) => Effect.sync(() => void logs.push(message)))
        )
      })
      yield* Effect.forkScoped(
        Stream.runForEach(client.listChanges, (one) => Effect.sync(() => void changes.push(String(one))))
      )
      yield* Effect.forkScoped(
        Stream.runForEach(client.resourceUpdates, (one) => Effect.sync(() => void changes.push(String(one))))
      )
      yield* Effect.yieldNow()
      return yield* ourVerbs[script.listed === undefined ? script.method : "listed"]!(client, (one) =>
        Effect.sync(() => void progress.push(one)))
    }).pipe(Effect.timeout(limits.ours), Effect.either)
    const seen = { logs, progress, changes }
    yield* Effect.sleep("20 millis").pipe(
      Effect.repeat({
        until: () =>
          countsOf(seen).every((count, i) => count >= counts[i]!),
        times: 250
      })
    )
    return {
      isTaken: isTaken(script, result, (error) => !isLocal(error)),
      result,
      logs,
      progress,
      changes
    }
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None))

const officialVerbs: Readonly<Record<string, (client: Client, onprogress: (one: object) => void) => Promise<unknown>>> =
  {
    "server/discover": async (client) => ({
      version: client.getNegotiatedProtocolVersion(),
      info: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions()
    }),
    "tools/list": (client) => client.listTools(),
    "tools/call": (client, onprogress) => client.callTool({ name: "t", arguments: {} }, { onprogress }),
    "listed": async (client) => {
      await client.listTools()
      return client.callTool({ name: "t", arguments: {} })
    },
    "resources/list": (client) => client.listResources(),
    "resources/templates/list": (client) => client.listResourceTemplates(),
    "resources/read": (client) => client.readResource({ uri: "memo://note" }),
    "prompts/list": (client) => client.listPrompts(),
    "prompts/get": (client) => client.getPrompt({ name: "p" }),
    "completion/complete": (client) =>
      client.complete({ ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }),
    "subscriptions/listen": (client) =>
      client.listen({ toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }, { timeout: 900 })
  }

const officialPipe = (script: Script) => {
  const { input, output } = pipe(script)
  const buffer = new ReadBuffer()
  const transport: any = {
    start: async () => {
      input.on("data", (chunk: Buffer) => {
        buffer.append(chunk)
        while (true) {
          try {
            const message = buffer.readMessage()
            if (message === null) return
            transport.onmessage?.(message)
          } catch (error) {
            transport.onerror?.(error)
          }
        }
      })
    },
    send: async (message: any) => void output.write(serializeMessage(message)),
    close: async () => transport.onclose?.()
  }
  return transport
}

/** What the official client makes of the script. */
export const official = (script: Script, over: Over): Effect.Effect<Outcome, never, Scope.Scope> =>
  Effect.gen(function*() {
    const [logs, progress, changes] = [[] as Array<unknown>, [] as Array<unknown>, [] as Array<string>]
    const transport = over === "http"
      ? new StreamableHTTPClientTransport(new URL(yield* listening(script)))
      : officialPipe(script)
    const client = new Client({ name: "official", version: "1" }, {
      versionNegotiation: { mode: "auto" },
      capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} }
    })
    client.onerror = () => {}
    client.setRequestHandler("sampling/createMessage", () => ({
      role: "assistant",
      content: { type: "text", text: "hi" },
      model: "m"
    }))
    client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "x" } }))
    client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///work" }] }))
    client.setNotificationHandler("notifications/message", ({ params }: any) => void logs.push(params))
    for (
      const name of [
        "tools/list_changed",
        "resources/list_changed",
        "prompts/list_changed",
        "resources/updated"
      ] as const
    ) client.setNotificationHandler(`notifications/${name}`, () => void changes.push(name))
    yield* Effect.addFinalizer(() => Effect.promise(() => client.close().catch(() => undefined)))
    const result = yield* Effect.tryPromise({
      try: async () => {
        await client.connect(transport)
        if (client.getNegotiatedProtocolVersion() !== "2026-07-28") throw new Error("another revision")
        return await officialVerbs[script.listed === undefined ? script.method : "listed"]!(
          client,
          (one) => progress.push(one)
        )
      },
      catch: (error) => error
    }).pipe(Effect.timeout(limits.official), Effect.either)
    yield* Effect.sleep("60 millis")
    return {
      isTaken: isTaken(script, result, (error) => error instanceof ProtocolError),
      result,
      logs,
      progress,
      changes
    }
  })

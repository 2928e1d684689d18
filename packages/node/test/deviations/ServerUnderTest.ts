/**
 * Our server over memory, stdio and HTTP, and a client that sends it exactly what a row of the table says.
 */
import { Dispatcher } from "@effect-mcp/core/Dispatcher"
import * as McpServer from "@effect-mcp/core/McpServer"
import type * as Message from "@effect-mcp/core/Message"
import * as MessageText from "@effect-mcp/core/MessageText"
import * as Prompt from "@effect-mcp/core/Prompt"
import * as Headers from "@effect-mcp/core/protocol/modern/Headers"
import * as Version from "@effect-mcp/core/protocol/Version"
import { RequestContext } from "@effect-mcp/core/RequestContext"
import * as Resource from "@effect-mcp/core/Resource"
import { ServerSession } from "@effect-mcp/core/ServerSession"
import * as Tool from "@effect-mcp/core/Tool"
import * as Transport from "@effect-mcp/core/Transport"
import * as HttpServer from "@effect-mcp/node/HttpServer"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import { Effect, Layer, Schema, type Scope } from "effect"
import * as http from "node:http"
import { PassThrough } from "node:stream"
import { expect } from "vitest"
import { initialize, proper } from "../HttpFixture.js"
import type { ClientRow, HttpRequest, Over } from "./Row.js"

const features = Layer.mergeAll(
  McpServer.tool(
    Tool.make("echo", { parameters: { text: Schema.optionalWith(Schema.String, { default: () => "nothing" }) } }),
    ({ text }) => Effect.succeed(text)
  ),
  McpServer.tool(
    Tool.make("add", { parameters: { a: Schema.Int, b: Schema.Int } }),
    ({ a, b }) => Effect.succeed(String(a + b))
  ),
  McpServer.tool(Tool.make("die"), () => Effect.die(new Error("the password is hunter2"))),
  McpServer.tool(
    Tool.make("steps"),
    () => Effect.flatMap(RequestContext, (request) => Effect.as(request.progress(1, { total: 1 }), "done"))
  ),
  McpServer.tool(Tool.make("ask"), () =>
    Effect.flatMap(ServerSession, (session) =>
      Effect.matchEffect(
        session.elicit({ message: "Who?", schema: Schema.Struct({ name: Schema.String }) }),
        {
          onFailure: ({ _tag }) => Effect.succeed(`failed: ${_tag}`),
          onSuccess: ({ action }) => Effect.succeed(action)
        }
      ))),
  McpServer.tool(Tool.make("roots"), () =>
    Effect.flatMap(ServerSession, (session) =>
      Effect.match(session.listRoots, {
        onFailure: ({ _tag }) => `failed: ${_tag}`,
        onSuccess: (roots) => `${roots.length} roots`
      }))),
  McpServer.tool(
    Tool.make("sample"),
    () =>
      Effect.flatMap(ServerSession, (session) =>
        Effect.match(session.createMessage({ messages: [], maxTokens: 1 }), {
          onFailure: ({ _tag }) => `failed: ${_tag}`,
          onSuccess: ({ model }) => model
        }))
  ),
  McpServer.tool(Tool.make("hold"), () => Effect.never),
  McpServer.tool(
    Tool.make("route", {
      parameters: { region: Schema.String.annotations({ jsonSchema: { type: "string", "x-mcp-header": "Region" } }) }
    }),
    ({ region }) => Effect.succeed(region)
  ),
  McpServer.resource(Resource.make("note", { uri: "memo://note" }), Effect.succeed("a note")),
  McpServer.prompt(
    Prompt.make("greet", { arguments: { name: Schema.optional(Schema.String) } }),
    ({ name }) => Effect.succeed(`Hello, ${name ?? "you"}`),
    { complete: { name: () => Effect.succeed(["Ada"]) } }
  )
)

/** The server, with an HTTP endpoint on a free port. */
export const layer = HttpServer.layer({ port: 0 }).pipe(
  Layer.provideMerge(McpServer.layer({ name: "kept", version: "1.0.0" }, features)),
  Layer.orDie
)

/** How the client sends a text, and what it has received. */
interface Wire {
  readonly send: (text: string, request?: HttpRequest) => Effect.Effect<void>
  readonly received: Array<any>
  /** The responses over HTTP. */
  readonly responses: Array<{ readonly status: number; readonly headers: http.IncomingHttpHeaders }>
}

const memory: Effect.Effect<Wire, never, Dispatcher | Scope.Scope> = Effect.gen(function*() {
  const [client, server] = yield* Transport.memory()
  const received: Array<any> = []
  yield* Effect.forkScoped(Effect.flatMap(Dispatcher, (dispatcher) => dispatcher.accept(server)))
  yield* Effect.forkScoped(Transport.run(client, (message) => received.push(message)))
  return {
    received,
    responses: [],
    // The pair in memory also delivers what is not a message.
    send: (text) => Effect.orDie(client.send(MessageText.parse(text) as Message.Message))
  }
})

/** Reads the lines of a stream, each as JSON. */
const lines = (stream: PassThrough, onLine: (line: string) => void): void => {
  let text = ""
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    const all = (text + chunk).split("\n")
    text = all.pop()!
    all.forEach(onLine)
  })
}

const stdio: Effect.Effect<Wire, never, Dispatcher | Scope.Scope> = Effect.gen(function*() {
  const input = new PassThrough()
  const output = new PassThrough()
  const received: Array<any> = []
  lines(output, (line) => received.push(JSON.parse(line)))
  const transport = yield* Effect.orDie(StdioServer.transport({ input, output }))
  yield* Effect.forkScoped(Effect.flatMap(Dispatcher, (dispatcher) => dispatcher.accept(transport)))
  return { received, responses: [], send: (text) => Effect.sync(() => input.write(text + "\n")) }
})

const overHttp: Effect.Effect<Wire, never, HttpServer.HttpServer> = Effect.map(HttpServer.HttpServer, ({ url }) => {
  const received: Array<any> = []
  const responses: Wire["responses"] = []
  let session: string | undefined
  const onText = (text: string): void => {
    if (text.trim() === "") return
    for (const message of [JSON.parse(text)].flat()) received.push(message)
  }
  return {
    received,
    responses,
    send: (body, { headers = {}, method = "POST", path } = {}) =>
      Effect.async<void>((resume) => {
        const all: Record<string, string | null> = {
          ...proper,
          ...(session === undefined ? undefined : { "mcp-session-id": session }),
          ...headers
        }
        const request = http.request(path === undefined ? url : new URL(path, url), {
          method,
          agent: false,
          headers: Object.fromEntries(
            Object.entries(all).flatMap(([name, value]) =>
              value === null ? [] : [[name, value.replace("$session", session ?? "")]]
            )
          )
        }, (response) => {
          responses.push({ status: response.statusCode!, headers: response.headers })
          session ??= response.headers["mcp-session-id"] as string | undefined
          const isStream = response.headers["content-type"] === "text/event-stream"
          let text = ""
          response.setEncoding("utf8").on("data", (chunk: string) => {
            text += chunk
            if (!isStream) return
            const lines = text.split("\n")
            text = lines.pop()!
            for (const line of lines) if (line.startsWith("data:")) onText(line.slice(5))
          })
          response.on("end", () => {
            if (!isStream) onText(text)
          })
          response.on("error", () => {})
          // The body of a stream arrives later: a server that asks waits for another request.
          if (isStream) resume(Effect.void)
          else response.on("close", () => resume(Effect.void))
        })
        request.on("error", () => resume(Effect.void))
        request.end(method === "GET" ? undefined : body)
        return Effect.sync(() => request.destroy())
      })
  }
})

const wires: Readonly<Record<Over, Effect.Effect<Wire, never, Dispatcher | HttpServer.HttpServer | Scope.Scope>>> = {
  memory,
  stdio,
  http: overHttp
}

const turn = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits for turns of the event loop until a condition holds; fails before the test does, to say what there was not. */
export const until = (what: string, so: () => boolean): Effect.Effect<void> =>
  Effect.timeoutFail(
    Effect.asVoid(Effect.iterate(0, { while: () => !so(), body: () => Effect.as(turn, 0) })),
    { duration: "50 seconds", onTimeout: () => new Error(`There was no ${what}`) }
  ).pipe(Effect.orDie)

export const textOf = (message: unknown, id: unknown): string =>
  (typeof message === "string" ? message : JSON.stringify(message)).replaceAll("\"$id\"", JSON.stringify(id))

const isModern = ({ version }: { readonly version?: Version.Version }) =>
  version !== undefined && Version.isModern(version)

const envelope = {
  "io.modelcontextprotocol/protocolVersion": Version.latestModern,
  "io.modelcontextprotocol/clientInfo": { name: "visitor", version: "0.0.0" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, roots: {}, sampling: {} }
}

/** A request of the modern era as text, and how it travels over HTTP. */
const modern = (message: any, more: HttpRequest = {}): readonly [text: string, request: HttpRequest] => {
  if (typeof message === "string") return [message, more]
  const { params } = message
  const whole = params === undefined || params?.constructor === Object
    ? { ...message, params: { _meta: envelope, ...params } }
    : message
  const isNotification = !("id" in message)
  const headers = isNotification ? { "mcp-protocol-version": Version.latestModern } : Headers.make(whole)
  const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return [textOf(whole, 7), { ...more, headers: { ...lowered, ...more.headers } }]
}

const hello = (version: string) => {
  const request = initialize(version)
  return { ...request, params: { ...request.params, capabilities: { elicitation: {}, roots: {}, sampling: {} } } }
}

/** Sends what the row says, and checks what the server does. */
export const run = (
  row: ClientRow,
  over: Over
): Effect.Effect<void, never, Dispatcher | HttpServer.HttpServer | Scope.Scope> =>
  Effect.gen(function*() {
    const { received, responses, send } = yield* wires[over]
    if (row.isFirst !== true && !isModern(row)) {
      yield* send(JSON.stringify(hello(row.version ?? "2025-11-25")))
      yield* until("answer to initialize", () => received.length === 1)
      yield* send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
    }
    received.length = 0
    responses.length = 0
    const answered = new Set<unknown>()
    const { answers, headers = {}, status = answers.length > 0 ? 200 : 202 } = row.expected
    yield* Effect.forkScoped(
      isModern(row) ? send(...modern(row.message, row.http)) : send(textOf(row.message, 7), row.http)
    )
    if (row.reply !== undefined) {
      yield* until("request of the server", () => received.some(({ method }) => method !== undefined))
      const request = received.find(({ method }) => method !== undefined)
      answered.add(request)
      yield* send(textOf(row.reply, request.id))
    }
    const mine = () => received.filter((one) => one.id !== "fence" && !answered.has(one))
    yield* until("answer", () => mine().length >= answers.length && (over !== "http" || responses.length > 0))
    const first = responses[0]
    // Nothing comes after the response to a later request. Over HTTP, there is no session before `initialize`.
    if (over !== "http" || row.isFirst !== true) {
      const ping = { jsonrpc: "2.0", id: "fence" }
      yield* isModern(row)
        ? send(...modern({ ...ping, method: "server/discover" }))
        : send(JSON.stringify({ ...ping, method: "ping" }))
      yield* until("answer to ping", () => received.some(({ id }) => id === "fence"))
    }
    yield* Effect.repeatN(turn, 3)
    expect(mine()).toMatchObject(answers)
    expect(mine()).toHaveLength(answers.length)
    if (over === "http") {
      expect(first!.status).toBe(status)
      expect(first!.headers).toMatchObject(headers)
    }
  })

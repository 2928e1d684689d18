/**
 * Starts each host, and drives it with a client of each era: progress and a question in calls, a user from the host, a
 * foreign Host header, a route of the host itself; at last the host closes while a client still listens.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as PlatformServer from "@effect/platform/HttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as Remote from "@effect-mcp/core/Remote"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Express from "./express.js"
import * as Fastify from "./fastify.js"
import * as Hono from "./hono.js"
import * as InHttpApi from "./httpApi.js"
import * as InHttpRouter from "./httpRouter.js"
import * as NodeHttp from "./nodeHttp.js"
import type { Running } from "./running.js"

/** Runs a host until the scope closes, and gives its origin. */
type Host = Effect.Effect<string, never, Scope.Scope>

const started = (start: () => Promise<Running>): Host =>
  Effect.map(
    Effect.acquireRelease(Effect.promise(start), ({ close }) => Effect.promise(close)),
    ({ origin }) => origin
  )

const built = <E>(live: Layer.Layer<PlatformServer.HttpServer, E>): Host =>
  Effect.flatMap(
    Layer.build(Layer.orDie(live)),
    (context) => Effect.provide(PlatformServer.addressFormattedWith(Effect.succeed), context)
  )

const hosts: Readonly<Record<string, Host>> = {
  "node:http": started(NodeHttp.start),
  Express: started(Express.start),
  Fastify: started(Fastify.start),
  Hono: started(Hono.start),
  HttpRouter: built(InHttpRouter.Live),
  HttpApi: built(InHttpApi.Live)
}

const visit = (origin: string, version: "2025-11-25" | "2026-07-28") =>
  Effect.gen(function*() {
    const client = yield* Client.make(Remote.connector(`${origin}/mcp`, { headers: { "x-user": "Ada" } }), {
      versions: [version],
      features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
    })
    const steps: Array<number> = []
    yield* client.callTool("count", { to: 3 }, {
      onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
    })
    const { structuredContent } = yield* client.callTool("cancel", {})
    const { content: [welcome] } = yield* client.callTool("welcome", {})
    return `  ${version}: progress ${steps.join(", ")}; asked: ${JSON.stringify(structuredContent)}; ` +
      (welcome?.type === "text" ? welcome.text : "")
  })

const tour = (name: string, host: Host) =>
  Effect.gen(function*() {
    const origin = yield* host
    const legacy = yield* Effect.scoped(visit(origin, "2025-11-25"))
    const health = yield* Effect.promise(() => fetch(`${origin}/health`).then((response) => response.text()))
    const foreign = yield* Effect.promise(() =>
      fetch(`${origin}/mcp`, { method: "POST", headers: { origin: "https://evil.example.com" } })
    )
    // In the scope of the host: the host closes, although this client listens for changes.
    const modern = yield* visit(origin, "2026-07-28")
    return [name, legacy, `  its own route: ${health}; a page of another origin: ${foreign.status}`, modern]
  }).pipe(Effect.scoped, Effect.flatMap((lines) => Console.log([...lines, `  ${name} has closed`].join("\n"))))

/** Hono without a socket: its `fetch` takes the place of the platform's. */
const inProcess = Layer.succeed(
  FetchHttpClient.Fetch,
  (input, init) => Promise.resolve(Hono.fetch(new Request(input, init)))
)

const program = Effect.gen(function*() {
  const lines = yield* Effect.forEach(
    ["2025-11-25", "2026-07-28"] as const,
    (version) => Effect.scoped(visit("http://localhost", version))
  ).pipe(
    Effect.provide(Layer.provide(FetchHttpClient.layer, inProcess))
  )
  yield* Console.log(["Hono, in this process", ...lines].join("\n"))
  for (const [name, host] of Object.entries(hosts)) yield* tour(name, host)
})

program.pipe(Effect.provide(FetchHttpClient.layer), NodeRuntime.runMain)

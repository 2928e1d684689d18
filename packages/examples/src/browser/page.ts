/**
 * The script of a web page: a client of a server on another port of this machine, in both eras. The person who answers the
 * questions would use a form of the page; here the page accepts. It sends what it has seen to its own origin.
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as Client from "@effect-mcp/core/Client"
import * as ClientFeatures from "@effect-mcp/core/ClientFeatures"
import * as ClientTelemetry from "@effect-mcp/core/ClientTelemetry"
import type * as Version from "@effect-mcp/core/protocol/Version"
import * as Remote from "@effect-mcp/core/Remote"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"

const url = new URL(location.href).searchParams.get("server")!

const visit = (version: Version.Version, tracing: boolean) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const connecting = Client.make(Remote.connector(tracing ? `${url}?traced` : url), {
      versions: [version],
      features: ClientFeatures.elicitation(() => Effect.succeed({ action: "accept", content: {} }))
    })
    const client = yield* (tracing ? Effect.provide(connecting, ClientTelemetry.layer()) : connecting)
    const tools = Chunk.toReadonlyArray(yield* Stream.runCollect(client.tools))
    lines.push(`tools: ${tools.map(({ name }) => name).join(", ")}`)
    const steps: Array<number> = []
    yield* client.callTool("count", { to: 3 }, {
      onProgress: ({ progress }) => Effect.sync(() => steps.push(progress))
    })
    lines.push(`progress: ${steps.join(", ")}`)
    const { structuredContent } = yield* client.callTool("book", { at: "2026-07-28T19:00:00Z", name: "Ada" })
    lines.push(`booked: ${JSON.stringify(structuredContent)}`)
    const { contents } = yield* client.readResource("menu://today")
    lines.push(`read: ${JSON.stringify(contents[0])}`)
    const answer = yield* client.callTool("cancel", {})
    lines.push(`asked: ${JSON.stringify(answer.structuredContent)}`)
    return lines
  }).pipe(
    Effect.scoped,
    Effect.either,
    Effect.map((seen) =>
      `${version}${tracing ? ", traced" : ""}\n  ${
        Either.merge(Either.mapBoth(seen, {
          onLeft: (error) => `failed: ${error.message}`,
          onRight: (lines) => lines.join("\n  ")
        }))
      }\n`
    )
  )

Effect.forEach(
  ["2025-11-25", "2026-07-28"] as const,
  (version) => Effect.all([visit(version, false), visit(version, true)])
).pipe(
  Effect.provide(FetchHttpClient.layer),
  Effect.flatMap((seen) => Effect.promise(() => fetch("/seen", { method: "POST", body: seen.flat().join("") }))),
  Effect.runFork
)

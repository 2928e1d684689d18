/**
 * Starts PostgreSQL and the server, begins a film, and kills the server in the middle of a scene, with `kill -9`. The next process of the
 * server goes on with that scene; the client waits meanwhile.
 */
import * as Command from "@effect/platform/Command"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Postgres from "@effect-mcp/cluster/Postgres"
import * as Client from "@effect-mcp/core/Client"
import * as Remote from "@effect-mcp/core/Remote"
import * as TasksClient from "@effect-mcp/core/TasksClient"
import * as Console from "effect/Console"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import { Film } from "./contract.js"

const program = fileURLToPath(new URL("server.js", import.meta.url))

/** A process of the server. Its lines are printed; `line` waits for one. */
const start = (url: string, port: string) =>
  Effect.gen(function*() {
    const server = yield* Command.start(Command.make(process.execPath, program, url, port))
    const waiting = new Map<string, Deferred.Deferred<string>>()
    const line = (word: string) =>
      Effect.flatMap(Deferred.make<string>(), (found) =>
        Effect.zipRight(
          Effect.sync(() => waiting.set(word, found)),
          Deferred.await(found)
        ))
    const print = (text: string) =>
      /^(scene|listens)/.test(text)
        ? Effect.zipRight(
          Console.log(text.replace(/http\S+/, "its port")),
          Effect.forEach(waiting, ([word, found]) => text.includes(word) ? Deferred.succeed(found, text) : Effect.void)
        )
        : Effect.void
    yield* Effect.forkScoped(Stream.runForEach(Stream.splitLines(Stream.decodeText(server.stdout)), print))
    return { line, kill: server.kill("SIGKILL") }
  })

const demo = Effect.gen(function*() {
  const { url } = yield* Postgres.start
  const first = yield* start(url, "0")
  const address = (yield* first.line("listens")).replace("listens at ", "")
  const killing = Effect.gen(function*() {
    const film = yield* TasksClient.start(yield* Client.Client, Film, { scenes: 4 })
    yield* first.line("scene 2 begins")
    yield* first.kill
    yield* Console.log("kill -9")
    yield* start(url, new URL(address).port)
    yield* Console.log(`a film of ${(yield* film.result).minutes} minutes`)
  })
  yield* Effect.provide(killing, Client.layer(Remote.connector(address), { extensions: [TasksClient.extension] }))
})

demo.pipe(Effect.scoped, Effect.provide([NodeContext.layer, NodeHttpClient.layerUndici]), NodeRuntime.runMain)

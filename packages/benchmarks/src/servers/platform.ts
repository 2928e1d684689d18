/**
 * The least that an application on `@effect/platform` does: it reads the body as JSON and answers with JSON. This is the floor of what an
 * endpoint in such an application can cost.
 */
import { HttpServer, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, type Layer } from "effect"
import { createServer } from "node:http"
import { isRecord } from "../Workload.js"
import { answerTo } from "./node.js"
import * as Start from "./Start.js"

const app = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request) =>
    Effect.map(Effect.orDie(request.json), (message) => {
      if (!isRecord(message) || typeof message.id !== "number") return HttpServerResponse.empty({ status: 202 })
      const { id, method, params } = message
      return HttpServerResponse.unsafeJson(
        answerTo(id, { method: String(method), ...(isRecord(params) ? { params } : {}) })
      )
    })
)

/** Runs a layer that serves on a port that the system chooses. */
export const onPlatform = <A, E>(layer: Layer.Layer<A, E, HttpServer.HttpServer>): Start.Start => (onListening) =>
  void Effect.runFork(
    Effect.flatMap(
      HttpServer.HttpServer,
      ({ address }) => Effect.sync(() => onListening(Start.urlOf("port" in address ? address.port : 0)))
    ).pipe(
      Effect.zipRight(Effect.never),
      Effect.provide(layer),
      Effect.provide(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
    )
  )

export const start: Start.Start = onPlatform(HttpServer.serve(app))

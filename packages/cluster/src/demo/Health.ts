/**
 * What a node answers to the probes of a supervisor and of a load balancer, and the program that sends them: nginx does not do it
 * itself.
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Nginx } from "../processes/Nginx.js"
import type { ServerNode } from "../processes/ServerNode.js"

/** The status of the answer; `undefined` when there is none. */
export const probe = (
  { port }: ServerNode,
  path: "/livez" | "/readyz"
): Effect.Effect<number | undefined, never, HttpClient.HttpClient> =>
  HttpClient.get(`http://127.0.0.1:${port}${path}`).pipe(
    Effect.tap(({ text }) => text),
    Effect.timeout("3 seconds"),
    Effect.match({ onFailure: () => undefined, onSuccess: ({ status }) => status })
  )

/** Until the scope closes, has nginx send requests to those nodes only that are ready. */
export const watch = (
  nodes: ReadonlyArray<ServerNode>,
  nginx: Nginx
): Effect.Effect<void, never, HttpClient.HttpClient | Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(Effect.forEach(nodes, (node) =>
    probe(node, "/readyz").pipe(
      Effect.flatMap((status) => nginx.use(node.name, status === 200)),
      Effect.repeat(Schedule.spaced("200 millis"))
    ), { concurrency: "unbounded" })))

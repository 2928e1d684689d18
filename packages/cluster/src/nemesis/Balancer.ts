/**
 * Chooses a node for each request, at random among the nodes that have answered lately. A load balancer with health checks and without
 * session affinity does the same. A request that could not be sent goes to another node. A request that was sent is never sent again.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { IncomingMessage } from "node:http"
import type { HttpFault } from "./Http.js"
import * as Http from "./Http.js"
import { TOKEN } from "./NodeOptions.js"

/** The request of the health check. Any answer shows that a node is alive, and the answer to this request costs the node little. */
const probe: Http.Request = { method: "GET", headers: { accept: "text/event-stream", authorization: TOKEN } }

export interface Balancer {
  /** Sends a request to a node. Fails with reason `unreachable` when no node can be reached. */
  readonly send: (request: Http.Request) => Effect.Effect<IncomingMessage, HttpFault, Scope.Scope>
}

/** Makes a balancer for the nodes at these ports. It probes the nodes until the scope closes. */
export const make = (ports: ReadonlyArray<number>): Effect.Effect<Balancer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const alive = new Set(ports)
    const look = (port: number) =>
      Effect.scoped(Http.send(port, probe)).pipe(
        Effect.timeout("700 millis"),
        Effect.match({ onFailure: () => alive.delete(port), onSuccess: () => alive.add(port) }),
        Effect.delay("200 millis"),
        Effect.forever
      )
    for (const port of ports) yield* Effect.forkScoped(look(port))
    const send = (request: Http.Request, tried: ReadonlyArray<number>): ReturnType<Balancer["send"]> =>
      Effect.suspend(() => {
        const left = ports.filter((port) => !tried.includes(port))
        const best = left.filter((port) => alive.has(port))
        const among = best.length > 0 ? best : left
        const port = among[Math.floor(Math.random() * among.length)]!
        return Effect.catchAll(Http.send(port, request), (fault) => {
          if (fault.reason !== "unreachable") return fault
          alive.delete(port)
          return left.length > 1 ? send(request, [...tried, port]) : fault
        })
      })
    return {
      send: (request) => send({ ...request, headers: { authorization: TOKEN, ...request.headers } }, [])
    }
  })

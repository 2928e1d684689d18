/** A tool that asks, and lets a test see what came of it; and the client's ways to answer. */
import type { Request } from "@effect-mcp/core/Message"
import type { JsonObject } from "@effect-mcp/core/protocol/Json"
import { ServerSession, type ServerSessionService } from "@effect-mcp/core/ServerSession"
import type { TestPeer } from "@effect-mcp/testing/TestPeer"
import { Deferred, Effect, type Exit } from "effect"
import { act, call, connect, serve } from "../Serving.js"

/** Asks, and keeps what came of it; the tool itself ends well. */
export const asking = <A, E>(ask: (session: ServerSessionService) => Effect.Effect<A, E>) =>
  Effect.map(Deferred.make<Exit.Exit<A, E>>(), (asked) => ({
    outcome: Deferred.await(asked),
    live: act(
      Effect.flatMap(
        ServerSession,
        (session) => Effect.flatMap(Effect.exit(ask(session)), (exit) => Deferred.succeed(asked, exit))
      )
    )
  }))

export const answer = (peer: TestPeer, question: Request, result: JsonObject) =>
  peer.send({ jsonrpc: "2.0", id: question.id, result })

export const refuse = (peer: TestPeer, question: Request, error: { readonly code: number; readonly message: string }) =>
  peer.send({ jsonrpc: "2.0", id: question.id, error })

/** One question from beginning to end: the request, and the outcome of its answer. */
export const conversation = <A, E>(options: {
  readonly ask: (session: ServerSessionService) => Effect.Effect<A, E>
  readonly method: string
  readonly capabilities: JsonObject
  readonly version?: string
  readonly result: JsonObject
}) =>
  Effect.gen(function*() {
    const { live, outcome } = yield* asking(options.ask)
    return yield* Effect.gen(function*() {
      const peer = yield* connect(options.version, options.capabilities)
      const id = yield* call(peer, "act")
      const question = yield* peer.expectRequest(options.method)
      yield* answer(peer, question, options.result)
      yield* peer.expectResult(id)
      return { params: question.params, outcome: yield* outcome }
    }).pipe(Effect.scoped, Effect.provide(serve(live)))
  })

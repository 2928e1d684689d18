import { ClusterError, MessageStorage, Reply, Snowflake } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { assert, describe, it } from "@effect/vitest"
import { Workflow } from "@effect/workflow"
import { Context, Effect, Exit, Layer, Ref, Schema, TestClock } from "effect"
import * as PatientStorage from "../src/runtime/PatientStorage.js"

const Result = Workflow.Result({ success: Schema.String, error: Schema.Never })
const rpc = Rpc.make("activity", { success: Result })

const requestId = Snowflake.Snowflake(1n)

const reply = (id: bigint, value: typeof Result.Type): Reply.ReplyWithContext<typeof rpc> =>
  new Reply.ReplyWithContext({
    reply: new Reply.WithExit<typeof rpc>({ requestId, id: Snowflake.Snowflake(id), exit: Exit.succeed(value) }),
    context: Context.empty() as Context.Context<never>,
    rpc
  })

const ended = reply(2n, new Workflow.Complete({ exit: Exit.succeed("done") }))
const suspended = reply(3n, new Workflow.Suspended())

/** A storage of one request, which keeps its first reply, as the tables of `@effect/cluster` do. */
const storage = Effect.map(Ref.make<ReadonlyArray<Reply.ReplyEncoded<any>>>([]), (replies) => {
  const FirstReply = Layer.succeed(MessageStorage.MessageStorage, {
    ...MessageStorage.noop,
    saveReply: (reply) =>
      Effect.flatMap(Effect.all([Reply.serialize(reply), replies]), ([encoded, before]) =>
        before.length > 0
          ? new ClusterError.PersistenceError({ cause: "there is a reply" })
          : Ref.set(replies, [encoded])),
    repliesForUnfiltered: () => Effect.map(replies, (all) => [...all]),
    clearReplies: () => Ref.set(replies, [])
  })
  const patient = Effect.provide(MessageStorage.MessageStorage, Layer.provide(PatientStorage.layer, FirstReply))
  const save = (reply: Reply.ReplyWithContext<typeof rpc>) =>
    Effect.gen(function*() {
      const saving = yield* Effect.fork(Effect.flatMap(patient, ({ saveReply }) => saveReply(reply)))
      yield* TestClock.adjust("1 second")
      yield* saving
    })
  return { replies, save, clear: Effect.flatMap(patient, ({ clearReplies }) => clearReplies(requestId)) }
})

const idsOf = (replies: ReadonlyArray<Reply.ReplyEncoded<any>>) => replies.map(({ id }) => id)

describe("The storage of a step", () => {
  it.effect("has the end of the step when another process has suspended the step before", () =>
    Effect.gen(function*() {
      const { replies, save } = yield* storage
      yield* save(suspended)
      yield* save(ended)
      assert.deepStrictEqual(idsOf(yield* replies), ["2"])
    }))

  it.effect("keeps the end of the step when another process suspends the step later, or begins it again", () =>
    Effect.gen(function*() {
      const { clear, replies, save } = yield* storage
      yield* save(ended)
      yield* save(suspended)
      yield* clear
      assert.deepStrictEqual(idsOf(yield* replies), ["2"])
    }))

  it.effect("gives up a suspension when the step begins again", () =>
    Effect.gen(function*() {
      const { clear, replies, save } = yield* storage
      yield* save(suspended)
      yield* clear
      assert.deepStrictEqual(yield* replies, [])
    }))
})

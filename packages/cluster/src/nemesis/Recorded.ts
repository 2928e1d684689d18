/**
 * Wraps the services that the nodes share, so that each service writes to the history what it has done. A store that fails logs the
 * failure. (A repeated failure is logged at level Debug.) So when something was logged during a write, the write counts as a write without
 * an answer.
 */
import { ChangeBus, type ChangeBusService } from "@effect-mcp/core/ChangeBus"
import { EventStore, type StoredEvent, type StreamKey } from "@effect-mcp/core/EventStore"
import { type Membership, SessionDirectory } from "@effect-mcp/core/SessionDirectory"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { now, type Time, type Written } from "./History.js"
import type { Write } from "./Journal.js"

/** Returns the result of an effect, when the effect began, and whether it has logged anything. */
const watched = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const begin = now()
    let hasFailed = false
    const heard = Logger.make<unknown, void>(() => {
      hasFailed = true
    })
    const isShown = LogLevel.greaterThanEqual(LogLevel.Info)
    const watched = effect.pipe(
      Effect.locallyWith(FiberRef.currentLoggers, (all) =>
        HashSet.add(HashSet.map(all, (one) => Logger.filterLogLevel(one, isShown)), heard)),
      Logger.withMinimumLogLevel(LogLevel.Debug)
    )
    return Effect.map(watched, (result) => ({ result, begin, hasFailed }))
  })

export const make = (node: string, write: Write) =>
(
  context: Context.Context<ChangeBus | EventStore | SessionDirectory>
): Context.Context<ChangeBus | EventStore | SessionDirectory> => {
  const written = (
    begin: Time,
    { epoch = 0, session }: { readonly session: string; readonly epoch?: number | undefined },
    event: Written["event"],
    answer: Written["answer"]
  ) => write({ _tag: "Written", begin, at: now(), node, session, epoch, event, answer })

  const claimed = (session: string, epoch: number) =>
    Effect.sync(() => write({ _tag: "Claimed", at: now(), node, session, epoch }))

  const changing = <E>(session: string, epoch: number, effect: Effect.Effect<boolean, E>) =>
    Effect.suspend(() => {
      const begin = now()
      return Effect.onExit(effect, (exit) =>
        Effect.sync(() =>
          written(
            begin,
            { session, epoch },
            undefined,
            Exit.isFailure(exit) ? "unknown" : exit.value ? "stored" : "refused"
          )
        ))
    })

  const membership = (own: Membership): Membership => ({
    ...own,
    create: (id, facts) => Effect.zipLeft(own.create(id, facts), claimed(id, 1)),
    claim: (id, epoch) =>
      Effect.tap(own.claim(id, epoch), (entry) => Option.isSome(entry) ? claimed(id, entry.value.epoch) : Effect.void),
    update: (id, epoch, facts) => changing(id, epoch, own.update(id, epoch, facts)),
    remove: (id, epoch) => changing(id, epoch, own.remove(id, epoch))
  })

  const directory = Context.get(context, SessionDirectory)
  const events = Context.get(context, EventStore)
  const bus = Context.get(context, ChangeBus)
  const stored = (key: StreamKey, all: ReadonlyArray<StoredEvent>, storing: Effect.Effect<boolean>) =>
    Effect.map(watched(storing), ({ begin, hasFailed, result }) => {
      const answer = hasFailed ? "unknown" : result ? "stored" : "refused"
      for (const event of all) written(begin, key, { stream: key.stream, ...event }, answer)
      return result
    })
  const opened = (key: StreamKey, opening: Effect.Effect<boolean>) =>
    Effect.map(watched(opening), ({ begin, hasFailed, result }) => {
      written(begin, key, undefined, hasFailed ? "unknown" : result ? "stored" : "refused")
      const { session, stream } = key
      if (hasFailed) write({ _tag: "Unanswered", at: now(), node, session, stream })
      return result
    })
  const changes: ChangeBusService = {
    join: Effect.map(bus.join, (member) => ({
      changes: member.changes,
      publish: (change) =>
        Effect.map(watched(member.publish(change)), ({ begin, hasFailed }) => {
          if (change._tag !== "Resource") return
          const { uri } = change
          write({ _tag: "Published", begin, at: now(), node, uri, isAcknowledged: !hasFailed })
        })
    }))
  }
  return context.pipe(
    Context.add(SessionDirectory, { join: (name) => Effect.map(directory.join(name), membership) }),
    Context.add(EventStore, {
      ...bound(events),
      open: (key, requests) => opened(key, events.open(key, requests)),
      append: (key, event) => stored(key, [event], events.append(key, event)),
      ...events.appendAll === undefined ? undefined : {
        appendAll: (key, all, isLast) => stored(key, all, events.appendAll!(key, all, isLast))
      }
    }),
    Context.add(ChangeBus, changes)
  )
}

const bound = (events: Context.Tag.Service<typeof EventStore>) => ({
  unfinished: (...args) => events.unfinished(...args),
  after: (...args) => events.after(...args),
  finish: (...args) => events.finish(...args),
  forget: (...args) => events.forget(...args)
} satisfies Partial<Context.Tag.Service<typeof EventStore>>)

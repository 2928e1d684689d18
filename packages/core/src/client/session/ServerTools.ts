/**
 * The facts about the tools of a server, from the lists that the server has sent: their output schemas, and whether they run as tasks.
 * `Client` makes this service, and `Verbs` lists tools through it. `OutputCheck`, `RemoteTasks` and `modern/ToolHeaders` look for tools
 * here; one listing serves all calls that look for a tool at that time. `modern/ToolHeaders` stores the headers of tools.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import * as EffectInternals from "../../kit/EffectInternals.js"
import * as Semaphore from "../../kit/Semaphore.js"
import * as StreamArrays from "../../kit/StreamArrays.js"
import * as TimeLimit from "../../kit/TimeLimit.js"
import type { JsonObject } from "../../protocol/Json.js"
import type * as Tools from "../../protocol/Tools.js"
import type { ClientError } from "../ClientError.js"
import type { CallOptions, ListOptions } from "../ClientSession.js"
import type { Report } from "./Decoding.js"
import { ListBudget } from "./ListBudget.js"
import * as ListPace from "./ListPace.js"
import * as ListPages from "./ListPages.js"
import type { Call } from "./MethodCalls.js"
import type { TimeLeft } from "./TimeLeft.js"

/** The facts about a tool. Each listing of the tool makes a new object. */
export interface ServerTool {
  readonly outputSchema: JsonObject | undefined
  readonly taskSupport: "forbidden" | "optional" | "required" | undefined
}

/** How many milliseconds the tools are not listed again after a listing has failed. */
const FAILED_FOR = 60_000

/**
 * After a listing, the next listing must wait for some time. A search waits, too, if this time is at most 100 milliseconds. Otherwise the
 * search gives up.
 */
const SHORT_REST = 100

/** How many milliseconds of waits a search may skip, so that a few short lists may follow one another without a wait. */
const BURST = 500

const NOT_LISTED = "the server does not list the tool"

const CHANGED = "the tools have changed since they were listed a moment ago, and are not listed again so soon"

const OVER = "the time of the call was over before the tools were listed"

export class ServerToolsService {
  /** How many times `find` has listed the tools. Only this class changes it. */
  listings = 0
  /** The tools whose results could not be checked. This is reported once for each of them until the tools change. */
  readonly unchecked = new Set<string>()
  private readonly known = new Map<string, ServerTool>()
  // Counts the contents of `known`, which may be as large as one list may be.
  private budget = new ListBudget()
  private isListed = false
  private changes = 0
  /**
   * Why listing does not help: under `true` for searches that need a new list, under `false` for all others. The two kinds of searches must
   * not block each other.
   */
  private readonly failures = new Map<boolean, { readonly why: string; readonly until: number }>()
  private readonly listing = Semaphore.make()
  /**
   * When the waits after all listings so far are over, in milliseconds since 1970. The tools may be listed again `BURST` milliseconds
   * before this time. No message of the server changes this time, or the number of failures in a row.
   */
  private restsUntil = -Infinity
  private failuresInARow = 0

  /** Reads one page of the list. The tools of the page are remembered, unless the tools change before the page arrives. */
  page(call: Call, options: ListOptions | undefined): Effect.Effect<Tools.ListToolsResult, ClientError> {
    return Effect.suspend(() => {
      const learn = this.learning()
      return Effect.tap(page(call, options?.cursor, options), ({ tools }) => Effect.sync(() => learn(tools)))
    })
  }

  /** Reads the whole list, page after page. The tools are remembered, unless the tools change meanwhile. */
  list(call: Call, report: Report, options?: CallOptions): Stream.Stream<Tools.Tool, ClientError> {
    return Stream.suspend(() => {
      const learn = this.learning()
      const tools = ListPages.stream(
        "tools/list",
        (cursor) => page(call, cursor, options),
        ({ tools }) => tools,
        report
      )
      return StreamArrays.map(tools, (listed) => {
        learn(listed)
        return listed
      })
    })
  }

  /** Forgets all tools, because they have changed. */
  forget(): void {
    this.changes++
    this.failures.clear()
    this.unchecked.clear()
    this.clear()
  }

  /**
   * Looks for the tool of this name. When the tool is not known, reads `list` until the tool is found, at most for the time that is left.
   * On the left: why the tool is not known. When a list could not be read, it is not read again for a minute, or until the tools change.
   * When a whole list does not have the tool, the tool is not looked for again until the tools change. `ListPace` limits how often the
   * tools are listed, however often they change.
   *
   * With `listings`, a tool counts as known only when the tools were listed more than `listings` times.
   */
  find(
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>,
    left: TimeLeft["after"],
    listings = -1
  ): Effect.Effect<Either.Either<ServerTool, string>> {
    return Effect.suspend(() => {
      const needsNew = listings >= 0
      const isKnown = () => this.listings > listings && (this.known.has(name) || this.isListed)
      if (isKnown()) return Effect.succeed(this.now(name))
      return Effect.flatMap(Effect.clock, (clock) => {
        let hasBegun = false
        const looking = Effect.suspend(() => {
          if (isKnown()) return Effect.succeed(this.now(name))
          const failure = this.failures.get(needsNew)
          if (failure !== undefined && EffectInternals.millis(clock) < failure.until) {
            return Effect.succeed(Either.left(failure.why))
          }
          const begin = Effect.suspend(() => {
            hasBegun = true
            return this.look(name, list, clock, needsNew)
          })
          const rest = this.restsUntil - BURST - EffectInternals.millis(clock)
          if (rest <= 0) return begin
          return rest <= SHORT_REST ? Effect.delay(begin, rest) : Effect.succeed(Either.left(CHANGED))
        })
        const millis = left(EffectInternals.millis(clock))
        if (millis <= 0) return Effect.succeed(Either.left(OVER))
        return millis === Infinity ? this.listing.run(looking) : TimeLimit.call(
          this.listing.run(looking),
          millis,
          // A call that only waited for the listing of another call has found out nothing about the server.
          () => Effect.sync(() => hasBegun ? this.failed(clock, needsNew, OVER) : Either.left(OVER))
        )
      })
    })
  }

  /** Reads the list until the tool of this name is found. */
  private look(
    name: string,
    list: Stream.Stream<Tools.Tool, ClientError>,
    clock: Clock.Clock,
    needsNew: boolean
  ): Effect.Effect<Either.Either<ServerTool, string>> {
    this.clear()
    const before = this.changes
    const count = { pages: 0 }
    const reading = Stream.runForEachWhile(
      Stream.chunks(list),
      () => Effect.sync(() => !this.known.has(name) && this.changes === before)
    )
    return Effect.match(ListPages.counted(reading, count), {
      onFailure: (error) => this.failed(clock, needsNew, `the tools could not be listed: ${error.message}`),
      onSuccess: () => {
        // The headers of the pages are known now, also when the tools have changed meanwhile.
        this.listings++
        this.failuresInARow = 0
        this.rests(clock, ListPace.rest(count.pages, true))
        if (this.changes !== before) return Either.left("the tools changed while they were listed")
        this.isListed = !this.known.has(name)
        return this.isListed ? this.remember(clock, needsNew, NOT_LISTED) : this.now(name)
      }
    })
  }

  /** Makes a function that remembers the tools of a list that is requested now, unless the tools change before the list arrives. */
  private learning(): (tools: ReadonlyArray<Tools.Tool>) => void {
    const before = this.changes
    return (tools) => {
      if (this.changes !== before) return
      for (const { execution, name, outputSchema } of tools) {
        if (!this.budget.fits([name, outputSchema])) this.clear()
        else this.known.set(name, { outputSchema, taskSupport: execution?.taskSupport })
      }
    }
  }

  private now(name: string): Either.Either<ServerTool, string> {
    return Either.fromNullable(this.known.get(name), () => NOT_LISTED)
  }

  private failed(clock: Clock.Clock, needsNew: boolean, why: string): Either.Either<never, string> {
    this.rests(clock, BURST + ListPace.backoff(++this.failuresInARow))
    return this.remember(clock, needsNew, why)
  }

  private rests(clock: Clock.Clock, millis: number): void {
    this.restsUntil = Math.max(this.restsUntil, EffectInternals.millis(clock)) + millis
  }

  private remember(clock: Clock.Clock, needsNew: boolean, why: string): Either.Either<never, string> {
    this.failures.set(needsNew, { why, until: EffectInternals.millis(clock) + FAILED_FOR })
    return Either.left(why)
  }

  private clear(): void {
    this.known.clear()
    this.budget = new ListBudget()
    this.isListed = false
  }
}

const page = (call: Call, cursor: string | undefined, options: CallOptions | undefined) =>
  call("tools/list", cursor === undefined ? undefined : { cursor }, options)

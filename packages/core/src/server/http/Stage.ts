/**
 * The stages that a request passes at an HTTP endpoint, as a list of values. A stage reads what the stages before it have found, and finds
 * something itself, or answers the request. The compiler checks the list: a stage cannot read what no stage before it finds.
 *
 * This module knows no stage; `dispatch/Stages` has the lists. Each request gets one `Passage`, which runs the stages.
 */
import type {
  Admission,
  Admitted,
  Answerable,
  Headers,
  HttpExchange,
  Reader,
  SlowReaders,
  Writer
} from "./HttpExchange.js"

/** What `run` of a stage gives when no later stage may run yet: the stage has answered the request, or goes on with it later. */
export const HELD: unique symbol = Symbol.for("@effect-mcp/core/server/Stage/HELD")

export interface Stage<Name extends string, Reads, Finds> {
  /** Later stages read under this name what the stage has found. */
  readonly name: Name
  /**
   * Gives what the stage finds. It gives `HELD` when it has answered the request, or when it is going to: then it answers later, or calls
   * `pass` of the request once with what it finds.
   */
  readonly run: (request: Passing<Finds>, found: Reads) => Finds | typeof HELD
}

export type Any = Stage<string, any, any>

/** A request on its way, as a stage has it. */
export interface Passing<Finds> extends Answerable {
  /** What the HTTP server gives for the request. A stage reads from it, and answers through `reply` and `stream` beside it. */
  readonly arrived: Omit<HttpExchange, "reply" | "stream">
  /** Every answer to the request has these headers, too. */
  readonly add: (headers: Headers) => void
  /** The same request, of a known sender. */
  readonly admit: (sender: Admission) => Admitted
  /** Goes on with a request that this stage has held. */
  readonly pass: (finds: Finds) => void
}

/** What is known after a stage. */
type After<Earlier, One> = One extends Stage<infer Name, any, infer Finds>
  ? [Finds] extends [void] ? Earlier : Earlier & { readonly [_ in Name]: Finds }
  : Earlier

/** The stages, where each reads only what the stages before it find. A sentence is in the place of a stage that reads something else. */
type Ordered<Stages extends ReadonlyArray<unknown>, Earlier = {}> = Stages extends readonly [infer First, ...infer Rest]
  ? readonly [
    NonNullable<First> extends Stage<infer Name, infer Reads, any>
      ? Earlier extends Reads ? First : `The stage "${Name}" reads what no stage before it finds`
      : First,
    ...Ordered<Rest, After<Earlier, First>>
  ]
  : readonly []

/** Stages in their order. An `undefined` is left out: no later stage can read what it finds. */
export const inOrder = <const Stages extends ReadonlyArray<Any | undefined>>(
  ...stages: Stages & Ordered<Stages>
): ReadonlyArray<Any> => (stages as ReadonlyArray<Any | undefined>).filter((stage) => stage !== undefined)

/** What the requests of an endpoint have in common. */
export interface Surroundings {
  readonly slowReaders: SlowReaders
  /** Whether a request that was held must not go on, because the endpoint has begun to close: then it was answered. */
  readonly refuses: (request: Answerable) => boolean
}

/**
 * One request and its stages. Its mutable fields: `at` is the stage that is running, and `found` is what the stages before it have found, by
 * their names; `added` are the headers of every answer; `principal`, `user` and `watchUser` are set once, when a stage admits the sender.
 */
export class Passage implements Passing<unknown>, Admitted {
  readonly headers: Headers
  principal: Admission["principal"]
  user: Admission["user"]
  watchUser: Admission["watchUser"]
  private at = 0
  private readonly found: Record<string, unknown> = {}

  constructor(
    readonly arrived: HttpExchange,
    private readonly stages: ReadonlyArray<Any>,
    private readonly endpoint: Surroundings,
    private added: Headers | undefined
  ) {
    this.headers = arrived.headers
  }

  /** Runs the stages from where the request has come to, until one of them holds it. */
  run(): void {
    const { found, stages } = this
    while (this.at < stages.length) {
      const stage = stages[this.at]!
      const finds = stage.run(this, found)
      if (finds === HELD) return
      if (finds !== undefined) found[stage.name] = finds
      this.at++
    }
  }

  pass(finds: unknown): void {
    if (this.endpoint.refuses(this)) return
    const { name } = this.stages[this.at++]!
    if (finds !== undefined) this.found[name] = finds
    this.run()
  }

  add(headers: Headers): void {
    this.added = { ...this.added, ...headers }
  }

  admit({ principal, user, watchUser }: Admission): Admitted {
    this.principal = principal
    this.user = user
    this.watchUser = watchUser
    return this
  }

  get isGone(): boolean {
    return this.arrived.isGone
  }

  get moved(): HttpExchange["moved"] {
    return this.arrived.moved
  }

  onGone(listener: () => void): void {
    this.arrived.onGone(listener)
  }

  reply(status: number, headers: Headers, body: string): void {
    this.arrived.reply(status, this.all(headers), body, this.endpoint.slowReaders)
  }

  stream(status: number, headers: Headers, reader: Reader): Writer {
    return this.arrived.stream(status, this.all(headers), reader, this.endpoint.slowReaders)
  }

  private all(headers: Headers): Headers {
    return this.added === undefined ? headers : { ...headers, ...this.added }
  }
}

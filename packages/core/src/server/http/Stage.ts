/**
 * Stages: the steps that a request passes at an HTTP endpoint, as a list of values. A stage reads what the earlier stages have found. It
 * finds something itself, or answers the request. The compiler checks the list: a stage cannot read a value that no earlier stage finds.
 *
 * This module contains no stage; `dispatch/Stages` has the lists. Each request gets one `Passage`, which runs the stages.
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

/** The result of a stage when no later stage may run yet: the stage has answered the request, or will let it go on later. */
export const HELD: unique symbol = Symbol.for("@effect-mcp/core/server/Stage/HELD")

export interface Stage<Name extends string, Reads, Finds> {
  /** The name under which later stages read the value that this stage finds. */
  readonly name: Name
  /**
   * Gives the value that the stage finds, or `HELD`. After `HELD` the stage has answered the request, answers it later, or calls `pass` of
   * the request once with the value.
   */
  readonly run: (request: Passing<Finds>, found: Reads) => Finds | typeof HELD
}

export type Any = Stage<string, any, any>

/** A request as a stage gets it. */
export interface Passing<Finds> extends Answerable {
  /** What the HTTP server gives for the request. To answer, a stage calls `reply` and `stream` of `Passing`, not of the exchange. */
  readonly arrived: Omit<HttpExchange, "reply" | "stream">
  /** Adds these headers to every answer to the request. */
  readonly add: (headers: Headers) => void
  /** The same request, with a known sender. */
  readonly admit: (sender: Admission) => Admitted
  /** Lets a request go on that this stage has held, with the value that the stage has found. */
  readonly pass: (finds: Finds) => void
}

/** The values that are known after a stage. */
type After<Earlier, One> = One extends Stage<infer Name, any, infer Finds>
  ? [Finds] extends [void] ? Earlier : Earlier & { readonly [_ in Name]: Finds }
  : Earlier

/**
 * The stages of a list in which each stage reads only values that earlier stages find. In place of any other stage there is a sentence,
 * which the compiler shows.
 */
type Ordered<Stages extends ReadonlyArray<unknown>, Earlier = {}> = Stages extends readonly [infer First, ...infer Rest]
  ? readonly [
    NonNullable<First> extends Stage<infer Name, infer Reads, any>
      ? Earlier extends Reads ? First : `The stage "${Name}" reads what no stage before it finds`
      : First,
    ...Ordered<Rest, After<Earlier, First>>
  ]
  : readonly []

/** A list of stages in their order. `undefined` elements are left out; a later stage cannot read what they would find. */
export const inOrder = <const Stages extends ReadonlyArray<Any | undefined>>(
  ...stages: Stages & Ordered<Stages>
): ReadonlyArray<Any> => (stages as ReadonlyArray<Any | undefined>).filter((stage) => stage !== undefined)

/** What the requests of an endpoint have in common. */
export interface Surroundings {
  readonly slowReaders: SlowReaders
  /** Refuses a request that was held, when the endpoint has begun to close meanwhile. Gives `true` when it has refused the request. */
  readonly refuses: (request: Answerable) => boolean
}

/**
 * One request and its stages. Mutable fields: `at` is the index of the running stage; `found` has the values that the earlier stages have
 * found, by their names; `added` are the headers of every answer; `principal`, `user` and `watchUser` are set once, when a stage admits the
 * sender.
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

  /** Runs the stages, from the current stage on, until a stage holds the request. */
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

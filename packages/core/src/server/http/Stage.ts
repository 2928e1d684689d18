/**
 * Stages: the steps that a request passes at an HTTP endpoint, such as authentication and reading the body. A stage reads the results of
 * earlier stages. Then it gives a result itself, or answers the request. The compiler checks a list of stages: each stage can read only
 * results of earlier stages.
 *
 * `dispatch/Stages` contains the stages. Each request gets one `Passage`, which runs the stages.
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

/** A stage returns this value when no later stage may run now. The stage has answered the request, or calls `pass` later. */
export const HELD: unique symbol = Symbol.for("@effect-mcp/core/server/Stage/HELD")

export interface Stage<Name extends string, Reads, Finds> {
  /** The name under which later stages read the result of this stage. */
  readonly name: Name
  /**
   * Gives the result of the stage, or `HELD`. After `HELD`, the stage has answered the request, or answers the request later, or calls
   * `pass` of the request once with the result.
   */
  readonly run: (request: Passing<Finds>, found: Reads) => Finds | typeof HELD
}

export type Any = Stage<string, any, any>

/** A request in the form in which a stage gets it. */
export interface Passing<Finds> extends Answerable {
  /** The exchange of the HTTP server. To answer, a stage calls `reply` and `stream` of `Passing`, not of the exchange. */
  readonly arrived: Omit<HttpExchange, "reply" | "stream">
  /** Adds these headers to every answer to the request. */
  readonly add: (headers: Headers) => void
  /** Gives the request with its authenticated sender. */
  readonly admit: (sender: Admission) => Admitted
  /** Continues a request after the stage has returned `HELD`, with the result of the stage. */
  readonly pass: (finds: Finds) => void
}

/** The results that exist after a stage. */
type After<Earlier, One> = One extends Stage<infer Name, any, infer Finds>
  ? [Finds] extends [void] ? Earlier : Earlier & { readonly [_ in Name]: Finds }
  : Earlier

/**
 * Checks a list of stages: each stage may read only results of earlier stages. In place of any other stage this type has a sentence, which
 * the compiler shows as an error.
 */
type Ordered<Stages extends ReadonlyArray<unknown>, Earlier = {}> = Stages extends readonly [infer First, ...infer Rest]
  ? readonly [
    NonNullable<First> extends Stage<infer Name, infer Reads, any>
      ? Earlier extends Reads ? First : `The stage "${Name}" reads a value that no earlier stage finds`
      : First,
    ...Ordered<Rest, After<Earlier, First>>
  ]
  : readonly []

/** Makes a list of stages in their order. Leaves out `undefined` elements. */
export const inOrder = <const Stages extends ReadonlyArray<Any | undefined>>(
  ...stages: Stages & Ordered<Stages>
): ReadonlyArray<Any> => (stages as ReadonlyArray<Any | undefined>).filter((stage) => stage !== undefined)

/** The parts of an endpoint that all its requests share. */
export interface Surroundings {
  readonly slowReaders: SlowReaders
  /**
   * Refuses a request that continues after `HELD`, when the endpoint has begun to close. Gives `true` when this function has refused the
   * request.
   */
  readonly refuses: (request: Answerable) => boolean
}

/**
 * One request and its stages. Mutable fields: `at` is the index of the running stage. `found` contains the results of the earlier stages,
 * by their names. `added` are the headers of every answer. A stage sets `principal`, `user` and `watchUser` when it has authenticated the
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

  /** Runs the stages, from the current stage on, until a stage returns `HELD`. */
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

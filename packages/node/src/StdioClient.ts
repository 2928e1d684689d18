/**
 * A client's end of stdio: the server is a program that we launch, and that ends with our scope.
 *
 * What is here joins three rooms that do not know each other: `Subprocess` (the program), `Pipe` (messages over its
 * standard input and output) and `Stderr` (what it logs). How the program ended decides how `incoming` ends.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio
 * @since 0.1.0
 */
import * as Connector from "@effect-mcp/jsonrpc/Connector"
import type * as LineFraming from "@effect-mcp/jsonrpc/LineFraming"
import { TransportError } from "@effect-mcp/jsonrpc/LocalError"
import type { Transport } from "@effect-mcp/jsonrpc/Transport"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pipe from "./stdio/Pipe.js"
import * as Environment from "./subprocess/Environment.js"
import * as Stderr from "./subprocess/Stderr.js"
import * as Subprocess from "./subprocess/Subprocess.js"

/**
 * A command is run as it stands: take it from nobody who could not run it himself.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends LineFraming.Options {
  /** A program on the `PATH`, or the path of a file. No shell looks at it. */
  readonly command: string
  readonly args?: ReadonlyArray<string> | undefined
  /** Over the variables that are inherited (`Environment.defaultEnvironment`); `undefined` takes one of those away. */
  readonly env?: Environment.Variables | undefined
  readonly cwd?: string | undefined
  /** Where its stderr goes. Default: to ours. */
  readonly stderr?: Stderr.Stderr | undefined
  /** How long closing waits: for what was said to be written (`flush`, 0.5 seconds), then for each step. */
  readonly patience?: Subprocess.Patience & { readonly flush?: Duration.DurationInput | undefined } | undefined
  /** Characters that may wait for a server that does not read before it is given up. Default: 64 Mi. */
  readonly maxBacklog?: number | undefined
}

/**
 * How long a program has to end after one of its pipes has, and its pipes after it has.
 *
 * @since 0.1.0
 * @category limits
 */
export const LAST_WORDS: Duration.Duration = Duration.seconds(1)

/**
 * Reaches a server by launching it, anew for each connection.
 *
 * Connecting fails with reason `Open` when the program cannot be started. `incoming` ends when it exits with code 0,
 * or closes its output; it fails with reason `Read`, and the last lines of its stderr, when it ends in any other way,
 * and with reason `Write` when it lives on but cannot be written to. Closing the scope ends it, see
 * `Subprocess.make`; that cannot be interrupted, and takes at most the sum of `patience` and a second for a function
 * that hears its stderr.
 *
 * @since 0.1.0
 * @category constructors
 */
export const connector = (options: Options): Connector.Connector =>
  Connector.make(
    options.command,
    // One scope for all that is opened, so that whoever closes ours closes all of it or, interrupted, none.
    Effect.flatMap(
      Effect.acquireRelease(Scope.make(), (scope, exit) => Scope.close(scope, exit)),
      (scope) => Scope.extend(open(options), scope)
    )
  )

const open = (options: Options): Effect.Effect<Transport, TransportError, Scope.Scope> =>
  Effect.gen(function*() {
    const log = yield* Stderr.make(options.stderr ?? "forward")
    const child = yield* Subprocess.make({
      command: options.command,
      args: options.args ?? [],
      env: Environment.merge(Environment.defaultEnvironment(), options.env ?? {}),
      cwd: options.cwd,
      stderr: options.stderr === "inherit" ? "inherit" : "pipe"
    }, options.patience)
    if (child.stderr !== undefined) log.attach(child.stderr)
    const broken = yield* Deferred.make<TransportError>()
    const pipe = yield* Pipe.make({
      ...options,
      input: child.stdout,
      output: child.stdin,
      flushTimeout: options.patience?.flush ?? "500 millis",
      onBroken: (error) => {
        Deferred.unsafeDone(broken, Effect.succeed(error))
        return undefined
      }
    })
    let closing = false
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        closing = true
        pipe.end(Exit.void)
        // Unread output is read and dropped: a server that blocks on it would not see its input end.
        child.stdout.resume()
      })
    )
    // Interruptible wherever we connect, or closing could not end it.
    yield* Effect.forkScoped(Effect.interruptible(watch(child, pipe, Deferred.await(broken))))
    const farewell = Effect.suspend(() => closing ? Effect.void : verdict(options.command, child, log))
    return {
      incoming: Stream.concat(pipe.incoming, Stream.execute(farewell)),
      run: (receive) => Effect.zipRight(pipe.run(receive), farewell),
      send: pipe.send,
      unsafeSend: pipe.unsafeSend
    }
  })

const within = <A>(effect: Effect.Effect<A>): Effect.Effect<Option.Option<A>> =>
  Effect.timeoutOption(effect, LAST_WORDS)

/** Ends `incoming` when the output does not end by itself: somebody else holds it open, or nothing can be asked. */
const watch = (
  child: Subprocess.Subprocess,
  pipe: Pipe.Pipe,
  broken: Effect.Effect<TransportError>
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const fault = yield* Effect.raceFirst(Effect.asSome(broken), Effect.as(child.exited, Option.none<TransportError>()))
    // A pipe breaks most often because the program is about to end, and its end says more.
    const status = yield* within(child.exited)
    if (Option.isNone(status) && Option.isSome(fault)) return pipe.end(Exit.fail(fault.value))
    let received: number
    do {
      yield* Effect.sleep(LAST_WORDS)
      received = pipe.input.received
      // What came while our process was busy with something else is read now.
      yield* Effect.sleep("10 millis")
    } while (!pipe.input.isOver && (received !== pipe.input.received || !pipe.input.isFlowing))
    pipe.end(Exit.void)
  })

/** What the end of the program means for who listens to it. */
const verdict = (
  name: string,
  child: Subprocess.Subprocess,
  log: Stderr.Log
): Effect.Effect<void, TransportError> =>
  Effect.gen(function*() {
    const status = yield* within(child.exited)
    if (Option.isNone(status) || status.value.code === 0) return
    yield* within(log.ended)
    const { code, signal } = status.value
    const how = code === null ? `was ended by ${signal}` : `exited with code ${code}`
    const tail = log.tail()
    return yield* new TransportError({
      reason: "Read",
      message: `${JSON.stringify(name)} ${how}${tail === "" ? "" : `; it said last:\n${tail}`}`
    })
  })
